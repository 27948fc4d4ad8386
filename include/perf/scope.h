// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom to measure. A plain value; strings are inside, lists are owned (scope_done). */
#ifndef FLAMETOP_PERF_SCOPE_H
#define FLAMETOP_PERF_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum scope_kind {
    SCOPE_ALL,    /* every CPU, every task */
    SCOPE_PIDS,   /* processes with all their threads, and their children, those that run already included */
    SCOPE_TIDS,   /* single threads */
    SCOPE_USER,   /* tasks of one uid */
    SCOPE_CGROUP, /* tasks in one cgroup and below, or in several */
};

#define SCOPE_CGROUPS_MAX 32

struct scope {
    enum scope_kind kind;
    uint32_t *ids; /* SCOPE_PIDS, SCOPE_TIDS */
    uint32_t n_ids;
    uid_t uid;
    char cgroup[512];          /* path below the cgroup root, "/" first, as /proc/PID/cgroup says it */
    char (*more_cgroups)[512]; /* besides that one; none lies below another */
    uint32_t n_more_cgroups;
    bool no_inherit; /* neither child processes nor threads that are started from now on */
    bool *cpus;      /* cpus[i]: CPU i is in; NULL: all */
    uint32_t n_cpus;
    bool no_kernel, no_user; /* :u, :k */
    bool own;                /* SCOPE_PIDS that was chosen by the fallback: all of the caller's processes */
    bool command;            /* SCOPE_PIDS of a command that we started */
};

void scope_init(struct scope *s);
bool scope_copy(struct scope *dst, const struct scope *src); /* deep; dst must be init or done before */
void scope_done(struct scope *s);
void scope_set_all(struct scope *s); /* every task; CPUs and modes stay */
/* "12,34" → ids (checked to be alive: the message says which is not); of processes also names, "nginx,1234". */
bool scope_set_pids(struct scope *s, const char *list, bool threads, struct error *e);
/* Processes are known by the id of their main thread: that of another one is taken for its process. */
uint32_t scope_process_of(uint32_t tid);
bool scope_set_user(struct scope *s, const char *name_or_uid, struct error *e);
/* Absolute or below the root; several are divided by commas. */
bool scope_set_cgroup(struct scope *s, const char *paths, struct error *e);
uint32_t scope_cgroups(const struct scope *s); /* how many */
const char *scope_cgroup(const struct scope *s, uint32_t i);
int scope_open_cgroup(const struct scope *s, uint32_t i); /* its folder, for perf_event_open; -1 and errno */
bool scope_set_cpus(struct scope *s, const char *list, struct error *e); /* as in perf/cpuspec.h */
bool scope_has_cpu(const struct scope *s, uint32_t cpu); /* all are in where none were chosen */
/* Whether new processes can be left out at all; else why not, as a sentence. */
bool scope_may_stop_inheriting(const struct scope *s, struct error *e);
/* "all", "pid 123", "only pid 123" (nothing it starts), "user www-data", "cgroup /system.slice", "2 cgroups on 4 cpus": for
 * the header. */
void scope_describe(const struct scope *s, char *dst, unsigned cap);
void scope_describe_cpus(const struct scope *s, char *dst,
                         unsigned cap); /* " on cpu 3", " on 12 cpus", "": on all */
/* The cgroup mount that perf uses: v1 perf_event where mounted, else v2. False: none. */
bool scope_cgroup_root(char *path, unsigned cap, bool *v2, struct error *e);

/* Whether all that the new scope samples was sampled in the old one, too; false also where that is not known. */
bool scope_is_part(const struct scope *new, const struct scope *old);

#endif
