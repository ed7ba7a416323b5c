#include "CFaultVFS.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rule {
    int64_t skip, count;
    int code;
    char suffix[32];
};
struct fault_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    char *name;
    pthread_mutex_t lock;
    struct rule rules[FAULT_CALLS];
    int64_t calls[FAULT_CALLS];
    int64_t room;
};
// What SQLite allocates for a file: ours, and right behind it the one of the layer below.
struct file {
    sqlite3_file base;
    fault_vfs *owner;
    const char *path;  // SQLite keeps it as long as the file is open; NULL for temporary ones.
    sqlite3_file *below;
};

static bool ends_with(const char *path, const char *suffix) {
    size_t length = path ? strlen(path) : 0, wanted = strlen(suffix);
    return length >= wanted && (wanted == 0 || strcmp(path + length - wanted, suffix) == 0);
}
// Counts a call; returns what it has to give, SQLITE_OK for its work.
static int enter(fault_vfs *vfs, enum fault_call call, const char *path) {
    pthread_mutex_lock(&vfs->lock);
    int code = SQLITE_OK;
    vfs->calls[call]++;
    struct rule *rule = &vfs->rules[call];
    if (rule->count != 0 && ends_with(path, rule->suffix)) {
        if (rule->skip > 0) {
            rule->skip--;
        } else {
            if (rule->count > 0) rule->count--;
            code = rule->code;
        }
    }
    pthread_mutex_unlock(&vfs->lock);
    if (code == FAULT_END) {
        kill(getpid(), SIGKILL);
        // It comes at once, but for other threads that still get here.
        for (;;) pause();
    }
    return code;
}
// Takes room for growth, or gives it back; false when there is none.
static bool take(fault_vfs *vfs, int64_t bytes) {
    pthread_mutex_lock(&vfs->lock);
    bool has_room = vfs->room < 0 || bytes <= vfs->room;
    if (vfs->room >= 0 && has_room) vfs->room -= bytes;
    pthread_mutex_unlock(&vfs->lock);
    return has_room;
}

