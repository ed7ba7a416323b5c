// A receiver of signals, a service and its caller, as plain GDBus programs are written.
#include <gio/gio.h>
#include <string.h>

#include "peer_support.h"

static GDBusConnection *connect_to(const char *address) {
    GError *error = NULL;
    GDBusConnection *connection = g_dbus_connection_new_for_address_sync(address,
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, &error);
    if (!connection) peer_fail(address, error->message);
    return connection;
}

static void received(GDBusConnection *connection, const gchar *sender, const gchar *path, const gchar *interface,
    const gchar *member, GVariant *parameters, gpointer data) {
    (void)connection, (void)sender, (void)path, (void)interface, (void)member, (void)data;
    guint64 number, sent_at, sequence, previous, published_at;
    gint64 a;
    const gchar *text;
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ttsxttt)"))) peer_fail("signal", "its signature is another");
    g_variant_get(parameters, "(tt&sxttt)", &number, &sent_at, &text, &a, &sequence, &previous, &published_at);
    if (strlen(text) != strlen(PEER_TEXT) || a != -(gint64)number || sequence != number)
        peer_fail("signal", "its fields are not what was sent");
    peer_record(number, sent_at);
}

static gboolean look(gpointer data) {
    (void)data;
    return G_SOURCE_CONTINUE;
}

static int receive_all(const peer_options *options) {
    GDBusConnection *connection = connect_to(options->bus);
    peer_expect(options->count);
    GError *error = NULL;
    g_dbus_connection_signal_subscribe(connection, NULL, PEER_INTERFACE, PEER_MEMBER, PEER_PATH, NULL,
        G_DBUS_SIGNAL_FLAGS_NONE, received, NULL, NULL);
    // It sent its AddMatch without waiting: behind a call's reply the bus has it.
    GVariant *id = g_dbus_connection_call_sync(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "GetId", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    if (!id) peer_fail("match", error->message);
    g_variant_unref(id);
    // The clock is read when nothing comes, too.
    g_timeout_add(100, look, NULL);
    peer_ready();
    while (!peer_has_last() && !peer_is_done(options)) g_main_context_iteration(NULL, TRUE);
    peer_report_received();
    return 0;
}

static void called(GDBusConnection *connection, const gchar *sender, const gchar *path, const gchar *interface,
    const gchar *method, GVariant *parameters, GDBusMethodInvocation *invocation, gpointer data) {
    (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)data;
    const gchar *text;
    g_variant_get(parameters, "(&s)", &text);
    g_dbus_method_invocation_return_value(invocation, g_variant_new("(s)", text));
}

typedef struct {
    const peer_options *options;
    GDBusConnection *connection;
} service;

static gboolean send_events(gpointer data) {
    service *mine = data;
    for (uint64_t number; peer_event_is_due(mine->options, &number);) {
        GError *error = NULL;
        GVariant *body = g_variant_new("(ttsxttt)", (guint64)number, (guint64)peer_now(), PEER_TEXT, -(gint64)number,
            (guint64)number, (guint64)(number - 1), (guint64)peer_wall_clock());
        if (!g_dbus_connection_emit_signal(mine->connection, NULL, PEER_PATH, PEER_INTERFACE, PEER_MEMBER, body, &error))
            peer_fail("signal", error->message);
    }
    int idle = peer_idle_milliseconds(mine->options);
    if (idle >= 0) g_timeout_add((guint)idle, send_events, mine);
    return G_SOURCE_REMOVE;
}

static int answer_all(const peer_options *options) {
    if (options->directory) peer_fail("--directory", "the durable command is sdbus-peer's");
    service mine = {.options = options, .connection = connect_to(options->bus)};
    GError *error = NULL;
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml("<node><interface name='" PEER_CALLS "'><method name='" PEER_ECHO "'>"
        "<arg type='s' direction='in'/><arg type='s' direction='out'/></method></interface></node>", &error);
    if (!node) peer_fail("object", error->message);
    static const GDBusInterfaceVTable object = {.method_call = called};
    if (g_dbus_connection_register_object(mine.connection, PEER_CALLS_PATH, node->interfaces[0], &object, NULL, NULL, &error) == 0)
        peer_fail("object", error->message);
    GVariant *answer = g_dbus_connection_call_sync(mine.connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
        "org.freedesktop.DBus", "RequestName", g_variant_new("(su)", PEER_SERVICE, 4u), G_VARIANT_TYPE("(u)"),
        G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    if (!answer) peer_fail(PEER_SERVICE, error->message);
    guint32 outcome;
    g_variant_get(answer, "(u)", &outcome);
    if (outcome != 1) peer_fail(PEER_SERVICE, "somebody else has it");
    peer_serve();
    send_events(&mine);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 1;
}

static void check_reply(GVariant *reply, GError *error) {
    if (!reply) peer_fail("reply", error->message);
    const gchar *text;
    g_variant_get(reply, "(&s)", &text);
    if (strcmp(text, PEER_TEXT) != 0) peer_fail("reply", "it is not what was sent");
    g_variant_unref(reply);
}

static void call_once(void *connection) {
    GError *error = NULL;
    check_reply(g_dbus_connection_call_sync(connection, PEER_SERVICE, PEER_CALLS_PATH, PEER_CALLS, PEER_ECHO,
        g_variant_new("(s)", PEER_TEXT), G_VARIANT_TYPE("(s)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error), error);
}

static void replied(GObject *source, GAsyncResult *result, gpointer data);

static void call_next(peer_place *mine) {
    if (!peer_call_next(&mine->called_at)) return;
    g_dbus_connection_call(mine->connection, PEER_SERVICE, PEER_CALLS_PATH, PEER_CALLS, PEER_ECHO,
        g_variant_new("(s)", PEER_TEXT), G_VARIANT_TYPE("(s)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, replied, mine);
}

static void replied(GObject *source, GAsyncResult *result, gpointer data) {
    peer_place *mine = data;
    GError *error = NULL;
    check_reply(g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error), error);
    peer_answered(mine->called_at);
    call_next(mine);
}

static bool turn(void *connection) {
    (void)connection;
    g_main_context_iteration(NULL, TRUE);
    return true;
}

static int call_all(const peer_options *options) {
    if (options->directory) peer_fail("--directory", "the durable command is sdbus-peer's");
    g_timeout_add(100, look, NULL);
    peer_call_all(options, connect_to(options->bus), &(peer_caller){call_once, call_next, turn});
    return 0;
}

int main(int argc, char **argv) {
    // signal-bench does not measure GDBus: it does not send.
    return peer_run(argc, argv, &(peer_roles){NULL, receive_all, answer_all, call_all});
}
