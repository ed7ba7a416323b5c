// What the journal is measured against: the same inserts and counter updates, with the same settings, in plain C.
//
// sqlite-peer DIRECTORY COUNT BATCH: commits COUNT events, BATCH a transaction on average, and prints the seconds it took, and
// how many of them a processor was busy with it.
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static sqlite3 *database;

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "sqlite-peer: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}
static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql); }
static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
    return statement;
}
static void step(sqlite3_stmt *statement) {
    check(sqlite3_step(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
}
static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
// Seconds that a processor was busy with this program.
static double work(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
    uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    double batch = argc == 4 ? atof(argv[3]) : 0;
    if (count == 0 || batch < 1) {
        fprintf(stderr, "usage: sqlite-peer DIRECTORY COUNT BATCH\n");
        return 64;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/peer.sqlite", argv[1]);
    check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), path);
    run("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -16000;"
        "CREATE TABLE relay_interfaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL,"
        " events INTEGER NOT NULL, bytes INTEGER NOT NULL);"
        "CREATE TABLE relay_names (interface INTEGER NOT NULL, name TEXT NOT NULL, last INTEGER NOT NULL,"
        " pruned INTEGER NOT NULL, PRIMARY KEY (interface, name)) WITHOUT ROWID;"
        "CREATE TABLE relay_events (interface INTEGER NOT NULL, sequence INTEGER NOT NULL, name TEXT NOT NULL,"
        " schema INTEGER NOT NULL, time INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (interface, sequence)) WITHOUT ROWID;"
        "INSERT INTO relay_interfaces VALUES (1, 'org.eventrelay.JournalBench1', 0, 0, 0);"
        "INSERT INTO relay_names VALUES (1, 'Booked', 0, 0)");
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *insert = prepare(
        "INSERT INTO relay_events (interface, sequence, name, schema, time, body) VALUES (?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *counters = prepare("UPDATE relay_interfaces SET sequence = ?, events = ?, bytes = ? WHERE id = ?");
    sqlite3_stmt *last = prepare("UPDATE relay_names SET last = ? WHERE interface = ? AND name = ?");
    // An Int64 and a text of 64 characters, as D-Bus has them, padding, and the stamp: 8 + 4 + 64 + 1 + 3 + 24.
    unsigned char body[104] = {0};
    body[8] = 64;
    memset(body + 12, 'x', 64);
    uint64_t start = now(CLOCK_MONOTONIC), sequence = 0;
    double worked = work();
    for (uint64_t group = 1; sequence < count; group++) {
        uint64_t end = (uint64_t)(batch * (double)group + 0.5);
        if (end > count) end = count;
        step(begin);
        while (sequence < end) {
            uint64_t stamp[3] = {sequence + 1, sequence, now(CLOCK_REALTIME) / 1000};
            sequence++;
            memcpy(body, &sequence, 8);
            memcpy(body + 80, stamp, 24);
            sqlite3_bind_int64(insert, 1, 1);
            sqlite3_bind_int64(insert, 2, (sqlite3_int64)sequence);
            sqlite3_bind_text(insert, 3, "Booked", 6, SQLITE_STATIC);
            sqlite3_bind_int64(insert, 4, 1);
            sqlite3_bind_int64(insert, 5, (sqlite3_int64)stamp[2]);
            sqlite3_bind_blob(insert, 6, body, sizeof body, SQLITE_STATIC);
            step(insert);
        }
        sqlite3_bind_int64(counters, 1, (sqlite3_int64)sequence);
        sqlite3_bind_int64(counters, 2, (sqlite3_int64)sequence);
        sqlite3_bind_int64(counters, 3, (sqlite3_int64)(sequence * sizeof body));
        sqlite3_bind_int64(counters, 4, 1);
        step(counters);
        sqlite3_bind_int64(last, 1, (sqlite3_int64)sequence);
        sqlite3_bind_int64(last, 2, 1);
        sqlite3_bind_text(last, 3, "Booked", 6, SQLITE_STATIC);
        step(last);
        step(commit);
    }
    double seconds = (double)(now(CLOCK_MONOTONIC) - start) / 1e9;
    printf("%.9f %.9f\n", seconds, work() - worked);
    return 0;
}
