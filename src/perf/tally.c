// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "perf/open.h"
#include "perf/count_target.h"
#include "perf/pmu.h"
#include "perf/targets.h"

struct counted {
    struct counter counter;
    char *why; /* NULL: no remark */
    bool wide; /* counts all tasks, although the scope is tasks */
};

struct tally {
    const struct event_list *events;
    const struct scope *scope;
    struct count_targets targets;
    struct counted *counted;
    struct counted clock; /* with split: how long the tasks ran at each target */
    struct error filter;  /* error of a refused filter */
};

static struct counter_setup prepare(const struct tally *t, const struct event *ev)
{
    struct counter_setup setup = counter_setup_of(ev, t->scope, &t->targets);
    setup.attr.enable_on_exec = t->targets.tasks && t->scope->command;
    return setup;
}

/* The leader of the event's group; NULL: none, or it did not open. */
static const struct counter *leader_of(const struct tally *t, size_t event)
{
    for (size_t i = event; i > 0 && event - i < EVENT_GROUP_MAX;) {
        const struct event *ev = &t->events->items[--i];
        if (ev->members)
            return i + ev->members > event && t->counted[i].counter.open ? &t->counted[i].counter : NULL;
    }
    return NULL;
}

static void say(struct counted *c, const char *text)
{
    if (!c->why)
        c->why = mem_strdup(text);
}

/* Record why an event did not open, or not everywhere. */
static void explain(struct tally *t, struct counted *c, const struct counter_setup *setup,
                    struct count_target at, int fd, int sys)
{
    struct error e = { 0 };
    if (fd == COUNTER_FILTER_REFUSED)
        event_explain_filter(setup->ev, sys, &t->filter);
    else
        event_explain(setup->ev->name, &setup->attr, t->targets.tasks ? at.pid : -1, sys, &e);
    say(c, e.text);
}

static int retry_user(struct counted *c, struct counter_setup *setup, struct count_target at, int leader)
{
    if ((errno != EACCES && errno != EPERM) || setup->attr.exclude_kernel || setup->attr.exclude_user)
        return -1;
    struct counter_setup user = *setup;
    user.attr.exclude_kernel = user.attr.exclude_hv = 1;
    int sys = errno, fd = counter_open_at(&user, at, leader);
    if (fd >= 0) {
        setup->attr = user.attr;
        say(c, "user space only: to count the kernel, CAP_PERFMON or sysctl kernel.perf_event_paranoid=1");
    }
    errno = sys;
    return fd;
}

/* Open an event at each target, in order; repeated calls for the kinds of a PMU append. */
static bool open_on(struct tally *t, struct counted *c, struct counter_setup *setup,
                    const struct count_targets *targets, const struct counter *leader)
{
    size_t first = c->counter.fds.n;
    for (size_t i = 0; i < targets->n; i++) {
        struct count_target at = targets->items[i];
        int lead = leader && first + i < leader->fds.n ? leader->fds.items[first + i] : -1;
        int fd = counter_open_at(setup, at, lead);
        if (fd == COUNTER_REFUSED)
            fd = retry_user(c, setup, at, lead);
        bool filter = fd == COUNTER_FILTER_REFUSED; /* where ESRCH means an open quote */
        if (filter || (fd == COUNTER_REFUSED && errno != ESRCH))
            explain(t, c, setup, at, fd, errno);
        counter_add(&c->counter, fd);
        if (filter || (fd == COUNTER_REFUSED && (errno == EMFILE || errno == ENFILE)))
            return false;
    }
    return c->counter.open;
}

static void drop(struct counted *c)
{
    counter_close(&c->counter);
    mem_free(c->why);
}

/* Open an event of tasks: one per kind of core on hybrid machines. */
static bool open_tasks(struct tally *t, struct counted *c, const struct counter_setup *setup,
                       const struct counter *leader)
{
    uint32_t types[PMU_HYBRID_MAX], n = pmu_hybrid_types(types);
    struct perf_event_attr on;
    event_attr_on_cpu(&setup->attr, -1, &on);
    bool generic = n && (on.type != setup->attr.type || on.config != setup->attr.config);
    for (uint32_t i = 0; i < (generic ? n : 1); i++) {
        struct counter_setup one = *setup;
        if (generic && setup->attr.type == PERF_TYPE_RAW)
            one.attr.type = types[i];
        else if (generic)
            one.attr.config |= (uint64_t)types[i] << 32;
        if (!open_on(t, c, &one, &t->targets, leader) && !c->counter.open && !generic)
            return false;
    }
    return c->counter.open;
}

/* Open an uncore event system-wide: PMUs outside of the CPUs cannot count tasks. */
static void open_wide(struct tally *t, struct counted *c, const struct counter_setup *setup)
{
    struct counter_setup wide = *setup;
    struct scope all;
    struct count_targets cpus;
    scope_init(&all);
    count_targets_of(&cpus, &all, 0, NULL);
    wide.attr.inherit = wide.attr.enable_on_exec = 0;
    wide.flags = 0;
    struct counted tried = { .why = mem_strdup("system-wide: this PMU cannot count single tasks"),
                             .wide = true };
    bool ok = open_on(t, &tried, &wide, &cpus, NULL);
    drop(ok ? c : &tried);
    if (ok)
        *c = tried;
    count_targets_done(&cpus);
}

