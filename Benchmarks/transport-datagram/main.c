// AF_UNIX datagrams: one connected socket for each receiver, blocking, or with MSG_DONTWAIT again and again.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport_support.h"

static transport_run run;
static int sockets[TRANSPORT_MOST_RECEIVERS];
static uint64_t payload[TRANSPORT_LARGEST / 8];

static struct sockaddr_un address_of(uint32_t receiver) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s.%u", run.options.channel, receiver);
    if (length < 0 || (size_t)length >= sizeof address.sun_path) transport_fail(run.options.channel, "too long a path");
    return address;
}
static int open_socket(void) {
    int result = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (result < 0) transport_fail("socket", strerror(errno));
    return result;
}

static void send_event(void *context, uint64_t number, uint64_t sent_at) {
    (void)context;
    transport_fill(payload, run.options.size, number, sent_at);
    for (uint32_t i = 0; i < run.options.receivers; i++) {
        // A receiver that has had its end may be gone.
        while (send(sockets[i], payload, run.options.size, MSG_NOSIGNAL) < 0) {
            if (number == TRANSPORT_END && (errno == ECONNREFUSED || errno == ENOTCONN || errno == EPIPE)) break;
            if (errno != EINTR) transport_fail("send", strerror(errno));
        }
    }
}

static const void *next(void *context) {
    (void)context;
    ssize_t size = recv(sockets[0], payload, sizeof payload, run.options.spins ? MSG_DONTWAIT : 0);
    if (size == (ssize_t)run.options.size) return payload;
    if (size >= 0) transport_fail("recv", "another size");
    if (errno != EAGAIN && errno != EINTR) transport_fail("recv", strerror(errno));
    return NULL;
}

int main(int argc, char **argv) {
    run = transport_begin(argc, argv);
    if (run.options.sends) {
        for (uint32_t i = 0; i < run.options.receivers; i++) {
            while (transport_load_word(&run.page->receivers[i].state) < TRANSPORT_ATTACHED) usleep(500);
            struct sockaddr_un address = address_of(i);
            sockets[i] = open_socket();
            if (connect(sockets[i], (struct sockaddr *)&address, sizeof address) != 0)
                transport_fail(address.sun_path, strerror(errno));
        }
        transport_send_all(&run, send_event, NULL);
    } else {
        struct sockaddr_un address = address_of(run.options.index);
        sockets[0] = open_socket();
        struct timeval limit = {.tv_usec = 100000};
        if (bind(sockets[0], (struct sockaddr *)&address, sizeof address) != 0
            || setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
            transport_fail(address.sun_path, strerror(errno));
        transport_receive_all(&run, next, NULL, NULL);
        unlink(address.sun_path);
    }
    return 0;
}
