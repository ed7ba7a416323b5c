// Inlined with constant sizes: a payload of 64 bytes must not pay for a loop that could do 4,096.
#ifndef TRANSPORT_PAYLOAD_H
#define TRANSPORT_PAYLOAD_H

#include "transport_support.h"

typedef struct {
    uint64_t number, sent_at, sum, words[];
} transport_payload;

static inline __attribute__((always_inline)) void transport_fill_words(
    transport_payload *payload, uint32_t size, uint64_t number, uint64_t sent_at) {
    uint32_t words = size / 8 - 3;
    uint64_t sum = number + sent_at;
    for (uint32_t i = 0; i < words; i++) sum += payload->words[i] = number + i;
    payload->number = number;
    payload->sent_at = sent_at;
    payload->sum = sum;
}
static inline __attribute__((always_inline)) bool transport_sums_up(const transport_payload *payload, uint32_t size) {
    uint32_t words = size / 8 - 3;
    uint64_t sum = payload->number + payload->sent_at;
    for (uint32_t i = 0; i < words; i++) sum += payload->words[i];
    return sum == payload->sum;
}

#endif
