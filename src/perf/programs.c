// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/programs.h"

static enum stackprobe_where where(const struct event *ev, const struct perf_event_attr *attr)
{
    if (ev->attr.type != PERF_TYPE_TRACEPOINT)
        return STACKPROBE_SAMPLES;
    if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
        return STACKPROBE_NOWHERE;
    if (ev->off_cpu)
        return STACKPROBE_WAITS;
    return !attr->freq && attr->sample_period == 1 ? STACKPROBE_TRACEPOINTS : STACKPROBE_NOWHERE;
}

bool live_runs(const struct stackprobe *probe, const struct event *ev, const struct perf_event_attr *attr)
{
    return stackprobe_can(probe, where(ev, attr));
}

static bool run_with_samples(const struct plan *p, const struct live_cpu *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->fds.n; i++) {
        uint32_t member = c->fds.items[i].member;
        if (where(plan_event(p, member), plan_attr(p, member)) == STACKPROBE_SAMPLES)
            any |= stackprobe_sample(p->cfg.probe, c->fds.items[i].fd);
    }
    return any;
}

bool programs_run(struct plan *p, const struct live_cpus *cpus)
{
    bool any = false;
    if (!p->cfg.probe)
        return false;
    for (uint32_t i = plan_first(p); i < EVENT_SET_MAX; i = plan_next_member(p, i)) {
        enum stackprobe_where at = where(plan_event(p, i), plan_attr(p, i));
        if (at == STACKPROBE_SAMPLES || at == STACKPROBE_NOWHERE)
            continue;
        if (!p->probed[i] && stackprobe_meet(p->cfg.probe, at, plan_attr(p, i)->config))
            p->probed[i] = at;
        any |= p->probed[i] != STACKPROBE_NOWHERE;
    }
    for (uint32_t i = 0; i < cpus->n; i++)
        any |= run_with_samples(p, cpus->items[i]);
    return any;
}

void programs_end(struct plan *p)
{
    for (uint32_t i = 0; i < EVENT_SET_MAX; i++) {
        if (p->probed[i])
            stackprobe_leave_tracepoint(p->cfg.probe, p->probed[i], plan_attr(p, i)->config);
        p->probed[i] = STACKPROBE_NOWHERE;
    }
}
