#ifndef MUTEX_RING_H
#define MUTEX_RING_H

/// What is at hand in C: events of 64 bytes with a time, copied into a ring of 4 MiB under a mutex of the C library.
/// Publishes from so many threads for so long, beside a thread that reads if `reads`. Returns how many a second.
double mutex_ring_rate(int threads, int reads, double seconds);

#endif
