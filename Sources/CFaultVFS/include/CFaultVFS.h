#ifndef C_FAULT_VFS_H
#define C_FAULT_VFS_H

#include <stdint.h>

#include "CPowerVFS.h"

// SQLite's file layer with faults, for tests. In C: a file's methods are a table of C functions behind a struct that SQLite
// allocates.

/// A layer over SQLite's own, registered under a name of its own. Its switches may be set from any thread, at any time.
typedef struct fault_vfs fault_vfs;

/// The calls that can be made to fail.
enum fault_call { FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_OPEN, FAULT_READ, FAULT_CALLS };

enum { FAULT_END = -1 };

/// Makes and registers one; NULL without memory. `name` is copied.
fault_vfs *fault_vfs_create(const char *name);
/// Takes it out of SQLite's list. No file of it may be open.
void fault_vfs_destroy(fault_vfs *vfs);

/// From now on, after `skip` more calls of a kind, `count` calls give `code` (an SQLite result code) and do nothing. The kernel's
/// reason is `error`, an errno; 0: EIO for an I/O error.
/// FAULT_END instead of a code: the process ends, as SIGKILL does it. A negative count: all further ones. A zero count: none. Only files whose path ends with `suffix`; "temporary" for those
/// without a path, "" for all.
void fault_vfs_fail(fault_vfs *vfs, enum fault_call call, int64_t skip, int64_t count, int code, int error,
                    const char *suffix);
/// How many calls of a kind there were.
int64_t fault_vfs_calls(const fault_vfs *vfs, enum fault_call call);

/// By how many bytes the files together may still grow before a write gives SQLITE_FULL; negative: no bound. What is cut off
/// or deleted gives its room back.
void fault_vfs_set_room(fault_vfs *vfs, int64_t bytes);
int64_t fault_vfs_room(const fault_vfs *vfs);

#endif
