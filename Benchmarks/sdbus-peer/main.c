// A sender and a receiver of signals as plain sd-bus programs are written.
#include <string.h>
#include <systemd/sd-bus.h>

#include "peer_support.h"

static void check(int result, const char *what) {
    if (result < 0) peer_fail(what, strerror(-result));
}

static sd_bus *connect_to(const char *address) {
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "bus");
    check(sd_bus_set_address(bus, address), address);
    check(sd_bus_set_bus_client(bus, 1), "bus client");
    check(sd_bus_start(bus), address);
    const char *name;
    check(sd_bus_get_unique_name(bus, &name), "register");
    return bus;
}

static int send_all(const peer_options *options) {
    sd_bus *bus = connect_to(options->bus);
    peer_ready();
    peer_wait_for_go();
    uint64_t start = peer_now();
    for (uint64_t number = 1; number <= options->count; number++) {
        peer_pace(start, number, options->rate);
        sd_bus_message *message = NULL;
        check(sd_bus_message_new_signal(bus, &message, PEER_PATH, PEER_INTERFACE, PEER_MEMBER), "signal");
        check(sd_bus_message_append(message, "ttsxttt", number, peer_now(), PEER_TEXT, -(int64_t)number, number,
                  number - 1, peer_wall_clock()),
            "append");
        check(sd_bus_send(bus, message, NULL), "send");
        sd_bus_message_unref(message);
        // The send above wrote what the socket took; the rest has to wait for the bus.
        check(sd_bus_flush(bus), "flush");
    }
    peer_report_sent(options->count, start);
    sd_bus_flush_close_unref(bus);
    return 0;
}

static int received(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    uint64_t number, sent_at, sequence, previous, published_at;
    int64_t a;
    const char *text;
    check(sd_bus_message_read(message, "ttsxttt", &number, &sent_at, &text, &a, &sequence, &previous, &published_at),
        "signal");
    if (strlen(text) != strlen(PEER_TEXT) || a != -(int64_t)number || sequence != number)
        peer_fail("signal", "its fields are not what was sent");
    peer_record(number, sent_at);
    return 0;
}

static int receive_all(const peer_options *options) {
    sd_bus *bus = connect_to(options->bus);
    peer_expect(options->count);
    check(sd_bus_match_signal(bus, NULL, NULL, PEER_PATH, PEER_INTERFACE, PEER_MEMBER, received, NULL), "match");
    peer_ready();
    while (!peer_has_last()) {
        int result = sd_bus_process(bus, NULL);
        check(result, "process");
        if (result > 0) continue;
        if (peer_is_done(options)) break;
        check(sd_bus_wait(bus, 100000), "wait");
    }
    peer_report_received();
    sd_bus_flush_close_unref(bus);
    return 0;
}

int main(int argc, char **argv) {
    peer_options options = peer_parse(argc, argv);
    return options.sends ? send_all(&options) : receive_all(&options);
}
