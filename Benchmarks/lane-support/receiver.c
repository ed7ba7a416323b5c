#define _GNU_SOURCE
#include <time.h>

#include "payload.h"

void lane_attached(lane_run *run) { lane_store_word(&run->own->state, LANE_ATTACHED); }

static uint64_t cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Probes and ends: rare, and kept out of the way of what is measured.
static __attribute__((noinline)) bool take_special(lane_run *run, uint64_t number) {
    lane_receiver *own = run->own;
    uint64_t state = lane_load_word(&own->state);
    if (number == LANE_PROBE) {
        if (state >= LANE_HEARD) return false;
        lane_confine(run->options.processor);
        lane_store_word(&own->state, LANE_HEARD);
        return false;
    }
    if (state == LANE_FINISHED) return true;
    own->last_at = lane_now();
    own->cpu = cpu_time() - run->cpu_at_start;
    lane_store_word(&own->progress, LANE_END);
    lane_store_word(&own->state, LANE_FINISHED);
    return true;
}
static __attribute__((noinline)) void take_first(lane_run *run) {
    run->own->first_at = lane_now();
    run->cpu_at_start = cpu_time();
}

bool lane_take_checked(lane_run *run, uint64_t number, uint64_t sent_at, bool is_whole) {
    if (number == LANE_PROBE || number == LANE_END) return take_special(run, number);
    lane_receiver *own = run->own;
    if (run->options.load == LANE_PACED) {
        uint64_t now = lane_now();
        // 0 is for what never came.
        if (number <= run->options.count) run->latencies[number - 1] = now > sent_at ? now - sent_at : 1;
    }
    if (!is_whole) own->damaged++;
    if (run->last == 0) take_first(run);
    if (number <= run->last) own->reordered++;
    else run->last = number;
    own->received++;
    if (run->last % run->stride == 0) lane_store_word(&own->progress, run->last);
    return false;
}

bool lane_is_whole(const void *payload, uint32_t size) {
    const lane_payload *event = (const lane_payload *)payload;
    switch (size) {
    case 64: return lane_sums_up(event, 64);
    case 256: return lane_sums_up(event, 256);
    case 1024: return lane_sums_up(event, 1024);
    case 4096: return lane_sums_up(event, 4096);
    default: return lane_sums_up(event, size);
    }
}
uint64_t lane_number(const void *payload) { return ((const lane_payload *)payload)->number; }

bool lane_take(lane_run *run, const void *payload) {
    bool is_whole = lane_is_whole(payload, run->options.size);
    const lane_payload *event = (const lane_payload *)payload;
    return lane_take_checked(run, event->number, event->sent_at, is_whole);
}

void lane_receive_all(lane_run *run, lane_next next, lane_release release, void *context) {
    lane_attached(run);
    while (true) {
        const void *payload = next(context);
        if (!payload) {
            if (run->options.spins) lane_pause();
            continue;
        }
        bool is_end = lane_take(run, payload);
        if (release) release(context);
        if (is_end) return;
    }
}
