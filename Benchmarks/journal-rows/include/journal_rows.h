// What the journal is measured against, in plain C: its inserts and counter updates, with its settings.
#ifndef JOURNAL_ROWS_H
#define JOURNAL_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct journal_rows journal_rows;

// Makes DIRECTORY/peer.sqlite, with one interface of one event, and a domain's table of jobs. Exits if it cannot.
journal_rows *journal_rows_open(const char *directory, const char *interface, const char *event);
void journal_rows_begin(journal_rows *rows);
// Inserts a row of the domain, and returns its id.
int64_t journal_rows_job(journal_rows *rows, const char *title);
// Inserts the next event. Writes its stamp (sequence, the one before, wall clock) over the last 24 bytes of the body.
void journal_rows_event(journal_rows *rows, unsigned char *body, size_t size);
void journal_rows_commit(journal_rows *rows);
uint64_t journal_rows_last(const journal_rows *rows);

#endif
