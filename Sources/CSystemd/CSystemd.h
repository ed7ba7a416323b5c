#include <systemd/sd-daemon.h>
// Its functions are called without the place in the source: that of a Swift caller is none of C.
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include <systemd/sd-journal.h>
