#include <sqlite3.h>

// Switches a setting of a connection on or off. In C: sqlite3_db_config is variadic.
static inline int relay_sqlite_set(sqlite3 *database, int setting, int is_on) {
    return sqlite3_db_config(database, setting, is_on, (int *)0);
}
