// What the journal is measured against: its rows, committed by a plain C program.
//
// sqlite-peer DIRECTORY COUNT BATCH: commits COUNT events, BATCH a transaction on average, and prints the seconds it took, and
// how many of them a processor was busy with it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal_rows.h"
#include "peer_support.h"

int main(int argc, char **argv) {
    uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    double batch = argc == 4 ? atof(argv[3]) : 0;
    if (count == 0 || batch < 1) {
        fprintf(stderr, "usage: sqlite-peer DIRECTORY COUNT BATCH\n");
        return 64;
    }
    journal_rows *rows = journal_rows_open(argv[1], "org.eventrelay.JournalBench1", "Booked");
    // An Int64 and a text of 64 characters, as D-Bus has them, padding, and the stamp: 8 + 4 + 64 + 1 + 3 + 24.
    unsigned char body[104] = {0};
    body[8] = 64;
    memset(body + 12, 'x', 64);
    uint64_t start = peer_now(), sequence = 0;
    double worked = peer_cpu();
    for (uint64_t group = 1; sequence < count; group++) {
        uint64_t end = (uint64_t)(batch * (double)group + 0.5);
        if (end > count) end = count;
        journal_rows_begin(rows);
        while (sequence < end) {
            sequence++;
            memcpy(body, &sequence, 8);
            journal_rows_event(rows, body, sizeof body);
        }
        journal_rows_commit(rows);
    }
    double seconds = (double)(peer_now() - start) / 1e9;
    printf("%.9f %.9f\n", seconds, peer_cpu() - worked);
    return 0;
}
