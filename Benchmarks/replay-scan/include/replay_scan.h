#ifndef REPLAY_SCAN_H
#define REPLAY_SCAN_H

#include <stdint.h>

/// Steps through all events of a journal, as plain C over SQLite does it, and looks at each byte of their bodies.
/// Returns how many there were, or -1; `sum` keeps the compiler from leaving the work out.
int64_t replay_scan(const char *path, uint64_t *sum);

#endif
