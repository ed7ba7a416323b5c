#define _GNU_SOURCE
#include "sync_count.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t count;

// Takes the place of the C library's in this program, SQLite included.
int fdatasync(int descriptor) {
    count++;
    return (int)syscall(SYS_fdatasync, descriptor);
}
uint64_t sync_count(void) { return count; }
