// What every peer of the transport benchmark has in common, whatever carries its events: options, pacing, payloads,
// figures.
//
// A peer is one program with two roles. All that it says to the harness, and to its other end about the measurement, goes
// through one file of shared memory (`transport_page`). The steps of a run:
//
//   1. receivers attach; the sender sends probes (number 0) until each has heard one
//   2. the sender says that it is prepared, and waits until the harness says go
//   3. events 1, 2, 3 … under the load that was asked for
//   4. ends (number TRANSPORT_END) until every receiver has had one; receivers stop their clocks at the first
//   5. the sender closes a pipe (`PAGE.done`), at whose other end the harness sleeps from step 3 on: one that looks at the
//      page now and then takes time from a processor that is measured
//
// C, and no Swift: the peers in C and C++ share it.
#ifndef TRANSPORT_SUPPORT_H
#define TRANSPORT_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRANSPORT_MOST_RECEIVERS = 64, TRANSPORT_SLOTS = 8, TRANSPORT_LARGEST = 4096 };
#define TRANSPORT_PROBE UINT64_C(0)
#define TRANSPORT_END UINT64_MAX

typedef enum {
    // `count` events, one each `interval`. One-way times, and times at the caller.
    TRANSPORT_PACED,
    // As many as it can for `milliseconds`.
    TRANSPORT_FULL,
    // The same, never more than `window` ahead of the slowest receiver; with 0 the peer's own back-pressure does it.
    TRANSPORT_LOSSLESS,
    // `count` publishes in a row, in batches: the median batch's mean is told.
    TRANSPORT_TIGHT,
    // `count` events to receivers that all sleep: at the caller, and until all have it.
    TRANSPORT_WAKE,
    // No events: both ends read the clock again and again for `milliseconds`, and write down when they were stopped.
    TRANSPORT_STOPS,
} transport_load;

typedef struct {
    bool sends;
    // Receivers look again and again instead of sleeping; the sender's pace does, too.
    bool spins;
    transport_load load;
    uint32_t size, receivers, index;
    uint64_t count, interval, milliseconds, window;
    // Where this process stays from the measurement on, with all threads that it then has; -1: anywhere. Not before: a library
    // may ask how many processors there are, to choose how it waits.
    int processor;
    // What kind of peer, for those that have several.
    const char *variant;
    // A name or path that only this run has; the bus for those that need one.
    const char *channel;
    const char *page;
} transport_options;

// States of a receiver, and of the sender.
enum { TRANSPORT_STARTING, TRANSPORT_ATTACHED, TRANSPORT_HEARD, TRANSPORT_FINISHED };
enum { TRANSPORT_PREPARED = 1, TRANSPORT_DONE = 2 };

typedef struct {
    // A line of its own: the sender looks at it while it sends.
    uint64_t progress, pad[15];
    uint64_t state, received, reordered, damaged, first_at, last_at, cpu, descriptor, more[8];
} transport_receiver;

typedef struct {
    uint64_t state, go, sent, started_at, ended_at, cpu, tight_picoseconds, process, descriptor, pad[23];
    transport_receiver receivers[TRANSPORT_MOST_RECEIVERS];
    // For bare hand-overs: number and time in one line, and payloads.
    uint64_t number, sent_at, rest[14];
    uint64_t slots[TRANSPORT_SLOTS][TRANSPORT_LARGEST / 8];
    // And then, `count` words each: times at the caller, CPU times and times until all have it, one-way times of each receiver.
} transport_page;

typedef struct {
    transport_options options;
    transport_page *page;
    // A receiver's own.
    transport_receiver *own;
    uint64_t *latencies;
    uint64_t last, stride, cpu_at_start;
    // The sender's end of the pipe.
    int done;
} transport_run;

// Bytes of the file for such a run.
size_t transport_page_size(uint64_t count, uint32_t receivers);
uint64_t *transport_callers(transport_page *page, uint64_t count);
uint64_t *transport_cpu_times(transport_page *page, uint64_t count);
uint64_t *transport_wall_times(transport_page *page, uint64_t count);
uint64_t *transport_latencies(transport_page *page, uint64_t count, uint32_t receiver);
// An array in a struct is a tuple to Swift.
transport_receiver *transport_receiver_of(transport_page *page, uint32_t index);

// For the harness: what the sender says of itself, and the sign for it to begin.
uint64_t transport_sender_state(const transport_page *page);
void transport_go(transport_page *page);
// Sleeps until the sender has closed its end of the pipe, or has died. False after so many milliseconds.
bool transport_wait_done(int pipe, int milliseconds);

// Parses the harness's command line, and opens the page. Exits with 64 when it cannot.
transport_run transport_begin(int argc, char *const *argv);

// CLOCK_MONOTONIC, in nanoseconds.
uint64_t transport_now(void);
// Ends the process with a message.
void transport_fail(const char *what, const char *why) __attribute__((noreturn));

// MARK: Payloads. Number, time, sum of all other words, and words that follow from the number.

void transport_fill(void *payload, uint32_t size, uint64_t number, uint64_t sent_at);
// Whether it is what was written, and its number.
bool transport_is_whole(const void *payload, uint32_t size);
uint64_t transport_number(const void *payload);

// MARK: Senders

// Writes the event's payload and hands it over. Exits when it cannot.
typedef void (*transport_send)(void *context, uint64_t number, uint64_t sent_at);
// Steps 1 to 4.
void transport_send_all(transport_run *run, transport_send send, void *context);

// MARK: Receivers

// Tells that this one can hear.
void transport_attached(transport_run *run);
// An event came: checks its sum, reads the clock, keeps the figures. Returns whether it was the end. For one thread.
bool transport_take(transport_run *run, const void *payload);
// The same for what was checked already.
bool transport_take_checked(transport_run *run, uint64_t number, uint64_t sent_at, bool is_whole);

// The next payload, or NULL when none came: at once when it spins, else within a tenth of a second.
typedef const void *(*transport_next)(void *context);
// Gives a payload back. May be NULL.
typedef void (*transport_release)(void *context);
// Receives until the end.
void transport_receive_all(transport_run *run, transport_next next, transport_release release, void *context);

// MARK: Stops

// Steps 1 to 5 of a probe of the machine, at either end. The lengths of its stops are in the callers' array (sender) or the
// latencies' (receiver); zeros follow.
void transport_probe_stops(transport_run *run);

// MARK: Words that both ends use

static inline uint64_t transport_load_word(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void transport_store_word(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
static inline void transport_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}
// Keeps all threads that this process has on one processor. Nothing for -1.
void transport_confine(int processor);

#ifdef __cplusplus
}
#endif
#endif
