#include "replay_scan.h"

#include <sqlite3.h>
#include <string.h>

int64_t replay_scan(const char *path, uint64_t *sum) {
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    int64_t count = -1;
    const char *sql =
        "SELECT sequence, schema, body, part FROM relay_events WHERE interface = 1 AND sequence > 0 ORDER BY sequence";
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_prepare_v2(database, sql, -1, &rows, NULL) == SQLITE_OK) {
        int code;
        count = 0;
        while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
            *sum += (uint64_t)sqlite3_column_int64(rows, 0) + (uint64_t)sqlite3_column_int(rows, 1);
            const unsigned char *body = sqlite3_column_blob(rows, 2);
            int size = sqlite3_column_bytes(rows, 2);
            for (int at = 0; at + 8 <= size; at += 8) {
                uint64_t word;
                memcpy(&word, body + at, sizeof word);
                *sum += word;
            }
            count++;
        }
        if (code != SQLITE_DONE) count = -1;
    }
    sqlite3_finalize(rows);
    sqlite3_close(database);
    return count;
}
