// SPDX-License-Identifier: GPL-2.0-or-later
/* Track the tasks of a scope: found in /proc, followed by FORK and EXIT records. Drops records of other
 * tasks where everything is sampled. */
#ifndef FLAMETOP_PERF_TARGETS_H
#define FLAMETOP_PERF_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "perf/record.h"
#include "perf/scope.h"

struct targets {
    enum scope_kind kind; /* SCOPE_PIDS by pid, SCOPE_TIDS by tid, SCOPE_USER by uid; others: all tasks */
    uid_t uid;
    bool follow;      /* include the tasks that these fork */
    struct map known; /* pid or tid → 1; SCOPE_USER: pid → whether it is the user's */
    size_t sweep_at;  /* number of known tasks at which dead ones are removed */
    bool stale;       /* records were lost: see targets_catch_up */
    uint64_t n_ended; /* tasks of the scope whose EXIT record was seen */
};

void targets_init(struct targets *t, const struct scope *scope, bool follow);
void targets_done(struct targets *t);
/* Add processes or threads; no effect if targets are not known by number. */
void targets_add(struct targets *t, const uint32_t *ids, uint32_t n);
/* Add the living descendants of the scope's processes by one scan of /proc, if children are followed.
 * Excludes this process and its children. No effect for scopes other than processes, nor for a command,
 * which has not started yet. */
void targets_add_descendants(struct targets *t, const struct scope *scope);
/* Whether to open events anew because threads began meanwhile: a few times at least, then for a while.
 * Zero-initialised is ready. */
struct targets_again {
    uint32_t tries;
    uint64_t until_ns;
};
bool targets_again(struct targets_again *a);
/* Adds descendants again, and returns the number of threads that are not among tids, of targets_threads. */
uint32_t targets_began(struct targets *t, const struct scope *scope, const uint32_t *tids, uint32_t n);
/* The targets known by number; some may have ended. The caller frees the array. */
uint32_t *targets_ids(const struct targets *t, uint32_t *n);
/* Follow FORK, EXIT and COMM. True if the record belongs to the targets (or to no task at all). */
bool targets_take(struct targets *t, const struct record *r);
/* After records were lost: finds in /proc what they would have told, the children of the scope's processes,
 * and who owns a process. Reads all of /proc then: call it once in a while. */
void targets_catch_up(struct targets *t, const struct scope *scope);
/* True if one of them still runs (a zombie does not). Always true for SCOPE_USER and for all tasks. */
bool targets_alive(struct targets *t);
/* The same for a list of processes or threads. */
bool targets_any_runs(const uint32_t *ids, uint32_t n);
/* Thread ids of the known targets, or of the user's processes, without this process. The caller frees the
 * array. */
uint32_t *targets_threads(const struct targets *t, uint32_t *n);

/* The present threads of a process. The caller frees the array. */
uint32_t *targets_threads_of(uint32_t pid, uint32_t *n);
uint32_t *targets_pids(uint32_t *n); /* of all processes. The caller frees the array. */
/* Process ids whose effective uid is `uid`, without this process. The caller frees the array. */
uint32_t *targets_pids_of_user(uid_t uid, uint32_t *n);
/* Process ids of the scope's cgroups and of those below: at most `most`, of each cgroup of the scope some.
 * The caller frees the array. */
uint32_t *targets_pids_of_cgroups(const struct scope *scope, uint32_t most, uint32_t *n);
/* From /proc/PID/status. False: no such process, or it is hidden. */
bool targets_uid_of(uint32_t pid, uid_t *uid);

#endif
