#ifndef LAYER_H
#define LAYER_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/// A file layer over SQLite's own: every call goes below as it is, but for those that its owner puts in their place. The first
/// member of each kind of layer.
struct layer {
    sqlite3_vfs vfs;
    sqlite3_io_methods methods;
    sqlite3_vfs *below;
    char *name;
    pthread_mutex_t lock;
    /// Its owner, and its open files: a journal closes its files on threads of its own, after its last user is gone.
    atomic_int holders;
    /// Frees what its kind has more, with the last holder; or NULL.
    void (*clear)(struct layer *layer);
};
/// A file of a layer. The first member of each kind of file; SQLite allocates the file below right behind the whole of it.
struct layer_file {
    sqlite3_file base;
    struct layer *layer;
    sqlite3_file *below;
};

/// Allocates a layer of `size` bytes, zeros behind its first member, whose files have `file_size` bytes of their own; NULL without
/// memory. `name` is copied. Change `vfs` and `methods`, then register it.
void *layer_create(size_t size, size_t file_size, const char *name);
bool layer_register(struct layer *layer);
/// Takes it out of SQLite's list if it was registered, and frees it as soon as it has no open files.
void layer_destroy(struct layer *layer);

/// What `xOpen` and `xDelete` do unless they are replaced.
int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out);
int layer_delete(sqlite3_vfs *vfs, const char *path, int sync);

#endif
