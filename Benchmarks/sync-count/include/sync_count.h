#ifndef SYNC_COUNT_H
#define SYNC_COUNT_H

#include <stdint.h>

// How often this process has called fdatasync(2): once for each commit, and twice for each checkpoint.
uint64_t sync_count(void);

#endif
