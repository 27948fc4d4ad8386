// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples over time, for a query's zooms, filter and mode, but over the whole time, so that a selected
 * range can be compared with the rest. Names are decided once, by one query, for all counts; each count
 * adds only the samples since its previous call. Single-threaded. */
#ifndef FLAMETOP_SESSION_TIMELINE_QUERY_H
#define FLAMETOP_SESSION_TIMELINE_QUERY_H

#include "base/mem.h"
#include "profile/activity.h"
#include "profile/chart.h"
#include "profile/timeline.h"
#include "session/session.h"

struct session_times;
struct session_times *session_times_new(void);
void session_times_free(struct session_times *t);
/* Runs the query, once per redraw, before the other calls. Ignores the query's range, window and groups. */
void session_times_look(struct session_times *t, struct session *s, const struct view_query *q);
/* The result of the look: sums, first_ns, last_ns, names. Valid until the next look. */
const struct view *session_times_view(const struct session_times *t);

/* TIMES_DURATIONS: a row per power of two of the weight in ns (times_exponent), for the moments at which
 * operations ended. */
static inline uint32_t times_exponent(uint64_t ns)
{
    return 63 - (uint32_t)__builtin_clzll(ns | 1);
}
enum times_kind { TIMES_ALL, TIMES_THREADS, TIMES_CPUS, TIMES_DURATIONS };
struct times_ask {
    enum times_kind kind;
    uint64_t id;             /* of a chart: the tid, or the CPU */
    uint64_t from_ns, to_ns; /* to_ns 0: open */
    uint64_t bucket_ns;
};
struct times_label {
    char text[32]; /* "mysqld/123", by the newest comm; "cpu 3" */
};
struct times_done { /* private */
    struct times_ask asked;
    uint64_t version, count;
    bool any;
};
struct times_counts {                  /* zero-initialise */
    struct timeline timeline;          /* row 0: all; or keys are tids, CPUs, exponents */
    BUFFER(struct times_label) labels; /* by row */
    /* What each thread did, by row; kinds: see TIMES_RAN. Only with has_activity: of threads, while off-cpu
     * or wall is shown. */
    struct activity activity;
    bool has_activity;
    struct times_done done;
};
/* What a thread did: it ran, or it waited for a reason (enum wait_reason + 1). Waits are the samples of
 * off-cpu or wall, also those for work. Time on the CPU is exact in a live session, in its files, and in
 * files with switch records. In a file with waits alone (perf record --off-cpu) it is that of samples at a
 * frequency, as many as there are. The rest is unknown: records were lost, or an idle worker of the kernel
 * waits. */
#define TIMES_RAN 0
enum times_state {
    TIMES_UNKNOWN,
    TIMES_RUNNING,
    TIMES_RUNNABLE, /* waits for a CPU */
    TIMES_WAITING,
    TIMES_ON_DISK,
    TIMES_STOPPED,
    TIMES_FOR_WORK,
    TIMES_STATES
};
enum times_state times_state_of(uint32_t kind);
const char *times_kind_name(uint32_t kind); /* "running", "runnable", "disk read" */

/* False: samples left or changed since the look; nothing was done. */
bool session_times_count(struct session_times *t, struct session *s, const struct times_ask *ask,
                         struct times_counts *counts);
void times_counts_done(struct times_counts *c);
/* A wait is a sample at its end: extends a range, if no wait of the thread ends in it, to the next end of
 * one. False: none ends later either. */
bool session_times_reach(struct session_times *t, struct session *s, uint32_t tid, uint64_t from_ns,
                         uint64_t *to_ns);

struct times_chart {    /* zero-initialise */
    struct chart chart; /* its functions are those of session_times_view */
    struct times_done done;
};
/* Like session_times_count, for a chart of all samples, or of those of one thread or CPU (ask->id). */
bool session_times_chart(struct session_times *t, struct session *s, const struct times_ask *ask,
                         struct times_chart *chart);
/* Lays out columns of `per` buckets each (chart_lay_out). */
void session_times_lay_out(const struct session_times *t, struct times_chart *chart, uint32_t per,
                           uint32_t columns);
void times_chart_done(struct times_chart *c);

#endif
