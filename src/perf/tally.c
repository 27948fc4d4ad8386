// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/cpus.h"
#include "perf/namelist.h"
#include "perf/open.h"
#include "perf/pmu.h"

struct target {
    pid_t pid; /* -1: everything; a cgroup's folder */
    int cpu;   /* -1: all */
};

struct counter {
    int *fds; /* of its targets, one after the other; -1: not there */
    size_t n, cap;
    char *why; /* NULL: nothing to say */
    bool open;
    bool wide; /* of all, though tasks are counted */
};

struct tally {
    const struct event_list *events;
    const struct scope *scope;
    struct target *targets;
    size_t n_targets, targets_cap;
    struct cpus online;
    struct counter *counters;
    unsigned long flags;
    int *cgroup_fds; /* stay open: they are the targets' */
    size_t n_cgroups, cgroups_cap;
    struct error filter; /* what was wrong with one */
};

static void add_target(struct tally *t, pid_t pid, int cpu)
{
    MEM_GROW(t->targets, t->targets_cap, t->n_targets + 1);
    t->targets[t->n_targets++] = (struct target){ pid, cpu };
}

static void add_on_cpus(struct tally *t, pid_t pid)
{
    for (uint32_t cpu = 0; cpu < t->online.n; cpu++)
        if (t->online.in[cpu] && scope_has_cpu(t->scope, cpu))
            add_target(t, pid, (int)cpu);
}

static void add_task(struct tally *t, pid_t tid)
{
    if (t->scope->cpus)
        add_on_cpus(t, tid);
    else
        add_target(t, tid, -1);
}

static void add_threads(struct tally *t, uint32_t pid)
{
    char path[64];
    struct namelist tids = { 0 };
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    namelist_add_dir(&tids, path, true, NULL);
    for (size_t i = 0; i < tids.n; i++)
        add_task(t, atoi(tids.items[i]));
    namelist_done(&tids);
}

static bool add_cgroups(struct tally *t, struct error *e)
{
    t->flags = PERF_FLAG_PID_CGROUP;
    for (uint32_t i = 0; i < scope_cgroups(t->scope); i++) {
        int fd = scope_open_cgroup(t->scope, i);
        if (fd < 0)
            return error_sys(e, errno, "cannot open the cgroup %s", scope_cgroup(t->scope, i));
        MEM_GROW(t->cgroup_fds, t->cgroups_cap, t->n_cgroups + 1);
        t->cgroup_fds[t->n_cgroups++] = fd;
        add_on_cpus(t, fd);
    }
    return true;
}

static bool find_targets(struct tally *t, struct error *e)
{
    const struct scope *s = t->scope;
    uint32_t n = 0, *pids = s->kind == SCOPE_USER ? targets_pids_of_user(s->uid, &n) : NULL;
    switch (s->kind) {
    case SCOPE_ALL:
        add_on_cpus(t, -1);
        break;
    case SCOPE_CGROUP:
        if (!add_cgroups(t, e))
            return false;
        break;
    case SCOPE_PIDS:
        for (uint32_t i = 0; i < s->n_ids; i++)
            add_threads(t, s->ids[i]);
        break;
    case SCOPE_TIDS:
        for (uint32_t i = 0; i < s->n_ids; i++)
            add_task(t, (pid_t)s->ids[i]);
        break;
    case SCOPE_USER:
        for (uint32_t i = 0; i < n; i++)
            add_threads(t, pids[i]);
        break;
    }
    mem_free(pids);
    return t->n_targets || error_set(e, ERROR_MISSING, "there is nobody to count: no such CPU is online, or all tasks ended");
}

static bool is_task(const struct tally *t)
{
    return t->scope->kind != SCOPE_ALL && t->scope->kind != SCOPE_CGROUP;
}

static struct perf_event_attr attr_of(const struct tally *t, const struct event *ev)
{
    struct perf_event_attr a = ev->attr;
    a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    a.disabled = 1;
    a.inherit = is_task(t);
    a.enable_on_exec = is_task(t) && t->scope->command;
    if (t->scope->no_kernel)
        a.exclude_kernel = a.exclude_hv = 1;
    if (t->scope->no_user)
        a.exclude_user = 1;
    return a;
}

