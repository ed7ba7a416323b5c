#include "CRelayShims.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

int relay_timer_create(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); }

void relay_timer_set(int timer, uint64_t nanoseconds) {
    struct itimerspec time = {{0, 0}, {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)}};
    timerfd_settime(timer, 0, &time, NULL);
}

void relay_timer_wait(int timer) {
    uint64_t times;
    while (read(timer, &times, sizeof times) < 0 && errno == EINTR) {}
}
