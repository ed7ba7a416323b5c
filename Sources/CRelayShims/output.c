#include "CRelayShims.h"

#include <errno.h>
#include <stdio.h>

int relay_write_stdout_by_lines(void) {
    errno = 0;
    if (setvbuf(stdout, NULL, _IOLBF, 0) == 0) return 0;
    return errno != 0 ? errno : EINVAL;
}
