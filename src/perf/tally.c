// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/open.h"
#include "perf/count_target.h"
#include "perf/pmu.h"

struct counter {
    int *fds; /* one per place, in order; -1: not open */
    size_t n, cap;
    char *why; /* NULL: no remark */
    bool open;
    bool wide; /* counts all tasks, although the scope is tasks */
};

struct tally {
    const struct event_list *events;
    const struct scope *scope;
    struct count_targets targets;
    struct counter *counters;
    struct counter clock; /* with split: how long the tasks ran in each place */
    struct error filter;  /* error of a refused filter */
};

static struct perf_event_attr attr_of(const struct tally *t, const struct event *ev)
{
    struct perf_event_attr a = ev->attr;
    a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    a.disabled = 1;
    a.inherit = t->targets.tasks && !t->scope->no_inherit;
    a.enable_on_exec = t->targets.tasks && t->scope->command;
    if (t->scope->no_kernel)
        a.exclude_kernel = a.exclude_hv = 1;
    if (t->scope->no_user)
        a.exclude_user = 1;
    return a;
}

/* The leader of the event's group; NULL: none, or it did not open. */
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

static int open_at(const struct try_open *o, struct count_target at, int leader)
{
    struct perf_event_attr a = o->attr;
    if (leader >= 0) /* enabled with its leader */
        a.disabled = a.enable_on_exec = 0;
    int fd = event_open_fd(&a, at.pid, at.cpu, leader, o->flags);
    if (fd < 0 || event_set_filter(fd, o->ev))
        return fd;
    int sys = errno;
    close(fd);
    errno = sys;
    return -2;
}

/* Record why an event did not open, or not everywhere. */
static void explain(struct tally *t, struct counter *c, const struct try_open *o, struct count_target at,
                    int fd, int sys)
{
    struct error e = { 0 };
    if (fd == -2)
        event_explain_filter(o->ev, sys, &t->filter);
    else
        event_explain(o->ev->name, &o->attr, t->targets.tasks ? at.pid : -1, sys, &e);
    say(c, e.text);
}

static int retry_user(struct counter *c, struct try_open *o, struct count_target at, int leader)
{
    if ((errno != EACCES && errno != EPERM) || o->attr.exclude_kernel || o->attr.exclude_user)
        return -1;
    struct try_open user = *o;
    user.attr.exclude_kernel = user.attr.exclude_hv = 1;
    int sys = errno, fd = open_at(&user, at, leader);
    if (fd >= 0) {
        o->attr = user.attr;
        say(c, "user space only: to count the kernel, CAP_PERFMON or sysctl kernel.perf_event_paranoid=1");
    }
    errno = sys;
    return fd;
}

/* Open an event in each place, in order; repeated calls for the kinds of a PMU append. */
static bool open_on(struct tally *t, struct counter *c, struct try_open *o,
                    const struct count_targets *targets, const struct counter *leader)
{
    size_t first = c->n;
    for (size_t i = 0; i < targets->n; i++) {
        struct count_target at = targets->at[i];
        bool skip = at.cpu >= 0 && !cpu_mask_has(&o->ev->cpus, (uint32_t)at.cpu);
        int lead = leader && first + i < leader->n ? leader->fds[first + i] : -1;
        int fd = skip ? -1 : open_at(o, at, lead);
        if (fd == -1 && !skip)
            fd = retry_user(c, o, at, lead);
        if (fd < 0 && !skip && (fd == -2 || errno != ESRCH)) /* ESRCH of a filter means an open quote */
            explain(t, c, o, at, fd, errno);
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

/* Open an event of tasks: one per kind of core on hybrid machines. */
static bool open_tasks(struct tally *t, struct counter *c, const struct try_open *o,
                       const struct counter *leader)
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
        if (!open_on(t, c, &one, &t->targets, leader) && !c->open && !generic)
            return false;
    }
    return c->open;
}

/* Open an uncore event system-wide: PMUs outside of the CPUs cannot count tasks. */
static bool open_wide(struct tally *t, struct counter *c, const struct try_open *o)
{
    struct try_open wide = *o;
    struct scope all;
    struct count_targets cpus;
    scope_init(&all);
    count_targets_of(&cpus, &all, 0, NULL);
    wide.attr.inherit = wide.attr.enable_on_exec = 0;
    wide.flags = 0;
    struct counter tried = { 0 };
    bool ok = open_on(t, &tried, &wide, &cpus, NULL);
    if (ok) {
        mem_free(c->fds);
        mem_free(c->why);
        *c = tried;
        mem_free(c->why);
        c->why = mem_strdup("system-wide: this PMU cannot count single tasks");
        c->wide = true;
    } else {
        close_fds(&tried);
        mem_free(tried.fds);
        mem_free(tried.why);
    }
    count_targets_done(&cpus);
    return ok;
}

static void open_event(struct tally *t, size_t event)
{
    struct counter *c = &t->counters[event];
    const struct event *ev = &t->events->items[event];
    struct try_open o = { .ev = ev, .attr = attr_of(t, ev), .flags = t->targets.flags };
    const struct counter *leader = leader_of(t, event);
    if (ev->kind == EVENT_TOOL)
        return;
    bool ok = t->targets.tasks && !t->targets.split ? open_tasks(t, c, &o, leader)
                                                    : open_on(t, c, &o, &t->targets, leader);
    if (ok)
        return;
    close_fds(c);
    if (ev->kind == EVENT_PMU && t->targets.tasks && !leader)
        open_wide(t, c, &o);
}

