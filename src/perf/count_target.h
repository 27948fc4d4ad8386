// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a scope is counted: each place gets a descriptor of each event. Shared by everything that counts;
 * sampling also follows its tasks (perf/targets.h). */
#ifndef FLAMETOP_PERF_COUNT_TARGET_H
#define FLAMETOP_PERF_COUNT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/scope.h"

struct count_target {
    pid_t pid;        /* task, or the cgroup's folder; -1: all tasks */
    int cpu;          /* -1: all, of a task */
    uint32_t process; /* of a task */
};
struct count_targets {
    struct count_target *at;
    uint32_t n;
    size_t cap;
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
void count_targets_done(struct count_targets *p); /* closes the cgroup descriptors */

#endif
