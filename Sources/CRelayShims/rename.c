#define _GNU_SOURCE
#include "CRelayShims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int relay_rename_to_free_name(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}
