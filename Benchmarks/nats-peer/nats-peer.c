// What bridge-bench compares with: plain C with libnats and SQLite, with the messages that the bridge has sent.
//
// usage: nats-peer make URL STREAM ""                      makes a stream
//        nats-peer copy URL FROM-STREAM SUBJECT COUNT      appends the messages of a stream to SUBJECT, each behind the one
//                                                          before it; reads them first
//        nats-peer read URL STREAM SUBJECT COUNT FILE      reads as many messages, and commits their events in SQLite
//        nats-peer pack URL SUBJECT SIZE FILE              appends the events of FILE, in messages of SIZE bytes
//        nats-peer send URL SUBJECT COUNT RATE FILE        commits a row, then publishes, COUNT times at RATE a second
//        nats-peer hear URL STREAM SUBJECT COUNT FILE      reads as many, commits a row for each; prints the latencies
// Prints nanoseconds; send prints nothing.
#include <nats/nats.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call) do { natsStatus status_ = (call); if (status_ != NATS_OK) { \
    fprintf(stderr, "nats-peer: %s: %s\n", #call, nats_GetLastError(NULL)); exit(1); } } while (0)
#define SQL(call) do { if ((call) != SQLITE_OK) { fprintf(stderr, "nats-peer: %s: %s\n", #call, sqlite3_errmsg(database)); exit(1); } } while (0)

static natsConnection *connection;
static jsCtx *context;
static sqlite3 *database;
static sqlite3_stmt *insert;

static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
static void connect_to(const char *url) {
    natsOptions *options;
    CHECK(natsOptions_Create(&options));
    CHECK(natsOptions_SetURL(options, url));
    CHECK(natsConnection_Connect(&connection, options));
    CHECK(natsConnection_JetStream(&context, connection, NULL));
}
static void open_database(const char *path) {
    SQL(sqlite3_open(path, &database));
    SQL(sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE events (sequence INTEGER PRIMARY KEY, epoch INTEGER, time INTEGER, schema INTEGER, body BLOB) STRICT", 0, 0, 0));
    SQL(sqlite3_prepare_v2(database, "INSERT INTO events VALUES (?, 7, ?, 1, ?)", -1, &insert, 0));
}
static void add(uint64_t sequence, const void *body, int size) {
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)sequence);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)now(CLOCK_REALTIME) / 1000);
    sqlite3_bind_blob(insert, 3, body, size, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) { fprintf(stderr, "nats-peer: %s\n", sqlite3_errmsg(database)); exit(1); }
    sqlite3_reset(insert);
}
static natsSubscription *subscribe(const char *stream, const char *subject) {
    natsSubscription *subscription;
    jsSubOptions options;
    jsErrCode reason;
    CHECK(jsSubOptions_Init(&options));
    options.Stream = stream;
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverAll;
    CHECK(js_SubscribeSync(&subscription, context, subject, NULL, &options, &reason));
    CHECK(natsSubscription_SetPendingLimits(subscription, -1, -1));
    return subscription;
}
static void append(const char *subject, const char *data, int size, uint64_t last) {
    natsMsg *message;
    jsPubOptions options;
    jsErrCode reason;
    char expected[32];
    CHECK(natsMsg_Create(&message, subject, NULL, data, size));
    snprintf(expected, sizeof expected, "%llu", (unsigned long long)last);
    CHECK(natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", expected));
    CHECK(jsPubOptions_Init(&options));
    options.MaxWait = 60000;
    CHECK(js_PublishMsg(NULL, context, message, &options, &reason));
    natsMsg_Destroy(message);
}
static uint64_t number(const char *data, int offset) {
    uint64_t value;
    memcpy(&value, data + offset, 8);
    return value;
}
static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int count, char **words) {
    if (count < 5) { fprintf(stderr, "nats-peer: see its source\n"); return 64; }
    connect_to(words[2]);
    if (!strcmp(words[1], "make")) {
        jsStreamConfig configuration;
        jsErrCode reason;
        char subject[256];
        const char *subjects[1] = { subject };
        CHECK(jsStreamConfig_Init(&configuration));
        snprintf(subject, sizeof subject, "%s.*", words[3]);
        configuration.Name = words[3];
        configuration.Subjects = subjects;
        configuration.SubjectsLen = 1;
        configuration.Storage = js_FileStorage;
        CHECK(js_AddStream(NULL, context, &configuration, NULL, &reason));
    } else if (!strcmp(words[1], "copy")) {
        int messages = atoi(words[5]);
        char **data = calloc((size_t)messages, sizeof *data);
        int *sizes = calloc((size_t)messages, sizeof *sizes);
        jsErrCode reason;
        for (int index = 0; index < messages; index++) {
            natsMsg *message;
            CHECK(js_GetMsg(&message, context, words[3], (uint64_t)index + 1, NULL, &reason));
            sizes[index] = natsMsg_GetDataLength(message);
            data[index] = malloc((size_t)sizes[index]);
            memcpy(data[index], natsMsg_GetData(message), (size_t)sizes[index]);
            natsMsg_Destroy(message);
        }
        uint64_t began = now(CLOCK_MONOTONIC);
        for (int index = 0; index < messages; index++) append(words[4], data[index], sizes[index], (uint64_t)index);
        printf("%llu\n", (unsigned long long)(now(CLOCK_MONOTONIC) - began));
    } else if (!strcmp(words[1], "read")) {
        int messages = atoi(words[5]);
        open_database(words[6]);
        uint64_t began = now(CLOCK_MONOTONIC), bytes = 0;
        natsSubscription *subscription = subscribe(words[3], words[4]);
        SQL(sqlite3_exec(database, "BEGIN", 0, 0, 0));
        for (int index = 0; index < messages; index++) {
            natsMsg *message;
            CHECK(natsSubscription_NextMsg(&message, subscription, 60000));
            const char *data = natsMsg_GetData(message);
            int size = natsMsg_GetDataLength(message);
            // A page: its events are as many equal parts.
            if (data[5] == 1) {
                uint64_t first = number(data, 32), last = number(data, 40);
                int part = (size - 64) / (int)(last - first + 1);
                for (uint64_t event = first; event <= last; event++) add(event, data + 64 + (int)(event - first) * part, part);
            }
            bytes += (uint64_t)size;
            natsMsg_Destroy(message);
            if (bytes < 4 << 20 && index + 1 < messages) continue;
            bytes = 0;
            SQL(sqlite3_exec(database, "COMMIT; BEGIN", 0, 0, 0));
        }
        printf("%llu\n", (unsigned long long)(now(CLOCK_MONOTONIC) - began));
    } else if (!strcmp(words[1], "pack")) {
        int size = atoi(words[4]), used = 64;
        uint64_t last = 0;
        char *page = calloc(1, (size_t)size + 65536);
        sqlite3_stmt *select;
        SQL(sqlite3_open(words[5], &database));
        SQL(sqlite3_prepare_v2(database, "SELECT sequence, schema, body FROM events ORDER BY sequence", -1, &select, 0));
        uint64_t began = now(CLOCK_MONOTONIC);
        for (;;) {
            int isRow = sqlite3_step(select) == SQLITE_ROW, length = isRow ? sqlite3_column_bytes(select, 2) : 0;
            if (used > 64 && (!isRow || used + 8 + length > size)) {
                append(words[3], page, used, last++);
                used = 64;
            }
            if (!isRow) break;
            uint32_t prefix[2] = { (uint32_t)sqlite3_column_int(select, 1), (uint32_t)length };
            memcpy(page + used, prefix, 8);
            memcpy(page + used + 8, sqlite3_column_blob(select, 2), (size_t)length);
            used += 8 + length;
        }
        printf("%llu\n", (unsigned long long)(now(CLOCK_MONOTONIC) - began));
    } else if (!strcmp(words[1], "send")) {
        int messages = atoi(words[4]), rate = atoi(words[5]);
        char data[256] = { 0 };
        open_database(words[6]);
        for (int index = 0; index < messages; index++) {
            struct timespec pause = { 0, 1000000000 / rate };
            nanosleep(&pause, NULL);
            uint64_t time = now(CLOCK_REALTIME);
            memcpy(data, &time, 8);
            add((uint64_t)index + 1, data, 100);
            append(words[3], data, sizeof data, (uint64_t)index);
        }
    } else if (!strcmp(words[1], "hear")) {
        int messages = atoi(words[5]);
        uint64_t *latencies = calloc((size_t)messages, sizeof *latencies);
        open_database(words[6]);
        natsSubscription *subscription = subscribe(words[3], words[4]);
        printf("ready\n");
        fflush(stdout);
        for (int index = 0; index < messages; index++) {
            natsMsg *message;
            CHECK(natsSubscription_NextMsg(&message, subscription, 60000));
            uint64_t sent = number(natsMsg_GetData(message), 0);
            add((uint64_t)index + 1, natsMsg_GetData(message), 100);
            latencies[index] = now(CLOCK_REALTIME) - sent;
            natsMsg_Destroy(message);
        }
        qsort(latencies, (size_t)messages, sizeof *latencies, ascending);
        printf("%llu %llu\n", (unsigned long long)latencies[messages / 2], (unsigned long long)latencies[messages * 99 / 100]);
    }
    return 0;
}
