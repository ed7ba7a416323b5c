#include "CPowerVFS.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer.h"

enum kind { ADOPTED, CREATED, WRITTEN, TRUNCATED, SYNCED, FAILED, DELETED, ENTERED };
struct operation {
    enum kind kind;
    /// A file is known by its number: its name may be another file's later.
    int file;
    int64_t offset, count;
    /// What was written; or the name.
    unsigned char *bytes;
};
struct power_vfs {
    struct layer layer;
    struct operation *operations;
    int64_t count, room;
    /// Names by the numbers of the files; NULL for one that was deleted.
    char **files;
    int file_count;
    int64_t syncs, skip, life;
    bool has_failed;
    /// Nothing was opened since the kill: who deletes is dead.
    bool is_dead;
};
struct file {
    struct layer_file base;
    /// Negative: a temporary file, which no cut leaves.
    int number;
    int64_t life;
    /// Its first sync makes its directory's entries durable, as SQLite's own layer does.
    bool enters;
};

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
static void *checked(void *memory) {
    // A test without memory has nothing to say.
    if (!memory) abort();
    return memory;
}
static void add(power_vfs *vfs, enum kind kind, int file, int64_t offset, const void *bytes, int64_t count) {
    if (vfs->count == vfs->room) {
        vfs->room = vfs->room ? vfs->room * 2 : 256;
        vfs->operations = checked(realloc(vfs->operations, (size_t)vfs->room * sizeof *vfs->operations));
    }
    unsigned char *copy = NULL;
    if (bytes) memcpy(copy = checked(malloc((size_t)count + 1)), bytes, (size_t)count);
    vfs->operations[vfs->count++] =
        (struct operation){.kind = kind, .file = file, .offset = offset, .count = count, .bytes = copy};
}
static int number_of(const power_vfs *vfs, const char *name) {
    for (int i = 0; i < vfs->file_count; i++)
        if (vfs->files[i] && strcmp(vfs->files[i], name) == 0) return i;
    return -1;
}
static int enter_file(power_vfs *vfs, enum kind kind, const char *path) {
    const char *name = last_part(path);
    vfs->files = checked(realloc(vfs->files, (size_t)(vfs->file_count + 1) * sizeof *vfs->files));
    vfs->files[vfs->file_count] = checked(strdup(name));
    add(vfs, kind, vfs->file_count, 0, name, (int64_t)strlen(name) + 1);
    return vfs->file_count++;
}
static bool adopt(power_vfs *vfs, const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    // An empty one was made by its owner, a moment ago: nothing of it is durable.
    struct stat status;
    bool is_read = fstat(descriptor, &status) == 0;
    int number = enter_file(vfs, is_read && status.st_size > 0 ? ADOPTED : CREATED, path);
    if (is_read && status.st_size > 0) {
        unsigned char *bytes = checked(malloc((size_t)status.st_size));
        is_read = pread(descriptor, bytes, (size_t)status.st_size, 0) == status.st_size;
        add(vfs, WRITTEN, number, 0, bytes, status.st_size);
        add(vfs, SYNCED, number, 0, NULL, 0);
        free(bytes);
    }
    close(descriptor);
    return is_read;
}

// MARK: A file

