#define _GNU_SOURCE
#include "CRingAttack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int attack_writable_mapping(int descriptor, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return errno;
    *(volatile char *)memory = 1;
    munmap(memory, size);
    return 0;
}

int attack_mprotect(int descriptor, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return errno;
    int failed = mprotect(memory, size, PROT_READ | PROT_WRITE) != 0 ? errno : 0;
    if (!failed) *(volatile char *)memory = 1;
    munmap(memory, size);
    return failed;
}

int attack_write(int descriptor) { return pwrite(descriptor, "x", 1, 0) != 1 ? errno : 0; }

int attack_truncate(int descriptor, long size) { return ftruncate(descriptor, size) != 0 ? errno : 0; }

int attack_punch_hole(int descriptor, size_t size) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)size) != 0 ? errno : 0;
}

int attack_remove(int descriptor, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return errno;
    int failed = madvise(memory, size, MADV_REMOVE) != 0 ? errno : 0;
    munmap(memory, size);
    return failed;
}

int attack_reopen(int descriptor) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    // Root may open it in spite of its mode: the seals must hold all the same.
    if (opened < 0) return errno;
    int failed = attack_write(opened);
    if (failed) failed = attack_writable_mapping(opened, 4096);
    if (failed) failed = attack_truncate(opened, 0);
    if (failed) failed = attack_punch_hole(opened, 4096);
    close(opened);
    return failed;
}

int attack_seals(int descriptor) {
    // Seals can only be added; that F_SEAL_SEAL forbids, too.
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE) != 0 ? errno : 0;
}

int attack_requeue(const void *from, const void *to) {
    long moved = syscall(SYS_futex, from, FUTEX_CMP_REQUEUE, 0, (void *)(long)INT_MAX, to, *(volatile int *)from);
    return moved < 0 ? -errno : (int)moved;
}

int attack_wake(const void *word) {
    long woken = syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return woken < 0 ? -errno : (int)woken;
}
