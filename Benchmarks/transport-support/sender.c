#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "payload.h"

void transport_fill(void *payload, uint32_t size, uint64_t number, uint64_t sent_at) {
    transport_payload *event = (transport_payload *)payload;
    switch (size) {
    case 64: return transport_fill_words(event, 64, number, sent_at);
    case 256: return transport_fill_words(event, 256, number, sent_at);
    case 1024: return transport_fill_words(event, 1024, number, sent_at);
    case 4096: return transport_fill_words(event, 4096, number, sent_at);
    default: return transport_fill_words(event, size, number, sent_at);
    }
}

static uint64_t cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void wait_until(uint64_t due, bool spins) {
    if (spins) {
        while (transport_now() < due) transport_pause();
        return;
    }
    struct timespec time = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
}

static bool all_are(const transport_run *run, uint64_t state) {
    for (uint32_t i = 0; i < run->options.receivers; i++)
        if (transport_load_word(&run->page->receivers[i].state) < state) return false;
    return true;
}

static uint64_t slowest(const transport_run *run) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < run->options.receivers; i++) {
        uint64_t progress = transport_load_word(&run->page->receivers[i].progress);
        if (progress < least) least = progress;
    }
    return least;
}

// Sends the same number each millisecond until all receivers are so far.
static void send_until(
    transport_run *run, uint64_t state, transport_send send, void *context, uint64_t number, const char *what) {
    uint64_t limit = transport_now() + 20000000000u;
    while (!all_are(run, state)) {
        send(context, number, 0);
        usleep(1000);
        if (transport_now() > limit) transport_fail(what, "not all receivers within 20 s");
    }
}

static void paced(transport_run *run, transport_send send, void *context) {
    const transport_options *options = &run->options;
    uint64_t *callers = transport_callers(run->page, options->count);
    uint64_t warm_up = options->count / 10, due = transport_now() + 1000000;
    for (uint64_t i = 0; i < warm_up; i++, due += options->interval) {
        wait_until(due, options->spins);
        send(context, TRANSPORT_PROBE, transport_now());
    }
    for (uint64_t number = 1; number <= options->count; number++, due += options->interval) {
        wait_until(due, options->spins);
        uint64_t now = transport_now();
        send(context, number, now);
        callers[number - 1] = transport_now() - now;
    }
    run->page->sent = options->count;
}

static void at_full_speed(transport_run *run, transport_send send, void *context, uint64_t window) {
    uint64_t step = window == 0 ? 64 : window < 256 ? 1 : 64;
    uint64_t end = transport_now() + run->options.milliseconds * 1000000u, number = 0;
    do {
        for (uint64_t i = 0; i < step; i++) send(context, ++number, 1);
        while (window > 0 && slowest(run) + window < number + step) transport_pause();
    } while (transport_now() < end);
    run->page->sent = number;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
// In batches, of which the median counts: a mean would tell for how long somebody else had the processor.
static void tight(transport_run *run, transport_send send, void *context) {
    enum { BATCHES = 101 };
    uint64_t times[BATCHES], batch = run->options.count / BATCHES, number = 0;
    if (batch == 0) batch = 1;
    for (uint64_t i = 0; i < 20000; i++) send(context, TRANSPORT_PROBE, 0);
    for (int i = 0; i < BATCHES; i++) {
        uint64_t start = transport_now();
        for (uint64_t j = 0; j < batch; j++) send(context, ++number, 1);
        times[i] = transport_now() - start;
    }
    qsort(times, BATCHES, sizeof *times, compare);
    run->page->tight_picoseconds = times[BATCHES / 2] * 1000 / batch;
    run->page->sent = number;
}

static void wake(transport_run *run, transport_send send, void *context) {
    uint64_t count = run->options.count, *callers = transport_callers(run->page, count);
    uint64_t *cpus = transport_cpu_times(run->page, count), *walls = transport_wall_times(run->page, count);
    for (uint64_t number = 1; number <= count; number++) {
        // All asleep; the caller is not: its own awaking is no part of it.
        usleep(15000);
        wait_until(transport_now() + 2000000, true);
        uint64_t cpu = cpu_time(), now = transport_now();
        send(context, number, now);
        callers[number - 1] = transport_now() - now;
        uint64_t limit = now + 5000000000u;
        while (slowest(run) < number) {
            usleep(50);
            if (transport_now() > limit) transport_fail("wake", "a receiver did not wake up within 5 s");
        }
        walls[number - 1] = transport_now() - now;
        cpus[number - 1] = cpu_time() - cpu;
    }
    run->page->sent = count;
}

void transport_send_all(transport_run *run, transport_send send, void *context) {
    const transport_options *options = &run->options;
    transport_page *page = run->page;
    send_until(run, TRANSPORT_HEARD, send, context, TRANSPORT_PROBE, "probe");
    transport_store_word(&page->state, TRANSPORT_PREPARED);
    while (!transport_load_word(&page->go)) usleep(500);
    transport_confine(options->processor);
    uint64_t cpu = cpu_time();
    page->started_at = transport_now();
    switch (options->load) {
    case TRANSPORT_PACED: paced(run, send, context); break;
    case TRANSPORT_FULL: at_full_speed(run, send, context, 0); break;
    case TRANSPORT_LOSSLESS: at_full_speed(run, send, context, options->window); break;
    case TRANSPORT_TIGHT: tight(run, send, context); break;
    case TRANSPORT_WAKE: wake(run, send, context); break;
    case TRANSPORT_STOPS: transport_fail("load", "a probe sends nothing");
    }
    page->ended_at = transport_now();
    // Those whose receivers are stopped hear no end: the harness ends them.
    if (options->load != TRANSPORT_TIGHT) send_until(run, TRANSPORT_FINISHED, send, context, TRANSPORT_END, "end");
    page->cpu = cpu_time() - cpu;
    transport_store_word(&page->state, TRANSPORT_DONE);
    close(run->done);
}
