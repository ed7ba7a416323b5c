#ifndef C_POWER_VFS_H
#define C_POWER_VFS_H

#include <stdbool.h>
#include <stdint.h>

// Power cuts for SQLite, for tests: a file layer that records what reaches the files, and a model of a disk that rebuilds what a
// power cut may leave of it. In C for the same reason as the fault layer, and because the model copies a lot of memory.

/// A layer over SQLite's own, registered under a name of its own. It writes to real files and records every write, truncation,
/// sync, creation and deletion; a sync is recorded only. All its files are in one folder. It may be used from any thread.
typedef struct power_vfs power_vfs;

/// Makes and registers one; NULL without memory. `name` is copied.
power_vfs *power_vfs_create(const char *name);
/// Takes it out of SQLite's list. No file of it may be open.
void power_vfs_destroy(power_vfs *vfs);
/// Records a file that exists already as safely on disk. False when it cannot be read.
bool power_vfs_adopt(power_vfs *vfs, const char *path);

/// How many operations were recorded.
int64_t power_vfs_position(const power_vfs *vfs);
/// How many syncs were asked for.
int64_t power_vfs_syncs(const power_vfs *vfs);
/// After `skip` more syncs one reports EIO; a negative `skip`: none. As on Linux, what was not yet on disk of its file is clean in
/// memory from then on: it is read as before, and no later sync writes it, unless it is written again.
void power_vfs_fail_sync(power_vfs *vfs, int64_t skip);
/// Whether the sync that was to fail has failed.
bool power_vfs_has_failed(const power_vfs *vfs);
/// The process that has the files open is killed: what is open does nothing from now on, and what is opened later works. What was
/// open must be closed before anything is opened.
void power_vfs_kill(power_vfs *vfs);

/// What is on the disk, and what may be, after a number of recorded operations.
typedef struct power_disk power_disk;
/// Before the first operation; NULL without memory. The layer must outlive it.
power_disk *power_disk_create(power_vfs *vfs);
void power_disk_destroy(power_disk *disk);
/// Goes on to a position, forwards only.
void power_disk_advance(power_disk *disk, int64_t position);

/// What becomes of that which was not synced.
enum power_loss {
    /// All of it is lost.
    POWER_ALL,
    /// Nothing is lost: the process alone was killed.
    POWER_NONE,
    /// Some pages of 4,096 bytes, directory entries and truncations.
    POWER_PAGES,
    /// Some sectors of 512 bytes: pages are torn.
    POWER_SECTORS
};
/// Cuts the power here: writes what is left into a folder, under the files' names. Returns whether that could be done.
bool power_disk_cut(const power_disk *disk, enum power_loss loss, uint64_t seed, const char *folder);

#endif
