// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations from a file of perf record that has the tracepoints of their begin and end: adds the events
 * latency:ROW that -e and --latency name, behind those of the file. Their samples are not in the file. All
 * functions: under the store's lock, by the thread that reads the file, unless a comment says otherwise. */
#ifndef FLAMETOP_SESSION_COLLECT_OPERATIONS_FILE_H
#define FLAMETOP_SESSION_COLLECT_OPERATIONS_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct record;
struct session;

struct session_operations_file {
    uint32_t first, n; /* the events that were added */
};

/* After the events of the file were added, before -e selects some of them. No lock is needed. */
void operations_file_open(struct session *s);
/* True if samples of this event are needed, also if -e left it out. */
bool operations_file_reads(const struct session *s, uint32_t event);
/* A sample of the file, whose stack is known. */
void operations_file_sample(struct session *s, const struct record *r, uint32_t stack);
/* True if this event's samples are made here. */
bool operations_file_makes(const struct session *s, uint32_t event);

#endif
