#define _GNU_SOURCE
#include "CRelayShims.h"

#include <errno.h>
#include <fcntl.h>

int relay_punch_hole(int file, int64_t offset, int64_t length) {
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length) == 0 ? 0 : errno;
}