/* Open an event that runs whenever the task runs on that CPU. */
static void open_clock(struct tally *t)
{
    struct event ev = { .kind = EVENT_SOFTWARE,
                        .attr.size = sizeof ev.attr,
                        .attr.type = PERF_TYPE_SOFTWARE };
    ev.attr.config = PERF_COUNT_SW_DUMMY;
    ev.attr.exclude_kernel = ev.attr.exclude_hv = 1;
    struct try_open o = { .ev = &ev, .attr = attr_of(t, &ev), .flags = t->targets.flags };
    open_on(t, &t->clock, &o, &t->targets, NULL);
}

struct tally *tally_open(const struct event_list *events, const struct scope *scope, struct error *e)
{
    struct tally *t = mem_zalloc(sizeof *t);
    t->events = events;
    t->scope = scope;
    t->counters = mem_array(events->n + 1, sizeof *t->counters);
    open_raise_limit();
    bool ok = count_targets_of(&t->targets, scope, COUNT_TARGETS_USER_TASKS | COUNT_TARGETS_SPLIT, e);
    if (ok && t->targets.split)
        open_clock(t);
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

static void start(const struct counter *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->fds[i] >= 0)
            ioctl(c->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

/* Enable the counters. The clock comes last, so that it does not see time that the counters missed. */
void tally_start(struct tally *t)
{
    for (size_t i = 0; i < t->events->n; i++)
        if (!(t->targets.tasks && t->scope->command && !t->counters[i].wide))
            start(&t->counters[i]);
    if (!(t->targets.tasks && t->scope->command))
        start(&t->clock);
}

static bool read_one(int fd, struct count_raw *out)
{
    uint64_t v[3];
    if (read(fd, v, sizeof v) != sizeof v)
        return false;
    *out = (struct count_raw){ v[0], v[1], v[2] };
    return true;
}

struct sum {
    struct count_raw all;
    size_t open, ended;
};

/* Add a place's counters. A task's counters of each kind of CPU are enabled while it runs on any, and those
 * on each CPU also while it runs on others: there the clock gives the time that it could have run. The
 * clock is read first, so that it is not ahead. */
static void add_target(const struct tally *t, const struct counter *c, size_t target, size_t step,
                       struct sum *sum)
{
    uint64_t enabled_ns = 0, running_ns = 0;
    struct count_raw one, clock = { 0 };
    bool split = t->targets.split && !c->wide && target < t->clock.n;
    if (split)
        read_one(t->clock.fds[target], &clock);
    for (size_t i = target; i < c->n; i += step) {
        bool results = c->fds[i] >= 0 && read_one(c->fds[i], &one);
        sum->open += c->fds[i] >= 0;
        sum->ended += c->fds[i] >= 0 && !results;
        if (!results)
            continue;
        sum->all.value += one.value;
        running_ns += one.running_ns;
        enabled_ns = one.enabled_ns > enabled_ns ? one.enabled_ns : enabled_ns;
    }
    sum->all.running_ns += running_ns;
    if (split)
        enabled_ns = clock.running_ns > running_ns ? clock.running_ns : running_ns;
    sum->all.enabled_ns += enabled_ns;
}

/* Why a counter delivered less than it should; NULL: it did not. */
static const char *complaint(const struct sum *sum)
{
    if (sum->ended && sum->ended < sum->open)
        return "the kernel stopped part of it: pinned (:D) it found no free counter, or its PMU is gone";
    if (sum->ended)
        return "the kernel stopped it: pinned (:D) it found no free counter, or its PMU is gone";
    if (!sum->all.enabled_ns)
        return "the target never ran";
    return sum->all.running_ns
               ? NULL
               : "it never got a counter: all are in use (pinned events, NMI watchdog, other profilers)";
}

size_t tally_parts(const struct tally *t)
{
    return t->targets.n_cgroups ? t->targets.n_cgroups : 1;
}

struct tally_result tally_read(struct tally *t, size_t event, size_t part)
{
    const struct counter *c = &t->counters[event];
    const struct event *ev = &t->events->items[event];
    struct tally_result r = { .state = COUNT_NOT_COUNTED };
    struct sum sum = { 0 };
    size_t targets = c->wide ? c->n : t->targets.n,
           of_part = part == TALLY_ALL ? targets : targets / tally_parts(t);
    size_t first = part == TALLY_ALL ? 0 : part * of_part;
    for (size_t target = first; target < first + of_part; target++)
        add_target(t, c, target, targets, &sum);
    r.why = c->open && (sum.ended || !c->why) ? complaint(&sum) : c->why;
    r.enabled_ns = sum.all.enabled_ns;
    r.running_ns = sum.all.running_ns;
    if (!c->open && ev->kind != EVENT_TOOL) {
        r.state = COUNT_NOT_SUPPORTED;
        return r;
    }
    struct count_value scaled = count_scale(sum.all.value, r.enabled_ns, r.running_ns);
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
    close_fds(&t->clock);
    mem_free(t->clock.fds);
    mem_free(t->clock.why);
    mem_free(t->counters);
    count_targets_done(&t->targets);
    mem_free(t);
}
