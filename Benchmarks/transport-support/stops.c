#include <unistd.h>

#include "transport_support.h"

// Two readings of the clock are some tens of nanoseconds apart. One that finds more did not have the processor.
enum { LEAST_STOP = 1000 };

static void spin(const transport_run *run, uint64_t *lengths) {
    uint64_t count = 0, last = transport_now(), end = last + run->options.milliseconds * 1000000u;
    while (last < end) {
        uint64_t now = transport_now();
        if (now - last >= LEAST_STOP) {
            if (count == run->options.count) transport_fail("stops", "more than there is room for");
            lengths[count++] = now - last;
        }
        last = now;
    }
}

void transport_probe_stops(transport_run *run) {
    transport_page *page = run->page;
    uint64_t *other = &page->receivers[0].state;
    if (!run->options.sends) {
        transport_store_word(&run->own->state, TRANSPORT_HEARD);
        while (!transport_load_word(&page->go)) usleep(500);
        transport_confine(run->options.processor);
        spin(run, run->latencies);
        transport_store_word(&run->own->state, TRANSPORT_FINISHED);
        return;
    }
    while (transport_load_word(other) < TRANSPORT_HEARD) usleep(500);
    transport_store_word(&page->state, TRANSPORT_PREPARED);
    while (!transport_load_word(&page->go)) usleep(500);
    transport_confine(run->options.processor);
    spin(run, transport_callers(page, run->options.count));
    while (transport_load_word(other) < TRANSPORT_FINISHED) usleep(500);
    transport_store_word(&page->state, TRANSPORT_DONE);
    close(run->done);
}
