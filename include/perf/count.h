// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting (perf stat): events read in groups per CPU or per task, scaled by enabled/running time. */
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
    COUNT_NOT_COUNTED,   /* opened, never scheduled in the interval */
};
struct count_value {
    enum count_state state;
    double
        value; /* of the interval, scaled; of the clock ns, of energy joules, of memory bytes; a temperature: °C */
    double running; /* share of the interval that it ran, 0..1 */
};

/* What is counted, in the order of `perf stat -a -d -d -d`; then what perf shows by its metrics. */
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
    /* From here on rows only where there is such a thing. Issue slots, in all and by what became of them (top-down,
     * level 1): made of COUNT_TOPDOWN_0 …, see topdown.h. */
    COUNT_SLOTS,
    COUNT_RETIRING,
    COUNT_BAD_SPECULATION,
    COUNT_FRONTEND_BOUND,
    COUNT_BACKEND_BOUND,
    COUNT_TSC,
    COUNT_APERF,
    COUNT_MPERF,
    /* Of whole sockets: only where all CPUs are counted. */
    COUNT_ENERGY_CORES,
    COUNT_ENERGY_PKG,
    COUNT_ENERGY_RAM,
    COUNT_ENERGY_GPU,
    COUNT_ENERGY_PSYS,
    COUNT_MEMORY_READS,
    COUNT_MEMORY_WRITES,
    COUNT_TEMPERATURE, /* of the hottest; no rate */
    COUNT_TOPDOWN_0,   /* never rows */
    COUNT_TOPDOWN_1,
    COUNT_TOPDOWN_2,
    COUNT_TOPDOWN_3,
    COUNT_TOPDOWN_4,
    COUNT_EVENTS,
};
#define COUNT_TOPDOWN_INPUTS (COUNT_EVENTS - COUNT_TOPDOWN_0)

/* What the sum can be divided into. */
enum count_by {
    COUNT_BY_CPU,
    COUNT_BY_CORE,
    COUNT_BY_SOCKET,
    COUNT_BY_PROCESS, /* this and the next when tasks are counted; with the children they had since */
    COUNT_BY_THREAD,
    COUNT_BY_CGROUP, /* those directly below the scope's cgroup; when the set was opened for it */
    COUNT_BY_KINDS,
};
struct count_part {
    char name[96];   /* "3", "0/12 (CPUs 12,76)", "mysqld", "/system.slice": cleaned */
    uint64_t key;    /* stays while the set is open */
    uint32_t number; /* of the CPU, the socket, the process, the thread; else the place in the list */
    struct count_value values[COUNT_EVENTS];
};

struct count_options {
    unsigned detail; /* 1, 2, 3: as many times -d; 0 is 1 */
    bool cgroups;    /* for COUNT_BY_CGROUP: costs at each switch between tasks of different cgroups */
};

struct count_set;
/* Opens the rows of `perf stat -a -d` for a scope (software rows; pairs that make a ratio in one group): per
 * CPU for all, a user and a cgroup; per task, and the children it will have, for pids and tids. Rows that do
 * not open stay, as not supported. Fails when the targets, the cgroup or the CPUs are gone. Takes no more
 * than its share of the descriptors that RLIMIT_NOFILE leaves. how: NULL for one -d. */
struct count_set *count_open(const struct scope *scope, const struct count_options *how, struct error *e);
void count_close(struct count_set *c);
/* In what the counters differ from the scope ("all users: …", "user space only: …"), or NULL. */
const char *count_scope_note(const struct count_set *c);
/* Events that are shown; a read may change it. */
uint32_t count_rows(const struct count_set *c);
const char *count_name(const struct count_set *c, uint32_t row);
enum count_event count_event_of(const struct count_set *c, uint32_t row);
const char *count_why_not(const struct count_set *c, uint32_t row); /* for not-supported rows; else NULL */
/* The event is read together with those that its metric needs. False: the PMU could not take them at a time. */
bool count_in_group(const struct count_set *c, uint32_t row);
uint32_t count_cpus(
    const struct count_set *c); /* columns of per-CPU values, 0 if none; a read may change it */
uint32_t count_cpu_number(const struct count_set *c, uint32_t i);
/* Reads all counters: values are of the time since the previous read (or since open). After a CPU came or
 * went the counters are opened anew, and the interval starts over: one read of zeros. */
bool count_read(struct count_set *c, struct error *e);
uint64_t count_interval_ns(const struct count_set *c);
struct count_value count_total(const struct count_set *c, uint32_t row);
const struct count_value *count_totals(const struct count_set *c); /* by enum count_event */
struct count_value count_on_cpu(const struct count_set *c, uint32_t row, uint32_t i);
int count_find(const struct count_set *c, const char *name); /* row by event name, or -1 */

bool count_can_split(const struct count_set *c, enum count_by by);
/* The parts of the last interval, in order of number; the caller frees. */
struct count_part *count_split(const struct count_set *c, enum count_by by, uint32_t *n);
/* Whether CPU i of count_cpus is in a part by CPU, core or socket. */
bool count_part_has_cpu(const struct count_set *c, enum count_by by, const struct count_part *part,
                        uint32_t i);
extern const char *const count_by_names[COUNT_BY_KINDS]; /* "cpu", "core", … */

/* What is told of each part beside its name, in order of worth: rates and ratios. */
struct count_column {
    const char *title;
    int width; /* of its widest text */
};
extern const struct count_column count_columns[];
extern const uint32_t count_columns_n;
/* False: these values do not tell it. */
bool count_column_text(uint32_t column, const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                       char *dst, size_t cap);

/* A ratio of rows, with perf stat's words: {"1.41", "IPC"}. False if one is missing. */
struct count_metric {
    char value[32]; /* "1.41" */
    char unit[64];  /* "IPC", "CPUs utilized", "GHz", "K/sec", "of all branches" */
};
bool count_metric(const struct count_set *c, uint32_t row, struct count_metric *out); /* whole scope */

/* The arithmetic by itself. Scales a difference of a counter by those of its times, as perf_event_open(2) says. */
struct count_value count_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
/* Of a task that counters of several kinds of CPUs follow, each of which runs on its own kind only. */
struct count_raw {
    uint64_t value, enabled_ns, running_ns;
};
struct count_value count_merge(const struct count_raw *kinds, size_t n);
bool count_metric_of(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                     enum count_event event, struct count_metric *out);
/* False if one is missing, or the whole is 0. */
bool count_ratio(const struct count_value values[COUNT_EVENTS], enum count_event part, enum count_event whole,
                 double *ratio);
/* "12.4 K", "2000.1 ms", "12.3 J", "1.2 GB", "54 C", "<not counted>": per second if seconds is not 0. */
char *count_text(char *dst, size_t cap, enum count_event event, const struct count_value *v, double seconds);

#endif
