#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "transport_support.h"

void transport_fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    exit(1);
}

static _Noreturn void usage(void) {
    fprintf(stderr,
        "usage: %s send|receive --page FILE --channel TEXT [--variant TEXT] [--spin 0|1] [--load 0-5] [--size N] "
        "[--receivers N] [--index N] [--count N] [--interval NS] [--milliseconds N] [--window N] [--processor N]\n"
        "A peer of transport-bench, which starts it.\n",
        program_invocation_short_name);
    exit(64);
}

static uint64_t number(const char *text, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || !*text || *text == '-' || *end || value > most) usage();
    return value;
}

static transport_options parse(int argc, char *const *argv) {
    transport_options options = {.size = 64, .receivers = 1, .count = 1, .processor = -1, .variant = "", .channel = ""};
    if (argc < 2 || argc % 2) usage();
    if (strcmp(argv[1], "send") == 0) options.sends = true;
    else if (strcmp(argv[1], "receive") != 0) usage();
    for (int i = 2; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--page") == 0) options.page = value;
        else if (strcmp(name, "--channel") == 0) options.channel = value;
        else if (strcmp(name, "--variant") == 0) options.variant = value;
        else if (strcmp(name, "--spin") == 0) options.spins = number(value, 1) == 1;
        else if (strcmp(name, "--load") == 0) options.load = (transport_load)number(value, TRANSPORT_STOPS);
        else if (strcmp(name, "--size") == 0) options.size = (uint32_t)number(value, TRANSPORT_LARGEST);
        else if (strcmp(name, "--receivers") == 0)
            options.receivers = (uint32_t)number(value, TRANSPORT_MOST_RECEIVERS);
        else if (strcmp(name, "--index") == 0) options.index = (uint32_t)number(value, TRANSPORT_MOST_RECEIVERS - 1);
        else if (strcmp(name, "--count") == 0) options.count = number(value, 100000000);
        else if (strcmp(name, "--interval") == 0) options.interval = number(value, 10000000000);
        else if (strcmp(name, "--milliseconds") == 0) options.milliseconds = number(value, 60000);
        else if (strcmp(name, "--window") == 0) options.window = number(value, 100000000);
        else if (strcmp(name, "--processor") == 0) options.processor = (int)number(value, 1023);
        else usage();
    }
    if (!options.page || options.size < 32 || options.size % 8) usage();
    return options;
}

size_t transport_page_size(uint64_t count, uint32_t receivers) {
    return sizeof(transport_page) + (size_t)(3 + receivers) * count * sizeof(uint64_t);
}
uint64_t *transport_callers(transport_page *page, uint64_t count) {
    (void)count;
    return (uint64_t *)(page + 1);
}
uint64_t *transport_cpu_times(transport_page *page, uint64_t count) { return transport_callers(page, count) + count; }
uint64_t *transport_wall_times(transport_page *page, uint64_t count) {
    return transport_callers(page, count) + 2 * count;
}
uint64_t *transport_latencies(transport_page *page, uint64_t count, uint32_t receiver) {
    return transport_callers(page, count) + (3 + receiver) * count;
}

transport_receiver *transport_receiver_of(transport_page *page, uint32_t index) { return &page->receivers[index]; }
uint64_t transport_sender_state(const transport_page *page) { return transport_load_word(&page->state); }
void transport_go(transport_page *page) { transport_store_word(&page->go, 1); }

bool transport_wait_done(int pipe, int milliseconds) {
    struct pollfd end = {.fd = pipe, .events = POLLIN};
    int count;
    while ((count = poll(&end, 1, milliseconds)) < 0 && errno == EINTR) {}
    return count > 0;
}

void transport_confine(int processor) {
    if (processor < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    // Threads of other libraries, too: whoever spins must not be measured against one whose threads go elsewhere.
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) transport_fail("/proc/self/task", strerror(errno));
    for (struct dirent *entry; (entry = readdir(tasks));) {
        int thread = atoi(entry->d_name);
        if (thread > 0 && sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH)
            transport_fail("processor", strerror(errno));
    }
    closedir(tasks);
}

transport_run transport_begin(int argc, char *const *argv) {
    transport_run run = {.options = parse(argc, argv), .done = -1};
    const transport_options *options = &run.options;
    // Whatever becomes of the harness, nobody stays behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    int file = open(options->page, O_RDWR | O_CLOEXEC);
    if (file < 0) transport_fail(options->page, strerror(errno));
    size_t size = transport_page_size(options->count, options->receivers);
    struct stat status;
    if (fstat(file, &status) != 0 || (size_t)status.st_size != size)
        transport_fail(options->page, "its size is another");
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) transport_fail(options->page, strerror(errno));
    close(file);
    run.page = (transport_page *)memory;
    // Page faults now, not while events come.
    if (options->sends) {
        memset(transport_callers(run.page, options->count), 0, 3 * options->count * sizeof(uint64_t));
        run.page->process = (uint64_t)getpid();
        char done[4096];
        snprintf(done, sizeof done, "%s.done", options->page);
        run.done = open(done, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (run.done < 0) transport_fail(done, strerror(errno));
    } else {
        run.own = &run.page->receivers[options->index];
        run.latencies = transport_latencies(run.page, options->count, options->index);
        memset(run.latencies, 0, options->count * sizeof(uint64_t));
        run.stride = options->load == TRANSPORT_WAKE || (options->window > 0 && options->window < 256) ? 1 : 64;
    }
    return run;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
uint64_t transport_now(void) { return nanoseconds(CLOCK_MONOTONIC); }
