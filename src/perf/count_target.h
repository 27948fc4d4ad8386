// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a scope is counted, and the descriptors of an event there. Shared by everything that counts; sampling
 * also follows its tasks (perf/targets.h). */
#ifndef FLAMETOP_PERF_COUNT_TARGET_H
#define FLAMETOP_PERF_COUNT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/count.h"
#include "perf/event.h"
#include "base/mem.h"
#include "perf/scope.h"

struct count_target {
    pid_t pid;        /* task, or the cgroup's folder; -1: all tasks */
    int cpu;          /* -1: all, of a task */
    uint32_t process; /* of a task */
};
struct count_targets {
    VEC(struct count_target);
    bool tasks;          /* places are tasks; else CPUs in order, for each cgroup in turn */
    bool split;          /* tasks on single CPUs: enabled time also passes while they run on others */
    unsigned long flags; /* for perf_event_open */
    int cgroup_fds[SCOPE_CGROUPS_MAX];
    uint32_t n_cgroups;
};
enum places_how {
    COUNT_TARGETS_USER_TASKS =
        1,                   /* user scopes: the user's present tasks; else all tasks, as new ones appear */
    COUNT_TARGETS_SPLIT = 2, /* tasks on each chosen CPU, if CPUs are chosen; else on any CPU */
};
/* List the places: all threads of processes, online CPUs only. False: a cgroup does not open, or there is
 * nothing to count. */
bool count_targets_of(struct count_targets *p, const struct scope *s, unsigned how, struct error *e);
/* True if threads of the processes began since: they inherit counters that were open then, and no others. */
bool count_targets_began(const struct count_targets *p, const struct scope *s);
void count_targets_done(struct count_targets *p); /* closes the cgroup descriptors */

/* One event, counted at targets. */
struct counter {
    VEC(int) fds; /* one per target, in order; -1: not open */
    bool open;    /* at least one of them */
};
struct counter_setup {
    const struct event *ev;
    struct perf_event_attr attr;
    unsigned long flags;
};
/* How an event of any kind is counted from counter_start() on; tasks with their future children. */
struct counter_setup counter_setup_of(const struct event *ev, const struct scope *s,
                                      const struct count_targets *targets);
enum {
    COUNTER_REFUSED = -1,
    COUNTER_FILTER_REFUSED = -2,
    COUNTER_ELSEWHERE = -3 /* its PMU has other CPUs */
};
/* Open the event at a target, in the leader's group if that is not -1. Returns the descriptor or one of the
 * above. */
int counter_open_at(const struct counter_setup *setup, struct count_target at, int leader);
void counter_add(struct counter *c, int fd); /* as the next target's; < 0: not open */
void counter_start(const struct counter *c);
bool counter_read(const struct counter *c, size_t target, struct count_raw *out); /* false: not open, ended */
void counter_close(struct counter *c);

#endif