static void open_event(struct tally *t, size_t event)
{
    struct counted *c = &t->counted[event];
    const struct event *ev = &t->events->items[event];
    struct counter_setup setup = prepare(t, ev);
    const struct counter *leader = leader_of(t, event);
    if (ev->kind == EVENT_TOOL)
        return;
    bool ok = t->targets.tasks && !t->targets.split ? open_tasks(t, c, &setup, leader)
                                                    : open_on(t, c, &setup, &t->targets, leader);
    if (ok)
        return;
    counter_close(&c->counter);
    if (ev->kind == EVENT_PMU && t->targets.tasks && !leader)
        open_wide(t, c, &setup);
}

/* Open an event that runs whenever the task runs on that CPU. */
static void open_clock(struct tally *t)
{
    struct event ev = { .kind = EVENT_SOFTWARE,
                        .attr.size = sizeof ev.attr,
                        .attr.type = PERF_TYPE_SOFTWARE };
    ev.attr.config = PERF_COUNT_SW_DUMMY;
    ev.attr.exclude_kernel = ev.attr.exclude_hv = 1;
    struct counter_setup setup = prepare(t, &ev);
    open_on(t, &t->clock, &setup, &t->targets, NULL);
}

static bool open_events(struct tally *t, struct error *e)
{
    bool ok = count_targets_of(&t->targets, t->scope, COUNT_TARGETS_USER_TASKS | COUNT_TARGETS_SPLIT, e);
    if (ok && t->targets.split)
        open_clock(t);
    for (size_t i = 0; ok && i < t->events->n; i++) {
        open_event(t, i);
        ok = !*t->filter.text;
        if (!ok && e)
            *e = t->filter;
    }
    return ok;
}

static void close_events(struct tally *t)
{
    for (size_t i = t->events->n; i-- > 0;)
        drop(&t->counted[i]);
    drop(&t->clock);
    memset(t->counted, 0, t->events->n * sizeof *t->counted);
    t->clock = (struct counted){ 0 };
    count_targets_done(&t->targets);
}

struct tally *tally_open(const struct event_list *events, const struct scope *scope, struct error *e)
{
    struct tally *t = mem_zalloc(sizeof *t);
    t->events = events;
    t->scope = scope;
    t->counted = mem_array(events->n + 1, sizeof *t->counted);
    open_raise_limit();
    struct targets_again again = { 0 };
    while (open_events(t, e)) {
        if (!count_targets_began(&t->targets, scope) || !targets_again(&again))
            return t;
        close_events(t);
    }
    tally_close(t);
    return NULL;
}

/* Enable the counters. The clock comes last, so that it does not see time that the counters missed. */
void tally_start(struct tally *t)
{
    for (size_t i = 0; i < t->events->n; i++)
        if (!(t->targets.tasks && t->scope->command && !t->counted[i].wide))
            counter_start(&t->counted[i].counter);
    if (!(t->targets.tasks && t->scope->command))
        counter_start(&t->clock.counter);
}

struct sum {
    struct count_raw all;
    size_t open, ended;
};

/* Add a place's counters. A task's counters of each kind of CPU are enabled while it runs on any, and those
 * on each CPU also while it runs on others: there the clock gives the time that it could have run. The
 * clock is read first, so that it is not ahead. */
static void add_target(const struct tally *t, const struct counted *c, size_t target, size_t step,
                       struct sum *sum)
{
    uint64_t enabled_ns = 0, running_ns = 0;
    struct count_raw one, clock = { 0 };
    bool split = t->targets.split && !c->wide && target < t->clock.counter.fds.n;
    if (split)
        counter_read(&t->clock.counter, target, &clock);
    for (size_t i = target; i < c->counter.fds.n; i += step) {
        bool results = counter_read(&c->counter, i, &one);
        sum->open += c->counter.fds.items[i] >= 0;
        sum->ended += c->counter.fds.items[i] >= 0 && !results;
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
    const struct counted *c = &t->counted[event];
    const struct event *ev = &t->events->items[event];
    struct tally_result r = { .state = COUNT_NOT_COUNTED };
    struct sum sum = { 0 };
    size_t targets = c->wide ? c->counter.fds.n : t->targets.n,
           of_part = part == TALLY_ALL ? targets : targets / tally_parts(t);
    size_t first = part == TALLY_ALL ? 0 : part * of_part;
    for (size_t target = first; target < first + of_part; target++)
        add_target(t, c, target, targets, &sum);
    r.why = c->counter.open && (sum.ended || !c->why) ? complaint(&sum) : c->why;
    r.enabled_ns = sum.all.enabled_ns;
    r.running_ns = sum.all.running_ns;
    if (!c->counter.open && ev->kind != EVENT_TOOL) {
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
    close_events(t);
    mem_free(t->counted);
    mem_free(t);
}
