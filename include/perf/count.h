// SPDX-License-Identifier: GPL-2.0-or-later
/* Count events per CPU or per task (perf stat), read in groups and scaled by enabled/running time. */
#ifndef FLAMETOP_PERF_COUNT_H
#define FLAMETOP_PERF_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/event.h"
#include "perf/scope.h"

enum count_state {
    COUNT_OK,
    COUNT_NOT_SUPPORTED, /* could not be opened */
    COUNT_NOT_COUNTED,   /* opened, but never scheduled in the interval */
};
struct count_value {
    enum count_state state;
    /* of the interval, scaled. Unit: ns (clocks), joules (energy), bytes (memory), °C (temperature) */
    double value;
    double running; /* share of the interval in which the counter ran, 0..1 */
};

/* Counted events, in the order of `perf stat -a -d -d -d`, then those that perf shows as metrics. */
enum count_event {
    COUNT_CLOCK, /* cpu-clock; task-clock when tasks are counted */
    COUNT_CONTEXT_SWITCHES,
    COUNT_CPU_MIGRATIONS,
    COUNT_PAGE_FAULTS,
    COUNT_CYCLES,
    COUNT_STALLED_FRONTEND, /* this and the next are rows only where the CPU has them */
    COUNT_STALLED_BACKEND,
    COUNT_INSTRUCTIONS,
    COUNT_BRANCHES,
    COUNT_BRANCH_MISSES,
    COUNT_L1_LOADS, /* -d */
    COUNT_L1_MISSES,
    COUNT_LLC_LOADS,
    COUNT_LLC_MISSES,
    COUNT_L1I_LOADS, /* -d -d */
    COUNT_L1I_MISSES,
    COUNT_DTLB_LOADS,
    COUNT_DTLB_MISSES,
    COUNT_ITLB_LOADS,
    COUNT_ITLB_MISSES,
    COUNT_PREFETCHES, /* -d -d -d */
    COUNT_PREFETCH_MISSES,
    /* The following are rows only where the machine has them. Top-down level 1: issue slots in total and by
     * use. They are computed from COUNT_TOPDOWN_0…4, see topdown.h. */
    COUNT_SLOTS,
    COUNT_RETIRING,
    COUNT_BAD_SPECULATION,
    COUNT_FRONTEND_BOUND,
    COUNT_BACKEND_BOUND,
    COUNT_TSC,
    COUNT_APERF,
    COUNT_MPERF,
    /* Counted for whole sockets: only when all CPUs are counted. */
    COUNT_ENERGY_CORES,
    COUNT_ENERGY_PKG,
    COUNT_ENERGY_RAM,
    COUNT_ENERGY_GPU,
    COUNT_ENERGY_PSYS,
    COUNT_MEMORY_READS,
    COUNT_MEMORY_WRITES,
    COUNT_TEMPERATURE, /* of the hottest sensor; not a rate */
    COUNT_TOPDOWN_0,   /* inputs, never rows */
    COUNT_TOPDOWN_1,
    COUNT_TOPDOWN_2,
    COUNT_TOPDOWN_3,
    COUNT_TOPDOWN_4,
    COUNT_EVENTS,
};
#define COUNT_TOPDOWN_INPUTS (COUNT_EVENTS - COUNT_TOPDOWN_0)

/* How the total can be split. */
enum count_by {
    COUNT_BY_CPU,
    COUNT_BY_CORE,
    COUNT_BY_SOCKET,
    COUNT_BY_PROCESS, /* this and the next: only when tasks are counted; includes children started since */
    COUNT_BY_THREAD,
    COUNT_BY_CGROUP, /* cgroups directly below the scope's cgroup; needs count_options.cgroups */
    COUNT_BY_KINDS,
};
struct count_part {
    char name[96];   /* "3", "0/12 (CPUs 12,76)", "mysqld", "/system.slice": cleaned */
    uint64_t key;    /* stable while the set is open */
    uint32_t number; /* number of the CPU, socket, process or thread; otherwise the list index */
    struct count_value values[COUNT_EVENTS];
};

struct count_options {
    unsigned detail; /* number of -d options, 1 to 3; 0 means 1 */
    /* enables COUNT_BY_CGROUP; costs time at each switch between tasks of different cgroups */
    bool cgroups;
};

