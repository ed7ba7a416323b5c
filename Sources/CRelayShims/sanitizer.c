// Synchronization's Mutex under ThreadSanitizer; nothing in other builds.
//
// The mutex's fast paths are compiled into our code, where the sanitizer sees their atomic operations. Its slow paths are in Swift's
// library, which is not instrumented: what a contended lock orders would be reported as a race. These stand in front of the library's
// (the linker prefers the program's), call them, and tell the sanitizer what they order.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// As Swift names them: _MutexHandle._lockSlow(_: UInt32), ._tryLockSlow() and ._unlockSlow(), with the handle as self.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

static SWIFT void (*lock)(uint32_t own_id, SELF void *handle);
static SWIFT bool (*try_lock)(SELF void *handle);
static SWIFT void (*unlock)(SELF void *handle);

static void *library(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "relay: Swift's library has no %s: Sources/CRelayShims/sanitizer.c must follow it\n", name);
        abort();
    }
    return function;
}
// Before there are threads.
__attribute__((constructor)) static void find(void) {
    lock = (SWIFT void (*)(uint32_t, SELF void *))library(LOCK);
    try_lock = (SWIFT bool (*)(SELF void *))library(TRY_LOCK);
    unlock = (SWIFT void (*)(SELF void *))library(UNLOCK);
}

SWIFT void relay_sanitized_lock(uint32_t own_id, SELF void *handle) __asm__(LOCK);
SWIFT void relay_sanitized_lock(uint32_t own_id, SELF void *handle) {
    lock(own_id, handle);
    __tsan_acquire(handle);
}
SWIFT bool relay_sanitized_try_lock(SELF void *handle) __asm__(TRY_LOCK);
SWIFT bool relay_sanitized_try_lock(SELF void *handle) {
    if (!try_lock(handle)) return false;
    __tsan_acquire(handle);
    return true;
}
SWIFT void relay_sanitized_unlock(SELF void *handle) __asm__(UNLOCK);
SWIFT void relay_sanitized_unlock(SELF void *handle) {
    __tsan_release(handle);
    unlock(handle);
}
#endif
#endif
