// SPDX-License-Identifier: GPL-2.0-or-later
/* Time off the CPU from a file of perf record or perf sched record that has the tracepoint
 * sched:sched_switch: adds an event off-cpu to the session; if the file has sched:sched_waking, the event
 * wakers; and if it also has samples of CPU time, the event wall, as the last events. Their samples are not
 * in the file. All functions: under the store's lock, by the thread that reads the file, unless a comment
 * says otherwise. */
#ifndef FLAMETOP_SESSION_COLLECT_OFFCPU_FILE_H
#define FLAMETOP_SESSION_COLLECT_OFFCPU_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct record;
struct sample;
struct session;
struct stack_result;

struct session_offcpu_file {
    bool runs;
    bool switches; /* Switch records say the times; else the tracepoint does. */
    bool names_awaited;
    uint64_t ended, unended;   /* waits whose end the file says, and that it does not say */
    BUFFER(uint64_t) switched; /* by CPU: time of its last switch; without switch records */
};

/* After the events of the file were added, before -e selects some of them. No lock is needed. */
void offcpu_file_open(struct session *s);
/* After -e: without the events, their samples are not made. */
void offcpu_file_chosen(struct session *s);
/* True if samples of this event are needed, also if -e left it out. */
bool offcpu_file_reads(const struct session *s, uint32_t event);
/* A sample of the file, of this thread, whose stack is known. */
void offcpu_file_sample(struct session *s, const struct record *r, uint32_t thread,
                        const struct stack_result *stack);
/* Any record, before it is applied. */
void offcpu_file_record(struct session *s, const struct record *r);
/* After each record: appends the samples of waits that it ended. */
void offcpu_file_append(struct session *s);
/* After the last record: open waits last until here. */
void offcpu_file_end(struct session *s);
/* True if this event's samples are made here. */
bool offcpu_file_makes(const struct session *s, uint32_t event);
/* True if this event's samples are made here, and -e did not ask for them: they are shown alone, and are no
 * part of all samples of the file. */
bool offcpu_file_is_apart(const struct session *s, uint32_t event);

#endif
