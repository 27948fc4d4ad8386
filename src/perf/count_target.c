// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/count_target.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/cpus.h"
#include "perf/targets.h"

static void add_target(struct count_targets *p, pid_t pid, int cpu, uint32_t process)
{
    *VEC_PUSH(p) = (struct count_target){ pid, cpu, process };
}

/* cpus: the online CPUs of the scope. */
static void add_cpus(struct count_targets *p, const struct cpus *cpus, pid_t pid, uint32_t process)
{
    for (uint32_t cpu = 0; cpu < cpus->n; cpu++)
        if (cpus->in[cpu])
            add_target(p, pid, (int)cpu, process);
}

static void add_task(struct count_targets *p, const struct cpus *cpus, uint32_t tid, uint32_t process)
{
    if (p->split)
        add_cpus(p, cpus, (pid_t)tid, process);
    else
        add_target(p, (pid_t)tid, -1, process);
}

static void add_process(struct count_targets *p, const struct cpus *cpus, uint32_t pid)
{
    uint32_t n, *tids = targets_threads_of(pid, &n);
    for (uint32_t i = 0; i < n; i++)
        add_task(p, cpus, tids[i], pid);
    mem_free(tids);
}

static bool add_tasks(struct count_targets *p, const struct scope *s, const struct cpus *cpus,
                      struct error *e)
{
    uint32_t n = s->n_ids, *users = s->kind == SCOPE_USER ? targets_pids_of_user(s->uid, &n) : NULL;
    const uint32_t *ids = users ? users : s->ids;
    for (uint32_t i = 0; i < n; i++)
        if (s->kind == SCOPE_TIDS)
            add_task(p, cpus, ids[i], scope_process_of(ids[i]));
        else
            add_process(p, cpus, ids[i]);
    mem_free(users);
    return p->n || error_set(e, ERROR_MISSING,
                             "there is nothing to count: no such CPU is online, or all tasks have ended");
}

static bool add_cgroups(struct count_targets *p, const struct scope *s, const struct cpus *cpus,
                        struct error *e)
{
    p->flags = PERF_FLAG_PID_CGROUP;
    for (uint32_t i = 0; i < scope_cgroups(s); i++) {
        int fd = scope_open_cgroup(s, i);
        if (fd < 0)
            return error_sys(e, errno, "cannot open the cgroup %s", scope_cgroup(s, i));
        p->cgroup_fds[p->n_cgroups++] = fd;
        add_cpus(p, cpus, fd, 0);
    }
    return true;
}

static bool add_all(struct count_targets *p, const struct scope *s, const struct cpus *cpus, struct error *e)
{
    if (p->tasks)
        return add_tasks(p, s, cpus, e);
    if (s->kind == SCOPE_CGROUP && !add_cgroups(p, s, cpus, e))
        return false;
    if (s->kind != SCOPE_CGROUP)
        add_cpus(p, cpus, -1, 0);
    return p->n || error_set(e, ERROR_MISSING, "none of the chosen CPUs is online");
}

bool count_targets_of(struct count_targets *p, const struct scope *s, unsigned how, struct error *e)
{
    struct cpus cpus = { 0 };
    *p = (struct count_targets){ 0 };
    p->tasks = s->kind == SCOPE_PIDS || s->kind == SCOPE_TIDS ||
               (s->kind == SCOPE_USER && how & COUNT_TARGETS_USER_TASKS);
    p->split = p->tasks && s->cpus && how & COUNT_TARGETS_SPLIT;
    if (!p->tasks || p->split)
        cpus_read("online", &cpus);
    for (uint32_t cpu = 0; cpu < cpus.n; cpu++)
        cpus.in[cpu] = cpus.in[cpu] && scope_has_cpu(s, cpu);
    bool ok = add_all(p, s, &cpus, e);
    cpus_done(&cpus);
    return ok;
}

bool count_targets_began(const struct count_targets *p, const struct scope *s)
{
    struct targets t;
    if (!p->tasks)
        return false;
    uint32_t *tids = mem_array(p->n, sizeof *tids);
    for (size_t i = 0; i < p->n; i++)
        tids[i] = (uint32_t)p->items[i].pid;
    targets_init(&t, s, false);
    bool began = targets_began(&t, s, tids, (uint32_t)p->n);
    targets_done(&t);
    mem_free(tids);
    return began;
}

void count_targets_done(struct count_targets *p)
{
    for (uint32_t i = 0; i < p->n_cgroups; i++)
        close(p->cgroup_fds[i]);
    mem_free(p->items);
    *p = (struct count_targets){ 0 };
}

struct counter_setup counter_setup_of(const struct event *ev, const struct scope *s,
                                      const struct count_targets *targets)
{
    struct counter_setup setup = { ev, ev->attr, targets->flags };
    setup.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    setup.attr.disabled = 1;
    setup.attr.inherit = targets->tasks && !s->no_inherit;
    if (s->no_kernel)
        setup.attr.exclude_kernel = setup.attr.exclude_hv = 1;
    if (s->no_user)
        setup.attr.exclude_user = 1;
    return setup;
}

int counter_open_at(const struct counter_setup *setup, struct count_target at, int leader)
{
    struct perf_event_attr a = setup->attr;
    if (at.cpu >= 0 && !cpu_mask_has(&setup->ev->cpus, (uint32_t)at.cpu))
        return COUNTER_ELSEWHERE;
    if (leader >= 0) /* enabled with its leader */
        a.disabled = a.enable_on_exec = 0;
    int fd = event_open_fd(&a, at.pid, at.cpu, leader, setup->flags);
    if (fd < 0 || event_set_filter(fd, setup->ev))
        return fd;
    int sys = errno;
    close(fd);
    errno = sys;
    return COUNTER_FILTER_REFUSED;
}

void counter_add(struct counter *c, int fd)
{
    *VEC_PUSH(&c->fds) = fd < 0 ? -1 : fd;
    c->open |= fd >= 0;
}

void counter_start(const struct counter *c)
{
    for (size_t i = 0; i < c->fds.n; i++)
        if (c->fds.items[i] >= 0)
            ioctl(c->fds.items[i], PERF_EVENT_IOC_ENABLE, 0);
}

bool counter_read(const struct counter *c, size_t target, struct count_raw *out)
{
    uint64_t v[3];
    if (c->fds.items[target] < 0 || read(c->fds.items[target], v, sizeof v) != sizeof v)
        return false;
    *out = (struct count_raw){ v[0], v[1], v[2] };
    return true;
}

void counter_close(struct counter *c)
{
    for (size_t i = 0; i < c->fds.n; i++)
        if (c->fds.items[i] >= 0)
            close(c->fds.items[i]);
    mem_free(c->fds.items);
    *c = (struct counter){ 0 };
}
