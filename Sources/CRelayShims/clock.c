#define _GNU_SOURCE
#include "CRelayShims.h"

#include <sys/timex.h>

bool relay_clock_is_synchronized(void) {
    // Asks only, which everybody may; where a sandbox forbids it, nothing is known.
    struct timex clock = {0};
    int state = adjtimex(&clock);
    return state >= 0 && state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}
