#include "journal_rows.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct journal_rows {
    sqlite3 *database;
    const char *event;
    uint64_t sequence, bytes;
    sqlite3_stmt *begin, *commit, *job, *insert, *counters, *last;
};

static void check(journal_rows *rows, int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "journal rows: %s: %s\n", what, sqlite3_errmsg(rows->database));
    exit(1);
}
static void run(journal_rows *rows, const char *sql) { check(rows, sqlite3_exec(rows->database, sql, NULL, NULL, NULL), sql); }
static sqlite3_stmt *prepare(journal_rows *rows, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(rows, sqlite3_prepare_v3(rows->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
    return statement;
}
static void step(journal_rows *rows, sqlite3_stmt *statement) {
    check(rows, sqlite3_step(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
}

journal_rows *journal_rows_open(const char *directory, const char *interface, const char *event) {
    journal_rows *rows = calloc(1, sizeof *rows);
    char path[4096], names[512];
    if (!rows || snprintf(path, sizeof path, "%s/peer.sqlite", directory) >= (int)sizeof path
        || snprintf(names, sizeof names,
               "INSERT INTO relay_interfaces VALUES (1, '%s', 0, 0, 0); INSERT INTO relay_names VALUES (1, '%s', 0, 0)",
               interface, event) >= (int)sizeof names) {
        fprintf(stderr, "journal rows: out of memory, or a name is too long\n");
        exit(1);
    }
    rows->event = event;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(rows, sqlite3_open_v2(path, &rows->database, flags, NULL), path);
    run(rows,
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -16000;"
        "CREATE TABLE relay_interfaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL,"
        " events INTEGER NOT NULL, bytes INTEGER NOT NULL);"
        "CREATE TABLE relay_names (interface INTEGER NOT NULL, name TEXT NOT NULL, last INTEGER NOT NULL,"
        " pruned INTEGER NOT NULL, PRIMARY KEY (interface, name)) WITHOUT ROWID;"
        "CREATE TABLE relay_events (interface INTEGER NOT NULL, sequence INTEGER NOT NULL, schema INTEGER NOT NULL,"
        " time INTEGER NOT NULL, place INTEGER, size INTEGER, body BLOB NOT NULL, PRIMARY KEY (interface, sequence)) WITHOUT ROWID;"
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)");
    run(rows, names);
    rows->begin = prepare(rows, "BEGIN IMMEDIATE");
    rows->commit = prepare(rows, "COMMIT");
    rows->job = prepare(rows, "INSERT INTO jobs (title) VALUES (?) RETURNING id");
    rows->insert = prepare(rows,
        "INSERT INTO relay_events (interface, sequence, schema, time, body) VALUES (?, ?, ?, ?, ?)");
    rows->counters = prepare(rows, "UPDATE relay_interfaces SET sequence = ?, events = ?, bytes = ? WHERE id = ?");
    rows->last = prepare(rows, "UPDATE relay_names SET last = ? WHERE interface = ? AND name = ?");
    return rows;
}

void journal_rows_begin(journal_rows *rows) { step(rows, rows->begin); }

int64_t journal_rows_job(journal_rows *rows, const char *title) {
    sqlite3_bind_text(rows->job, 1, title, -1, SQLITE_STATIC);
    check(rows, sqlite3_step(rows->job), sqlite3_sql(rows->job));
    int64_t id = sqlite3_column_int64(rows->job, 0);
    check(rows, sqlite3_step(rows->job), sqlite3_sql(rows->job));
    sqlite3_reset(rows->job);
    return id;
}

void journal_rows_event(journal_rows *rows, unsigned char *body, size_t size) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t stamp[3] = {rows->sequence + 1, rows->sequence, (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000};
    memcpy(body + size - sizeof stamp, stamp, sizeof stamp);
    rows->sequence++;
    rows->bytes += size;
    sqlite3_bind_int64(rows->insert, 1, 1);
    sqlite3_bind_int64(rows->insert, 2, (sqlite3_int64)rows->sequence);
    sqlite3_bind_int64(rows->insert, 3, 1);
    sqlite3_bind_int64(rows->insert, 4, (sqlite3_int64)stamp[2]);
    sqlite3_bind_blob(rows->insert, 5, body, (int)size, SQLITE_STATIC);
    step(rows, rows->insert);
}

void journal_rows_commit(journal_rows *rows) {
    sqlite3_bind_int64(rows->counters, 1, (sqlite3_int64)rows->sequence);
    sqlite3_bind_int64(rows->counters, 2, (sqlite3_int64)rows->sequence);
    sqlite3_bind_int64(rows->counters, 3, (sqlite3_int64)rows->bytes);
    sqlite3_bind_int64(rows->counters, 4, 1);
    step(rows, rows->counters);
    sqlite3_bind_int64(rows->last, 1, (sqlite3_int64)rows->sequence);
    sqlite3_bind_int64(rows->last, 2, 1);
    sqlite3_bind_text(rows->last, 3, rows->event, -1, SQLITE_STATIC);
    step(rows, rows->last);
    step(rows, rows->commit);
}

uint64_t journal_rows_last(const journal_rows *rows) { return rows->sequence; }
