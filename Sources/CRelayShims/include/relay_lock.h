#ifndef RELAY_LOCK_H
#define RELAY_LOCK_H

// A lock that several threads may want all the time, each for some nanoseconds.
//
// In C, because Swift's `Mutex` is a priority-inheritance futex on Linux: when it is contended, each release hands it over in the
// kernel, and eight threads get it 38,000 times a second in all. Inline, because a call would cost as much as the lock.
//
// Nobody is woken: who does not get the lock within some pauses sleeps for a while, and looks again. So a release is one store, no
// wake-up can be lost, and the one that has the lock keeps it, and the cache lines of what it guards, for as long as others sleep.
// Who has slept asks for it, and the others stand back; but that no more often than each 50 microseconds.

#include <stdint.h>

typedef struct {
    /// 1: somebody has it. Only by atomic operations, as the others.
    uint8_t taken;
    /// 1: somebody asks the others to stand back. A courtesy: it excludes nobody for long.
    uint8_t wanted;
    /// When it last went to one that had to wait for it: by the monotonic clock, in nanoseconds.
    uint64_t since;
} relay_lock;

/// The rest of `relay_lock_take`, where it is not free.
void relay_lock_wait(relay_lock *lock);

/// Returns when the caller has the lock. Not recursive.
static inline void relay_lock_take(relay_lock *lock) {
    if (__atomic_load_n(&lock->wanted, __ATOMIC_RELAXED) || __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
        relay_lock_wait(lock);
}
static inline void relay_lock_release(relay_lock *lock) { __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); }

#endif
