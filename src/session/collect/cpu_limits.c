// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the cgroup whose CPU limit keeps its threads from running. They are runnable, as if CPUs were
 * missing, and no event tells the difference. So once a second the limits are read of processes that waited
 * long for a CPU, and of the processes in the scope. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/targets.h"
#include "process/cgroup_label.h"
#include "session/session_state.h"

#define LONG_NS                                                                                              \
    (5 * NS_PER_MS) /* threads that were stopped by a limit wait for longer: a period has 100 ms */
#define TOLD_NS (10 * NS_PER_SEC)

static void add_pid(struct session_limits *l, uint32_t pid)
{
    for (uint32_t i = 0; i < l->n_pids; i++)
        if (l->pids[i] == pid)
            return;
    if (l->n_pids < LIMITED_PIDS)
        l->pids[l->n_pids++] = pid;
}

void limits_on_part(struct session *s, const struct waits_part *part)
{
    if (part->state == THREAD_RUNNABLE && part->whole_ns >= LONG_NS)
        add_pid(&s->collect.limits, part->pid);
}

static void add_scope(struct session *s)
{
    const struct scope *scope = &s->source.scope;
    uint32_t n = 0, *ids = NULL;
    if (!s->source.live)
        return;
    if (scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS)
        ids = live_known(s->source.live, &n);
    else if (scope->kind == SCOPE_CGROUP)
        ids = targets_pids_of_cgroups(scope, LIMITED_PIDS, &n);
    for (uint32_t i = 0; i < n; i++)
        add_pid(&s->collect.limits, ids[i]);
    mem_free(ids);
}

/* The entry of a cgroup; a new one replaces the oldest. */
static struct limited_cgroup *entry_of(struct session_limits *l, const char *cgroup)
{
    struct limited_cgroup *oldest = &l->cgroups[0];
    for (uint32_t i = 0; i < LIMITED_CGROUPS; i++) {
        struct limited_cgroup *g = &l->cgroups[i];
        if (g->time_ns && !strcmp(g->limit.cgroup, cgroup))
            return g;
        if (g->time_ns < oldest->time_ns)
            oldest = g;
    }
    *oldest = (struct limited_cgroup){ 0 };
    return oldest;
}

/* Takes the present counts. most: the cgroup that was stopped most often since the look before. */
static void count(struct session_limits *l, const struct cpu_limit *now, uint64_t now_ns,
                  struct cpu_limit *most)
{
    struct limited_cgroup *g = entry_of(l, now->cgroup);
    struct cpu_limit since = *now;
    if (g->time_ns == now_ns)
        return;
    since.periods -= g->limit.periods;
    since.throttled -= g->limit.throttled;
    bool same = g->time_ns && now->periods >= g->limit.periods && now->throttled >= g->limit.throttled;
    if (same && since.throttled > most->throttled)
        *most = since;
    g->limit = *now;
    g->time_ns = now_ns;
}

void limits_look(struct session *s, uint64_t now_ns)
{
    struct session_limits *l = &s->collect.limits;
    struct cpu_limit limits[CPU_LIMITS_MAX], most = { 0 };
    add_scope(s);
    for (uint32_t i = 0; i < l->n_pids; i++) {
        size_t n = cpu_limits_of_process(l->pids[i], limits);
        for (size_t k = 0; k < n; k++)
            count(l, &limits[k], now_ns, &most);
    }
    l->n_pids = 0;
    if (!most.throttled)
        return;
    pthread_mutex_lock(&s->store.lock);
    l->told = most;
    l->told_ns = now_ns;
    pthread_mutex_unlock(&s->store.lock);
}

bool limits_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct session_limits *l = &s->collect.limits;
    char label[64];
    if (!l->told_ns || clock_now_ns() - l->told_ns > TOLD_NS)
        return false;
    cgroup_label(l->told.cgroup, NULL, label, sizeof label);
    snprintf(what, what_cap, "cgroup %s used up its CPU limit of %.3g CPU%s in %llu of %llu periods", label,
             l->told.cpus, l->told.cpus == 1 ? "" : "s", (unsigned long long)l->told.throttled,
             (unsigned long long)l->told.periods);
    snprintf(
        fix, fix_cap,
        "its threads then wait in the run queue, also if CPUs are idle: raise cpu.max or cpu.cfs_quota_us");
    return true;
}
