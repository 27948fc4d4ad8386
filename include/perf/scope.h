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
    SCOPE_PIDS,   /* processes with all their threads, and their children from now on */
    SCOPE_TIDS,   /* single threads */
    SCOPE_USER,   /* tasks of one uid */
    SCOPE_CGROUP, /* tasks in one cgroup and below */
};

struct scope {
    enum scope_kind kind;
    uint32_t *ids; /* SCOPE_PIDS, SCOPE_TIDS */
    uint32_t n_ids;
    uid_t uid;
    char cgroup[512]; /* path below the cgroup root, "/" first, as /proc/PID/cgroup says it */
    bool *cpus;       /* cpus[i]: CPU i is in; NULL: all */
    uint32_t n_cpus;
    bool no_kernel, no_user; /* :u, :k */
    bool own;         /* SCOPE_PIDS that was chosen by the fallback: all of the caller's processes */
    bool command;     /* SCOPE_PIDS of a command that we started */
};

void scope_init(struct scope *s);
bool scope_copy(struct scope *dst, const struct scope *src); /* deep; dst must be init or done before */
void scope_done(struct scope *s);
void scope_set_all(struct scope *s); /* every task; CPUs and modes stay */
/* "12,34" → ids (checked to be alive: the message says which is not). */
bool scope_set_pids(struct scope *s, const char *list, bool threads, struct error *e);
/* Processes are known by the id of their main thread: that of another one is taken for its process. */
uint32_t scope_process_of(uint32_t tid);
bool scope_set_user(struct scope *s, const char *name_or_uid, struct error *e);
bool scope_set_cgroup(struct scope *s, const char *path, struct error *e); /* absolute or below the root */
bool scope_set_cpus(struct scope *s, const char *list, struct error *e);   /* "0-3,8" */
/* "all", "pid 123", "user www-data", "cgroup /system.slice", "2 threads": for the header. */
void scope_describe(const struct scope *s, char *dst, unsigned cap);
/* The cgroup mount that perf uses: v1 perf_event where mounted, else v2. False: none. */
bool scope_cgroup_root(char *path, unsigned cap, bool *v2, struct error *e);

#endif
