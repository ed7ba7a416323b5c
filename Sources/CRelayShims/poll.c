#define _GNU_SOURCE
#include "CRelayShims.h"

#include <poll.h>
#include <time.h>

short relay_poll_first(int first, int second, uint64_t nanoseconds) {
    struct timespec left = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    struct pollfd polls[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
    return ppoll(polls, 2, &left, NULL) > 0 && polls[1].revents == 0 ? polls[0].revents : 0;
}
