// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting (perf stat): events read in groups per CPU or per task, scaled by enabled/running time. */
#ifndef FLAMETOP_PERF_COUNT_H
#define FLAMETOP_PERF_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/event.h"
#include "perf/scope.h"

enum count_state {
    COUNT_OK,
    COUNT_NOT_SUPPORTED, /* could not be opened */
    COUNT_NOT_COUNTED,   /* opened, never scheduled in the interval */
};
struct count_value {
    enum count_state state;
    double value;   /* of the interval, scaled; of the clock: ns */
    double running; /* share of the interval that it ran, 0..1 */
};

/* What is counted, in the order of `perf stat -a -d`. */
enum count_event {
    COUNT_CLOCK, /* cpu-clock; task-clock when tasks are counted */
    COUNT_CONTEXT_SWITCHES,
    COUNT_CPU_MIGRATIONS,
    COUNT_PAGE_FAULTS,
    COUNT_CYCLES,
    COUNT_STALLED_FRONTEND, /* this and the next are rows only where the CPU counts them */
    COUNT_STALLED_BACKEND,
    COUNT_INSTRUCTIONS,
    COUNT_BRANCHES,
    COUNT_BRANCH_MISSES,
    COUNT_L1_LOADS,
    COUNT_L1_MISSES,
    COUNT_LLC_LOADS,
    COUNT_LLC_MISSES,
    COUNT_EVENTS,
};

struct count_set;
/* Opens the rows of `perf stat -a -d` for a scope (software rows; pairs that make a ratio in one group): per
 * CPU for all, a user and a cgroup; per task, and the children it will have, for pids and tids. Rows that do
 * not open stay, as not supported. Fails when the targets, the cgroup or the CPUs are gone. Takes no more
 * than its share of the descriptors that RLIMIT_NOFILE leaves. */
struct count_set *count_open(const struct scope *scope, struct error *e);
void count_close(struct count_set *c);
/* In what the counters differ from the scope ("all users: …", "user space only: …"), or NULL. */
const char *count_scope_note(const struct count_set *c);
uint32_t count_rows(const struct count_set *c);
const char *count_name(const struct count_set *c, uint32_t row);
enum count_event count_event_of(const struct count_set *c, uint32_t row);
const char *count_why_not(const struct count_set *c, uint32_t row); /* for not-supported rows; else NULL */
uint32_t count_cpus(
    const struct count_set *c); /* columns of per-CPU values, 0 if none; a read may change it */
uint32_t count_cpu_number(const struct count_set *c, uint32_t i);
/* Reads all counters: values are of the time since the previous read (or since open). After a CPU came or
 * went the counters are opened anew, and the interval starts over: one read of zeros. */
bool count_read(struct count_set *c, struct error *e);
uint64_t count_interval_ns(const struct count_set *c);
struct count_value count_total(const struct count_set *c, uint32_t row);
struct count_value count_on_cpu(const struct count_set *c, uint32_t row, uint32_t i);
int count_find(const struct count_set *c, const char *name); /* row by event name, or -1 */

/* A ratio of two rows, with perf stat's words: {"IPC": instructions/cycles}. False if one is missing. */
struct count_metric {
    char value[32];   /* "1.41" */
    const char *unit; /* "IPC", "CPUs utilized", "GHz", "K/sec", "of all branches" */
};
bool count_metric(const struct count_set *c, uint32_t row, struct count_metric *out); /* whole scope */
bool count_ipc(const struct count_set *c, int cpu_index, double *ipc);                /* cpu_index -1: all */

/* The arithmetic by itself. Scales a difference of a counter by those of its times, as perf_event_open(2) says. */
struct count_value count_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
bool count_metric_of(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                     enum count_event event, struct count_metric *out);

#endif
