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

/// Makes the calling thread, and no other one, a user and the group of that number, with no other groups: what it connects to sees
/// that user.
int attack_become(uint32_t user);

/// A file that a thread of this process serves by FUSE: closing a descriptor of it waits for that thread. NULL where the machine does
/// not allow that.
void *attack_slow_file(void);
/// Open until the end; to be sent.
int attack_slow_file_descriptor(void *file);
/// From now on all threads of this process wait when they close a descriptor of it, but not the one that calls this. Those of other
/// processes do not.
void attack_slow_file_hold(void *file);
/// How many wait.
int attack_slow_file_waiting(void *file);
/// Lets them go on, and all later ones.
void attack_slow_file_let_go(void *file);
/// Lets go, and ends it.
void attack_slow_file_end(void *file);
/// Whether this machine allows it: 0 or an errno.
int attack_can_serve_files(void);

#endif
