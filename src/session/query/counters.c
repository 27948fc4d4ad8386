// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/event_table.h"
#include "perf/pmu.h"

const char counters_pmu_hint[] =
    "no hardware counters: a hypervisor has to give the guest a virtual PMU (KVM: -cpu "
    "host,pmu=on)";

static void drop_parts(struct counters *c)
{
    mem_free(c->parts);
    c->parts = NULL;
    c->n_parts = 0;
}

static void choose_split(struct counters *c)
{
    for (int i = 0; i < COUNT_BY_KINDS && !count_can_split(c->set, c->by); i++)
        c->by = (c->by + 1) % COUNT_BY_KINDS;
}

bool counters_open(struct counters *c, const struct scope *scope, struct error *e)
{
    counters_stop(c);
    /* A user who named several cgroups wants to compare them. */
    if (scope->n_more_cgroups && !c->n_rates && c->by == COUNT_BY_CPU)
        c->by = COUNT_BY_CGROUP;
    c->how.cgroups = c->by == COUNT_BY_CGROUP && scope->kind != SCOPE_PIDS && scope->kind != SCOPE_TIDS;
    c->set = count_open(scope, &c->how, e);
    if (!c->set)
        return false;
    choose_split(c);
    int row = count_find(c->set, "cycles");
    c->without_pmu =
        row >= 0 && count_total(c->set, (uint32_t)row).state == COUNT_NOT_SUPPORTED && !pmu_has_core();
    system_cpus_look(&c->cpus);
    return true;
}

void counters_stop(struct counters *c)
{
    count_close(c->set);
    c->set = NULL;
    c->counted = false;
    drop_parts(c);
}

void counters_forget(struct counters *c)
{
    c->n_rates = 0;
}

void counters_done(struct counters *c)
{
    counters_stop(c);
    system_cpus_done(&c->cpus);
}

/* CPU use of CPUs, from /proc/stat: their cpu-clock also counts while they are idle. */
static double busy_of_cpus(const struct counters *c, const struct count_part *part)
{
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count_cpus(c->set); i++) {
        const struct system_cpu *cpu = count_part_has_cpu(c->set, c->by, part, i)
                                           ? system_cpus_find(&c->cpus, count_cpu_number(c->set, i))
                                           : NULL;
        if (!cpu || cpu->busy_percent < 0)
            continue;
        sum += cpu->busy_percent;
        known++;
    }
    return known ? sum / known : -1;
}

static double busy_of(const struct counters *c, const struct count_part *part)
{
    uint64_t interval = count_interval_ns(c->set);
    if (c->by == COUNT_BY_CPU || c->by == COUNT_BY_CORE || c->by == COUNT_BY_SOCKET)
        return busy_of_cpus(c, part);
    const struct count_value *clock = &part->values[COUNT_CLOCK];
    return clock->state == COUNT_OK && interval ? 100 * clock->value / (double)interval : -1;
}

static const struct counters_part *find_part(const struct counters_part *parts, uint32_t n, uint64_t key)
{
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].part.key == key)
            return &parts[i];
    return NULL;
}

static int busiest_first(const void *a, const void *b)
{
    const struct counters_part *x = a, *y = b;
    if (x->busy.now != y->busy.now)
        return x->busy.now < y->busy.now ? 1 : -1;
    return (x->part.key > y->part.key) - (x->part.key < y->part.key);
}

static void look_at_parts(struct counters *c)
{
    uint32_t n;
    struct count_part *now = count_split(c->set, c->by, &n);
    struct counters_part *parts = mem_array(n + 1, sizeof *parts);
    for (uint32_t i = 0; i < n; i++) {
        const struct counters_part *before = find_part(c->parts, c->n_parts, now[i].key);
        if (before)
            parts[i] = *before;
        parts[i].part = now[i];
        measured_add(&parts[i].busy, busy_of(c, &now[i]));
    }
    if (c->by >= COUNT_BY_PROCESS)
        qsort(parts, n, sizeof *parts, busiest_first);
    mem_free(now);
    mem_free(c->parts);
    c->parts = parts;
    c->n_parts = n;
}

