#include "CFaultVFS.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer.h"

struct rule {
    int64_t skip, count;
    int code, error;
    char suffix[32];
};
struct fault_vfs {
    struct layer layer;
    struct rule rules[FAULT_CALLS];
    int64_t calls[FAULT_CALLS];
    int64_t room;
};
struct file {
    struct layer_file base;
    const char *path;  // SQLite keeps it as long as the file is open; NULL for temporary ones.
    int error;         // Of the last call that was made to fail.
};

static bool ends_with(const char *path, const char *suffix) {
    if (!path) path = "temporary";
    size_t length = strlen(path), wanted = strlen(suffix);
    return length >= wanted && (wanted == 0 || strcmp(path + length - wanted, suffix) == 0);
}
// Counts a call; returns what it has to give, SQLITE_OK for its work.
static int enter(fault_vfs *vfs, enum fault_call call, const char *path, int *error) {
    pthread_mutex_lock(&vfs->layer.lock);
    int code = SQLITE_OK;
    vfs->calls[call]++;
    struct rule *rule = &vfs->rules[call];
    if (rule->count != 0 && ends_with(path, rule->suffix)) {
        if (rule->skip > 0) {
            rule->skip--;
        } else {
            if (rule->count > 0) rule->count--;
            code = rule->code;
            // As with the kernel, an I/O error has a reason.
            *error = !rule->error && (code & 0xFF) == SQLITE_IOERR ? EIO : rule->error;
        }
    }
    pthread_mutex_unlock(&vfs->layer.lock);
    if (code == FAULT_END) {
        kill(getpid(), SIGKILL);
        // It comes at once, but for other threads that still get here.
        for (;;) pause();
    }
    if (code != SQLITE_OK && *error) errno = *error;
    return code;
}
// Takes room for growth, or gives it back; false when there is none.
static bool take(fault_vfs *vfs, int64_t bytes) {
    pthread_mutex_lock(&vfs->layer.lock);
    bool has_room = vfs->room < 0 || bytes <= vfs->room;
    if (vfs->room >= 0 && has_room) vfs->room -= bytes;
    pthread_mutex_unlock(&vfs->layer.lock);
    return has_room;
}

#define OWNER(f) ((fault_vfs *)((struct layer_file *)(f))->layer)
#define BELOW(f) (((struct layer_file *)(f))->below)
// Counts a call to a file.
static int enter_file(sqlite3_file *f, enum fault_call call) {
    return enter(OWNER(f), call, ((struct file *)f)->path, &((struct file *)f)->error);
}
static int f_read(sqlite3_file *f, void *bytes, int count, sqlite3_int64 offset) {
    int code = enter_file(f, FAULT_READ);
    return code != SQLITE_OK ? code : BELOW(f)->pMethods->xRead(BELOW(f), bytes, count, offset);
}
static int f_write(sqlite3_file *f, const void *bytes, int count, sqlite3_int64 offset) {
    int code = enter_file(f, FAULT_WRITE);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 size = 0;
    code = BELOW(f)->pMethods->xFileSize(BELOW(f), &size);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 growth = offset + count - size;
    if (growth > 0 && !take(OWNER(f), growth)) return SQLITE_FULL;
    code = BELOW(f)->pMethods->xWrite(BELOW(f), bytes, count, offset);
    if (code != SQLITE_OK && growth > 0) take(OWNER(f), -growth);
    return code;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) {
    int code = enter_file(f, FAULT_TRUNCATE);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 before = size;
    BELOW(f)->pMethods->xFileSize(BELOW(f), &before);
    code = BELOW(f)->pMethods->xTruncate(BELOW(f), size);
    if (code == SQLITE_OK && size < before) take(OWNER(f), size - before);
    return code;
}
static int f_sync(sqlite3_file *f, int flags) {
    int code = enter_file(f, FAULT_SYNC);
    return code != SQLITE_OK ? code : BELOW(f)->pMethods->xSync(BELOW(f), flags);
}

static int f_control(sqlite3_file *f, int operation, void *argument) {
    int error = ((struct file *)f)->error;
    if (operation == SQLITE_FCNTL_LAST_ERRNO && error) {
        *(int *)argument = error;
        return SQLITE_OK;
    }
    return BELOW(f)->pMethods->xFileControl(BELOW(f), operation, argument);
}

static int v_open(sqlite3_vfs *v, const char *path, sqlite3_file *f, int flags, int *out) {
    struct file *file = (struct file *)f;
    memset(file, 0, sizeof *file);
    int code = enter(v->pAppData, FAULT_OPEN, path, &file->error);
    if (code != SQLITE_OK) return code;
    file->path = path;
    return layer_open(v, path, f, flags, out);
}
static int v_delete(sqlite3_vfs *v, const char *path, int sync) {
    struct stat status;
    int64_t size = stat(path, &status) == 0 ? status.st_size : 0;
    int code = layer_delete(v, path, sync);
    if (code == SQLITE_OK) take(v->pAppData, -size);
    return code;
}

fault_vfs *fault_vfs_create(const char *name) {
    fault_vfs *self = layer_create(sizeof *self, sizeof(struct file), name);
    if (!self) return NULL;
    self->room = -1;
    sqlite3_io_methods *methods = &self->layer.methods;
    methods->xRead = f_read;
    methods->xWrite = f_write;
    methods->xTruncate = f_truncate;
    methods->xSync = f_sync;
    methods->xFileControl = f_control;
    self->layer.vfs.xOpen = v_open;
    self->layer.vfs.xDelete = v_delete;
    if (layer_register(&self->layer)) return self;
    fault_vfs_destroy(self);
    return NULL;
}
void fault_vfs_destroy(fault_vfs *self) { layer_destroy(&self->layer); }
void fault_vfs_fail(fault_vfs *self, enum fault_call call, int64_t skip, int64_t count, int code, int error,
                    const char *suffix) {
    pthread_mutex_lock(&self->layer.lock);
    struct rule *rule = &self->rules[call];
    *rule = (struct rule){.skip = skip, .count = count, .code = code, .error = error};
    strncpy(rule->suffix, suffix, sizeof rule->suffix - 1);
    pthread_mutex_unlock(&self->layer.lock);
}
int64_t fault_vfs_calls(const fault_vfs *self, enum fault_call call) {
    pthread_mutex_lock((pthread_mutex_t *)&self->layer.lock);
    int64_t calls = self->calls[call];
    pthread_mutex_unlock((pthread_mutex_t *)&self->layer.lock);
    return calls;
}
void fault_vfs_set_room(fault_vfs *self, int64_t bytes) {
    pthread_mutex_lock(&self->layer.lock);
    self->room = bytes;
    pthread_mutex_unlock(&self->layer.lock);
}
int64_t fault_vfs_room(const fault_vfs *self) {
    pthread_mutex_lock((pthread_mutex_t *)&self->layer.lock);
    int64_t room = self->room;
    pthread_mutex_unlock((pthread_mutex_t *)&self->layer.lock);
    return room;
}
