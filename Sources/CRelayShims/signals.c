#include "CRelayShims.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static int request_pipe = -1;
static int is_requested;
static int is_insisted_on;

static void request_end(int number) {
    int before = errno;
    int is_first = !__atomic_exchange_n(&is_requested, 1, __ATOMIC_SEQ_CST);
    // SIGHUP is no sign that somebody does not want to wait. Kernel and shell may both send it for the same closed terminal; a
    // service manager sends it together with SIGTERM, and two threads may take the two in either order.
    int is_second = number != SIGHUP && __atomic_exchange_n(&is_insisted_on, 1, __ATOMIC_SEQ_CST);
    if (is_second) _exit(128 + number);
    if (is_first) {
        unsigned char byte = (unsigned char)number;
        while (write(request_pipe, &byte, 1) < 0 && errno == EINTR) {}
    }
    errno = before;
}

static int hang_up_pipe = -1;

static void hang_up(int number) {
    int before = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe has enough of them.
    while (write(__atomic_load_n(&hang_up_pipe, __ATOMIC_SEQ_CST), &byte, 1) < 0 && errno == EINTR) {}
    errno = before;
}

int relay_catch_hang_up(int pipe) {
    __atomic_store_n(&hang_up_pipe, pipe, __ATOMIC_SEQ_CST);
    struct sigaction action = {.sa_handler = hang_up, .sa_flags = SA_RESTART};
    if (sigaction(SIGHUP, &action, NULL) != 0) return errno;
    sigset_t caught;
    sigemptyset(&caught);
    sigaddset(&caught, SIGHUP);
    return pthread_sigmask(SIG_UNBLOCK, &caught, NULL);
}

static void note_nothing(int number) { (void)number; }

int relay_catch_end_signals(int pipe) {
    request_pipe = pipe;
    // A write past the limit of a file's size fails then (EFBIG), and does not end the process. A handler, since what is ignored
    // stays so in the programs that this one starts.
    struct sigaction file_size;
    if (sigaction(SIGXFSZ, NULL, &file_size) != 0) return errno;
    if (file_size.sa_handler == SIG_DFL) {
        file_size = (struct sigaction){.sa_handler = note_nothing, .sa_flags = SA_RESTART};
        if (sigaction(SIGXFSZ, &file_size, NULL) != 0) return errno;
    }
    const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t caught;
    sigemptyset(&caught);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0) return errno;
        // nohup(1), or a shell that started this in the background: what is ignored stays so.
        if (action.sa_handler == SIG_IGN) continue;
        action = (struct sigaction){.sa_handler = request_end, .sa_flags = SA_RESTART};
        if (sigaction(signals[i], &action, NULL) != 0) return errno;
        sigaddset(&caught, signals[i]);
    }
    // Whoever started this may have blocked them: this thread takes them now, if no other does.
    return pthread_sigmask(SIG_UNBLOCK, &caught, NULL);
}
