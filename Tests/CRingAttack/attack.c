#define _GNU_SOURCE
#include "CRingAttack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int attack_become(uint32_t user) {
    // The system calls themselves: the library's functions change every thread of the process.
    if (syscall(SYS_setgroups, 0, NULL) != 0) return errno;
    if (syscall(SYS_setresgid, user, user, user) != 0) return errno;
    return syscall(SYS_setresuid, user, user, user) != 0 ? errno : 0;
}

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

int attack_lease(int descriptor) {
    if (fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0) return 0;
    return fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0 ? errno : 0;
}

// Faults of this process's memory, those in the kernel included; or -1.
static int open_faults(void) {
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (faults < 0) return -1;
    struct uffdio_api api = {.api = UFFD_API};
    if (ioctl(faults, UFFDIO_API, &api) == 0) return faults;
    close(faults);
    return -1;
}

int attack_can_hold(void) {
    int faults = open_faults();
    if (faults < 0) return errno ? errno : EPERM;
    close(faults);
    return 0;
}

struct hold {
    int faults, descriptor, writes;
    void *memory;
    pthread_t thread;
};
static const size_t held_size = 4096;

static void *hold_body(void *context) {
    struct hold *hold = context;
    if (hold->writes) {
        if (pwrite(hold->descriptor, hold->memory, held_size, 0) < 0) return NULL;
    } else if (read(hold->descriptor, hold->memory, held_size) < 0) {
        return NULL;
    }
    return hold;
}

void *attack_hold(int descriptor, int writes) {
    struct hold *hold = calloc(1, sizeof *hold);
    if (!hold) return NULL;
    hold->writes = writes;
    hold->memory = MAP_FAILED;
    hold->faults = open_faults();
    // Of its own: what the caller closes is held all the same.
    hold->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (hold->faults >= 0 && hold->descriptor >= 0)
        hold->memory = mmap(NULL, held_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {
        .range = {.start = (unsigned long)hold->memory, .len = held_size}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (hold->memory == MAP_FAILED || ioctl(hold->faults, UFFDIO_REGISTER, &range) != 0 ||
        pthread_create(&hold->thread, NULL, hold_body, hold) != 0) {
        if (hold->memory != MAP_FAILED) munmap(hold->memory, held_size);
        if (hold->faults >= 0) close(hold->faults);
        if (hold->descriptor >= 0) close(hold->descriptor);
        free(hold);
        return NULL;
    }
    struct pollfd fault = {.fd = hold->faults, .events = POLLIN};
    struct uffd_msg message;
    if (poll(&fault, 1, 60000) == 1 && read(hold->faults, &message, sizeof message) == sizeof message) return hold;
    // It did not block: refused by the kernel.
    attack_release(hold);
    return NULL;
}

void attack_release(void *context) {
    struct hold *hold = context;
    struct uffdio_zeropage zero = {.range = {.start = (unsigned long)hold->memory, .len = held_size}};
    ioctl(hold->faults, UFFDIO_ZEROPAGE, &zero);
    pthread_join(hold->thread, NULL);
    close(hold->faults);
    munmap(hold->memory, held_size);
    close(hold->descriptor);
    free(hold);
}
