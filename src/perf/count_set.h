// SPDX-License-Identifier: GPL-2.0-or-later
/* Internals of count_set, for src/perf/count*.c only. */
#ifndef FLAMETOP_PERF_COUNT_SET_H
#define FLAMETOP_PERF_COUNT_SET_H

#include "base/mem.h"
#include "perf/count.h"
#include "perf/cpus.h"
#include "perf/topdown.h"
#include "perf/topology.h"

/* Events of a group on a slot are read with one read(2), so that their ratios cover the same time. */
enum count_group {
    COUNT_GROUP_NONE, /* not opened */
    COUNT_GROUP_SOFTWARE,
    COUNT_GROUP_CYCLES,
    COUNT_GROUP_FRONTEND,
    COUNT_GROUP_BACKEND,
    COUNT_GROUP_BRANCHES,
    COUNT_GROUP_L1,
    COUNT_GROUP_LLC,
    COUNT_GROUP_L1I,
    COUNT_GROUP_DTLB,
    COUNT_GROUP_ITLB,
    COUNT_GROUP_PREFETCH,
    COUNT_GROUP_TOPDOWN,
    COUNT_GROUP_MSR,
    COUNT_GROUP_ENERGY, /* each event on its own */
    COUNT_GROUP_MEMORY,
    COUNT_GROUPS,
};
struct count_def {
    const char *name;
    enum count_group group;
    unsigned detail; /* opened from this number of -d on */
    enum {
        COUNT_ALWAYS = 1,      /* a row even if not supported */
        COUNT_KERNEL_ONLY = 2, /* happens in the kernel: counted in user space it would be a false zero */
        COUNT_ANY_MODE = 4,    /* counts occurrences, not CPU time: -K and -U do not change it */
        COUNT_CORE = 8,        /* core counters: one source per kind of CPU */
        COUNT_SOCKET = 16,     /* counters of whole sockets */
    } flags;
};
extern const struct count_def count_defs[COUNT_EVENTS];
#define COUNT_HEATS_MAX 16

/* How a PMU counts each event. */
struct count_source {
    bool have;
    struct perf_event_attr attr;
    double scale; /* counts to values */
};
#define COUNT_CORES_MAX 4 /* kinds of CPUs in a machine */
struct count_core {
    struct cpus cpus; /* n is 0: all */
    struct topdown topdown;
    struct count_source sources[COUNT_EVENTS];
};
/* PMUs of sockets; one per memory controller. */
struct count_uncore {
    struct cpus cpus; /* usually one of each socket */
    struct count_source sources[COUNT_EVENTS];
};

/* One CPU, one task, one cgroup on one CPU, or one PMU of a socket. */
struct count_slot {
    enum count_slot_kind { SLOT_CPU, SLOT_TASK, SLOT_CGROUP, SLOT_SOCKET } kind;
    pid_t pid; /* task, or the cgroup's descriptor while slots are opened; -1: all tasks */
    int cpu;   /* -1: all CPUs */
    struct topology_cpu at;
    uint32_t owner;  /* process, or index of the cgroup */
    uint32_t source; /* index into cores or uncores */
    bool main;       /* false: another kind of CPU for the previous slot's task */
    int fds[COUNT_EVENTS];
    uint8_t leader[COUNT_EVENTS];                            /* event whose group it is read with */
    struct count_raw last[COUNT_EVENTS], diff[COUNT_EVENTS]; /* last reading; difference in the interval */
    struct count_value now[COUNT_EVENTS];                    /* in the interval */
};

struct count_set {
    struct scope scope;
    struct count_options how;
    bool tasks;                                /* slots are tasks, not CPUs */
    struct count_source sources[COUNT_EVENTS]; /* events that are not COUNT_CORE or COUNT_SOCKET */
    struct count_core cores[COUNT_CORES_MAX];
    uint32_t n_cores;
    VEC(struct count_uncore) uncores;
    VEC(struct count_slot) slots; /* CPUs first */
    uint32_t n_cpus;
    VEC(char *) cgroups; /* of SLOT_CGROUP, by owner */
    uint32_t fds_open;
    struct cpus online;       /* when the slots were opened */
    bool user_only;           /* the kernel refused to count kernel mode */
    bool ended;               /* a counter has ended and will return nothing more */
    bool alone[COUNT_EVENTS]; /* the PMU could not add it to its group */
    char note[320];
    struct error why[COUNT_EVENTS];
    enum count_event rows[COUNT_EVENTS];
    uint32_t n_rows;
    struct topology_heat heats[COUNT_HEATS_MAX];
    uint32_t n_heats;
    struct count_value total[COUNT_EVENTS];
    uint64_t read_ns, interval_ns;
};

const char *count_event_name(const struct count_set *c, enum count_event event);
/* Find the PMUs and how they count. */
void count_sources_find(struct count_set *c);
void count_sources_done(struct count_set *c);
const struct count_source *count_source_of(const struct count_set *c, const struct count_slot *slot,
                                           enum count_event event);
struct count_slot *count_slot_add(struct count_set *c, enum count_slot_kind kind, pid_t pid, int cpu,
                                  uint32_t source);
/* The kind of a CPU, as an index into cores. */
uint32_t count_core_of(const struct count_set *c, uint32_t cpu);
/* Add slots of at most `most` cgroups, with their descriptors in pid; count_cgroups_close() closes the
 * descriptors. */
void count_cgroups_add(struct count_set *c, uint32_t most);
void count_cgroups_close(struct count_set *c);
void count_cgroups_done(struct count_set *c);
/* Create and open the slots of c->scope; close them. */
bool count_slots_open(struct count_set *c, struct error *e);
void count_slots_close(struct count_set *c);
bool count_is_open(const struct count_set *c, enum count_event event); /* on any slot */
/* Sum the values of the given slots. */
void count_sum(const struct count_set *c, const uint32_t *slots, uint32_t n,
               struct count_value values[COUNT_EVENTS]);
/* Scale the counters of each task by the time that all of them ran: a task has counters for each kind of
 * CPU, which do not advance while it runs on another kind. */
void count_merge_kinds(struct count_set *c);
/* Compute COUNT_SLOTS … from the top-down inputs of a slot's core. */
void count_topdown(const struct count_set *c, struct count_slot *slot);

#endif