#define OWNER(f) ((power_vfs *)((struct layer_file *)(f))->layer)
#define BELOW(f) (((struct layer_file *)(f))->below)
#define NUMBER(f) (((struct file *)(f))->number)
// Whether the file's process still lives. Under the lock.
static bool lives(sqlite3_file *f) { return ((struct file *)f)->life == OWNER(f)->life; }
static int f_write(sqlite3_file *f, const void *bytes, int count, sqlite3_int64 offset) {
    pthread_mutex_lock(&OWNER(f)->layer.lock);
    int code = SQLITE_IOERR_WRITE;
    if (lives(f)) {
        code = BELOW(f)->pMethods->xWrite(BELOW(f), bytes, count, offset);
        if (code == SQLITE_OK && NUMBER(f) >= 0) add(OWNER(f), WRITTEN, NUMBER(f), offset, bytes, count);
    }
    pthread_mutex_unlock(&OWNER(f)->layer.lock);
    return code;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) {
    pthread_mutex_lock(&OWNER(f)->layer.lock);
    int code = SQLITE_IOERR_TRUNCATE;
    if (lives(f)) {
        code = BELOW(f)->pMethods->xTruncate(BELOW(f), size);
        if (code == SQLITE_OK && NUMBER(f) >= 0) add(OWNER(f), TRUNCATED, NUMBER(f), size, NULL, 0);
    }
    pthread_mutex_unlock(&OWNER(f)->layer.lock);
    return code;
}
static int f_sync(sqlite3_file *f, int flags) {
    (void)flags;
    struct file *file = (struct file *)f;
    power_vfs *vfs = OWNER(f);
    pthread_mutex_lock(&vfs->layer.lock);
    int code = SQLITE_IOERR_FSYNC;
    if (lives(f)) {
        vfs->syncs++;
        bool fails = vfs->skip == 0;
        if (vfs->skip >= 0) vfs->skip--;
        if (fails) vfs->has_failed = true;
        if (file->number >= 0) add(vfs, fails ? FAILED : SYNCED, file->number, 0, NULL, 0);
        if (!fails) {
            if (file->enters) add(vfs, ENTERED, -1, 0, NULL, 0);
            file->enters = false;
            code = SQLITE_OK;
        }
    }
    pthread_mutex_unlock(&vfs->layer.lock);
    return code;
}
// A dead process waits for no reader: what closes it would wait seconds for each that lives on.
static int f_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
    pthread_mutex_lock(&OWNER(f)->layer.lock);
    bool is_dead = !lives(f);
    pthread_mutex_unlock(&OWNER(f)->layer.lock);
    if (is_dead && (flags & SQLITE_SHM_LOCK)) return SQLITE_IOERR_SHMLOCK;
    return BELOW(f)->pMethods->xShmLock(BELOW(f), offset, count, flags);
}
// Without hints of size: what the layer below would do about them is not recorded.
static int f_control(sqlite3_file *f, int operation, void *argument) {
    if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;
    return BELOW(f)->pMethods->xFileControl(BELOW(f), operation, argument);
}

// MARK: The layer

static int v_open(sqlite3_vfs *v, const char *path, sqlite3_file *f, int flags, int *out) {
    power_vfs *self = v->pAppData;
    struct file *file = (struct file *)f;
    memset(file, 0, sizeof *file);
    pthread_mutex_lock(&self->layer.lock);
    file->life = self->life;
    self->is_dead = false;
    file->number = path ? number_of(self, last_part(path)) : -1;
    if (path && file->number < 0 && access(path, F_OK) == 0) {
        adopt(self, path);
        file->number = number_of(self, last_part(path));
    }
    int code = layer_open(v, path, f, flags, out);
    if (code == SQLITE_OK && path && file->number < 0) file->number = enter_file(self, CREATED, path);
    file->enters = (flags & SQLITE_OPEN_CREATE) && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL));
    pthread_mutex_unlock(&self->layer.lock);
    return code;
}
// SQLite deletes by path: a killed process is known by nothing having been opened since.
static int v_delete(sqlite3_vfs *v, const char *path, int sync) {
    power_vfs *self = v->pAppData;
    pthread_mutex_lock(&self->layer.lock);
    int code = self->is_dead ? SQLITE_IOERR_DELETE : layer_delete(v, path, 0);
    int number = number_of(self, last_part(path));
    if (code == SQLITE_OK && number >= 0) {
        add(self, DELETED, number, 0, NULL, 0);
        free(self->files[number]);
        self->files[number] = NULL;
        if (sync) add(self, ENTERED, -1, 0, NULL, 0);
    }
    pthread_mutex_unlock(&self->layer.lock);
    return code;
}

