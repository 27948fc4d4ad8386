// SPDX-License-Identifier: GPL-2.0-or-later
/* A request: its events, their groups and rates, and notes about what differs from it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "perf/open.h"

void plan_init(struct plan *p, const struct live_config *cfg)
{
    *p = (struct plan){ .cfg = *cfg };
    scope_init(&p->cfg.scope);
    scope_copy(&p->cfg.scope, &cfg->scope);
    p->vary_seed = clock_now_ns();
    p->ring_asked = cfg->ring_bytes;
    p->callchain_asked = cfg->callchain;
    p->stack_bytes_asked = cfg->stack_bytes ? cfg->stack_bytes : LIVE_STACK_BYTES;
    for (int i = 0; i < 2; i++)
        p->cfg.one_in[i] = cfg->one_in[i] ? cfg->one_in[i] : 1;
    if (!cfg->freq_hz && !cfg->period)
        p->cfg.period = 1;
    switch (cfg->scope.kind) {
    case SCOPE_ALL:
        p->where = PLAN_CPUS;
        break;
    case SCOPE_USER: /* processes come and go: only events on all CPUs catch new ones */
        p->where = PLAN_CPUS;
        p->filter = true;
        break;
    case SCOPE_CGROUP:
        p->where = PLAN_CGROUP;
        break;
    case SCOPE_PIDS:
    case SCOPE_TIDS:
        p->where = PLAN_TASKS;
        break;
    }
}

void plan_done(struct plan *p)
{
    scope_done(&p->cfg.scope);
}

const struct event *plan_event(const struct plan *p, uint32_t member)
{
    return member ? &p->cfg.others[member - 1].event : &p->cfg.event;
}

/* wakers is of no use without off-cpu, right before it */
static bool is_without(const struct plan *p, uint32_t member)
{
    return event_opens_nothing(plan_event(p, member)) || p->without[member] ||
           (member && plan_event(p, member)->wakers && p->without[member - 1]);
}

static uint32_t from(const struct plan *p, uint32_t member)
{
    while (member <= p->cfg.n_others && is_without(p, member))
        member++;
    return member <= p->cfg.n_others ? member : EVENT_SET_MAX;
}

uint32_t plan_first(const struct plan *p)
{
    return from(p, 0);
}

uint32_t plan_next_member(const struct plan *p, uint32_t member)
{
    return from(p, member + 1);
}

uint32_t plan_members(const struct plan *p)
{
    uint32_t n = 0;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        n++;
    return n;
}

const struct perf_event_attr *plan_attr(const struct plan *p, uint32_t member)
{
    return &p->attrs[member];
}

/* The requested leader, even if it did not open. */
static uint32_t asked_leader(const struct plan *p, uint32_t member)
{
    uint32_t leader = 0;
    for (uint32_t n; leader < member; leader += n) {
        n = event_span(plan_event(p, leader));
        if (leader + n > member)
            return leader;
    }
    return member;
}

uint32_t plan_leader(const struct plan *p, uint32_t member)
{
    uint32_t leader = asked_leader(p, member);
    return p->without[leader] ? member : leader;
}

void plan_rate(const struct plan *p, uint32_t member, uint64_t *freq_hz, uint64_t *period)
{
    uint32_t leader = asked_leader(p, member);
    *freq_hz = leader ? p->cfg.others[leader - 1].freq_hz : p->cfg.freq_hz;
    *period = leader ? p->cfg.others[leader - 1].period : p->cfg.period;
    if (*freq_hz)
        *period = 0;
    else if (!*period)
        *period = 1;
}

bool plan_is_frequency(const struct plan *p)
{
    uint64_t freq_hz, period;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        plan_rate(p, member, &freq_hz, &period);
        if (!freq_hz)
            return false;
    }
    return true;
}

bool plan_leaves_user_out(const struct plan *p)
{
    if (p->cfg.scope.no_user)
        return true;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        if (!plan_event(p, member)->attr.exclude_user)
            return false;
    return true;
}

bool plan_is_read(const struct plan *p, uint32_t member)
{
    uint32_t leader = asked_leader(p, member), next = plan_next_member(p, leader);
    bool grouped = next < EVENT_SET_MAX && asked_leader(p, next) == leader;
    return grouped && plan_event(p, leader)->reads;
}

bool plan_reads(const struct plan *p)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        if (plan_is_read(p, member))
            return true;
    return false;
}

bool plan_is_silent(const struct plan *p, uint32_t member)
{
    return plan_is_read(p, member) && plan_leader(p, member) != member;
}

/* There is no filter in the kernel for the targets' own wakeups (pid == 5 || …): it would miss those of a new
 * thread until a drain has seen its birth. Until then its waits for a CPU would count as other waits, and
 * those of threads that are shorter than the time between two drains always. */
bool plan_is_for_all(const struct plan *p, uint32_t member)
{
    const struct event *ev = plan_event(p, member);
    return (ev->wakers || ev->everywhere) && p->where != PLAN_CPUS;
}

void plan_note(struct plan *p, const char *what, const char *fix, ...)
{
    if (p->n_notes == LIVE_NOTES_MAX)
        return;
    struct live_note *n = &p->notes[p->n_notes++];
    va_list ap;
    text_clean(n->what, sizeof n->what, what, strlen(what));
    va_start(ap, fix);
    vsnprintf(n->fix, sizeof n->fix, fix, ap);
    va_end(ap);
    n->calm = false;
}

const char *live_note_word(const struct live_note *n)
{
    return n->calm ? "NOTE" : "DEGRADED";
}

void plan_note_is_calm(struct plan *p)
{
    if (p->n_notes)
        p->notes[p->n_notes - 1].calm = true;
}
