// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples one in N operations of latency:ROW: those whose key has some bits in common. Both events of an
 * operation have the same key, so that pairs stay pairs.
 *
 * One thread, one CPU or one sector may have most of the operations, so the selection changes all the time.
 * An operation may end after the change: the events of ends are closed two changes later, and what is still
 * open then is followed by name (live_selection.followed). So whether an operation is sampled depends on the
 * moment of its begin only, not on its duration. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/live_cpu.h"
#include "perf/open.h"

#define COUNT_LEAST    8                 /* even periods and small ones are often in step with a program */
#define COUNTS_PER_N   4                 /* so that counting costs less than sampling one in N */
#define END_AGE        2                 /* when events of ends are closed */
#define OWN_FILTER_MAX 128               /* a longer filter of the event would leave too little room */
#define KEEP_NS        (10 * NS_PER_SEC) /* how long ids of closed events are known */

static bool selects(const struct live_selection *s)
{
    return s->one_in > 1;
}

static uint32_t count_period(const struct plan *p, uint32_t member)
{
    uint32_t period = COUNTS_PER_N * p->cfg.selections[member].one_in;
    return (uint32_t)thin_period(period < COUNT_LEAST ? COUNT_LEAST : period, p->vary_seed, member);
}

void select_start(struct plan *p)
{
    for (uint32_t member = 0; member <= p->cfg.n_others && p->cfg.selections; member++)
        p->selects[member] = plan_event(p, member)->of_pair && selects(&p->cfg.selections[member]);
    for (uint32_t member = 0; member <= p->cfg.n_others && p->cfg.selections; member++)
        if (p->selects[member] && plan_event(p, member)->begins)
            p->count_periods[member] = count_period(p, member);
}

static size_t put_bits(const struct event *ev, const struct live_selection *s, char *text, size_t cap)
{
    size_t n = 0;
    for (uint32_t bit = 1; bit < s->one_in; bit *= 2)
        n += (size_t)snprintf(text + n, cap - n, "%s%s(%s & %llu)", n ? " && " : "", s->rest & bit ? "" : "!",
                              ev->key, (unsigned long long)bit << ev->key_shift);
    return n;
}

bool select_filter(const struct event *ev, const struct live_selection *s, uint32_t cpu,
                   char filter[SELECT_FILTER_MAX])
{
    *filter = '\0';
    if (!*ev->key) /* of errors: nothing tells whose they are */
        return false;
    if (!strcmp(ev->key, EVENT_KEY_CPU)) /* there is one such event per CPU */
        return cpu % s->one_in == s->rest;
    /* without its own filter, there are more events, which the row's conditions reject later */
    bool both = *ev->filter && strlen(ev->filter) < OWN_FILTER_MAX;
    size_t n = both ? (size_t)snprintf(filter, SELECT_FILTER_MAX, "(%s) && (", ev->filter) : 0;
    n += (size_t)snprintf(filter + n, SELECT_FILTER_MAX - n, "(");
    n += put_bits(ev, s, filter + n, SELECT_FILTER_MAX - n);
    n += (size_t)snprintf(filter + n, SELECT_FILTER_MAX - n, ")");
    for (uint32_t i = 0; i < s->n_followed && ev->ends && n < SELECT_FILTER_MAX; i++)
        n += (size_t)snprintf(filter + n, SELECT_FILTER_MAX - n, " || (%s == %llu)", ev->key,
                              (unsigned long long)s->followed[i]);
    if (both && n < SELECT_FILTER_MAX)
        (void)snprintf(filter + n, SELECT_FILTER_MAX - n, ")");
    return true;
}

/* Closes the events that are no longer needed. */
static void close_old(const struct plan *p, struct live_cpu *c, struct select_ids *ids)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->selected.n; i++) {
        struct select_fd *s = &c->selected.items[i];
        if (s->age++ == 0 || (plan_event(p, s->member)->ends && s->age <= END_AGE)) {
            c->selected.items[kept++] = *s;
            continue;
        }
        if (live_cpu_is_lossy(c)) /* otherwise not: reading interrupts the CPU */
            c->left_lost += live_cpu_lost(p, s->member, s->fd);
        close(s->fd);
        *VEC_PUSH(ids) = (struct select_id){ s->id, clock_now_ns() };
    }
    c->selected.n = kept;
}

static void forget_ids(struct select_ids *ids, struct map *members)
{
    uint32_t kept = 0;
    uint64_t now_ns = clock_now_ns();
    for (uint32_t i = 0; i < ids->n; i++) {
        if (now_ns - ids->items[i].closed_ns < KEEP_NS)
            ids->items[kept++] = ids->items[i];
        else
            map_del(members, ids->items[i].id);
    }
    ids->n = kept;
}

bool select_fits(const struct plan *p, const struct live_selection *selections)
{
    for (uint32_t member = 0; member <= p->cfg.n_others; member++)
        if (plan_event(p, member)->of_pair && selects(&selections[member]) != p->selects[member])
            return false;
    return true;
}

void select_adopt(const struct plan *p, struct live_cpus *cpus, struct map *members, struct select_ids *ids)
{
    for (uint32_t i = 0; i < cpus->n; i++) {
        struct live_cpu *c = cpus->items[i];
        close_old(p, c, ids);
        for (uint32_t k = 0; k < c->selected.n; k++)
            map_put(members, c->selected.items[k].id, c->selected.items[k].member);
    }
    forget_ids(ids, members);
}

void select_note_ids(const struct plan *p, const struct live_cpu *c, struct map *members)
{
    uint64_t id;
    for (uint32_t i = 0; i < c->fds.n && p->cfg.n_others; i++) {
        uint32_t member = c->fds.items[i].member;
        if (ioctl(c->fds.items[i].fd, PERF_EVENT_IOC_ID, &id) == 0)
            map_put(members, id, member | (p->count_periods[member] ? SELECT_COUNTS : 0u));
    }
}

uint64_t select_begins(const struct plan *p, const struct live_cpus *cpus, uint32_t member)
{
    uint64_t sum = 0, now[3];
    for (uint32_t i = 0; i < cpus->n && p->count_periods[member]; i++)
        for (uint32_t k = 0; k < cpus->items[i]->fds.n; k++) {
            const struct live_fd *f = &cpus->items[i]->fds.items[k];
            if (f->member == member && live_cpu_read_times(f->fd, now))
                sum += now[0];
        }
    return sum;
}
