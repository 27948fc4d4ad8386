// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/places.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/cpus.h"
#include "perf/targets.h"

static void add_place(struct places *p, pid_t pid, int cpu, uint32_t process)
{
    MEM_GROW(p->at, p->cap, p->n + 1);
    p->at[p->n++] = (struct place){ pid, cpu, process };
}

static void add_cpus(struct places *p, const struct scope *s, pid_t pid, uint32_t process)
{
    struct cpus online;
    cpus_read("online", &online);
    for (uint32_t cpu = 0; cpu < online.n; cpu++)
        if (online.in[cpu] && scope_has_cpu(s, cpu))
            add_place(p, pid, (int)cpu, process);
    cpus_done(&online);
}

static void add_task(struct places *p, const struct scope *s, uint32_t tid, uint32_t process)
{
    if (p->split)
        add_cpus(p, s, (pid_t)tid, process);
    else
        add_place(p, (pid_t)tid, -1, process);
}

static void add_process(struct places *p, const struct scope *s, uint32_t pid)
{
    uint32_t n, *tids = targets_threads_of(pid, &n);
    for (uint32_t i = 0; i < n; i++)
        add_task(p, s, tids[i], pid);
    mem_free(tids);
}

static bool add_tasks(struct places *p, const struct scope *s, struct error *e)
{
    uint32_t n = s->n_ids, *users = s->kind == SCOPE_USER ? targets_pids_of_user(s->uid, &n) : NULL;
    const uint32_t *ids = users ? users : s->ids;
    for (uint32_t i = 0; i < n; i++)
        if (s->kind == SCOPE_TIDS)
            add_task(p, s, ids[i], scope_process_of(ids[i]));
        else
            add_process(p, s, ids[i]);
    mem_free(users);
    return p->n || error_set(e, ERROR_MISSING, "there is nobody to count: no such CPU is online, or all tasks ended");
}

static bool add_cgroups(struct places *p, const struct scope *s, struct error *e)
{
    p->flags = PERF_FLAG_PID_CGROUP;
    for (uint32_t i = 0; i < scope_cgroups(s); i++) {
        int fd = scope_open_cgroup(s, i);
        if (fd < 0)
            return error_sys(e, errno, "cannot open the cgroup %s", scope_cgroup(s, i));
        p->cgroup_fds[p->n_cgroups++] = fd;
        add_cpus(p, s, fd, 0);
    }
    return true;
}

bool places_of(struct places *p, const struct scope *s, unsigned how, struct error *e)
{
    *p = (struct places){ 0 };
    p->tasks = s->kind == SCOPE_PIDS || s->kind == SCOPE_TIDS || (s->kind == SCOPE_USER && how & PLACES_USERS_TASKS);
    p->split = p->tasks && s->cpus && how & PLACES_SPLIT;
    if (p->tasks)
        return add_tasks(p, s, e);
    if (s->kind == SCOPE_CGROUP && !add_cgroups(p, s, e))
        return false;
    if (s->kind != SCOPE_CGROUP)
        add_cpus(p, s, -1, 0);
    return p->n || error_set(e, ERROR_MISSING, "none of the chosen CPUs is online");
}

void places_done(struct places *p)
{
    for (uint32_t i = 0; i < p->n_cgroups; i++)
        close(p->cgroup_fds[i]);
    mem_free(p->at);
    *p = (struct places){ 0 };
}