#define BELOW(f) (((struct file *)(f))->below)
static int f_close(sqlite3_file *f) { return BELOW(f)->pMethods->xClose(BELOW(f)); }
static int f_read(sqlite3_file *f, void *bytes, int count, sqlite3_int64 offset) {
    struct file *file = (struct file *)f;
    int code = enter(file->owner, FAULT_READ, file->path);
    return code != SQLITE_OK ? code : file->below->pMethods->xRead(file->below, bytes, count, offset);
}
static int f_write(sqlite3_file *f, const void *bytes, int count, sqlite3_int64 offset) {
    struct file *file = (struct file *)f;
    int code = enter(file->owner, FAULT_WRITE, file->path);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 size = 0;
    code = file->below->pMethods->xFileSize(file->below, &size);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 growth = offset + count - size;
    if (growth > 0 && !take(file->owner, growth)) return SQLITE_FULL;
    code = file->below->pMethods->xWrite(file->below, bytes, count, offset);
    if (code != SQLITE_OK && growth > 0) take(file->owner, -growth);
    return code;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) {
    struct file *file = (struct file *)f;
    int code = enter(file->owner, FAULT_TRUNCATE, file->path);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 before = size;
    file->below->pMethods->xFileSize(file->below, &before);
    code = file->below->pMethods->xTruncate(file->below, size);
    if (code == SQLITE_OK && size < before) take(file->owner, size - before);
    return code;
}
static int f_sync(sqlite3_file *f, int flags) {
    struct file *file = (struct file *)f;
    int code = enter(file->owner, FAULT_SYNC, file->path);
    return code != SQLITE_OK ? code : file->below->pMethods->xSync(file->below, flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size) { return BELOW(f)->pMethods->xFileSize(BELOW(f), size); }
static int f_lock(sqlite3_file *f, int lock) { return BELOW(f)->pMethods->xLock(BELOW(f), lock); }
static int f_unlock(sqlite3_file *f, int lock) { return BELOW(f)->pMethods->xUnlock(BELOW(f), lock); }
static int f_reserved(sqlite3_file *f, int *out) { return BELOW(f)->pMethods->xCheckReservedLock(BELOW(f), out); }
static int f_control(sqlite3_file *f, int op, void *arg) { return BELOW(f)->pMethods->xFileControl(BELOW(f), op, arg); }
static int f_sector(sqlite3_file *f) { return BELOW(f)->pMethods->xSectorSize(BELOW(f)); }
static int f_device(sqlite3_file *f) { return BELOW(f)->pMethods->xDeviceCharacteristics(BELOW(f)); }
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return BELOW(f)->pMethods->xShmMap(BELOW(f), page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int o, int n, int flags) { return BELOW(f)->pMethods->xShmLock(BELOW(f), o, n, flags); }
static void f_shm_barrier(sqlite3_file *f) { BELOW(f)->pMethods->xShmBarrier(BELOW(f)); }
static int f_shm_unmap(sqlite3_file *f, int delete) { return BELOW(f)->pMethods->xShmUnmap(BELOW(f), delete); }

// Version 2: shared memory for the WAL, no mapping of the file.
static const sqlite3_io_methods methods = {
    2, f_close, f_read, f_write, f_truncate, f_sync, f_size, f_lock, f_unlock, f_reserved, f_control, f_sector, f_device,
    f_shm_map, f_shm_lock, f_shm_barrier, f_shm_unmap, NULL, NULL};

#define SELF(v) ((fault_vfs *)(v)->pAppData)
static int v_open(sqlite3_vfs *v, const char *path, sqlite3_file *f, int flags, int *out) {
    fault_vfs *self = SELF(v);
    struct file *file = (struct file *)f;
    memset(file, 0, sizeof *file);
    int code = enter(self, FAULT_OPEN, path);
    if (code != SQLITE_OK) return code;
    file->owner = self;
    file->path = path;
    file->below = (sqlite3_file *)(file + 1);
    code = self->below->xOpen(self->below, path, file->below, flags, out);
    // SQLite closes a file that has methods, even when it was not opened.
    if (file->below->pMethods) file->base.pMethods = &methods;
    return code;
}
static int v_delete(sqlite3_vfs *v, const char *path, int sync) {
    struct stat status;
    int64_t size = stat(path, &status) == 0 ? status.st_size : 0;
    int code = SELF(v)->below->xDelete(SELF(v)->below, path, sync);
    if (code == SQLITE_OK) take(SELF(v), -size);
    return code;
}
static int v_access(sqlite3_vfs *v, const char *path, int flags, int *out) {
    return SELF(v)->below->xAccess(SELF(v)->below, path, flags, out);
}
static int v_full(sqlite3_vfs *v, const char *path, int count, char *out) {
    return SELF(v)->below->xFullPathname(SELF(v)->below, path, count, out);
}
static int v_random(sqlite3_vfs *v, int count, char *out) { return SELF(v)->below->xRandomness(SELF(v)->below, count, out); }
static int v_sleep(sqlite3_vfs *v, int microseconds) { return SELF(v)->below->xSleep(SELF(v)->below, microseconds); }
static int v_time(sqlite3_vfs *v, double *out) { return SELF(v)->below->xCurrentTime(SELF(v)->below, out); }
static int v_error(sqlite3_vfs *v, int count, char *out) { return SELF(v)->below->xGetLastError(SELF(v)->below, count, out); }
static int v_time64(sqlite3_vfs *v, sqlite3_int64 *out) { return SELF(v)->below->xCurrentTimeInt64(SELF(v)->below, out); }

fault_vfs *fault_vfs_create(const char *name) {
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    fault_vfs *self = calloc(1, sizeof *self);
    if (!below || !self || !(self->name = strdup(name))) {
        free(self);
        return NULL;
    }
    self->below = below;
    self->room = -1;
    pthread_mutex_init(&self->lock, NULL);
    self->vfs = (sqlite3_vfs){
        .iVersion = 2, .szOsFile = (int)sizeof(struct file) + below->szOsFile, .mxPathname = below->mxPathname,
        .zName = self->name, .pAppData = self, .xOpen = v_open, .xDelete = v_delete, .xAccess = v_access,
        .xFullPathname = v_full, .xRandomness = v_random, .xSleep = v_sleep, .xCurrentTime = v_time,
        .xGetLastError = v_error, .xCurrentTimeInt64 = v_time64};
    if (sqlite3_vfs_register(&self->vfs, 0) != SQLITE_OK) {
        fault_vfs_destroy(self);
        return NULL;
    }
    return self;
}
void fault_vfs_destroy(fault_vfs *self) {
    sqlite3_vfs_unregister(&self->vfs);
    pthread_mutex_destroy(&self->lock);
    free(self->name);
    free(self);
}
void fault_vfs_fail(fault_vfs *self, enum fault_call call, int64_t skip, int64_t count, int code, const char *suffix) {
    pthread_mutex_lock(&self->lock);
    struct rule *rule = &self->rules[call];
    *rule = (struct rule){.skip = skip, .count = count, .code = code};
    strncpy(rule->suffix, suffix, sizeof rule->suffix - 1);
    pthread_mutex_unlock(&self->lock);
}
int64_t fault_vfs_calls(const fault_vfs *self, enum fault_call call) {
    pthread_mutex_lock((pthread_mutex_t *)&self->lock);
    int64_t calls = self->calls[call];
    pthread_mutex_unlock((pthread_mutex_t *)&self->lock);
    return calls;
}
void fault_vfs_set_room(fault_vfs *self, int64_t bytes) {
    pthread_mutex_lock(&self->lock);
    self->room = bytes;
    pthread_mutex_unlock(&self->lock);
}
int64_t fault_vfs_room(const fault_vfs *self) {
    pthread_mutex_lock((pthread_mutex_t *)&self->lock);
    int64_t room = self->room;
    pthread_mutex_unlock((pthread_mutex_t *)&self->lock);
    return room;
}
