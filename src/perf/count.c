// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/count.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/count_set.h"

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Layout of read(2) for a group: PERF_FORMAT_GROUP with both times. */
struct group_read {
    uint64_t nr, enabled_ns, running_ns, values[COUNT_EVENTS];
};

static int group_members(const struct count_slot *slot, int leader, int *members)
{
    int n = 0;
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (slot->fds[i] >= 0 && slot->leader[i] == leader)
            members[n++] = i;
    return n;
}

/* Store a reading; the interval is the difference from the previous one. */
static void take_group(struct count_slot *slot, const int *members, const struct group_read *in)
{
    for (uint64_t i = 0; i < in->nr; i++) {
        struct count_raw *last = &slot->last[members[i]];
        struct count_raw now = { in->values[i], in->enabled_ns, in->running_ns };
        slot->diff[members[i]] =
            (struct count_raw){ since(now.value, last->value), since(now.enabled_ns, last->enabled_ns),
                                since(now.running_ns, last->running_ns) };
        *last = now;
    }
}

/* Read a group. Returns 1, or -1 if that failed. A group that cannot be read keeps its last reading, so its
 * next interval is longer: the kernel returns ECHILD while a child that inherited the group starts or ends,
 * and nothing for an offline CPU. */
static int read_group(struct count_set *c, struct count_slot *slot, int leader)
{
    int members[COUNT_EVENTS];
    struct group_read in;
    int n = group_members(slot, leader, members);
    ssize_t size = read(slot->fds[leader], &in, sizeof in);
    bool good = size >= (ssize_t)(3 * sizeof in.nr) && in.nr == (uint64_t)n;
    c->ended |= size == 0 || (size < 0 && errno == ENODEV);
    if (good)
        take_group(slot, members, &in);
    for (int i = 0; i < n; i++) {
        struct count_value *now = &slot->now[members[i]];
        if (!good)
            slot->diff[members[i]] = (struct count_raw){ 0 };
        *now =
            good ? count_merge(&slot->diff[members[i]], 1) : (struct count_value){ COUNT_NOT_COUNTED, 0, 0 };
        now->value *= count_source_of(c, slot, members[i])->scale;
    }
    return good ? 1 : -1;
}

/* Sum the whole scope; cgroups are only parts of it. */
static void sum_all(struct count_set *c)
{
    uint32_t *slots = mem_array(c->slots.n + 1, sizeof *slots), n = 0;
    for (uint32_t i = 0; i < c->slots.n; i++)
        if (c->slots.items[i].kind != SLOT_CGROUP)
            slots[n++] = i;
    count_sum(c, slots, n, c->total);
    mem_free(slots);
}

static void read_slots(struct count_set *c, int *good, int *bad)
{
    for (uint32_t i = 0; i < c->slots.n; i++) {
        struct count_slot *slot = &c->slots.items[i];
        for (int event = 0; event < COUNT_EVENTS; event++) {
            if (slot->fds[event] < 0 || slot->leader[event] != event)
                continue;
            int n = read_group(c, slot, event);
            *good += n > 0;
            *bad += n < 0;
        }
    }
    if (c->tasks && c->n_cores > 1)
        count_merge_kinds(c);
    for (uint32_t i = 0; i < c->slots.n; i++)
        count_topdown(c, &c->slots.items[i]);
}

static void take_temperature(struct count_set *c)
{
    struct count_value *total = &c->total[COUNT_TEMPERATURE];
    c->n_heats = c->tasks || c->scope.kind == SCOPE_CGROUP ? 0 : topology_heats(c->heats, COUNT_HEATS_MAX);
    *total = (struct count_value){ c->n_heats ? COUNT_OK : COUNT_NOT_SUPPORTED, 0, c->n_heats ? 1 : 0 };
    for (uint32_t i = 0; i < c->n_heats; i++)
        total->value = c->heats[i].celsius > total->value ? c->heats[i].celsius : total->value;
}

static bool ever_counted(const struct count_set *c, int event)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        if (c->slots.items[i].last[event].value)
            return true;
    return false;
}

/* Events that few machines have are rows only where they count, like stalled cycles in perf stat.
 * Hypervisors expose energy counters that never advance. */
static void choose_rows(struct count_set *c)
{
    c->n_rows = 0;
    for (int i = 0; i < COUNT_TOPDOWN_0; i++) {
        bool there = count_defs[i].flags & COUNT_ALWAYS || c->total[i].state != COUNT_NOT_SUPPORTED;
        if (count_defs[i].detail <= c->how.detail && there &&
            (count_defs[i].group != COUNT_GROUP_ENERGY || ever_counted(c, i)))
            c->rows[c->n_rows++] = i;
    }
}

static bool read_all(struct count_set *c)
{
    int good = 0, bad = 0;
    read_slots(c, &good, &bad);
    uint64_t now = clock_now_ns();
    c->interval_ns = since(now, c->read_ns);
    c->read_ns = now;
    sum_all(c);
    take_temperature(c);
    choose_rows(c);
    return good || !bad;
}

