#define _GNU_SOURCE
#include "CRelayShims.h"

#include <pthread.h>
#include <string.h>

void relay_name_thread(const char *name) {
    char short_name[16] = {0};
    strncpy(short_name, name, sizeof short_name - 1);
    pthread_setname_np(pthread_self(), short_name);
}