static void clear(struct layer *layer) {
    power_vfs *self = (power_vfs *)layer;
    for (int64_t i = 0; i < self->count; i++) free(self->operations[i].bytes);
    for (int i = 0; i < self->file_count; i++) free(self->files[i]);
    free(self->operations);
    free(self->files);
}
power_vfs *power_vfs_create(const char *name) {
    power_vfs *self = layer_create(sizeof *self, sizeof(struct file), name);
    if (!self) return NULL;
    self->skip = -1;
    self->layer.clear = clear;
    sqlite3_io_methods *methods = &self->layer.methods;
    methods->xWrite = f_write;
    methods->xTruncate = f_truncate;
    methods->xSync = f_sync;
    methods->xFileControl = f_control;
    methods->xShmLock = f_shm_lock;
    self->layer.vfs.xOpen = v_open;
    self->layer.vfs.xDelete = v_delete;
    if (layer_register(&self->layer)) return self;
    power_vfs_destroy(self);
    return NULL;
}
void power_vfs_destroy(power_vfs *self) { layer_destroy(&self->layer); }
bool power_vfs_adopt(power_vfs *self, const char *path) {
    pthread_mutex_lock(&self->layer.lock);
    bool is_done = adopt(self, path);
    pthread_mutex_unlock(&self->layer.lock);
    return is_done;
}
static int64_t read_locked(const power_vfs *self, const int64_t *value) {
    pthread_mutex_lock((pthread_mutex_t *)&self->layer.lock);
    int64_t copy = *value;
    pthread_mutex_unlock((pthread_mutex_t *)&self->layer.lock);
    return copy;
}
int64_t power_vfs_position(const power_vfs *self) { return read_locked(self, &self->count); }
int64_t power_vfs_syncs(const power_vfs *self) { return read_locked(self, &self->syncs); }
void power_vfs_fail_sync(power_vfs *self, int64_t skip) {
    pthread_mutex_lock(&self->layer.lock);
    self->skip = skip;
    self->has_failed = false;
    pthread_mutex_unlock(&self->layer.lock);
}
bool power_vfs_has_failed(const power_vfs *self) {
    pthread_mutex_lock((pthread_mutex_t *)&self->layer.lock);
    bool has_failed = self->has_failed;
    pthread_mutex_unlock((pthread_mutex_t *)&self->layer.lock);
    return has_failed;
}
void power_vfs_kill(power_vfs *self) {
    pthread_mutex_lock(&self->layer.lock);
    self->life++;
    self->is_dead = true;
    pthread_mutex_unlock(&self->layer.lock);
}

// MARK: The disk

enum { PAGE = 4096, SECTOR = 512 };
struct version {
    int64_t at;
    unsigned char bytes[PAGE];
};
/// A page as the kernel keeps it.
struct page {
    unsigned char durable[PAGE];
    /// What it was since, oldest first.
    struct version *versions;
    int count;
    /// The next sync writes it. Clean with versions: a sync has failed.
    bool is_dirty;
};
/// A size that the file had, or a truncation.
struct size {
    int64_t at, bytes;
    bool is_cut;
};
struct node {
    struct page **pages;
    int64_t page_count, durable_size, size;
    struct size *sizes;
    int size_count;
};
/// What a name stood for; -1 for nothing.
struct entry {
    char *name;
    int durable, *later;
    int count;
};
struct power_disk {
    power_vfs *vfs;
    struct node *nodes;
    int node_count;
    struct entry *entries;
    int entry_count;
    int64_t position;
};

