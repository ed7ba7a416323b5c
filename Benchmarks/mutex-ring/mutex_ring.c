#define _GNU_SOURCE
#include "mutex_ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CAPACITY = 4 << 20, PAYLOAD = 64, RECORD = 96, BATCH = 16 << 10, MOST = 64 };

typedef struct {
    pthread_mutex_t lock;
    char *data;
    uint64_t position;
    uint64_t sequence;
    _Alignas(128) _Atomic uint64_t tail;
    _Alignas(128) atomic_bool begins;
    atomic_bool ends;
    uint64_t published[MOST][16];
} mutex_ring;

typedef struct {
    mutex_ring *ring;
    int number;
} publisher;

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
static void *publish(void *context) {
    publisher *self = context;
    mutex_ring *ring = self->ring;
    uint64_t count = 0, payload[PAYLOAD / 8] = {0};
    while (!ring->begins) {}
    while (!atomic_load_explicit(&ring->ends, memory_order_relaxed)) {
        payload[0] = count++;
        pthread_mutex_lock(&ring->lock);
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        // As many bytes as a record of ours; the first ones are written behind the others where it wraps around.
        uint64_t header[4] = {PAYLOAD, ++ring->sequence, 0, (uint64_t)time.tv_nsec};
        char *place = ring->data + ring->position % CAPACITY;
        memcpy(place, header, sizeof header);
        memcpy(place + sizeof header, payload, sizeof payload);
        ring->position += RECORD;
        atomic_store_explicit(&ring->tail, ring->position, memory_order_release);
        pthread_mutex_unlock(&ring->lock);
    }
    ring->published[self->number][0] = count;
    return NULL;
}
static void *follow(void *context) {
    mutex_ring *ring = context;
    static char copy[BATCH];
    uint64_t position = 0;
    while (!atomic_load_explicit(&ring->ends, memory_order_relaxed)) {
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (tail - position > CAPACITY) position = tail;
        uint64_t count = tail - position < BATCH ? tail - position : BATCH;
        memcpy(copy, ring->data + position % CAPACITY, count);
        __asm__ volatile("" ::"r"(copy) : "memory");
        position += count;
    }
    return NULL;
}

double mutex_ring_rate(int threads, int reads, double seconds) {
    mutex_ring *ring = aligned_alloc(128, (sizeof(mutex_ring) + 127) / 128 * 128);
    memset(ring, 0, sizeof *ring);
    pthread_mutex_init(&ring->lock, NULL);
    ring->data = calloc(1, CAPACITY + BATCH);
    publisher publishers[MOST];
    pthread_t ids[MOST], reader;
    for (int number = 0; number < threads; number++) {
        publishers[number] = (publisher){ring, number};
        pthread_create(&ids[number], NULL, publish, &publishers[number]);
    }
    if (reads) pthread_create(&reader, NULL, follow, ring);
    double start = seconds_now();
    ring->begins = true;
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    ring->ends = true;
    double elapsed = seconds_now() - start;
    uint64_t sum = 0;
    for (int number = 0; number < threads; number++) {
        pthread_join(ids[number], NULL);
        sum += ring->published[number][0];
    }
    if (reads) pthread_join(reader, NULL);
    pthread_mutex_destroy(&ring->lock);
    free(ring->data);
    free(ring);
    return (double)sum / elapsed;
}
