#define _GNU_SOURCE
#include "CRingAttack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, HELD = 256 };
struct slow_file {
    int device, descriptor, stop[2];
    pthread_t thread;
    pthread_mutex_t lock;
    bool holds;
    pid_t spared;
    uint64_t held[HELD];
    int count;
};

static void answer(int device, uint64_t unique, int error, const void *body, size_t size) {
    char bytes[512];
    struct fuse_out_header header = {.len = (uint32_t)(sizeof header + size), .error = -error, .unique = unique};
    memcpy(bytes, &header, sizeof header);
    if (size) memcpy(bytes + sizeof header, body, size);
    // Fails for a request that was given up: nobody waits for it.
    if (write(device, bytes, header.len) < 0) return;
}
static struct fuse_attr attributes(uint64_t node) {
    return (struct fuse_attr){.ino = node, .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0666, .nlink = 1};
}
static bool is_own_thread(uint32_t id) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u", id);
    return access(path, F_OK) == 0;
}
static void flush(struct slow_file *file, const struct fuse_in_header *in) {
    pthread_mutex_lock(&file->lock);
    bool waits = file->holds && (pid_t)in->pid != file->spared && file->count < HELD && is_own_thread(in->pid);
    if (waits) file->held[file->count++] = in->unique;
    pthread_mutex_unlock(&file->lock);
    if (!waits) answer(file->device, in->unique, 0, NULL, 0);
}
static void serve(struct slow_file *file, const struct fuse_in_header *in) {
    switch (in->opcode) {
    case FUSE_INIT: {
        struct fuse_init_out out = {
            .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096, .max_readahead = 4096};
        return answer(file->device, in->unique, 0, &out, sizeof out);
    }
    case FUSE_LOOKUP: {
        struct fuse_entry_out out = {.nodeid = FILE_NODE, .attr_valid = 3600, .entry_valid = 3600, .attr = attributes(FILE_NODE)};
        return answer(file->device, in->unique, 0, &out, sizeof out);
    }
    case FUSE_GETATTR: {
        struct fuse_attr_out out = {.attr_valid = 3600, .attr = attributes(in->nodeid)};
        return answer(file->device, in->unique, 0, &out, sizeof out);
    }
    case FUSE_OPEN: {
        struct fuse_open_out out = {.fh = 1};
        return answer(file->device, in->unique, 0, &out, sizeof out);
    }
    case FUSE_FLUSH: return flush(file, in);
    case FUSE_RELEASE: return answer(file->device, in->unique, 0, NULL, 0);
    // These have no answer.
    case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: return;
    default: return answer(file->device, in->unique, ENOSYS, NULL, 0);
    }
}
static void *body(void *context) {
    struct slow_file *file = context;
    char *bytes = malloc(1 << 17);
    struct pollfd ready[2] = {{.fd = file->device, .events = POLLIN}, {.fd = file->stop[0], .events = POLLIN}};
    while (bytes && poll(ready, 2, -1) > 0 && !ready[1].revents) {
        ssize_t count = read(file->device, bytes, 1 << 17);
        if (count < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (count < (ssize_t)sizeof(struct fuse_in_header)) break;
        serve(file, (const struct fuse_in_header *)bytes);
    }
    free(bytes);
    return NULL;
}
static int open_file(const char *folder) {
    char path[128];
    snprintf(path, sizeof path, "%s/file", folder);
    return open(path, O_RDWR | O_CLOEXEC);
}

void *attack_slow_file(void) {
    struct slow_file *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    char folder[] = "/tmp/relay-slow-XXXXXX", options[128];
    file->descriptor = -1;
    pthread_mutex_init(&file->lock, NULL);
    bool has_folder = mkdtemp(folder) != NULL, has_pipe = pipe2(file->stop, O_CLOEXEC) == 0, has_thread = false;
    file->device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", file->device, getuid(), getgid());
    if (has_folder && has_pipe && file->device >= 0 && mount("relay-slow", folder, "fuse", MS_NOSUID | MS_NODEV, options) == 0) {
        has_thread = pthread_create(&file->thread, NULL, body, file) == 0;
        if (has_thread) file->descriptor = open_file(folder);
        // What is open stays so.
        umount2(folder, MNT_DETACH);
    }
    if (has_folder) rmdir(folder);
    if (file->descriptor >= 0) return file;
    if (file->device >= 0) close(file->device);
    if (has_thread) {
        close(file->stop[1]);
        pthread_join(file->thread, NULL);
    }
    free(file);
    return NULL;
}
int attack_slow_file_descriptor(void *context) { return ((struct slow_file *)context)->descriptor; }
void attack_slow_file_hold(void *context) {
    struct slow_file *file = context;
    pthread_mutex_lock(&file->lock);
    file->holds = true;
    file->spared = (pid_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&file->lock);
}
int attack_slow_file_waiting(void *context) {
    struct slow_file *file = context;
    pthread_mutex_lock(&file->lock);
    int count = file->count;
    pthread_mutex_unlock(&file->lock);
    return count;
}
void attack_slow_file_let_go(void *context) {
    struct slow_file *file = context;
    pthread_mutex_lock(&file->lock);
    file->holds = false;
    for (int i = 0; i < file->count; i++) answer(file->device, file->held[i], 0, NULL, 0);
    file->count = 0;
    pthread_mutex_unlock(&file->lock);
}
void attack_slow_file_end(void *context) {
    struct slow_file *file = context;
    attack_slow_file_let_go(file);
    close(file->descriptor);
    close(file->stop[1]);
    pthread_join(file->thread, NULL);
    close(file->stop[0]);
    // The kernel answers whatever else is asked.
    close(file->device);
    pthread_mutex_destroy(&file->lock);
    free(file);
}
int attack_can_serve_files(void) {
    void *file = attack_slow_file();
    if (!file) return errno ? errno : EPERM;
    attack_slow_file_end(file);
    return 0;
}