static void push_rates(struct counters *c)
{
    double seconds = (double)count_interval_ns(c->set) / NS_PER_SEC;
    uint32_t keep = c->n_rates < COUNTERS_TREND ? c->n_rates : COUNTERS_TREND - 1;
    const struct count_value *totals = count_totals(c->set);
    for (int event = 0; event < COUNT_EVENTS; event++) {
        const struct count_value *v = &totals[event];
        double *rates = c->rates[event];
        memmove(rates, rates + (c->n_rates - keep), keep * sizeof *rates);
        rates[keep] = v->state != COUNT_OK ? 0 : event == COUNT_TEMPERATURE ? v->value : v->value / seconds;
    }
    c->n_rates = keep + 1;
}

bool counters_read(struct counters *c, struct error *e)
{
    system_cpus_look(&c->cpus);
    if (!count_read(c->set, e))
        return false;
    c->counted = count_interval_ns(c->set) > 0;
    if (c->counted)
        push_rates(c);
    look_at_parts(c);
    return true;
}

bool counters_next_split(struct counters *c, const struct scope *scope, struct error *e)
{
    bool tasks = scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS;
    enum count_by last = tasks ? COUNT_BY_THREAD : COUNT_BY_CGROUP;
    bool had_cgroups = c->how.cgroups;
    c->by = c->by >= last ? (tasks ? COUNT_BY_PROCESS : COUNT_BY_CPU) : c->by + 1;
    if (!tasks && (c->by == COUNT_BY_PROCESS || c->by == COUNT_BY_THREAD))
        c->by = COUNT_BY_CGROUP;
    drop_parts(c);
    if (c->set && (c->by == COUNT_BY_CGROUP) == had_cgroups)
        return true;
    return counters_open(c, scope, e);
}

bool counters_has_column(const struct counters *c, uint32_t column)
{
    char text[32];
    for (uint32_t i = 0; i < c->n_parts; i++)
        if (count_column_text(column, c->parts[i].part.values, count_interval_ns(c->set), text, sizeof text))
            return true;
    return false;
}

struct help {
    const char *name;
    char *dst;
    size_t cap;
};

static bool take_help(void *ctx, const struct event_row *r)
{
    const struct help *h = ctx;
    bool found = !strcmp(r->name, h->name);
    if (found && r->help)
        (void)snprintf(h->dst, h->cap, "%s; ", r->help);
    return !found;
}

static void explain_counted(const struct counters *c, uint32_t row, const struct count_value *v, char *dst,
                            size_t cap)
{
    char what[160] = "";
    const char *name = count_name(c->set, row);
    const char *group =
        count_in_group(c->set, row)
            ? ""
            : "; the PMU cannot count it together with its partner: the ratio is of different moments";
    event_table_each(take_help, &(struct help){ name, what, sizeof what });
    if (v->running < 0.9995)
        (void)snprintf(dst, cap, "%s: %scounted %.1f%% of the time (multiplexed) and scaled up%s", name, what,
                       100 * v->running, group);
    else
        (void)snprintf(dst, cap, "%s: %scounted all of the time%s", name, what, group);
}

void counters_explain(const struct counters *c, uint32_t row, char *dst, size_t cap)
{
    struct count_value v = count_total(c->set, row);
    const char *why = count_why_not(c->set, row);
    if (v.state == COUNT_NOT_SUPPORTED)
        (void)snprintf(dst, cap, "%s: <not supported>: %s", count_name(c->set, row),
                       why ? why : "it could not be opened");
    else if (v.state == COUNT_NOT_COUNTED)
        (void)snprintf(
            dst, cap,
            "%s: <not counted>: it was open, and never had a counter in this interval: too many events at a "
            "time, or the watchdog or another profiler holds the counters",
            count_name(c->set, row));
    else
        explain_counted(c, row, &v, dst, cap);
}