struct count_set;
/* Open the rows of `perf stat -a -d` for a scope: software rows, and the events of a ratio in one group.
 * Scopes of all, users and cgroups are opened per CPU; pids and tids per task with its future children.
 * Rows that do not open are kept as not supported. Fails if the targets, the cgroup or the CPUs do not
 * exist. Uses no more than its share of the descriptors that RLIMIT_NOFILE leaves. how: NULL for one -d. */
struct count_set *count_open(const struct scope *scope, const struct count_options *how, struct error *e);
void count_close(struct count_set *c);
/* How the counters differ from the scope ("all users: …", "user space only: …"), or NULL. */
const char *count_scope_note(const struct count_set *c);
/* Number of rows shown; count_read() may change it. */
uint32_t count_rows(const struct count_set *c);
const char *count_name(const struct count_set *c, uint32_t row);
enum count_event count_event_of(const struct count_set *c, uint32_t row);
/* NULL unless the row is not supported */
const char *count_why_not(const struct count_set *c, uint32_t row);
/* True if the event is read together with the events of its metric. False: the PMU cannot count them at
 * once. */
bool count_in_group(const struct count_set *c, uint32_t row);
uint32_t count_cpus(
    const struct count_set *c); /* number of per-CPU columns, 0 if none; count_read() may change it */
uint32_t count_cpu_number(const struct count_set *c, uint32_t i);
/* Read all counters: values cover the time since the previous read (or since open). After a CPU came online
 * or went offline, the counters are reopened and the interval restarts: one read returns zeros. */
bool count_read(struct count_set *c, struct error *e);
uint64_t count_interval_ns(const struct count_set *c);
struct count_value count_total(const struct count_set *c, uint32_t row);
const struct count_value *count_totals(const struct count_set *c); /* indexed by enum count_event */
int count_find(const struct count_set *c, const char *name);       /* row by event name, or -1 */

bool count_can_split(const struct count_set *c, enum count_by by);
/* The parts of the last interval, ordered by number. The caller frees the array. */
struct count_part *count_split(const struct count_set *c, enum count_by by, uint32_t *n);
/* True if CPU i of count_cpus belongs to a part by CPU, core or socket. */
bool count_part_has_cpu(const struct count_set *c, enum count_by by, const struct count_part *part,
                        uint32_t i);
extern const char *const count_by_names[COUNT_BY_KINDS]; /* "cpu", "core", … */

/* Columns of each part besides its name, most important first: rates and ratios. */
struct count_column {
    const char *title;
    int width; /* of the widest text */
    enum {
        COUNT_AS_RATE,
        COUNT_AS_RATIO,
        COUNT_AS_PERCENT,
        COUNT_AS_WATT,
        COUNT_AS_BYTES,
        COUNT_AS_HEAT
    } form;
    enum count_event part, whole; /* whole: of a ratio or a share */
};
extern const struct count_column count_columns[];
extern const uint32_t count_columns_n;
/* Format a column's text. False: these values do not provide it. */
bool count_column_text(uint32_t column, const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                       char *dst, size_t cap);

/* A ratio of rows, in perf stat's words: {"1.41", "IPC"}. False if a value is missing. */
struct count_metric {
    char value[32]; /* "1.41" */
    char unit[64];  /* "IPC", "CPUs utilized", "GHz", "K/sec", "of all branches" */
};
/* of the whole scope */
bool count_metric(const struct count_set *c, uint32_t row, struct count_metric *out);

/* Scale a difference of a counter by the differences of its times, as described in perf_event_open(2). */
struct count_value count_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
/* Raw difference of one counter. A task has one counter per kind of CPU; each runs on its own kind only. */
struct count_raw {
    uint64_t value, enabled_ns, running_ns;
};
struct count_value count_merge(const struct count_raw *kinds, size_t n);
bool count_metric_of(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                     enum count_event event, struct count_metric *out);
/* False if a value is missing or the denominator is 0. */
bool count_ratio(const struct count_value values[COUNT_EVENTS], enum count_event part, enum count_event whole,
                 double *ratio);
/* "12.4 K", "2000.1 ms", "12.3 J", "1.2 GB", "54 C", "<not counted>". Per second unless seconds is 0. */
char *count_text(char *dst, size_t cap, enum count_event event, const struct count_value *v, double seconds);

#endif
