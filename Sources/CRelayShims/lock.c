#define _GNU_SOURCE
#include "relay_lock.h"

#include <stdbool.h>
#include <time.h>

#include "relay_memory.h"

/// So long one thread may have the lock to itself, in nanoseconds; and so long the others sleep. Each change costs both some
/// microseconds: a sleep's end, and the lines of the cache.
static const uint64_t turn = 50000;
/// How often one that asked for the lock looks: the others let it have it after their next release. About as long as a sleep's end
/// takes; if that was not enough, the one that has it was stopped.
static const int asking = 200;
/// How often one that may not ask looks, and how long it waits in between: each look takes the line from the one that has the lock.
static const int looks = 4, between = 16;
/// How long others stand back for one that asked.
static const int courtesy = 32;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static bool is_wanted(relay_lock *lock) { return __atomic_load_n(&lock->wanted, __ATOMIC_RELAXED); }
static void want(relay_lock *lock, uint8_t wanted) { __atomic_store_n(&lock->wanted, wanted, __ATOMIC_RELAXED); }
/// Looks first: an exchange takes the line from the one that has the lock.
static bool try(relay_lock *lock, uint64_t time) {
    if (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) || __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
        return false;
    __atomic_store_n(&lock->since, time, __ATOMIC_RELAXED);
    return true;
}
static bool ask(relay_lock *lock, uint64_t time) {
    bool has = false;
    want(lock, 1);
    for (int look = 0; look < asking && !has; look++) {
        has = try(lock, time);
        if (!has) relay_pause();
    }
    want(lock, 0);
    return has;
}
static bool look(relay_lock *lock, uint64_t time) {
    for (int pause = 0; pause < courtesy && is_wanted(lock); pause++) relay_pause();
    for (int look = 0; look < looks; look++) {
        if (try(lock, time)) {
            // Who asked and did not take it meanwhile is stopped, and would keep the others back for as long.
            if (is_wanted(lock)) want(lock, 0);
            return true;
        }
        for (int pause = 0; pause < between; pause++) relay_pause();
    }
    return false;
}

void relay_lock_wait(relay_lock *lock) {
    while (true) {
        uint64_t time = now();
        // Two that ask at once do no harm: one of them gets it, and both lower the flag.
        bool may_ask = time - __atomic_load_n(&lock->since, __ATOMIC_RELAXED) >= turn && !is_wanted(lock);
        if (may_ask ? ask(lock, time) : look(lock, time)) return;
        struct timespec pause = {0, (long)turn};
        // Also ends early, by a signal: then it is looked once more.
        nanosleep(&pause, NULL);
    }
}
