// What every peer of the signal benchmark has in common, whatever its D-Bus library: options, start-up, clock, statistics.
//
// The protocol with the harness: a peer prints "ready" when it is connected (sender) or subscribed (receiver). The sender then
// waits for a line on stdin, sends events 1 to COUNT, and prints one line of JSON. The receiver ends with event COUNT or after
// a quiet time, and prints one line of JSON.
#ifndef PEER_SUPPORT_H
#define PEER_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_PATH "/org/eventrelay/Bench1"
#define PEER_INTERFACE "org.eventrelay.Bench1"
#define PEER_MEMBER "Ticked"
#define PEER_TEXT "twenty-four characters.."

typedef struct {
    bool sends;
    const char *bus;
    // Events a second; 0: as fast as they go.
    uint64_t rate;
    uint64_t count;
    // How long a receiver waits for the next event, once there was one.
    double quiet_seconds;
} peer_options;

// Parses "send|receive --bus ADDRESS --count N [--rate N] [--quiet SECONDS]"; exits with 64 and the usage if it cannot.
peer_options peer_parse(int argc, char *const *argv);

// CLOCK_MONOTONIC, in nanoseconds.
uint64_t peer_now(void);
// CLOCK_REALTIME, in microseconds.
uint64_t peer_wall_clock(void);

// Prints "ready" and starts the measurement of CPU time.
void peer_ready(void);
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

// Ends the process with a message.
_Noreturn void peer_fail(const char *what, const char *why);

#endif
