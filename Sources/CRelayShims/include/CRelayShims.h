#ifndef C_RELAY_SHIMS_H
#define C_RELAY_SHIMS_H

// Headers that Swift's Glibc module leaves out.
#include <getopt.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Not in Swift's Glibc module: epoll(7) and eventfd(2).
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "relay_lock.h"
#include "relay_memory.h"

// What Swift cannot call. Each function says why it is here.

/// Starts a program that ends when this process ends, by whatever means.
///
/// In C, because Swift cannot call clone(2), and posix_spawn(3) cannot ask for PR_SET_PDEATHSIG. That signal fires when
/// the *thread* that made the child ends, so each child has a thread of its own, which lives just as long: it waits for it.
///
/// `keep` lists descriptors to hand over, as `count` pairs (ours, the child's number); all others but 0, 1 and 2 are closed.
/// `exited` is called once, on that thread, with the wait status, before the child is reaped; with -1 when somebody else
/// in this process took the status.
/// Returns the process id, or -errno of the clone or the exec.
pid_t relay_spawn_bound(const char *path, char *const argv[], char *const envp[], const int *keep, int count,
                        void (*exited)(void *context, int status), void *context);

/// Starts a detached, named thread that takes none of the process's signals. Returns 0 or an errno.
///
/// In C: pthread_setname_np is behind _GNU_SOURCE, and the signal mask must be set before the thread exists.
int relay_start_thread(const char *name, void (*body)(void *context), void *context);

/// pipe2(2) with O_CLOEXEC: another thread's child cannot inherit an end between two calls. Returns 0 or an errno.
///
/// In C: pipe2 is behind _GNU_SOURCE.
int relay_pipe(int *reading, int *writing);

/// Catches SIGTERM, SIGINT and SIGHUP, unless they are ignored. The first writes its number, as one byte, to `pipe`. The
/// second that is not SIGHUP ends the process at once, with 128 and its number. Returns 0 or an errno.
///
/// In C: a signal handler may call nothing but what is async-signal-safe, which no Swift code promises to be.
int relay_catch_end_signals(int pipe);
/// From now on SIGHUP, whatever it did before, writes its number, as one byte, to `pipe`, each time. Returns 0 or an errno.
///
/// In C: as above.
int relay_catch_hang_up(int pipe);

/// Has the C library write stdout line by line, whatever it is connected to. Returns 0 or an errno.
///
/// In C: `stdout` is a variable, which Swift does not let any thread touch.
int relay_write_stdout_by_lines(void);

/// Renames a file, and replaces none: renameat2(2) with RENAME_NOREPLACE. Returns 0 or an errno.
///
/// In C: renameat2 is behind _GNU_SOURCE.
int relay_rename_to_free_name(const char *from, const char *to);

/// Gives the room of a part of a file back, and leaves zeros there. Returns 0 or an errno.
///
/// In C: fallocate(2) is behind _GNU_SOURCE.
int relay_punch_hole(int file, int64_t offset, int64_t length);

/// Gives the memory of a block that is not to come again back to the kernel, and that of all further ones over 4 MiB as
/// soon as they are freed. (By itself malloc takes the size of a freed block for the usual one, and keeps as much in each
/// thread's arena, from where malloc_trim(3) does not return it.)
///
/// In C: <malloc.h> is not in Swift's Glibc module.
void relay_return_large_blocks(void);

/// Lets this thread's bounded sleeps end when they should, and not up to 50 microseconds later to save wake-ups.
///
/// In C: prctl(2) is variadic.
void relay_keep_time_exactly(void);

/// Waits until one of two descriptors can be read, for so many nanoseconds; returns what is true of the first (POLLIN and
/// others), or 0 if the time is over, or the second can be read.
///
/// In C: ppoll(2) is not in Swift's Glibc module.
short relay_poll_first(int first, int second, uint64_t nanoseconds);

/// A timer's descriptor, or -1. Another thread waits for it: to set it wakes none.
///
/// In C, all three: timerfd_create(2) is not in Swift's Glibc module.
int relay_timer_create(void);
/// Lets it go off after so many nanoseconds, at least one, in place of what was set before.
void relay_timer_set(int timer, uint64_t nanoseconds);
/// Returns when it has gone off.
void relay_timer_wait(int timer);

/// Whether the kernel says that something keeps the system's clock right.
///
/// In C: adjtimex(2) is not in Swift's Glibc module.
bool relay_clock_is_synchronized(void);

#endif