/* The counters are open, but no time has passed yet. */
static void forget_interval(struct count_set *c)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        for (int event = 0; event < COUNT_EVENTS; event++) {
            c->slots.items[i].diff[event] = (struct count_raw){ 0 };
            if (c->slots.items[i].now[event].state != COUNT_NOT_SUPPORTED)
                c->slots.items[i].now[event] = (struct count_value){ COUNT_OK, 0, 1 };
        }
    sum_all(c);
    take_temperature(c);
    choose_rows(c);
    c->interval_ns = 0;
}

static void write_note(struct count_set *c)
{
    const char *target = "", *cpus = "", *mode = "";
    if (c->scope.kind == SCOPE_USER)
        target = "all users: the kernel cannot count one user's tasks. ";
    if (c->scope.n_more_cgroups)
        target = "all cgroups: the chosen ones are listed as parts. ";
    if (c->tasks && c->scope.cpus)
        cpus = "all CPUs: counters of single tasks are not split by CPU. ";
    if (c->user_only)
        mode = "user space only: to count the kernel, CAP_PERFMON or sysctl kernel.perf_event_paranoid=1. ";
    snprintf(c->note, sizeof c->note, "%s%s%s", target, cpus, mode);
    size_t len = strlen(c->note);
    if (len)
        c->note[len - 2] = '\0';
}

struct count_set *count_open(const struct scope *scope, const struct count_options *how, struct error *e)
{
    struct count_set *c = mem_zalloc(sizeof *c);
    scope_init(&c->scope);
    scope_copy(&c->scope, scope);
    c->how = how ? *how : (struct count_options){ 0 };
    c->how.detail = c->how.detail < 1 ? 1 : c->how.detail;
    c->tasks = scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS;
    if (!count_slots_open(c, e)) {
        count_close(c);
        return NULL;
    }
    write_note(c);
    read_all(c);
    forget_interval(c);
    return c;
}

void count_close(struct count_set *c)
{
    if (!c)
        return;
    count_slots_close(c);
    scope_done(&c->scope);
    mem_free(c);
}

static bool cpus_changed(const struct count_set *c)
{
    struct cpus now;
    cpus_read("online", &now);
    bool changed = now.n != c->online.n || memcmp(now.in, c->online.in, now.n * sizeof *now.in);
    cpus_done(&now);
    return changed;
}

/* Reopen all counters. The kernel drops the counters of a CPU that goes offline, and opens none on one that
 * comes online. Those whose PMU is gone (its module was unloaded) do not open again: they say why, and the
 * others continue. */
static bool reopen(struct count_set *c, struct error *e)
{
    c->ended = false;
    count_slots_close(c);
    if (!count_slots_open(c, e))
        return false;
    read_all(c);
    forget_interval(c);
    return true;
}

bool count_read(struct count_set *c, struct error *e)
{
    if (!c->tasks && cpus_changed(c))
        return reopen(c, e);
    bool answered = read_all(c);
    if (!c->tasks && c->ended)
        return reopen(c, e);
    return answered || error_set(e, ERROR_SYSTEM, "no counter can be read any more");
}

const char *count_scope_note(const struct count_set *c)
{
    return *c->note ? c->note : NULL;
}

uint32_t count_rows(const struct count_set *c)
{
    return c->n_rows;
}

const char *count_name(const struct count_set *c, uint32_t row)
{
    return count_event_name(c, c->rows[row]);
}

enum count_event count_event_of(const struct count_set *c, uint32_t row)
{
    return c->rows[row];
}

const char *count_why_not(const struct count_set *c, uint32_t row)
{
    if (count_is_open(c, c->rows[row]))
        return NULL;
    /* The row shows the name already. */
    const char *why = c->why[c->rows[row]].text, *name = count_name(c, row);
    size_t len = strlen(name);
    return !strncmp(why, name, len) && why[len] == ':' ? why + len + 1 + strspn(why + len + 1, " ") : why;
}

uint32_t count_cpus(const struct count_set *c)
{
    return c->n_cpus;
}

uint32_t count_cpu_number(const struct count_set *c, uint32_t i)
{
    return (uint32_t)c->slots.items[i].cpu;
}

uint64_t count_interval_ns(const struct count_set *c)
{
    return c->interval_ns;
}

struct count_value count_total(const struct count_set *c, uint32_t row)
{
    return c->total[c->rows[row]];
}

const struct count_value *count_totals(const struct count_set *c)
{
    return c->total;
}

bool count_in_group(const struct count_set *c, uint32_t row)
{
    return !c->alone[c->rows[row]];
}

int count_find(const struct count_set *c, const char *name)
{
    for (uint32_t row = 0; row < c->n_rows; row++)
        if (!strcmp(count_name(c, row), name))
            return (int)row;
    return -1;
}

bool count_metric(const struct count_set *c, uint32_t row, struct count_metric *out)
{
    return count_metric_of(c->total, c->interval_ns, c->rows[row], out);
}
