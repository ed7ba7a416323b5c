// What every peer of signal-bench and command-bench has in common, whatever its D-Bus library: options, start-up, clock, statistics.
//
// The protocol with the harness: a peer prints "ready" when it is connected (send, call), subscribed (receive), or has its name
// (answer). A sender and a caller then wait for a line on stdin, do their work, and print one line of JSON. The receiver ends with
// event COUNT or after a quiet time, and prints one line of JSON. What answers sends COUNT events from the line on, if COUNT is not
// 0, and ends when its stdin does.
#ifndef PEER_SUPPORT_H
#define PEER_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_PATH "/org/eventrelay/Bench1"
#define PEER_INTERFACE "org.eventrelay.Bench1"
#define PEER_MEMBER "Ticked"
#define PEER_TEXT "twenty-four characters.."

// Of command-bench: a method that takes a string and returns it, and one that also commits it with an event.
#define PEER_SERVICE "org.eventrelay.Bench"
#define PEER_CALLS_PATH "/org/eventrelay/BenchCalls1"
#define PEER_CALLS "org.eventrelay.BenchCalls1"
#define PEER_ECHO "Echo"
#define PEER_KEPT_PATH "/org/eventrelay/BenchKept1"
#define PEER_KEPT "org.eventrelay.BenchKept1"
#define PEER_KEEP "Keep"
#define PEER_STORED "Stored"

typedef enum { PEER_SEND, PEER_RECEIVE, PEER_ANSWER, PEER_CALL } peer_role;

typedef struct {
    peer_role role;
    const char *bus;
    // Events a second; 0: as fast as they go.
    uint64_t rate;
    // Events.
    uint64_t count;
    // How long a receiver waits for the next event, once there was one; a caller for the last replies.
    double quiet_seconds;
    // For how long a caller calls, and how many calls it has in flight.
    double seconds;
    uint64_t flight;
    // Where a caller writes the time of each answered call: 64-bit nanoseconds.
    const char *latencies;
    // The durable command: where its service keeps what it commits. At a caller: any text.
    const char *directory;
} peer_options;

// Parses "send|receive|answer|call --bus ADDRESS" and the options of that role; exits with 64 and the usage if it cannot.
peer_options peer_parse(int argc, char *const *argv);

// CLOCK_MONOTONIC, in nanoseconds.
uint64_t peer_now(void);
// CLOCK_REALTIME, in microseconds.
uint64_t peer_wall_clock(void);

// Prints "ready" and starts the measurement of CPU time.
void peer_ready(void);
// CPU seconds of this process since then.
double peer_cpu(void);
// Waits for the harness's line; exits with 0 if there is none.
void peer_wait_for_go(void);
// Waits until the event `number` (from 1) is due. With rate 0: at once.
void peer_pace(uint64_t start, uint64_t number, uint64_t rate);
// Prints the sender's line.
void peer_report_sent(uint64_t count, uint64_t start);

// Takes note of a received event. For one thread.
void peer_record(uint64_t number, uint64_t sent_at);
// Makes room for the latencies of `count` events; exits if there is none.
void peer_expect(uint64_t count);
// Whether the last event came, or none for the quiet time. Any thread.
bool peer_is_done(const peer_options *options);
// Whether the last event came: what a receiver asks after each one. Any thread.
bool peer_has_last(void);
// Prints the receiver's line.
void peer_report_received(void);

// A service has its name: prints "ready", and from now on a thread of its own minds stdin. See above.
void peer_serve(void);
// Whether the next event of a service is due; `*number` is then its number, from 1. For one thread.
bool peer_event_is_due(const peer_options *options, uint64_t *number);
// How many milliseconds a service may sleep before it asks for the next event again; -1: for as long as it likes.
int peer_idle_milliseconds(const peer_options *options);

// A caller's clock begins now: after `peer_wait_for_go`.
void peer_calls_begin(const peer_options *options);
// Whether to make another call; counts it, and sets `*called_at`.
bool peer_call_next(uint64_t *called_at);
// Takes note of a reply. For one thread.
void peer_answered(uint64_t called_at);
// Whether a caller has all replies, or has waited for them long enough.
bool peer_calls_are_over(void);
// Writes the times, and prints the caller's line.
void peer_report_called(const peer_options *options);
// The same for who counts by itself, with the times of the answered calls.
void peer_report_calls(const peer_options *options, uint64_t sent, const uint64_t *latencies, uint64_t answered,
    uint64_t start, uint64_t end);

// A call in flight, and its place for the next one.
typedef struct {
    void *connection;
    uint64_t called_at;
} peer_place;
// How a D-Bus library calls.
typedef struct {
    // Calls, and waits for the reply.
    void (*once)(void *connection);
    // Sends the place's next call, if there is one: `peer_call_next`. Its reply takes note of itself, and does this again.
    void (*next)(peer_place *place);
    // Waits for what comes, for 0.1 s at most; false when nothing can come any more.
    bool (*turn)(void *connection);
} peer_caller;
// The caller's work, from the first calls to its line.
void peer_call_all(const peer_options *options, void *connection, const peer_caller *caller);

// What a peer does in each role; NULL: nothing.
typedef struct {
    int (*send)(const peer_options *options);
    int (*receive)(const peer_options *options);
    int (*answer)(const peer_options *options);
    int (*call)(const peer_options *options);
} peer_roles;
// The peer's `main`.
int peer_run(int argc, char *const *argv, const peer_roles *roles);

// Ends the process with a message.
_Noreturn void peer_fail(const char *what, const char *why);

#endif