/* The leader of the event's group, if it opened. */
static const struct counter *leader_of(const struct tally *t, size_t event)
{
    for (size_t i = event; i > 0 && event - i < EVENT_GROUP_MAX;) {
        const struct event *ev = &t->events->items[--i];
        if (ev->members)
            return i + ev->members > event && t->counters[i].open ? &t->counters[i] : NULL;
    }
    return NULL;
}

static void keep(struct counter *c, int fd)
{
    MEM_GROW(c->fds, c->cap, c->n + 1);
    c->fds[c->n++] = fd;
    c->open |= fd >= 0;
}

static void say(struct counter *c, const char *text)
{
    if (!c->why)
        c->why = mem_strdup(text);
}

struct try_open {
    const struct event *ev;
    struct perf_event_attr attr;
    unsigned long flags;
};

static int open_at(const struct try_open *o, struct target at, int leader)
{
    struct perf_event_attr a = o->attr;
    if (leader >= 0) /* it follows its leader, in this too */
        a.disabled = a.enable_on_exec = 0;
    int fd = event_open_fd(&a, at.pid, at.cpu, leader, o->flags);
    if (fd < 0 || event_set_filter(fd, o->ev))
        return fd;
    int sys = errno;
    close(fd);
    errno = sys;
    return -2;
}

/* Why nothing opened, or not everywhere. */
static void explain(struct tally *t, struct counter *c, const struct try_open *o, int fd, int sys)
{
    struct error e = { 0 };
    if (fd == -2)
        event_explain_filter(o->ev, sys, &t->filter);
    else
        (is_task(t) ? event_explain : event_explain_on_cpu)(o->ev->name, &o->attr, sys, &e);
    say(c, e.text);
}

static int retry_user(struct counter *c, struct try_open *o, struct target at, int leader)
{
    if ((errno != EACCES && errno != EPERM) || o->attr.exclude_kernel || o->attr.exclude_user)
        return -1;
    struct try_open user = *o;
    user.attr.exclude_kernel = user.attr.exclude_hv = 1;
    int sys = errno, fd = open_at(&user, at, leader);
    if (fd >= 0) {
        o->attr = user.attr;
        say(c, "user space only: the kernel's part wants CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1");
    }
    errno = sys;
    return fd;
}

static bool open_on(struct tally *t, struct counter *c, struct try_open *o, const struct target *targets, size_t n,
                    const struct counter *leader)
{
    size_t first = c->n;
    for (size_t i = 0; i < n; i++) {
        struct target at = targets[i];
        bool skip = at.cpu >= 0 && !cpu_mask_has(&o->ev->cpus, (uint32_t)at.cpu);
        int lead = leader && first + i < leader->n ? leader->fds[first + i] : -1;
        int fd = skip ? -1 : open_at(o, at, lead);
        if (fd == -1 && !skip)
            fd = retry_user(c, o, at, lead);
        if (fd < 0 && !skip && errno != ESRCH)
            explain(t, c, o, fd, errno);
        keep(c, fd < 0 ? -1 : fd);
        if (fd < 0 && !skip && (fd == -2 || errno == EMFILE || errno == ENFILE))
            return false;
    }
    return c->open;
}

static void close_fds(struct counter *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->fds[i] >= 0)
            close(c->fds[i]);
    c->n = 0;
    c->open = false;
}

/* Where there are several kinds of cores, a task's event is one event for each of them. */
static bool open_tasks(struct tally *t, struct counter *c, const struct try_open *o, const struct counter *leader)
{
    uint32_t types[PMU_HYBRID_MAX], n = pmu_hybrid_types(types);
    struct perf_event_attr on;
    event_attr_on_cpu(&o->attr, -1, &on);
    bool generic = n && (on.type != o->attr.type || on.config != o->attr.config);
    for (uint32_t i = 0; i < (generic ? n : 1); i++) {
        struct try_open one = *o;
        if (generic && o->attr.type == PERF_TYPE_RAW)
            one.attr.type = types[i];
        else if (generic)
            one.attr.config |= (uint64_t)types[i] << 32;
        if (!open_on(t, c, &one, t->targets, t->n_targets, leader) && !c->open && !generic)
            return false;
    }
    return c->open;
}

