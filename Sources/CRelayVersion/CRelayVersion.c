#include "CRelayVersion.h"

#include <stddef.h>

#ifndef RELAY_COMMIT
#define RELAY_COMMIT NULL
#endif
#ifndef RELAY_TOOLCHAIN
#define RELAY_TOOLCHAIN NULL
#endif

const char *relay_commit(void) { return RELAY_COMMIT; }
const char *relay_toolchain(void) { return RELAY_TOOLCHAIN; }
