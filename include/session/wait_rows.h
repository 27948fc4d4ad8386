// SPDX-License-Identifier: GPL-2.0-or-later
/* Time off the CPU in rows: by what is waited for, or by who waits. Of the shown event, which must be off-cpu,
 * wakers or wall; else there are no rows. */
#ifndef FLAMETOP_SESSION_WAIT_ROWS_H
#define FLAMETOP_SESSION_WAIT_ROWS_H

#include "process/wait_reason.h"
#include "profile/durations.h"
#include "session/session.h"

enum wait_rows_by {
    WAIT_ROWS_REASON,
    WAIT_ROWS_PROCESS,
    WAIT_ROWS_THREAD,
    WAIT_ROWS_FUNCTION, /* the innermost one of the program itself that waits */
    WAIT_ROWS_CPU,      /* that the thread left; if it waited for a CPU, that it got */
    WAIT_ROWS_CGROUP,
    WAIT_ROWS_WAKER, /* in the event wakers: who ended the wait */
    WAIT_ROWS_KINDS
};
extern const char *const wait_rows_by_names[WAIT_ROWS_KINDS]; /* "reason", "process", … */

struct wait_row {
    const char *name;        /* cleaned; valid until the next call */
    const char *module;      /* of a function; else "" */
    uint64_t key;            /* stable identity */
    struct zoom zoom;        /* into the row */
    enum wait_reason reason; /* that of most of its time, */
    char state;              /* and the state: 'R', 'S', 'D', 'T'; '?': not known */
    uint64_t time_ns;        /* in the range; 100 % of the range is one thread that waits all the time */
    uint64_t waits, sum_ns;  /* that ended in the range, and their whole lengths */
    uint64_t max_ns;         /* the longest, also of one that goes on */
    uint64_t trend_ns[QUERY_TREND];
    struct durations *lengths; /* of the waits that ended */
};
struct wait_rows {         /* zero-initialise */
    struct view view;      /* of the same moment: totals, the span, and what was left out as idle */
    struct wait_row *rows; /* most time first */
    size_t n;
    uint64_t time_ns; /* of all rows */
    struct wait_rows_memory *memory;
};

/* Fills in the rows of a query; its own group is ignored. False: not enough memory. */
bool session_wait_rows(struct session *s, const struct view_query *q, enum wait_rows_by by,
                       struct wait_rows *out, struct error *e);
/* Mean length of the waits that ended, and the length that `share` (0 to 1) of them do not exceed, exact to
 * 3 %. 0: none ended. */
uint64_t wait_row_average_ns(const struct wait_row *r);
uint64_t wait_row_percentile_ns(const struct wait_row *r, double share);
void wait_rows_done(struct wait_rows *r);

#endif
