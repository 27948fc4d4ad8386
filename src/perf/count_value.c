// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of counters: scaled, summed over slots, and derived from others. */
#include "perf/count_set.h"

struct count_value count_scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
    /* Never enabled: the task slept, or no task of the cgroup ran. Nothing was missed. */
    if (!enabled_ns)
        return (struct count_value){ COUNT_OK, (double)value, 1 };
    if (!running_ns)
        return (struct count_value){ COUNT_NOT_COUNTED, 0, 0 };
    double running = running_ns < enabled_ns ? (double)running_ns / (double)enabled_ns : 1;
    return (struct count_value){ COUNT_OK, (double)value / running, running };
}

struct count_value count_merge(const struct count_raw *kinds, size_t n)
{
    struct count_raw sum = { 0 };
    for (size_t i = 0; i < n; i++) {
        sum.value += kinds[i].value;
        sum.running_ns += kinds[i].running_ns;
        sum.enabled_ns = kinds[i].enabled_ns > sum.enabled_ns ? kinds[i].enabled_ns : sum.enabled_ns;
    }
    return count_scale(sum.value, sum.enabled_ns, sum.running_ns);
}

struct sum {
    double value;
    uint64_t enabled, running;
    bool open, counted;
};

static void add_up(struct sum *sum, const struct count_slot *slot, int event)
{
    bool derived = count_defs[event].group == COUNT_GROUP_NONE;
    int times = derived ? COUNT_TOPDOWN_0 : event; /* those of its inputs */
    if (slot->fds[times] < 0 || (derived && slot->now[event].state == COUNT_NOT_SUPPORTED))
        return;
    sum->open = true;
    sum->counted |= slot->now[event].state == COUNT_OK;
    sum->value += slot->now[event].value;
    /* If the kinds of a task were merged, the first one's enabled time holds for all. */
    sum->enabled += slot->main ? slot->diff[times].enabled_ns : 0;
    sum->running += slot->diff[times].running_ns;
}

static struct count_value sum_value(const struct sum *sum)
{
    struct count_value out = count_scale(0, sum->enabled, sum->running);
    out.state = !sum->open ? COUNT_NOT_SUPPORTED : sum->counted ? COUNT_OK : COUNT_NOT_COUNTED;
    out.value = sum->value;
    out.running = sum->open ? out.running : 0;
    return out;
}

void count_sum(const struct count_set *c, const uint32_t *slots, uint32_t n,
               struct count_value values[COUNT_EVENTS])
{
    for (int event = 0; event < COUNT_EVENTS; event++) {
        struct sum sum = { 0 };
        for (uint32_t i = 0; event != COUNT_TEMPERATURE && i < n; i++)
            add_up(&sum, &c->slots.items[slots[i]], event);
        values[event] = sum_value(&sum);
    }
}

/* The times of a group's first event hold for the whole group. */
static void merge_event(struct count_slot *kinds, uint32_t n, int event)
{
    int times = event >= COUNT_TOPDOWN_0 ? COUNT_TOPDOWN_0 : event;
    struct count_raw raw[COUNT_CORES_MAX];
    size_t open = 0;
    for (uint32_t i = 0; i < n && open < COUNT_CORES_MAX; i++)
        if (kinds[i].fds[times] >= 0)
            raw[open++] = kinds[i].diff[times];
    struct count_value all = count_merge(raw, open);
    for (uint32_t i = 0; open > 1 && i < n; i++)
        if (kinds[i].fds[event] >= 0)
            kinds[i].now[event] = (struct count_value){
                all.state, all.running > 0 ? (double)kinds[i].diff[event].value / all.running : 0, all.running
            };
}

void count_merge_kinds(struct count_set *c)
{
    for (uint32_t first = 0, n; first < c->slots.n; first += n) {
        for (n = 1; first + n < c->slots.n && !c->slots.items[first + n].main;)
            n++;
        for (int event = 0; n > 1 && event < COUNT_EVENTS; event++)
            if (count_defs[event].flags & COUNT_CORE)
                merge_event(&c->slots.items[first], n, event);
    }
}

/* A core that did not count the inputs is not part of the sum. */
void count_topdown(const struct count_set *c, struct count_slot *slot)
{
    double in[COUNT_TOPDOWN_INPUTS] = { 0 };
    struct topdown_slots out;
    enum count_state state = COUNT_NOT_SUPPORTED;
    for (int event = COUNT_SLOTS; event <= COUNT_BACKEND_BOUND; event++)
        slot->now[event] = (struct count_value){ COUNT_NOT_SUPPORTED, 0, 0 };
    if (slot->fds[COUNT_TOPDOWN_0] < 0)
        return;
    const struct topdown *t = &c->cores[slot->source].topdown;
    for (int i = 0; i < COUNT_TOPDOWN_INPUTS && t->events[i]; i++) {
        if (slot->fds[COUNT_TOPDOWN_0 + i] < 0)
            return;
        in[i] = slot->now[COUNT_TOPDOWN_0 + i].value;
        state = slot->now[COUNT_TOPDOWN_0 + i].state == COUNT_OK ? COUNT_OK : COUNT_NOT_COUNTED;
    }
    topdown_make(t, in, &out);
    double running = slot->now[COUNT_TOPDOWN_0].running;
    slot->now[COUNT_SLOTS] = (struct count_value){ state, out.all, running };
    slot->now[COUNT_RETIRING] = (struct count_value){ state, out.retiring, running };
    slot->now[COUNT_BAD_SPECULATION] = (struct count_value){ state, out.bad_speculation, running };
    slot->now[COUNT_FRONTEND_BOUND] = (struct count_value){ state, out.frontend, running };
    slot->now[COUNT_BACKEND_BOUND] = (struct count_value){ state, out.backend, running };
}
