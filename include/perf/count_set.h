// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a count_set, shared by count.c (reading) and count_open.c only. */
#ifndef FLAMETOP_PERF_COUNT_SET_H
#define FLAMETOP_PERF_COUNT_SET_H

#include "perf/count.h"
#include "perf/cpus.h"

/* One group of events on one slot is read with one read(2). */
enum count_group {
    COUNT_GROUP_SOFTWARE,
    COUNT_GROUP_CYCLES,
    COUNT_GROUP_FRONTEND,
    COUNT_GROUP_BACKEND,
    COUNT_GROUP_BRANCHES,
    COUNT_GROUP_L1,
    COUNT_GROUP_LLC,
    COUNT_GROUPS,
};

/* One CPU, or one task. */
struct count_slot {
    pid_t pid; /* -1: all tasks */
    int cpu;   /* -1: all CPUs */
    int fds[COUNT_EVENTS];
    uint64_t value[COUNT_EVENTS]; /* as last read */
    uint64_t enabled_ns[COUNT_GROUPS], running_ns[COUNT_GROUPS];
    uint64_t enabled_now[COUNT_GROUPS], running_now[COUNT_GROUPS]; /* of the interval */
    struct count_value now[COUNT_EVENTS];                          /* of the interval */
};

struct count_set {
    struct scope scope;
    bool tasks; /* the slots are tasks, not CPUs */
    struct count_slot *slots;
    uint32_t n_slots;
    size_t cap_slots;
    uint32_t fds_open;
    struct cpus online; /* when the slots were made */
    bool user_only;     /* the kernel refused its own part */
    char note[320];
    struct error why[COUNT_EVENTS];
    enum count_event rows[COUNT_EVENTS];
    uint32_t n_rows;
    struct count_value total[COUNT_EVENTS];
    uint64_t read_ns, interval_ns;
};

const char *count_event_name(const struct count_set *c, enum count_event event);
enum count_group count_group_of(enum count_event event);
/* Makes and opens the slots of c->scope, and closes them. */
bool count_slots_open(struct count_set *c, struct error *e);
void count_slots_close(struct count_set *c);
bool count_is_open(const struct count_set *c, enum count_event event); /* on any slot */

#endif
