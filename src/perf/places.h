// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a scope is counted: each place gets a descriptor of each event. Shared by everything that counts;
 * sampling also follows its tasks (perf/targets.h). */
#ifndef FLAMETOP_PERF_PLACES_H
#define FLAMETOP_PERF_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/scope.h"

struct place {
    pid_t pid;        /* task, or the cgroup's folder; -1: all tasks */
    int cpu;          /* -1: all, of a task */
    uint32_t process; /* of a task */
};
struct places {
    struct place *at;
    uint32_t n;
    size_t cap;
    bool tasks;          /* places are tasks; else CPUs in order, for each cgroup in turn */
    bool split;          /* tasks on single CPUs: enabled time also passes while they run on others */
    unsigned long flags; /* for perf_event_open */
    int cgroup_fds[SCOPE_CGROUPS_MAX];
    uint32_t n_cgroups;
};
enum places_how {
    PLACES_USERS_TASKS = 1, /* user scopes: the user's present tasks; else all tasks, as new ones appear */
    PLACES_SPLIT = 2,       /* tasks on each chosen CPU, if CPUs are chosen; else on any CPU */
};
/* List the places: all threads of processes, online CPUs only. False: a cgroup does not open, or there is
 * nothing to count. */
bool places_of(struct places *p, const struct scope *s, unsigned how, struct error *e);
void places_done(struct places *p); /* closes the cgroup descriptors */

#endif