/* PMUs beside the CPUs know no tasks: what they count, they count of all. */
static bool open_wide(struct tally *t, struct counter *c, const struct try_open *o)
{
    struct try_open wide = *o;
    struct target *cpus = mem_array(t->online.n + 1, sizeof *cpus);
    size_t n = 0;
    for (uint32_t cpu = 0; cpu < t->online.n; cpu++)
        if (t->online.in[cpu] && cpu_mask_has(&o->ev->cpus, cpu))
            cpus[n++] = (struct target){ -1, (int)cpu };
    wide.attr.inherit = wide.attr.enable_on_exec = 0;
    wide.flags = 0;
    struct counter tried = { 0 };
    bool ok = open_on(t, &tried, &wide, cpus, n, NULL);
    if (ok) {
        mem_free(c->fds);
        mem_free(c->why);
        *c = tried;
        mem_free(c->why);
        c->why = mem_strdup("of all that runs: this PMU knows no tasks");
        c->wide = true;
    } else {
        close_fds(&tried);
        mem_free(tried.fds);
        mem_free(tried.why);
    }
    mem_free(cpus);
    return ok;
}

static void open_event(struct tally *t, size_t event)
{
    struct counter *c = &t->counters[event];
    const struct event *ev = &t->events->items[event];
    struct try_open o = { .ev = ev, .attr = attr_of(t, ev), .flags = t->flags };
    const struct counter *leader = leader_of(t, event);
    if (ev->kind == EVENT_TOOL)
        return;
    bool ok = is_task(t) && !t->scope->cpus ? open_tasks(t, c, &o, leader)
                                            : open_on(t, c, &o, t->targets, t->n_targets, leader);
    if (ok)
        return;
    close_fds(c);
    if (ev->kind == EVENT_PMU && is_task(t) && !leader)
        open_wide(t, c, &o);
}

struct tally *tally_open(const struct event_list *events, const struct scope *scope, struct error *e)
{
    struct tally *t = mem_zalloc(sizeof *t);
    t->events = events;
    t->scope = scope;
    t->counters = mem_array(events->n + 1, sizeof *t->counters);
    open_raise_limit();
    cpus_read("online", &t->online);
    bool ok = find_targets(t, e);
    for (size_t i = 0; ok && i < events->n; i++) {
        open_event(t, i);
        ok = !*t->filter.text;
        if (!ok && e)
            *e = t->filter;
    }
    if (ok)
        return t;
    tally_close(t);
    return NULL;
}

void tally_start(struct tally *t)
{
    for (size_t i = 0; i < t->events->n; i++)
        for (size_t k = 0; k < t->counters[i].n; k++)
            if (t->counters[i].fds[k] >= 0 && !(is_task(t) && t->scope->command && !t->counters[i].wide))
                ioctl(t->counters[i].fds[k], PERF_EVENT_IOC_ENABLE, 0);
}

struct tally_result tally_read(struct tally *t, size_t event)
{
    const struct counter *c = &t->counters[event];
    const struct event *ev = &t->events->items[event];
    struct tally_result r = { .state = COUNT_NOT_COUNTED, .why = c->why };
    uint64_t sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t v[3];
        if (c->fds[i] < 0 || read(c->fds[i], v, sizeof v) != sizeof v)
            continue;
        sum += v[0];
        r.enabled_ns += v[1];
        r.running_ns += v[2];
    }
    if (!c->open && ev->kind != EVENT_TOOL) {
        r.state = COUNT_NOT_SUPPORTED;
        return r;
    }
    struct count_value scaled = count_scale(sum, r.enabled_ns, r.running_ns);
    r.state = r.enabled_ns ? scaled.state : COUNT_NOT_COUNTED;
    r.value = scaled.value * (ev->scale > 0 ? ev->scale : 1);
    return r;
}

void tally_close(struct tally *t)
{
    if (!t)
        return;
    for (size_t i = t->events->n; i-- > 0;) {
        close_fds(&t->counters[i]);
        mem_free(t->counters[i].fds);
        mem_free(t->counters[i].why);
    }
    for (size_t i = 0; i < t->n_cgroups; i++)
        close(t->cgroup_fds[i]);
    mem_free(t->cgroup_fds);
    cpus_done(&t->online);
    mem_free(t->counters);
    mem_free(t->targets);
    mem_free(t);
}
