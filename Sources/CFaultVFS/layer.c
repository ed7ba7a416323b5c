#include "layer.h"

#include <stdlib.h>
#include <string.h>

static void layer_release(struct layer *layer) {
    if (--layer->holders > 0) return;
    if (layer->clear) layer->clear(layer);
    pthread_mutex_destroy(&layer->lock);
    free(layer->name);
    free(layer);
}

// MARK: A file

#define BELOW(f) (((struct layer_file *)(f))->below)
#define CALL(f, method, ...) BELOW(f)->pMethods->method(BELOW(f), ##__VA_ARGS__)
static int f_close(sqlite3_file *f) {
    int code = CALL(f, xClose);
    layer_release(((struct layer_file *)f)->layer);
    return code;
}
static int f_read(sqlite3_file *f, void *bytes, int count, sqlite3_int64 offset) {
    return CALL(f, xRead, bytes, count, offset);
}
static int f_write(sqlite3_file *f, const void *bytes, int count, sqlite3_int64 offset) {
    return CALL(f, xWrite, bytes, count, offset);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) { return CALL(f, xTruncate, size); }
static int f_sync(sqlite3_file *f, int flags) { return CALL(f, xSync, flags); }
static int f_size(sqlite3_file *f, sqlite3_int64 *size) { return CALL(f, xFileSize, size); }
static int f_lock(sqlite3_file *f, int lock) { return CALL(f, xLock, lock); }
static int f_unlock(sqlite3_file *f, int lock) { return CALL(f, xUnlock, lock); }
static int f_reserved(sqlite3_file *f, int *out) { return CALL(f, xCheckReservedLock, out); }
static int f_control(sqlite3_file *f, int operation, void *argument) { return CALL(f, xFileControl, operation, argument); }
static int f_sector(sqlite3_file *f) { return CALL(f, xSectorSize); }
static int f_device(sqlite3_file *f) { return CALL(f, xDeviceCharacteristics); }
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return CALL(f, xShmMap, page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int offset, int count, int flags) { return CALL(f, xShmLock, offset, count, flags); }
static void f_shm_barrier(sqlite3_file *f) { CALL(f, xShmBarrier); }
static int f_shm_unmap(sqlite3_file *f, int delete) { return CALL(f, xShmUnmap, delete); }

// Version 2: shared memory for the WAL, no mapping of the file.
static const sqlite3_io_methods pass_through = {
    2, f_close, f_read, f_write, f_truncate, f_sync, f_size, f_lock, f_unlock, f_reserved, f_control, f_sector, f_device,
    f_shm_map, f_shm_lock, f_shm_barrier, f_shm_unmap, NULL, NULL};

// MARK: The layer

static sqlite3_vfs *below(sqlite3_vfs *vfs) { return ((struct layer *)vfs->pAppData)->below; }
int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out) {
    struct layer *layer = vfs->pAppData;
    struct layer_file *file = (struct layer_file *)f;
    file->base.pMethods = NULL;
    file->layer = layer;
    file->below = (sqlite3_file *)((char *)f + (vfs->szOsFile - layer->below->szOsFile));
    int code = layer->below->xOpen(layer->below, path, file->below, flags, out);
    // SQLite closes a file that has methods, even when it was not opened.
    if (file->below->pMethods) {
        file->base.pMethods = &layer->methods;
        layer->holders++;
    }
    return code;
}
int layer_delete(sqlite3_vfs *vfs, const char *path, int sync) { return below(vfs)->xDelete(below(vfs), path, sync); }
static int v_access(sqlite3_vfs *vfs, const char *path, int flags, int *out) {
    return below(vfs)->xAccess(below(vfs), path, flags, out);
}
static int v_full(sqlite3_vfs *vfs, const char *path, int count, char *out) {
    return below(vfs)->xFullPathname(below(vfs), path, count, out);
}
static int v_random(sqlite3_vfs *vfs, int count, char *out) { return below(vfs)->xRandomness(below(vfs), count, out); }
static int v_sleep(sqlite3_vfs *vfs, int microseconds) { return below(vfs)->xSleep(below(vfs), microseconds); }
static int v_time(sqlite3_vfs *vfs, double *out) { return below(vfs)->xCurrentTime(below(vfs), out); }
static int v_error(sqlite3_vfs *vfs, int count, char *out) { return below(vfs)->xGetLastError(below(vfs), count, out); }
static int v_time64(sqlite3_vfs *vfs, sqlite3_int64 *out) { return below(vfs)->xCurrentTimeInt64(below(vfs), out); }

void *layer_create(size_t size, size_t file_size, const char *name) {
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    struct layer *layer = calloc(1, size);
    if (!below || !layer || !(layer->name = strdup(name))) {
        free(layer);
        return NULL;
    }
    layer->below = below;
    layer->holders = 1;
    layer->methods = pass_through;
    pthread_mutex_init(&layer->lock, NULL);
    layer->vfs = (sqlite3_vfs){
        .iVersion = 2, .szOsFile = (int)file_size + below->szOsFile, .mxPathname = below->mxPathname,
        .zName = layer->name, .pAppData = layer, .xOpen = layer_open, .xDelete = layer_delete, .xAccess = v_access,
        .xFullPathname = v_full, .xRandomness = v_random, .xSleep = v_sleep, .xCurrentTime = v_time,
        .xGetLastError = v_error, .xCurrentTimeInt64 = v_time64};
    return layer;
}
bool layer_register(struct layer *layer) { return sqlite3_vfs_register(&layer->vfs, 0) == SQLITE_OK; }
void layer_destroy(struct layer *layer) {
    sqlite3_vfs_unregister(&layer->vfs);
    layer_release(layer);
}
