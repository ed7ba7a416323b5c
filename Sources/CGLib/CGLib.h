#include <glib-unix.h>
#include <glib.h>

// libdispatch's own way to run its main queue on another loop, which Foundation's run loop uses (private.h): a descriptor, which
// is readable while there is work, and what does it.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);