static struct node *node_of(power_disk *disk, int file) {
    if (file >= disk->node_count) {
        disk->nodes = checked(realloc(disk->nodes, (size_t)(file + 1) * sizeof *disk->nodes));
        memset(disk->nodes + disk->node_count, 0, (size_t)(file + 1 - disk->node_count) * sizeof *disk->nodes);
        disk->node_count = file + 1;
    }
    return &disk->nodes[file];
}
static struct page *page_of(struct node *node, int64_t index) {
    if (index >= node->page_count) {
        int64_t count = index + 1 + node->page_count / 2;
        node->pages = checked(realloc(node->pages, (size_t)count * sizeof *node->pages));
        memset(node->pages + node->page_count, 0, (size_t)(count - node->page_count) * sizeof *node->pages);
        node->page_count = count;
    }
    if (!node->pages[index]) node->pages[index] = checked(calloc(1, sizeof(struct page)));
    return node->pages[index];
}
static void change(struct page *page, int64_t at, int64_t offset, const unsigned char *bytes, int64_t count) {
    page->versions = checked(realloc(page->versions, (size_t)(page->count + 1) * sizeof *page->versions));
    struct version *version = &page->versions[page->count];
    memcpy(version->bytes, page->count ? version[-1].bytes : page->durable, PAGE);
    if (bytes) memcpy(version->bytes + offset, bytes, (size_t)count);
    else memset(version->bytes + offset, 0, (size_t)count);
    version->at = at;
    page->count++;
    page->is_dirty = true;
}
static void note_size(struct node *node, int64_t at, int64_t bytes, bool is_cut) {
    node->sizes = checked(realloc(node->sizes, (size_t)(node->size_count + 1) * sizeof *node->sizes));
    node->sizes[node->size_count++] = (struct size){at, bytes, is_cut};
    node->size = bytes;
}
static void write_node(struct node *node, int64_t at, const struct operation *operation) {
    for (int64_t done = 0; done < operation->count;) {
        int64_t place = operation->offset + done, within = place % PAGE;
        int64_t count = PAGE - within < operation->count - done ? PAGE - within : operation->count - done;
        change(page_of(node, place / PAGE), at, within, operation->bytes + done, count);
        done += count;
    }
    int64_t end = operation->offset + operation->count;
    if (end > node->size) note_size(node, at, end, false);
}
static void cut_node(struct node *node, int64_t at, int64_t size) {
    if (size < node->size) {
        for (int64_t i = size / PAGE; i < node->page_count; i++) {
            int64_t from = i * PAGE < size ? size % PAGE : 0;
            if (node->pages[i]) change(node->pages[i], at, from, NULL, PAGE - from);
        }
    }
    note_size(node, at, size, size < node->size);
}
static void sync_node(struct node *node) {
    // Sizes are the file system's own, which are durable whatever became of the pages.
    int64_t cut_at = -1, cut_to = 0;
    for (int i = 0; i < node->size_count; i++) {
        if (!node->sizes[i].is_cut) continue;
        cut_at = node->sizes[i].at;
        if (cut_to == 0 || node->sizes[i].bytes < cut_to) cut_to = node->sizes[i].bytes;
    }
    for (int64_t i = 0; i < node->page_count; i++) {
        struct page *page = node->pages[i];
        if (!page || !page->count) continue;
        if (page->is_dirty) {
            memcpy(page->durable, page->versions[page->count - 1].bytes, PAGE);
            page->count = 0;
        } else if (cut_at >= 0 && i * PAGE >= cut_to) {
            // Behind what was cut off there is nothing of before.
            int kept = 0;
            memset(page->durable, 0, PAGE);
            for (int j = 0; j < page->count; j++)
                if (page->versions[j].at > cut_at) page->versions[kept++] = page->versions[j];
            page->count = kept;
        }
        page->is_dirty = false;
    }
    node->durable_size = node->size;
    node->size_count = 0;
}
static void clean_node(struct node *node) {
    for (int64_t i = 0; i < node->page_count; i++)
        if (node->pages[i]) node->pages[i]->is_dirty = false;
}
static struct entry *entry_of(power_disk *disk, const char *name) {
    for (int i = 0; i < disk->entry_count; i++)
        if (strcmp(disk->entries[i].name, name) == 0) return &disk->entries[i];
    disk->entries = checked(realloc(disk->entries, (size_t)(disk->entry_count + 1) * sizeof *disk->entries));
    disk->entries[disk->entry_count] = (struct entry){.name = checked(strdup(name)), .durable = -1};
    return &disk->entries[disk->entry_count++];
}
static void enter(struct entry *entry, int file) {
    entry->later = checked(realloc(entry->later, (size_t)(entry->count + 1) * sizeof *entry->later));
    entry->later[entry->count++] = file;
}
static void leave(power_disk *disk, int file) {
    for (int i = 0; i < disk->entry_count; i++) {
        struct entry *entry = &disk->entries[i];
        int now = entry->count ? entry->later[entry->count - 1] : entry->durable;
        if (now == file) enter(entry, -1);
    }
}

power_disk *power_disk_create(power_vfs *vfs) {
    power_disk *disk = calloc(1, sizeof *disk);
    if (disk) disk->vfs = vfs;
    return disk;
}
void power_disk_destroy(power_disk *disk) {
    for (int i = 0; i < disk->node_count; i++) {
        struct node *node = &disk->nodes[i];
        for (int64_t j = 0; j < node->page_count; j++) {
            if (node->pages[j]) free(node->pages[j]->versions);
            free(node->pages[j]);
        }
        free(node->pages);
        free(node->sizes);
    }
    for (int i = 0; i < disk->entry_count; i++) {
        free(disk->entries[i].name);
        free(disk->entries[i].later);
    }
    free(disk->nodes);
    free(disk->entries);
    free(disk);
}
void power_disk_advance(power_disk *disk, int64_t position) {
    pthread_mutex_lock(&disk->vfs->layer.lock);
    for (; disk->position < position && disk->position < disk->vfs->count; disk->position++) {
        const struct operation *operation = &disk->vfs->operations[disk->position];
        int64_t at = disk->position;
        switch (operation->kind) {
        case ADOPTED: entry_of(disk, (const char *)operation->bytes)->durable = operation->file; break;
        case CREATED: enter(entry_of(disk, (const char *)operation->bytes), operation->file); break;
        case WRITTEN: write_node(node_of(disk, operation->file), at, operation); break;
        case TRUNCATED: cut_node(node_of(disk, operation->file), at, operation->offset); break;
        case SYNCED: sync_node(node_of(disk, operation->file)); break;
        case FAILED: clean_node(node_of(disk, operation->file)); break;
        case DELETED: leave(disk, operation->file); break;
        case ENTERED:
            for (int i = 0; i < disk->entry_count; i++) {
                struct entry *entry = &disk->entries[i];
                if (entry->count) entry->durable = entry->later[entry->count - 1];
                entry->count = 0;
            }
        }
    }
    pthread_mutex_unlock(&disk->vfs->layer.lock);
}

