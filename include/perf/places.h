// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a scope is counted: each place is a descriptor of each event. The one list for all that counts; what samples
 * follows its tasks besides (perf/targets.h). */
#ifndef FLAMETOP_PERF_PLACES_H
#define FLAMETOP_PERF_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/scope.h"

struct place {
    pid_t pid;        /* task; a cgroup's folder; -1: everything */
    int cpu;          /* -1: all, of a task */
    uint32_t process; /* of a task */
};
struct places {
    struct place *at;
    uint32_t n;
    size_t cap;
    bool tasks;          /* of places that are tasks; else CPUs, in order, of one cgroup after the other */
    bool split;          /* tasks on single CPUs, whose enabled time passes also while they are on others */
    unsigned long flags; /* for perf_event_open */
    int cgroup_fds[SCOPE_CGROUPS_MAX];
    uint32_t n_cgroups;
};
enum places_how {
    PLACES_USERS_TASKS = 1, /* of a user the tasks that there are now; else, as new ones come, everybody's */
    PLACES_SPLIT = 2,       /* tasks on each of the chosen CPUs, if there are such; else wherever they run */
};
/* All threads of processes, online CPUs only. False: a cgroup does not open, or there is nobody to count. */
bool places_of(struct places *p, const struct scope *s, unsigned how, struct error *e);
void places_done(struct places *p); /* closes the cgroups */

#endif
