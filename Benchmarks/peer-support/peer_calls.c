#define _GNU_SOURCE
#include "peer_support.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The service's side: when its events began, 0 before the harness's line.
static _Atomic uint64_t events_start;
static uint64_t events_sent;

static void *mind_stdin(void *unused) {
    (void)unused;
    char line[16];
    while (fgets(line, sizeof line, stdin)) atomic_store(&events_start, peer_now());
    // What the calls' tail costs nobody reads: the harness has all its figures.
    _exit(0);
}

void peer_serve(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, mind_stdin, NULL) != 0) peer_fail("thread", "there is none for stdin");
    pthread_detach(thread);
    peer_ready();
}

bool peer_event_is_due(const peer_options *options, uint64_t *number) {
    if (events_sent == options->count) return false;
    uint64_t start = atomic_load(&events_start);
    if (start == 0 || peer_now() < start + events_sent * 1000000000u / options->rate) return false;
    *number = ++events_sent;
    return true;
}

int peer_idle_milliseconds(const peer_options *options) {
    if (events_sent == options->count) return -1;
    uint64_t start = atomic_load(&events_start), now = peer_now();
    // Looks for the harness's line a hundred times a second.
    if (start == 0) return 10;
    uint64_t due = start + events_sent * 1000000000u / options->rate;
    return due <= now ? 0 : (int)((due - now + 999999) / 1000000);
}

// The caller's side: of one thread.
static struct {
    uint64_t start, end, last_at, sent, answered, capacity;
    uint64_t *latencies;
    double quiet_seconds;
} calls;

void peer_calls_begin(const peer_options *options) {
    calls.quiet_seconds = options->quiet_seconds;
    calls.start = calls.last_at = peer_now();
    calls.end = calls.start + (uint64_t)(options->seconds * 1e9);
}

bool peer_call_next(uint64_t *called_at) {
    uint64_t now = peer_now();
    if (now >= calls.end) return false;
    calls.sent++;
    *called_at = now;
    return true;
}

void peer_answered(uint64_t called_at) {
    if (calls.answered == calls.capacity) {
        calls.capacity = calls.capacity == 0 ? 1 << 16 : calls.capacity * 2;
        calls.latencies = realloc(calls.latencies, calls.capacity * sizeof *calls.latencies);
        if (!calls.latencies) peer_fail("statistics", "out of memory");
    }
    calls.last_at = peer_now();
    calls.latencies[calls.answered++] = calls.last_at - called_at;
}

bool peer_calls_are_over(void) {
    uint64_t now = peer_now();
    if (now < calls.end) return false;
    return calls.answered == calls.sent || (double)(now - calls.end) / 1e9 > calls.quiet_seconds;
}

void peer_report_called(const peer_options *options) {
    peer_report_calls(options, calls.sent, calls.latencies, calls.answered, calls.start, calls.last_at);
}

void peer_report_calls(const peer_options *options, uint64_t sent, const uint64_t *latencies, uint64_t answered,
    uint64_t start, uint64_t end) {
    double cpu = peer_cpu();
    FILE *file = fopen(options->latencies, "we");
    if (!file) peer_fail(options->latencies, "cannot be written");
    if (fwrite(latencies, sizeof *latencies, answered, file) != answered || fclose(file) != 0)
        peer_fail(options->latencies, "cannot be written");
    printf("{\"sent\":%" PRIu64 ",\"answered\":%" PRIu64 ",\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"cpu\":%.6f}\n", sent,
        answered, start, end, cpu);
    fflush(stdout);
}

void peer_call_all(const peer_options *options, void *connection, const peer_caller *caller) {
    for (int i = 0; i < 100; i++) caller->once(connection);
    peer_ready();
    peer_wait_for_go();
    peer_calls_begin(options);
    if (options->flight == 1) {
        for (uint64_t called_at; peer_call_next(&called_at); peer_answered(called_at)) caller->once(connection);
    } else {
        peer_place places[64];
        for (uint64_t i = 0; i < options->flight; i++) {
            places[i].connection = connection;
            caller->next(&places[i]);
        }
        while (!peer_calls_are_over() && caller->turn(connection)) {}
    }
    peer_report_called(options);
}

int peer_run(int argc, char *const *argv, const peer_roles *roles) {
    peer_options options = peer_parse(argc, argv);
    int (*const all[])(const peer_options *) = {
        [PEER_SEND] = roles->send, [PEER_RECEIVE] = roles->receive, [PEER_ANSWER] = roles->answer, [PEER_CALL] = roles->call};
    if (!all[options.role]) peer_fail(argv[1], "this peer does not do that");
    return all[options.role](&options);
}
