// SPDX-License-Identifier: GPL-2.0-or-later
/* The scope of a measurement: which tasks and CPUs. A plain value: strings are inside, lists are owned
 * (scope_done). */
#ifndef FLAMETOP_PERF_SCOPE_H
#define FLAMETOP_PERF_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum scope_kind {
    SCOPE_ALL,    /* every CPU, every task */
    SCOPE_PIDS,   /* processes with all threads and children, including present ones */
    SCOPE_TIDS,   /* single threads */
    SCOPE_USER,   /* tasks of one uid */
    SCOPE_CGROUP, /* tasks in one or more cgroups and below */
};

#define SCOPE_CGROUPS_MAX 32

struct scope {
    enum scope_kind kind;
    uint32_t *ids; /* SCOPE_PIDS, SCOPE_TIDS */
    uint32_t n_ids;
    uid_t uid;
    char cgroup[512];          /* path below the cgroup root, beginning with "/", as in /proc/PID/cgroup */
    char (*more_cgroups)[512]; /* in addition; none is below another */
    uint32_t n_more_cgroups;
    bool no_inherit; /* exclude child processes and threads started from now on */
    bool *cpus;      /* cpus[i]: CPU i is included; NULL: all */
    uint32_t n_cpus;
    bool no_kernel, no_user; /* :u, :k */
    bool own;                /* SCOPE_PIDS chosen by the fallback: all of the caller's processes */
    bool command;            /* SCOPE_PIDS of a command started by flametop */
};

void scope_init(struct scope *s);
bool scope_copy(struct scope *dst, const struct scope *src); /* deep; dst must be initialised or done */
void scope_done(struct scope *s);
bool scope_equal(const struct scope *a, const struct scope *b);
/* Every task; CPUs and modes are kept. The text is not used: it is as for the other setters. */
bool scope_set_all(struct scope *s, const char *text, struct error *e);
/* Set the ids "12,34" (checked to be alive: the message says which is not); for processes also names,
 * "nginx,1234". */
bool scope_set_pids(struct scope *s, const char *list, bool threads, struct error *e);
/* The process of a thread: processes are identified by the id of their main thread. */
uint32_t scope_process_of(uint32_t tid);
bool scope_set_user(struct scope *s, const char *name_or_uid, struct error *e);
/* Absolute, or below the root; commas separate several. */
bool scope_set_cgroup(struct scope *s, const char *paths, struct error *e);
uint32_t scope_cgroups(const struct scope *s); /* how many */
const char *scope_cgroup(const struct scope *s, uint32_t i);
int scope_open_cgroup(const struct scope *s, uint32_t i); /* its folder, for perf_event_open; -1: see errno */
bool scope_set_cpus(struct scope *s, const char *list, struct error *e); /* syntax: perf/cpuspec.h */
bool scope_has_cpu(const struct scope *s, uint32_t cpu); /* true for all if none were chosen */
/* True if new processes can be excluded; else e says why not, as a sentence. */
bool scope_may_stop_inheriting(const struct scope *s, struct error *e);
/* "all", "pid 123", "only pid 123" (without its children), "user www-data", "cgroup /system.slice", "2
 * cgroups on 4 cpus": for the header. */
void scope_describe(const struct scope *s, char *dst, unsigned cap);
void scope_describe_cpus(const struct scope *s, char *dst,
                         unsigned cap); /* " on cpu 3", " on 12 cpus", "": all */
/* The cgroup mount that perf uses: v1 perf_event if mounted, else v2. False: none. */
bool scope_cgroup_root(char *path, unsigned cap, bool *v2, struct error *e);

/* True if the old scope sampled everything in the new one; false also if unknown. */
bool scope_is_part(const struct scope *new, const struct scope *old);

#endif
