// SPDX-License-Identifier: GPL-2.0-or-later
/* Latencies of operations in rows: by name, or by who had them done. Of the shown event, which must be
 * latency:ROW; else there are no rows. */
#ifndef FLAMETOP_SESSION_OPERATION_ROWS_H
#define FLAMETOP_SESSION_OPERATION_ROWS_H

#include "base/buf.h"
#include "profile/durations.h"
#include "profile/pairs.h"
#include "session/session.h"

#define OPERATION_BUCKETS 64

enum operation_rows_by {
    OPERATION_ROWS_NAME,
    OPERATION_ROWS_DEVICE, /* the first word of the name, if names of ROW begin with a device or a program */
    OPERATION_ROWS_PROCESS,
    OPERATION_ROWS_PARENT, /* process that forked the operation's process */
    OPERATION_ROWS_THREAD,
    OPERATION_ROWS_CPU, /* that the operation ended on */
    OPERATION_ROWS_CGROUP,
    OPERATION_ROWS_KINDS
};
extern const char *const operation_rows_by_names[OPERATION_ROWS_KINDS]; /* "name", "device", … */

struct operation_row {
    const char *name; /* "read", "vda write", "mysqld/123"; cleaned; valid until the next call */
    uint64_t key;     /* stable identity; of `all` 0 */
    struct zoom zoom; /* into the row; of `all`: none */
    uint64_t count, sum_ns, max_ns; /* count and sum: estimated, if not all operations were sampled */
    uint64_t sampled;               /* number of operations that they are estimated from */
    uint64_t bytes;                 /* 0: the row has no sizes */
    struct durations *lengths;
};
struct operation_rows {         /* zero-initialise */
    struct view view;           /* of the same moment */
    char row[64];               /* ROW; "": the event is another one */
    bool of_processes;          /* its operations are runs of processes */
    bool of_programs;           /* its names are command lines */
    struct operation_row all;   /* all rows; its name is "all" */
    struct operation_row *rows; /* longest sum first */
    size_t n;
    /* What is not in the rows. */
    struct operation_losses {
        bool known;                 /* false: of a file */
        struct pairs_counts counts; /* since sampling began; unbegun 0: the scope leaves begins out */
        uint64_t open;              /* operations that have not ended yet, as far as is known */
        uint64_t dropped;           /* samples that were dropped to keep memory within --history */
        uint64_t incomplete;        /* operations in rows without their arguments, which are not known */
        char no_command[160];       /* why that is so for all of them; "": it is not */
    } losses;
    struct operation_rows_memory *memory;
};
/* Fills in the rows of a query; its own group is ignored. False: not enough memory. */
bool session_operation_rows(struct session *s, const struct view_query *q, enum operation_rows_by by,
                            struct operation_rows *out, struct error *e);
/* The name of an operation without that of its ROW: "[block: vda write]" → "vda write", "[compaction]" →
 * "compaction". Returns where it begins in the name of the frame, and its length. */
const char *operation_name_part(const char *frame, const char *row, size_t *n);
/* Appends how many operations lack the arguments of their programs, and why. False: none do. */
bool operation_arguments_put(const struct operation_losses *l, struct buf *out);
/* Appends what is not in the rows, "2 still open", with `between` between the parts. Returns their number. */
size_t operation_losses_put(const struct operation_losses *l, const char *between, struct buf *out);
/* "1 ms–40 ms", or ">=10 ms" if max_ns is UINT64_MAX, for min_ns and max_ns of a query. unicode: false:
 * "-". */
void operation_range_text(uint64_t min_ns, uint64_t max_ns, bool unicode, char *dst, size_t cap);
/* Parses such a range: "10ms" is at least 10 ms, "1ms-40ms" 1 ms to less than 40 ms, "-40ms" less than
 * 40 ms. */
bool operation_range_parse(const char *text, uint64_t *min_ns, uint64_t *max_ns, struct error *e);
uint64_t operation_row_average_ns(const struct operation_row *r);
/* The duration that `share` (0 to 1) of the operations do not exceed, exact to 3 %. */
uint64_t operation_row_percentile_ns(const struct operation_row *r, double share);
/* Number of operations with a duration of 2^bucket to 2^(bucket + 1) - 1 ns; the first bucket also has 0. */
uint64_t operation_row_bucket(const struct operation_row *r, uint32_t bucket);
void operation_rows_done(struct operation_rows *r);

#endif
