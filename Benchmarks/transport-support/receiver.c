#define _GNU_SOURCE
#include <time.h>

#include "payload.h"

void transport_attached(transport_run *run) { transport_store_word(&run->own->state, TRANSPORT_ATTACHED); }

static uint64_t cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Probes and ends: rare, and kept out of the way of what is measured.
static __attribute__((noinline)) bool take_special(transport_run *run, uint64_t number) {
    transport_receiver *own = run->own;
    uint64_t state = transport_load_word(&own->state);
    if (number == TRANSPORT_PROBE) {
        if (state >= TRANSPORT_HEARD) return false;
        transport_confine(run->options.processor);
        transport_store_word(&own->state, TRANSPORT_HEARD);
        return false;
    }
    if (state == TRANSPORT_FINISHED) return true;
    own->last_at = transport_now();
    own->cpu = cpu_time() - run->cpu_at_start;
    transport_store_word(&own->progress, TRANSPORT_END);
    transport_store_word(&own->state, TRANSPORT_FINISHED);
    return true;
}
static __attribute__((noinline)) void take_first(transport_run *run) {
    run->own->first_at = transport_now();
    run->cpu_at_start = cpu_time();
}

bool transport_take_checked(transport_run *run, uint64_t number, uint64_t sent_at, bool is_whole) {
    if (number == TRANSPORT_PROBE || number == TRANSPORT_END) return take_special(run, number);
    transport_receiver *own = run->own;
    if (run->options.load == TRANSPORT_PACED) {
        uint64_t now = transport_now();
        // 0 is for what never came.
        if (number <= run->options.count) run->latencies[number - 1] = now > sent_at ? now - sent_at : 1;
    }
    if (!is_whole) own->damaged++;
    if (run->last == 0) take_first(run);
    if (number <= run->last) own->reordered++;
    else run->last = number;
    own->received++;
    if (run->last % run->stride == 0) transport_store_word(&own->progress, run->last);
    return false;
}

bool transport_is_whole(const void *payload, uint32_t size) {
    const transport_payload *event = (const transport_payload *)payload;
    switch (size) {
    case 64: return transport_sums_up(event, 64);
    case 256: return transport_sums_up(event, 256);
    case 1024: return transport_sums_up(event, 1024);
    case 4096: return transport_sums_up(event, 4096);
    default: return transport_sums_up(event, size);
    }
}
uint64_t transport_number(const void *payload) { return ((const transport_payload *)payload)->number; }

bool transport_take(transport_run *run, const void *payload) {
    bool is_whole = transport_is_whole(payload, run->options.size);
    const transport_payload *event = (const transport_payload *)payload;
    return transport_take_checked(run, event->number, event->sent_at, is_whole);
}

void transport_receive_all(transport_run *run, transport_next next, transport_release release, void *context) {
    transport_attached(run);
    while (true) {
        const void *payload = next(context);
        if (!payload) {
            if (run->options.spins) transport_pause();
            continue;
        }
        bool is_end = transport_take(run, payload);
        if (release) release(context);
        if (is_end) return;
    }
}
