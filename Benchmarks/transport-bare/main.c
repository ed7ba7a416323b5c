// The least that two processes can do: one word that says "there is something", in memory that both have mapped.
//
//   words    number and time of sending in one line of the cache: the physical limit
//   payload  one of eight payloads, then the number
//
// Or nothing at all: with the load TRANSPORT_STOPS both look for how long the machine stops them.
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

#include "transport_support.h"

static transport_run run;
static bool has_payload;
static uint64_t handed;

static void send_event(void *context, uint64_t number, uint64_t sent_at) {
    (void)context;
    transport_page *page = run.page;
    // Probes and ends have their places in the order, too.
    uint64_t turn = ++handed;
    uint64_t *slot = page->slots[turn % TRANSPORT_SLOTS];
    if (has_payload) {
        transport_fill(slot, run.options.size, number, sent_at);
    } else {
        // The number of a special event does not fit beside the time.
        bool is_special = number == TRANSPORT_PROBE || number == TRANSPORT_END;
        __atomic_store_n(&page->sent_at, is_special ? number : sent_at, __ATOMIC_RELAXED);
    }
    transport_store_word(&page->number, turn);
    if (!run.options.spins) syscall(SYS_futex, &page->number, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wait_for_other(uint64_t seen) {
    transport_page *page = run.page;
    if (run.options.spins) {
        while (transport_load_word(&page->number) == seen) transport_pause();
        return;
    }
    struct timespec limit = {.tv_nsec = 100000000};
    // The futex is the low half of the word.
    while (transport_load_word(&page->number) == seen)
        syscall(SYS_futex, &page->number, FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
}

static void receive_words(void) {
    uint64_t seen = 0, first = 0;
    while (true) {
        wait_for_other(seen);
        seen = transport_load_word(&run.page->number);
        uint64_t sent_at = __atomic_load_n(&run.page->sent_at, __ATOMIC_RELAXED);
        bool is_special = sent_at == TRANSPORT_PROBE || sent_at == TRANSPORT_END;
        // Numbers count from the last probe on.
        if (sent_at == TRANSPORT_PROBE) first = seen;
        if (transport_take_checked(&run, is_special ? sent_at : seen - first, sent_at, true)) return;
    }
}

static void receive_payloads(void) {
    uint64_t seen = 0;
    while (true) {
        wait_for_other(seen);
        seen = transport_load_word(&run.page->number);
        const uint64_t *slot = run.page->slots[seen % TRANSPORT_SLOTS];
        bool is_whole = transport_is_whole(slot, run.options.size);
        uint64_t number = transport_number(slot);
        // What was written over while it was read did not come, and what took its place comes in its turn.
        bool is_special = number == TRANSPORT_PROBE || number == TRANSPORT_END;
        if (!is_whole || (!is_special && number <= run.last)) continue;
        if (transport_take_checked(&run, number, slot[1], true)) return;
    }
}

int main(int argc, char **argv) {
    run = transport_begin(argc, argv);
    has_payload = strcmp(run.options.variant, "payload") == 0;
    if (run.options.load == TRANSPORT_STOPS) {
        transport_probe_stops(&run);
    } else if (run.options.sends) {
        transport_send_all(&run, send_event, NULL);
    } else {
        transport_attached(&run);
        if (has_payload) receive_payloads();
        else receive_words();
    }
    return 0;
}
