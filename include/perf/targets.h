// SPDX-License-Identifier: GPL-2.0-or-later
/* The tasks that a scope means: found in /proc, followed by FORK and EXIT records, and used to drop the
 * records of others where everything is sampled. */
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
    enum scope_kind kind; /* SCOPE_PIDS, SCOPE_TIDS, SCOPE_USER: by pid, by tid, by uid; others: everything */
    uid_t uid;
    bool follow;      /* what these fork belongs to them */
    struct map known; /* pid or tid → 1; SCOPE_USER: pid → whether it is the user's */
    size_t sweep_at;  /* when so many are known, the dead are looked for */
    uint64_t n_ended; /* tasks of the scope whose EXIT record was seen */
};

void targets_init(struct targets *t, const struct scope *scope, bool follow);
void targets_done(struct targets *t);
/* Processes or threads that belong to them as well; nothing where these are not known by number. */
void targets_add(struct targets *t, const uint32_t *ids, uint32_t n);
/* Where children are followed: the processes that those of the scope have started, and so on, as far as they
 * live now, by one scan of /proc. Not this process and what it has started. Nothing for other scopes than
 * processes, nor for a command, which has not started yet. */
void targets_add_descendants(struct targets *t, const struct scope *scope);
/* Those that are known by number; some may be gone. The caller frees. */
uint32_t *targets_ids(const struct targets *t, uint32_t *n);
/* Follows FORK, EXIT and COMM, and says whether the record belongs to the targets (or to no task at all). */
bool targets_take(struct targets *t, const struct record *r);
/* Whether one of them still runs (a zombie does not). Always true for SCOPE_USER and everything. */
bool targets_alive(struct targets *t);
/* The same of a list of processes or threads. */
bool targets_any_runs(const uint32_t *ids, uint32_t n);
/* The thread ids of what is known, or of the user's processes; without this process. The caller frees. */
uint32_t *targets_threads(const struct targets *t, uint32_t *n);

/* The threads of a process that there are now. The caller frees. */
uint32_t *targets_threads_of(uint32_t pid, uint32_t *n);
/* Process ids whose effective uid is `uid`, without this process. The caller frees. */
uint32_t *targets_pids_of_user(uid_t uid, uint32_t *n);
/* From /proc/PID/status. False: no such process, or it is hidden from us. */
bool targets_uid_of(uint32_t pid, uid_t *uid);

#endif
