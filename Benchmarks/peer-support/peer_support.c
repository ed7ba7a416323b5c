#define _GNU_SOURCE
#include "peer_support.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_at_start;

// One thread records; another may ask whether it is done, by what is atomic here.
static struct {
    uint64_t expected, duplicates, reordered, first_at;
    _Atomic uint64_t received, highest, last_at;
    uint64_t *latencies;
    uint8_t *seen;
} record;

void peer_fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static _Noreturn void usage(const char *program) {
    fprintf(stderr,
        "usage: %s send|receive --bus ADDRESS --count N [--rate N] [--quiet SECONDS]\n"
        "       %s answer --bus ADDRESS [--count N --rate N] [--directory FOLDER]\n"
        "       %s call --bus ADDRESS --seconds S --flight N --latencies FILE [--quiet SECONDS] [--directory -]\n",
        program, program, program);
    exit(64);
}

static bool parse_role(const char *word, peer_role *role) {
    static const char *const words[] = {"send", "receive", "answer", "call"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0) return *role = (peer_role)i, true;
    return false;
}

peer_options peer_parse(int argc, char *const *argv) {
    peer_options options = {.count = 0, .quiet_seconds = 2};
    if (argc < 2 || !parse_role(argv[1], &options.role)) usage(argv[0]);
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 == argc) usage(argv[0]);
        char *end = "", *value = argv[i + 1];
        if (strcmp(argv[i], "--bus") == 0) options.bus = value;
        else if (strcmp(argv[i], "--count") == 0) options.count = strtoull(value, &end, 10);
        else if (strcmp(argv[i], "--rate") == 0) options.rate = strtoull(value, &end, 10);
        else if (strcmp(argv[i], "--quiet") == 0) options.quiet_seconds = strtod(value, &end);
        else if (strcmp(argv[i], "--seconds") == 0) options.seconds = strtod(value, &end);
        else if (strcmp(argv[i], "--flight") == 0) options.flight = strtoull(value, &end, 10);
        else if (strcmp(argv[i], "--latencies") == 0) options.latencies = value;
        else if (strcmp(argv[i], "--directory") == 0) options.directory = value;
        else usage(argv[0]);
        if (*end) usage(argv[0]);
    }
    if (!options.bus || options.count > 100000000) usage(argv[0]);
    switch (options.role) {
    case PEER_SEND: case PEER_RECEIVE: if (options.count == 0) usage(argv[0]); break;
    // Its events have a rate: it has to look for calls in between.
    case PEER_ANSWER: if (options.count > 0 && options.rate == 0) usage(argv[0]); break;
    case PEER_CALL:
        if (!(options.seconds > 0) || options.flight == 0 || options.flight > 64 || !options.latencies) usage(argv[0]);
        break;
    }
    return options;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
uint64_t peer_now(void) { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t peer_wall_clock(void) { return nanoseconds(CLOCK_REALTIME) / 1000; }

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double peer_cpu(void) { return cpu_seconds() - cpu_at_start; }

void peer_ready(void) {
    cpu_at_start = cpu_seconds();
    puts("ready");
    fflush(stdout);
}

void peer_wait_for_go(void) {
    char line[16];
    if (!fgets(line, sizeof line, stdin)) exit(0);
}

void peer_pace(uint64_t start, uint64_t number, uint64_t rate) {
    if (rate == 0) return;
    uint64_t due = start + (number - 1) * 1000000000u / rate;
    struct timespec t = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {}
}

void peer_report_sent(uint64_t count, uint64_t start) {
    double elapsed = (double)(peer_now() - start) / 1e9;
    printf("{\"sent\":%" PRIu64 ",\"elapsed\":%.6f,\"cpu\":%.6f}\n", count, elapsed, peer_cpu());
    fflush(stdout);
}

void peer_expect(uint64_t count) {
    record.expected = count;
    record.latencies = malloc(count * sizeof *record.latencies);
    record.seen = calloc(count + 1, 1);
    if (!record.latencies || !record.seen) peer_fail("statistics", "out of memory");
    // Page faults now, not while events come.
    memset(record.latencies, 0, count * sizeof *record.latencies);
}

static uint64_t get(_Atomic uint64_t *field) { return atomic_load_explicit(field, memory_order_relaxed); }
static void set(_Atomic uint64_t *field, uint64_t value) { atomic_store_explicit(field, value, memory_order_relaxed); }

void peer_record(uint64_t number, uint64_t sent_at) {
    uint64_t now = peer_now(), received = get(&record.received);
    if (received == 0) record.first_at = now;
    set(&record.last_at, now);
    if (number == 0 || number > record.expected || record.seen[number]) {
        record.duplicates++;
        return;
    }
    record.seen[number] = 1;
    record.latencies[received] = now - sent_at;
    set(&record.received, received + 1);
    if (number < get(&record.highest)) record.reordered++;
    else atomic_store_explicit(&record.highest, number, memory_order_release);
}

bool peer_has_last(void) {
    return atomic_load_explicit(&record.highest, memory_order_acquire) == record.expected;
}

bool peer_is_done(const peer_options *options) {
    if (peer_has_last()) return true;
    return get(&record.received) > 0 && (double)(peer_now() - get(&record.last_at)) / 1e9 > options->quiet_seconds;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t percentile(double p) {
    uint64_t received = get(&record.received);
    return received == 0 ? 0 : record.latencies[(uint64_t)(p * (double)(received - 1))];
}

void peer_report_received(void) {
    double cpu = peer_cpu();
    uint64_t received = get(&record.received);
    qsort(record.latencies, received, sizeof *record.latencies, compare);
    printf("{\"received\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"duplicates\":%" PRIu64 ",\"reordered\":%" PRIu64
           ",\"elapsed\":%.6f,\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64 ",\"cpu\":%.6f}\n",
        received, record.expected - received, record.duplicates, record.reordered,
        received == 0 ? 0 : (double)(get(&record.last_at) - record.first_at) / 1e9, percentile(0.5), percentile(0.99), percentile(0.999), cpu);
    fflush(stdout);
}
