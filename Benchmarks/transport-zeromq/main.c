// ZeroMQ over ipc://, PUB and SUB, with messages that are written in place and never copied by us.
//
// By default PUB drops what is over the high-water mark (1,000 messages a subscriber). Where nothing may be lost, ZMQ_XPUB_NODROP
// lets the sender wait instead. ZeroMQ has no waiting by looking: spinning is zmq_msg_recv with ZMQ_DONTWAIT again and again.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

#include "transport_support.h"

static transport_run run;
static void *channel;
static zmq_msg_t received;

static void check(int result, const char *what) {
    if (result < 0) transport_fail(what, zmq_strerror(zmq_errno()));
}
static void set(int option, int value, const char *name) {
    check(zmq_setsockopt(channel, option, &value, sizeof value), name);
}

static void send_event(void *context, uint64_t number, uint64_t sent_at) {
    (void)context;
    zmq_msg_t message;
    check(zmq_msg_init_size(&message, run.options.size), "zmq_msg_init_size");
    transport_fill(zmq_msg_data(&message), run.options.size, number, sent_at);
    while (zmq_msg_send(&message, channel, 0) < 0)
        if (zmq_errno() != EINTR) transport_fail("zmq_msg_send", zmq_strerror(zmq_errno()));
}

static const void *next(void *context) {
    (void)context;
    int size = zmq_msg_recv(&received, channel, run.options.spins ? ZMQ_DONTWAIT : 0);
    if (size == (int)run.options.size) return zmq_msg_data(&received);
    if (size >= 0) transport_fail("zmq_msg_recv", "another size");
    if (zmq_errno() != EAGAIN && zmq_errno() != EINTR) transport_fail("zmq_msg_recv", zmq_strerror(zmq_errno()));
    return NULL;
}

int main(int argc, char **argv) {
    run = transport_begin(argc, argv);
    char address[256];
    snprintf(address, sizeof address, "ipc://%s", run.options.channel);
    void *context = zmq_ctx_new();
    if (!context) transport_fail("zmq_ctx_new", zmq_strerror(zmq_errno()));
    channel = zmq_socket(context, run.options.sends ? ZMQ_PUB : ZMQ_SUB);
    if (!channel) transport_fail("zmq_socket", zmq_strerror(zmq_errno()));
    set(ZMQ_LINGER, 0, "ZMQ_LINGER");
    if (run.options.sends) {
        if (run.options.load == TRANSPORT_LOSSLESS) set(ZMQ_XPUB_NODROP, 1, "ZMQ_XPUB_NODROP");
        check(zmq_bind(channel, address), address);
        transport_send_all(&run, send_event, NULL);
    } else {
        set(ZMQ_RCVTIMEO, 100, "ZMQ_RCVTIMEO");
        check(zmq_setsockopt(channel, ZMQ_SUBSCRIBE, "", 0), "ZMQ_SUBSCRIBE");
        check(zmq_connect(channel, address), address);
        check(zmq_msg_init(&received), "zmq_msg_init");
        transport_receive_all(&run, next, NULL, NULL);
        zmq_msg_close(&received);
    }
    zmq_close(channel);
    zmq_ctx_term(context);
    return 0;
}
