#ifndef C_RING_ATTACK_H
#define C_RING_ATTACK_H

#include <stddef.h>
#include <stdint.h>

// What a hostile subscriber can ask the kernel for. Each returns 0 or an errno.

/// A new mapping with PROT_WRITE, MAP_SHARED.
int attack_writable_mapping(int descriptor, size_t size);
/// A read-only mapping, made writable afterwards.
int attack_mprotect(int descriptor, size_t size);
int attack_write(int descriptor);
int attack_truncate(int descriptor, long size);
int attack_punch_hole(int descriptor, size_t size);
/// A hole by way of madvise(MADV_REMOVE) on a mapping.
int attack_remove(int descriptor, size_t size);
/// Opens the file once more for writing, through /proc/self/fd; then writes to what it got.
int attack_reopen(int descriptor);
/// Takes seals back, as far as that can be asked for.
int attack_seals(int descriptor);
/// Moves whoever sleeps on one word to another one. Returns how many, or -errno.
int attack_requeue(const void *from, const void *to);
/// Takes a lease, which would keep everybody waiting who opens the file.
int attack_lease(int descriptor);
/// Wakes whoever sleeps on a word. Returns how many, or -errno.
int attack_wake(const void *word);


/// Blocks a thread of its own in read(2) from a file, or in write(2) to it, by memory that does not come: so it holds the lock of the
/// description's offset, or that of the file. Returns when it does so; NULL where the machine does not allow that.
void *attack_hold(int descriptor, int writes);
/// Lets go, and waits for the thread's end.
void attack_release(void *hold);
/// Whether this machine allows it: 0 or an errno.
int attack_can_hold(void);

#endif
