// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations, as samples of the events latency:ROW: a sample is made when an operation ends, weighted with
 * its duration in ns. Its leaf frame, in MODULE_OPERATION, names the operation; the stack is that of the
 * thread at the begin or at the end. All functions: under the store's lock, by the collector. */
#ifndef FLAMETOP_SESSION_COLLECT_OPERATIONS_H
#define FLAMETOP_SESSION_COLLECT_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "perf/pair_rows.h"
#include "perf/record.h"
#include "profile/estimates.h"
#include "profile/pairs.h"

struct perf_event_attr;
struct sample;
struct session;
struct waits_part;

/* The end of an operation that is still among the open ones. */
struct operation_end {
    uint64_t key, time_ns;
    uint64_t connection; /* hash: its error has the same one */
    uint32_t cpu;
    bool by_process; /* not by an interrupt: the program has closed the socket, unless an error follows */
};
#define OPERATION_NO_ERROR 0  /* not known */
#define OPERATION_GIVEN_UP -1 /* else an errno */

struct operations_row {
    const struct pair_row *row;
    uint32_t event;             /* latency:ROW */
    uint32_t parts[PAIR_PARTS]; /* events; of PAIR_MORE and PAIR_ERROR UINT32_MAX: it does not run */
    struct pair_events fields;
    struct pairs pairs;
    struct map names;                 /* hash of a name's fields → number of the name */
    bool elsewhere;                   /* of a file of another machine, which has other devices */
    bool other_calls;                 /* of another architecture, which has other system calls */
    struct map completed;             /* hash of a completed name → number of the name */
    VEC(struct operation_end) ending; /* operations that have ended, whose error may follow */
    uint64_t incomplete;              /* operations that ended without their command line */
    uint32_t value_key;             /* index of the field by which operations are selected; by_thread: none */
    uint32_t one_in, one_in_before; /* one in how many operations is sampled, and was before one_in_ns */
    uint64_t one_in_ns;
    struct estimates estimates; /* of the operations that are not selected, by number of their name */
    /* Events of begins, also flametop's own: */
    uint64_t begins;      /* sampled so far */
    uint64_t counted;     /* of this source, by the event that counts them */
    uint64_t counted_met; /* those of them that meet the row's conditions */
};
struct session_operations {
    VEC(struct operations_row) rows; /* of the running source */
    struct {
        bool runs; /* a row of waits for a CPU, as this event */
        uint32_t event;
        struct map names; /* hash of a comm → number of the name */
    } runqueue;
    uint32_t self;    /* flametop's own process */
    uint64_t records; /* begins and ends so far */
};

/* The payload of a record that is an event of this side. */
static inline struct payload operation_payload(const struct operations_row *row, enum pair_side side,
                                               const struct record *r)
{
    return (struct payload){ .format = row->fields.formats[side],
                             .raw = r->sample.raw,
                             .size = r->sample.raw_size };
}

/* After the events from `first` on were opened: the events latency:ROW run if both of their parts do. */
void operations_open(struct session *s, uint32_t first);
/* False: the event goes when another event is removed, as a member of its group, or as a begin or an end that
 * only this latency:ROW needs. */
bool operations_event_stays(const struct session *s, uint32_t event, uint32_t removed);
/* Right after the events of a source were adopted: follows its rows. Open operations go on if the source
 * before had the row, too. */
void operations_adopt(struct session *s);
/* Forgets open operations: the scope has changed, or records are missing because the source before was closed
 * first. */
void operations_restart(struct session *s);
/* runqueue.c: a part of a wait. */
void runqueue_on_part(struct session *s, const struct waits_part *part);
/* slow_files.c: the name and the number of bytes of a slow operation that ends with this record. Its name is
 * the number of the call, its size the file descriptor before. False: it is on no file. */
bool slow_file_name(struct session *s, struct operations_row *row, const struct record *r,
                    struct pairs_operation *operation);
/* Of a file: appends an opened row, whose samples are this event. */
void operations_add_row(struct session *s, const struct operations_row *row, uint32_t event);
/* A sample of a file, which has this stack of the store. It may be a begin or an end. */
void operations_sample_of_file(struct session *s, const struct record *r, uint32_t stack);
/* A sample of a begin or an end. False: it is of another event. */
bool operations_sample(struct session *s, const struct record *r);
/* Sampled operations represent all others that were counted before, of names that had none since before the
 * turn-th selection. */
void operations_settle(struct session *s, uint32_t turn);
/* All records until then were seen (UINT64_MAX: all): no error follows that has not followed yet. */
void operations_settle_ends(struct session *s, uint64_t seen_ns);
/* Any other record. */
void operations_record(struct session *s, const struct record *r);
/* The number of open operations that will be counted when they end, as far as is known. */
uint64_t operations_count_open(const struct session *s, const struct operations_row *row);
/* operation_names.c: number of the name of the operation that begins with this record, for
 * operations_frame. */
uint64_t operation_name(struct session *s, struct operations_row *row, const struct record *r);
/* operation_names.c: whether a thread runs a 32-bit program, whose system calls have other numbers. cgroup 0:
 * unknown. */
bool operation_is_32_bits(struct session *s, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cgroup);
/* operation_names.c: true if this end is the first one of a new thread: of the call by which its creator made
 * it. */
bool operation_is_birth(struct session *s, const struct operations_row *row, const struct record *r);
/* operation_names.c: adds the arguments of this record of PAIR_MORE to the name of an open operation. */
void operation_complete(struct session *s, struct operations_row *row, const struct record *r,
                        struct pairs_operation *operation);
/* operation_names.c: number of the name with the retransmits and the error (OPERATION_*) of an operation. */
uint64_t operation_name_at_end(struct session *s, struct operations_row *row,
                               const struct pairs_operation *operation, int error);
/* operation_names.c: hash of the connection of a TCP socket. */
uint64_t operation_connection(const struct operations_row *row, enum pair_side side, const struct record *r);
/* For bounds.c: as the functions of offcpu.h for stacks, and for threads. */
void operations_before_drop(struct session *s, bool all);
void operations_mark(struct session *s, uint8_t *stacks, uint8_t *threads);
void operations_renumber(struct session *s, const uint32_t *new_stack, const uint32_t *new_thread);
/* Of a file: true if flametop saved operations as the samples of this event, as offcpu_saved_attr has
 * them. */
bool operations_are_saved(const char *name, const struct perf_event_attr *attr);
/* Of a file: puts the leaf frame on the stack of such a sample, by its AUX data (profile/operation_data.h),
 * and appends the sample. Returns its number. */
uint64_t operations_load(struct session *s, const struct record *r, struct sample *sample);
void operations_done(struct session *s);

#endif
