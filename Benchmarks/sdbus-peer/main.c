// A sender and a receiver of signals, a service and its caller, as plain sd-bus programs are written.
#include <string.h>
#include <systemd/sd-bus.h>

#include "journal_rows.h"
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

static void send_event(sd_bus *bus, uint64_t number) {
    sd_bus_message *message = NULL;
    check(sd_bus_message_new_signal(bus, &message, PEER_PATH, PEER_INTERFACE, PEER_MEMBER), "signal");
    check(sd_bus_message_append(message, "ttsxttt", number, peer_now(), PEER_TEXT, -(int64_t)number, number, number - 1,
              peer_wall_clock()),
        "append");
    check(sd_bus_send(bus, message, NULL), "send");
    sd_bus_message_unref(message);
    // The send above wrote what the socket took; the rest has to wait for the bus.
    check(sd_bus_flush(bus), "flush");
}

static int send_all(const peer_options *options) {
    sd_bus *bus = connect_to(options->bus);
    peer_ready();
    peer_wait_for_go();
    uint64_t start = peer_now();
    for (uint64_t number = 1; number <= options->count; number++) {
        peer_pace(start, number, options->rate);
        send_event(bus, number);
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

static int echo(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    const char *text;
    check(sd_bus_message_read(message, "s", &text), "call");
    return sd_bus_reply_method_return(message, "s", text);
}

// The durable command: what has arrived together is committed together, then announced and answered.
static struct {
    journal_rows *rows;
    sd_bus_message *waiting[1024];
    size_t count;
} keeper;

static int keep(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    keeper.waiting[keeper.count++] = sd_bus_message_ref(message);
    return 1;
}

static void keep_all(sd_bus *bus) {
    if (keeper.count == 0) return;
    int64_t ids[1024];
    uint64_t sequence = journal_rows_last(keeper.rows);
    journal_rows_begin(keeper.rows);
    for (size_t i = 0; i < keeper.count; i++) {
        const char *text;
        check(sd_bus_message_read(keeper.waiting[i], "s", &text), "call");
        if (strlen(text) != strlen(PEER_TEXT)) peer_fail("call", "its text is not what was sent");
        ids[i] = journal_rows_job(keeper.rows, text);
        // As D-Bus has them: an Int64, a text of 24 characters, padding, and the stamp: 8 + 4 + 24 + 1 + 3 + 24.
        _Alignas(8) unsigned char body[64] = {0};
        memcpy(body, &ids[i], 8);
        body[8] = 24;
        memcpy(body + 12, text, 24);
        journal_rows_event(keeper.rows, body, sizeof body);
    }
    journal_rows_commit(keeper.rows);
    for (size_t i = 0; i < keeper.count; i++) {
        const char *text;
        check(sd_bus_message_rewind(keeper.waiting[i], 1), "call");
        check(sd_bus_message_read(keeper.waiting[i], "s", &text), "call");
        sequence++;
        check(sd_bus_emit_signal(bus, PEER_KEPT_PATH, PEER_KEPT, PEER_STORED, "xsttt", ids[i], text, sequence, sequence - 1,
                  peer_wall_clock()),
            "signal");
        check(sd_bus_reply_method_return(keeper.waiting[i], "s", text), "reply");
        sd_bus_message_unref(keeper.waiting[i]);
    }
    keeper.count = 0;
}

static const sd_bus_vtable calls_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD(PEER_ECHO, "s", "s", echo, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};
static const sd_bus_vtable kept_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD(PEER_KEEP, "s", "s", keep, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static _Noreturn int answer_all(const peer_options *options) {
    sd_bus *bus = connect_to(options->bus);
    if (options->directory) {
        keeper.rows = journal_rows_open(options->directory, PEER_KEPT, PEER_STORED);
        check(sd_bus_add_object_vtable(bus, NULL, PEER_KEPT_PATH, PEER_KEPT, kept_vtable, NULL), "object");
    } else {
        check(sd_bus_add_object_vtable(bus, NULL, PEER_CALLS_PATH, PEER_CALLS, calls_vtable, NULL), "object");
    }
    check(sd_bus_request_name(bus, PEER_SERVICE, 0), PEER_SERVICE);
    peer_serve();
    while (true) {
        int result = sd_bus_process(bus, NULL);
        check(result, "process");
        for (uint64_t number; peer_event_is_due(options, &number);) send_event(bus, number);
        if (keeper.count == sizeof keeper.waiting / sizeof *keeper.waiting) keep_all(bus);
        if (result > 0) continue;
        // Nothing more has arrived.
        if (keeper.count > 0) {
            keep_all(bus);
            continue;
        }
        int idle = peer_idle_milliseconds(options);
        check(sd_bus_wait(bus, idle < 0 ? UINT64_MAX : (uint64_t)idle * 1000), "wait");
    }
}

typedef struct {
    const peer_options *options;
    sd_bus *bus;
} caller;

// The call, and what is called: ended by its reply.
static sd_bus_message *new_call(const caller *caller) {
    const peer_options *options = caller->options;
    sd_bus_message *message = NULL;
    const char *path = options->directory ? PEER_KEPT_PATH : PEER_CALLS_PATH;
    const char *interface = options->directory ? PEER_KEPT : PEER_CALLS, *member = options->directory ? PEER_KEEP : PEER_ECHO;
    check(sd_bus_message_new_method_call(caller->bus, &message, PEER_SERVICE, path, interface, member), "call");
    check(sd_bus_message_append(message, "s", PEER_TEXT), "append");
    return message;
}

static void check_reply(sd_bus_message *reply) {
    const sd_bus_error *error = sd_bus_message_get_error(reply);
    if (error) peer_fail("reply", error->message);
    const char *text, *signature = sd_bus_message_get_signature(reply, 1);
    if (!signature || strcmp(signature, "s") != 0) peer_fail("reply", "its signature is not 's'");
    check(sd_bus_message_read(reply, "s", &text), "reply");
    if (strcmp(text, PEER_TEXT) != 0) peer_fail("reply", "it is not what was sent");
}

static void call_once(void *connection) {
    const caller *mine = connection;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *message = new_call(mine), *reply = NULL;
    if (sd_bus_call(mine->bus, message, 0, &error, &reply) < 0) peer_fail("call", error.message);
    sd_bus_message_unref(message);
    check_reply(reply);
    sd_bus_message_unref(reply);
}

static int replied(sd_bus_message *reply, void *data, sd_bus_error *error);

static void call_next(peer_place *mine) {
    if (!peer_call_next(&mine->called_at)) return;
    const caller *caller = mine->connection;
    sd_bus_message *message = new_call(caller);
    check(sd_bus_call_async(caller->bus, NULL, message, replied, mine, 0), "call");
    sd_bus_message_unref(message);
}

static int replied(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    peer_place *mine = data;
    check_reply(reply);
    peer_answered(mine->called_at);
    call_next(mine);
    return 1;
}

static bool turn(void *connection) {
    const caller *mine = connection;
    int result = sd_bus_process(mine->bus, NULL);
    check(result, "process");
    if (result == 0) check(sd_bus_wait(mine->bus, 100000), "wait");
    return true;
}

static int call_all(const peer_options *options) {
    caller mine = {options, connect_to(options->bus)};
    peer_call_all(options, &mine, &(peer_caller){call_once, call_next, turn});
    sd_bus_flush_close_unref(mine.bus);
    return 0;
}

int main(int argc, char **argv) {
    return peer_run(argc, argv, &(peer_roles){send_all, receive_all, answer_all, call_all});
}
