#include <sqlite3.h>

// Switches a setting of a connection on or off. In C: sqlite3_db_config is variadic.
static inline int relay_sqlite_set(sqlite3 *database, int setting, int is_on) {
    return sqlite3_db_config(database, setting, is_on, (int *)0);
}

// An open file's methods, of which the one that reads counts. In C: SQLite takes a pointer to the first member for one to the whole.
struct relay_counted_reads {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *below;
    // How many bytes may still be read. Below zero, reading fails.
    sqlite3_int64 left;
};
static inline int relay_counted_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct relay_counted_reads *reads = (struct relay_counted_reads *)file->pMethods;
    reads->left -= count;
    return reads->left < 0 ? SQLITE_INTERRUPT : reads->below->xRead(file, bytes, count, offset);
}
// `reads` has to stay until the next call, while the file is open.
static inline void relay_begin_counting(sqlite3_file *file, struct relay_counted_reads *reads) {
    reads->below = file->pMethods;
    reads->methods = *file->pMethods;
    reads->methods.xRead = relay_counted_read;
    file->pMethods = &reads->methods;
}
static inline void relay_end_counting(sqlite3_file *file, struct relay_counted_reads *reads) { file->pMethods = reads->below; }
