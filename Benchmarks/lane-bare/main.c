// The least that two processes can do: one word that says "there is something", in memory that both have mapped.
//
//   words    number and time of sending in one line of the cache: the physical limit
//   payload  one of eight payloads, then the number
//
// Spinning, or with a futex. No queue: what comes too late replaces what was before.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lane_support.h"

static lane_run run;
static bool has_payload;
static uint64_t handed;

static void send_event(void *context, uint64_t number, uint64_t sent_at) {
    (void)context;
    lane_page *page = run.page;
    // Probes and ends have their places in the order, too.
    uint64_t turn = ++handed;
    uint64_t *slot = page->slots[turn % LANE_SLOTS];
    if (has_payload) {
        lane_fill(slot, run.options.size, number, sent_at);
    } else {
        // The number of a special event does not fit beside the time.
        __atomic_store_n(&page->sent_at, number == LANE_PROBE || number == LANE_END ? number : sent_at, __ATOMIC_RELAXED);
    }
    lane_store_word(&page->number, turn);
    if (!run.options.spins) syscall(SYS_futex, &page->number, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wait_for_other(uint64_t seen) {
    lane_page *page = run.page;
    if (run.options.spins) {
        while (lane_load_word(&page->number) == seen) lane_pause();
        return;
    }
    struct timespec limit = {.tv_nsec = 100000000};
    // The futex is the low half of the word.
    while (lane_load_word(&page->number) == seen)
        syscall(SYS_futex, &page->number, FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
}

static void receive_words(void) {
    uint64_t seen = 0, first = 0;
    while (true) {
        wait_for_other(seen);
        seen = lane_load_word(&run.page->number);
        uint64_t sent_at = __atomic_load_n(&run.page->sent_at, __ATOMIC_RELAXED);
        bool is_special = sent_at == LANE_PROBE || sent_at == LANE_END;
        // Numbers count from the last probe on.
        if (sent_at == LANE_PROBE) first = seen;
        if (lane_take_checked(&run, is_special ? sent_at : seen - first, sent_at, true)) return;
    }
}

static void receive_payloads(void) {
    uint64_t seen = 0;
    while (true) {
        wait_for_other(seen);
        seen = lane_load_word(&run.page->number);
        const uint64_t *slot = run.page->slots[seen % LANE_SLOTS];
        bool is_whole = lane_is_whole(slot, run.options.size);
        uint64_t number = lane_number(slot);
        // What was written over while it was read did not come, and what took its place comes in its turn.
        bool is_special = number == LANE_PROBE || number == LANE_END;
        if (!is_whole || (!is_special && number <= run.last)) continue;
        if (lane_take_checked(&run, number, slot[1], true)) return;
    }
}

int main(int argc, char **argv) {
    run = lane_begin(argc, argv);
    has_payload = strcmp(run.options.variant, "payload") == 0;
    if (run.options.sends) {
        lane_send_all(&run, send_event, NULL);
    } else {
        lane_attached(&run);
        if (has_payload) receive_payloads();
        else receive_words();
    }
    return 0;
}
