// A sender and a receiver of signals, a service and its caller, as plain libdbus programs are written: the measure for ours.
#include <dbus/dbus.h>
#include <stdlib.h>
#include <string.h>

#include "peer_support.h"

static DBusConnection *connect_to(const char *address) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_connection_open_private(address, &error);
    if (!connection) peer_fail(address, error.message);
    dbus_connection_set_exit_on_disconnect(connection, FALSE);
    if (!dbus_bus_register(connection, &error)) peer_fail("register", error.message);
    return connection;
}

static void send_event(DBusConnection *connection, uint64_t number) {
    const char *text = PEER_TEXT;
    DBusMessage *message = dbus_message_new_signal(PEER_PATH, PEER_INTERFACE, PEER_MEMBER);
    if (!message) peer_fail("signal", "out of memory");
    dbus_uint64_t sent_at = peer_now(), sequence = number, previous = number - 1, published_at = peer_wall_clock();
    dbus_int64_t a = -(dbus_int64_t)number;
    if (!dbus_message_append_args(message, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_UINT64, &sent_at, DBUS_TYPE_STRING,
            &text, DBUS_TYPE_INT64, &a, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_UINT64, &previous, DBUS_TYPE_UINT64,
            &published_at, DBUS_TYPE_INVALID))
        peer_fail("append", "out of memory");
    if (!dbus_connection_send(connection, message, NULL)) peer_fail("send", "out of memory");
    dbus_message_unref(message);
    // The send above wrote what the socket took; the rest has to wait for the bus.
    if (dbus_connection_has_messages_to_send(connection)) dbus_connection_flush(connection);
}

static int send_all(const peer_options *options) {
    DBusConnection *connection = connect_to(options->bus);
    peer_ready();
    peer_wait_for_go();
    uint64_t start = peer_now();
    for (uint64_t number = 1; number <= options->count; number++) {
        peer_pace(start, number, options->rate);
        send_event(connection, number);
    }
    dbus_connection_flush(connection);
    peer_report_sent(options->count, start);
    if (!dbus_connection_get_is_connected(connection)) peer_fail("send", "the bus closed the connection");
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
    return 0;
}

static DBusHandlerResult received(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)connection, (void)data;
    if (!dbus_message_is_signal(message, PEER_INTERFACE, PEER_MEMBER)) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    dbus_uint64_t number, sent_at, sequence, previous, published_at;
    dbus_int64_t a;
    const char *text;
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_message_get_args(message, &error, DBUS_TYPE_UINT64, &number, DBUS_TYPE_UINT64, &sent_at, DBUS_TYPE_STRING,
            &text, DBUS_TYPE_INT64, &a, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_UINT64, &previous, DBUS_TYPE_UINT64,
            &published_at, DBUS_TYPE_INVALID))
        peer_fail("signal", error.message);
    if (strlen(text) != strlen(PEER_TEXT) || a != -(dbus_int64_t)number || sequence != number)
        peer_fail("signal", "its fields are not what was sent");
    peer_record(number, sent_at);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static int receive_all(const peer_options *options) {
    DBusConnection *connection = connect_to(options->bus);
    peer_expect(options->count);
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_connection_add_filter(connection, received, NULL, NULL)) peer_fail("filter", "out of memory");
    dbus_bus_add_match(connection,
        "type='signal',path='" PEER_PATH "',interface='" PEER_INTERFACE "',member='" PEER_MEMBER "'", &error);
    if (dbus_error_is_set(&error)) peer_fail("match", error.message);
    peer_ready();
    while (!peer_has_last() && dbus_connection_read_write_dispatch(connection, 100)) {
        // The clock is read when there is nothing else to do.
        if (dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_COMPLETE && peer_is_done(options)) break;
    }
    peer_report_received();
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
    return 0;
}

static void append_text(DBusMessage *message, const char *text) {
    if (!message || !dbus_message_append_args(message, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        peer_fail("message", "out of memory");
}

static DBusHandlerResult called(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)data;
    if (!dbus_message_is_method_call(message, PEER_CALLS, PEER_ECHO)) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    const char *text;
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_message_get_args(message, &error, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        peer_fail("call", error.message);
    DBusMessage *reply = dbus_message_new_method_return(message);
    append_text(reply, text);
    if (!dbus_connection_send(connection, reply, NULL)) peer_fail("reply", "out of memory");
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static _Noreturn int answer_all(const peer_options *options) {
    if (options->directory) peer_fail("--directory", "the durable command is sdbus-peer's");
    DBusConnection *connection = connect_to(options->bus);
    DBusObjectPathVTable object = {.message_function = called};
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_connection_register_object_path(connection, PEER_CALLS_PATH, &object, NULL))
        peer_fail("object", "out of memory");
    if (dbus_bus_request_name(connection, PEER_SERVICE, DBUS_NAME_FLAG_DO_NOT_QUEUE, &error)
        != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
        peer_fail(PEER_SERVICE, error.message ? error.message : "somebody else has it");
    peer_serve();
    while (dbus_connection_read_write_dispatch(connection, peer_idle_milliseconds(options)))
        for (uint64_t number; peer_event_is_due(options, &number);) send_event(connection, number);
    peer_fail("answer", "the bus closed the connection");
}

static void check_reply(DBusMessage *reply) {
    const char *text;
    DBusError error = DBUS_ERROR_INIT;
    if (dbus_set_error_from_message(&error, reply)
        || !dbus_message_get_args(reply, &error, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        peer_fail("reply", error.message);
    if (strcmp(text, PEER_TEXT) != 0) peer_fail("reply", "it is not what was sent");
    dbus_message_unref(reply);
}

static DBusMessage *new_call(void) {
    DBusMessage *message = dbus_message_new_method_call(PEER_SERVICE, PEER_CALLS_PATH, PEER_CALLS, PEER_ECHO);
    append_text(message, PEER_TEXT);
    return message;
}

static void call_once(void *connection) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *message = new_call(), *reply = dbus_connection_send_with_reply_and_block(connection, message, -1, &error);
    dbus_message_unref(message);
    if (!reply) peer_fail("call", error.message);
    check_reply(reply);
}

static void replied(DBusPendingCall *pending, void *data);

static void call_next(peer_place *mine) {
    if (!peer_call_next(&mine->called_at)) return;
    DBusMessage *message = new_call();
    DBusPendingCall *pending = NULL;
    if (!dbus_connection_send_with_reply(mine->connection, message, &pending, -1) || !pending
        || !dbus_pending_call_set_notify(pending, replied, mine, NULL))
        peer_fail("call", "out of memory, or the bus closed the connection");
    dbus_message_unref(message);
    dbus_pending_call_unref(pending);
}

static void replied(DBusPendingCall *pending, void *data) {
    peer_place *mine = data;
    check_reply(dbus_pending_call_steal_reply(pending));
    peer_answered(mine->called_at);
    call_next(mine);
}

static bool turn(void *connection) { return dbus_connection_read_write_dispatch(connection, 100); }

static int call_all(const peer_options *options) {
    if (options->directory) peer_fail("--directory", "the durable command is sdbus-peer's");
    peer_call_all(options, connect_to(options->bus), &(peer_caller){call_once, call_next, turn});
    return 0;
}

int main(int argc, char **argv) {
    return peer_run(argc, argv, &(peer_roles){send_all, receive_all, answer_all, call_all});
}
