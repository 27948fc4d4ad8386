// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/count.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/count_set.h"

struct count_value count_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
    /* Not enabled at all: the task slept, or no task of the cgroup ran. There was nothing to miss. */
    if (!enabled_ns)
        return (struct count_value){ COUNT_OK, (double)value, 1 };
    if (!running_ns)
        return (struct count_value){ COUNT_NOT_COUNTED, 0, 0 };
    double running = running_ns < enabled_ns ? (double)running_ns / (double)enabled_ns : 1;
    return (struct count_value){ COUNT_OK, (double)value / running, running };
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* What read(2) gives for a group: PERF_FORMAT_GROUP with both times. */
struct group_read {
    uint64_t nr, enabled_ns, running_ns, values[COUNT_EVENTS];
};

static int group_members(const struct count_slot *slot, enum count_group group, enum count_event *members)
{
    int n = 0;
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (count_group_of(i) == group && slot->fds[i] >= 0)
            members[n++] = i;
    return n;
}

/* Takes over what was read; the interval is the difference to what was there. */
static void take_group(struct count_slot *slot, enum count_group group, const enum count_event *members,
                       const struct group_read *in)
{
    uint64_t enabled = since(in->enabled_ns, slot->enabled_ns[group]);
    uint64_t running = since(in->running_ns, slot->running_ns[group]);
    slot->enabled_ns[group] = in->enabled_ns;
    slot->running_ns[group] = in->running_ns;
    slot->enabled_now[group] = enabled;
    slot->running_now[group] = running;
    for (uint64_t i = 0; i < in->nr; i++) {
        enum count_event event = members[i];
        slot->now[event] = count_scale(since(in->values[i], slot->value[event]), enabled, running);
        slot->value[event] = in->values[i];
    }
}

/* A group that does not answer keeps what it had: its next interval is longer. The kernel says ECHILD while
 * a child that inherited the group comes or goes, and nothing of a CPU that is off. */
static int read_group(struct count_slot *slot, enum count_group group)
{
    enum count_event members[COUNT_EVENTS];
    struct group_read in;
    int n = group_members(slot, group, members);
    if (!n)
        return 0;
    for (int i = 0; i < n; i++)
        slot->now[members[i]] = (struct count_value){ COUNT_NOT_COUNTED, 0, 0 };
    slot->enabled_now[group] = slot->running_now[group] = 0;
    ssize_t size = read(slot->fds[members[0]], &in, sizeof in);
    if (size < (ssize_t)(3 * sizeof in.nr) || in.nr != (uint64_t)n)
        return -1;
    take_group(slot, group, members, &in);
    return 1;
}

/* The sum over all slots; it ran for the share of the time that it was enabled anywhere. */
static void sum_up(struct count_set *c, enum count_event event)
{
    enum count_group group = count_group_of(event);
    double value = 0;
    uint64_t enabled = 0, running = 0;
    bool open = false, counted = false;
    for (uint32_t i = 0; i < c->n_slots; i++) {
        const struct count_slot *slot = &c->slots[i];
        if (slot->fds[event] < 0)
            continue;
        open = true;
        counted |= slot->now[event].state == COUNT_OK;
        value += slot->now[event].value;
        enabled += slot->enabled_now[group];
        running += slot->running_now[group];
    }
    struct count_value *total = &c->total[event];
    *total = count_scale(0, enabled, running);
    total->state = !open ? COUNT_NOT_SUPPORTED : counted ? COUNT_OK : COUNT_NOT_COUNTED;
    total->value = value;
    total->running = open ? total->running : 0;
}

static bool read_all(struct count_set *c)
{
    int good = 0, bad = 0;
    for (uint32_t i = 0; i < c->n_slots; i++)
        for (int group = 0; group < COUNT_GROUPS; group++) {
            int n = read_group(&c->slots[i], group);
            good += n > 0;
            bad += n < 0;
        }
    uint64_t now = clock_now_ns();
    c->interval_ns = since(now, c->read_ns);
    c->read_ns = now;
    for (int i = 0; i < COUNT_EVENTS; i++)
        sum_up(c, i);
    return good || !bad;
}

static struct count_value fresh(bool open)
{
    return (struct count_value){ open ? COUNT_OK : COUNT_NOT_SUPPORTED, 0, open };
}

static void forget_interval(struct count_set *c)
{
    for (uint32_t i = 0; i < c->n_slots; i++)
        for (int event = 0; event < COUNT_EVENTS; event++)
            c->slots[i].now[event] = fresh(c->slots[i].fds[event] >= 0);
    for (int event = 0; event < COUNT_EVENTS; event++)
        c->total[event] = fresh(count_is_open(c, event));
    c->interval_ns = 0;
}

static void write_note(struct count_set *c)
{
    const char *whom = "", *cpus = "", *mode = "";
    if (c->scope.kind == SCOPE_USER)
        whom = "all users: the kernel cannot count the tasks of one. ";
    if (c->tasks && c->scope.cpus)
        cpus = "all CPUs: of single tasks the counters are not split by CPU. ";
    if (c->user_only)
        mode = "user space only: for the kernel's part CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1. ";
    snprintf(c->note, sizeof c->note, "%s%s%s", whom, cpus, mode);
    size_t len = strlen(c->note);
    if (len)
        c->note[len - 2] = '\0';
}

/* Stalled cycles are rows only where they count, as in perf stat. */
static void choose_rows(struct count_set *c)
{
    for (int i = 0; i < COUNT_EVENTS; i++) {
        bool optional = i == COUNT_STALLED_FRONTEND || i == COUNT_STALLED_BACKEND;
        if (!optional || count_is_open(c, i))
            c->rows[c->n_rows++] = i;
    }
}

struct count_set *count_open(const struct scope *scope, struct error *e)
{
    struct count_set *c = mem_zalloc(sizeof *c);
    scope_init(&c->scope);
    scope_copy(&c->scope, scope);
    c->tasks = scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS;
    if (!count_slots_open(c, e)) {
        count_close(c);
        return NULL;
    }
    choose_rows(c);
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

/* The kernel drops the counters of a CPU that goes, and makes none on one that comes. */
static bool reopen(struct count_set *c, struct error *e)
{
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
    return read_all(c) || error_set(e, ERROR_SYSTEM, "none of the counters can be read any more");
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
    /* The row says the name already. */
    const char *why = c->why[c->rows[row]].text, *name = count_name(c, row);
    size_t len = strlen(name);
    return !strncmp(why, name, len) && why[len] == ':' ? why + len + 1 + strspn(why + len + 1, " ") : why;
}

uint32_t count_cpus(const struct count_set *c)
{
    return c->tasks ? 0 : c->n_slots;
}

uint32_t count_cpu_number(const struct count_set *c, uint32_t i)
{
    return (uint32_t)c->slots[i].cpu;
}

uint64_t count_interval_ns(const struct count_set *c)
{
    return c->interval_ns;
}

struct count_value count_total(const struct count_set *c, uint32_t row)
{
    return c->total[c->rows[row]];
}

struct count_value count_on_cpu(const struct count_set *c, uint32_t row, uint32_t i)
{
    return c->slots[i].now[c->rows[row]];
}

int count_find(const struct count_set *c, const char *name)
{
    for (uint32_t row = 0; row < c->n_rows; row++)
        if (!strcmp(count_name(c, row), name))
            return (int)row;
    return -1;
}
