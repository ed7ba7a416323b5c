// A sender and a receiver of signals as plain libdbus programs are written: the measure for ours.
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

static int send_all(const peer_options *options) {
    DBusConnection *connection = connect_to(options->bus);
    peer_ready();
    peer_wait_for_go();
    const char *text = PEER_TEXT;
    uint64_t start = peer_now();
    for (uint64_t number = 1; number <= options->count; number++) {
        peer_pace(start, number, options->rate);
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

int main(int argc, char **argv) {
    peer_options options = peer_parse(argc, argv);
    return options.sends ? send_all(&options) : receive_all(&options);
}
