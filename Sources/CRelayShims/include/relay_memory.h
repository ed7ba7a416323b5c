#ifndef RELAY_MEMORY_H
#define RELAY_MEMORY_H

// Memory that other processes write or read at the same time.
//
// In C, because Swift's `Atomic` is a value with a place of its own: it has no form for a word in memory that was mapped.
// Inline, because a call for each word would cost more than the word.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t relay_load(const void *word) { return __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED); }
static inline uint64_t relay_load_acquire(const void *word) {
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}
static inline void relay_store(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELAXED);
}
static inline void relay_store_release(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}
static inline uint32_t relay_load32(const void *word) {
    return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
}
static inline void relay_store32(void *word, uint32_t value) {
    __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELAXED);
}
static inline void relay_increment32(void *word) { __atomic_fetch_add((uint32_t *)word, 1, __ATOMIC_SEQ_CST); }

static inline void relay_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void relay_fence_release(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }
static inline void relay_fence_full(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/// Stores bytes word by word, relaxed; the last word is filled up with zeros. `to` is aligned to 8 and has room for it.
static inline void relay_store_words(void *to, const void *from, size_t bytes) {
    uint64_t *words = (uint64_t *)to;
    const unsigned char *source = (const unsigned char *)from;
    size_t whole = bytes / 8;
    for (size_t i = 0; i < whole; i++) {
        uint64_t word;
        memcpy(&word, source + 8 * i, 8);
        __atomic_store_n(words + i, word, __ATOMIC_RELAXED);
    }
    if (bytes % 8) {
        uint64_t word = 0;
        memcpy(&word, source + 8 * whole, bytes % 8);
        __atomic_store_n(words + whole, word, __ATOMIC_RELAXED);
    }
}
/// Loads whole words, relaxed, into private memory. Both are aligned to 8.
static inline void relay_load_words(void *to, const void *from, size_t words) {
    uint64_t *target = (uint64_t *)to;
    const uint64_t *source = (const uint64_t *)from;
    for (size_t i = 0; i < words; i++) target[i] = __atomic_load_n(source + i, __ATOMIC_RELAXED);
}

/// Asks for a line of the cache, to be written soon: another processor may have it. Never fails, whatever the address.
static inline void relay_prefetch_to_write(const void *line) {
#if defined(__x86_64__) || defined(__i386__)
    // The compiler's own form is one for reading unless it is told of this instruction; older processors pass over it.
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1, 3);
#endif
}

/// Tells the processor that this is a loop that waits.
static inline void relay_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/// memfd_create(2), which Swift's Glibc module leaves out. Returns a descriptor or -errno.
int relay_memfd_create(const char *name, unsigned flags);
/// fcntl(2) with the commands for seals, which are behind _GNU_SOURCE. Return the seals or 0, or -errno.
int relay_add_seals(int descriptor, int seals);
int relay_get_seals(int descriptor);
/// fstatfs(2), whose header Swift's Glibc lacks: stores the magic number of a file's system. Returns 0 or an errno.
int relay_file_system(int descriptor, uint32_t *magic);
/// Gives a file its whole storage now, so that no write to it can fail for lack of room later. Returns 0 or an errno.
int relay_allocate(int descriptor, int64_t size);

/// Gives mapped pages their memory now, as if they were written to. Returns 0 or an errno, where a write would end the process;
/// EINVAL before Linux 5.14. Takes no lock of the file's, which fallocate(2) does.
///
/// In C: Swift's Glibc lacks MADV_POPULATE_WRITE.
int relay_supply(void *pages, size_t bytes);

/// Sleeps while the word has this value, between processes; at most so long. Returns 0 or an errno, ETIMEDOUT among them.
///
/// In C: syscall(2) is variadic. Never FUTEX_PRIVATE_FLAG: the word may be another process's, too.
int relay_futex_wait(const void *word, uint32_t value, uint64_t nanoseconds);
/// Wakes at most so many who sleep on the word. Returns their number, or -errno.
int relay_futex_wake(const void *word, int count);

/// How many processors this process may use: sched_getaffinity(2) has a set of macros of its own.
int relay_usable_processors(void);

#endif
