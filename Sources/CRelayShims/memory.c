#define _GNU_SOURCE
#include "CRelayShims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int relay_memfd_create(const char *name, unsigned flags) {
    int descriptor = memfd_create(name, flags);
    return descriptor < 0 ? -errno : descriptor;
}

int relay_add_seals(int descriptor, int seals) { return fcntl(descriptor, F_ADD_SEALS, seals) != 0 ? -errno : 0; }

int relay_file_system(int descriptor, uint32_t *magic) {
    struct statfs found;
    if (fstatfs(descriptor, &found) != 0) return errno;
    *magic = (uint32_t)found.f_type;
    return 0;
}

int relay_get_seals(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals < 0 ? -errno : seals;
}

int relay_allocate(int descriptor, int64_t size) {
    int failed;
    do failed = fallocate(descriptor, 0, 0, size) != 0 ? errno : 0;
    while (failed == EINTR);
    return failed;
}

int relay_supply(void *pages, size_t bytes) {
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
    int failed;
    do failed = madvise(pages, bytes, MADV_POPULATE_WRITE) != 0 ? errno : 0;
    while (failed == EINTR || failed == EAGAIN);
    return failed;
}

int relay_futex_wait(const void *word, uint32_t value, uint64_t nanoseconds) {
    struct timespec limit = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    return syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0) != 0 ? errno : 0;
}

int relay_futex_wake(const void *word, int count) {
    long woken = syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
    return woken < 0 ? -errno : (int)woken;
}

int relay_usable_processors(void) {
    cpu_set_t set;
    // Fails where there are more processors than a set has bits: certainly more than one.
    return sched_getaffinity(0, sizeof set, &set) != 0 ? 2 : CPU_COUNT(&set);
}

void relay_return_large_blocks(void) {
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    malloc_trim(0);
}