// MARK: A cut

static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}
/// One of the states 0 (durable) to `count` (the last).
static int choose(enum power_loss loss, int count, uint64_t *state) {
    switch (loss) {
    case POWER_ALL: return 0;
    case POWER_NONE: return count;
    default: return (int)(next(state) % (uint64_t)(count + 1));
    }
}
static void rebuild(const struct page *page, int64_t from, int64_t until, enum power_loss loss, uint64_t *state,
                    unsigned char *out) {
    static const unsigned char zeros[PAGE];
    const unsigned char *base = from >= 0 ? zeros : page->durable;
    int first = 0, last;
    while (first < page->count && page->versions[first].at < from) first++;
    for (last = first; last < page->count && page->versions[last].at < until;) last++;
    int step = loss == POWER_SECTORS ? SECTOR : PAGE;
    for (int place = 0; place < PAGE; place += step) {
        int choice = choose(loss, last - first, state);
        memcpy(out + place, (choice ? page->versions[first + choice - 1].bytes : base) + place, (size_t)step);
    }
}
static bool write_all(int descriptor, const unsigned char *bytes, int64_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, (size_t)count);
        if (written <= 0) return false;
        bytes += written;
        count -= written;
    }
    return true;
}
static bool cut_file(const struct node *node, enum power_loss loss, uint64_t *state, const char *path) {
    // Truncations happen in their order: so many of them have.
    int cuts = 0;
    for (int i = 0; i < node->size_count; i++) cuts += node->sizes[i].is_cut;
    int applied = choose(loss, cuts, state), seen = 0, begin = 0, end = node->size_count;
    int64_t size = node->durable_size;
    for (int i = 0; i < node->size_count; i++) {
        if (!node->sizes[i].is_cut) continue;
        if (seen == applied) {
            end = i;
            break;
        }
        seen++;
        size = node->sizes[i].bytes;
        begin = i + 1;
    }
    int choice = choose(loss, end - begin, state);
    if (choice) size = node->sizes[begin + choice - 1].bytes;

    unsigned char *bytes = checked(calloc(1, (size_t)size + PAGE));
    for (int64_t i = 0; i < node->page_count && i * PAGE < size; i++) {
        if (!node->pages[i]) continue;
        // The last truncation of this page that has happened, and the first one that has not.
        int64_t from = -1, until = INT64_MAX;
        seen = 0;
        for (int j = 0; j < node->size_count; j++) {
            if (!node->sizes[j].is_cut) continue;
            bool covers = node->sizes[j].bytes <= i * PAGE;
            if (seen < applied && covers) from = node->sizes[j].at;
            if (seen >= applied && covers && node->sizes[j].at < until) until = node->sizes[j].at;
            seen++;
        }
        rebuild(node->pages[i], from, until, loss, state, bytes + i * PAGE);
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_written = descriptor >= 0 && write_all(descriptor, bytes, size);
    if (descriptor >= 0) close(descriptor);
    free(bytes);
    return is_written;
}
bool power_disk_cut(const power_disk *disk, enum power_loss loss, uint64_t seed, const char *folder) {
    uint64_t state = seed;
    for (int i = 0; i < disk->entry_count; i++) {
        const struct entry *entry = &disk->entries[i];
        int choice = choose(loss, entry->count, &state);
        int file = choice ? entry->later[choice - 1] : entry->durable;
        if (file < 0) continue;
        static const struct node empty;
        const struct node *node = file < disk->node_count ? &disk->nodes[file] : &empty;
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->name) >= (int)sizeof path) return false;
        if (!cut_file(node, loss, &state, path)) return false;
    }
    return true;
}
