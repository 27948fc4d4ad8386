// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the stacks of one wait in N, by the periods of the events off-cpu and wakers.
 *
 * The kernel counts a period per CPU, not per thread. Two threads that wake each other alternate on their
 * CPU: with an even period always the same one would be sampled. So periods are primes near N, chosen at
 * random for each CPU and event, and chosen again at each call (PERF_EVENT_IOC_PERIOD, which also starts the
 * count anew). Events of tasks count per thread. Their children inherit the period with which they were
 * opened, so another N needs new events. */
#include <sys/ioctl.h>

#include "base/map.h"
#include "perf/open.h"

#define NEVER     (UINT64_C(1) << 62) /* a period that never ends */
#define TRIES_MAX 64

static bool is_prime(uint64_t n)
{
    for (uint64_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n >= 2;
}

uint64_t thin_period(uint32_t one_in, uint64_t seed, uint64_t number)
{
    uint64_t least = one_in - one_in / 4, span = one_in / 2 + 1;
    if (one_in == LIVE_NO_STACKS)
        return NEVER;
    for (uint64_t i = 0; one_in > 2 && i < TRIES_MAX; i++) {
        uint64_t period = least + map_mix(seed ^ map_mix(number * TRIES_MAX + i)) % span;
        if (period % 2 && is_prime(period))
            return period;
    }
    return one_in ? one_in : 1;
}

bool thin_may(const struct plan *p, uint32_t member)
{
    uint64_t freq_hz, period;
    plan_rate(p, member, &freq_hz, &period);
    return event_has_waits(plan_event(p, member)) && !plan_is_read(p, member) && period == 1;
}

static bool may_vary(uint32_t one_in)
{
    return one_in > 1 && one_in != LIVE_NO_STACKS;
}

bool thin_cpus(struct plan *p, const struct live_cpus *cpus, const uint32_t one_in[2])
{
    bool fixed = p->where == PLAN_TASKS; /* off-cpu: wakers are on all CPUs then */
    for (uint32_t i = 0; i < cpus->n; i++) {
        struct live_cpu *c = cpus->items[i];
        bool idles = ring_written(&c->ring) == c->thinned_head; /* do not interrupt an idle CPU to vary it */
        for (uint32_t fd = 0; fd < c->fds.n && !c->leaving; fd++) {
            uint32_t member = c->fds.items[fd].member;
            bool kind = plan_event(p, member)->wakers, same = p->cfg.one_in[kind] == one_in[kind];
            uint64_t period = thin_period(one_in[kind], p->vary_seed, p->n_thinned++);
            if (thin_may(p, member) && (kind || !fixed) && (!same || (may_vary(one_in[kind]) && !idles)))
                ioctl(c->fds.items[fd].fd, PERF_EVENT_IOC_PERIOD, &period);
        }
        c->thinned_head = ring_written(&c->ring);
    }
    bool all = !fixed || p->cfg.one_in[0] == one_in[0];
    p->cfg.one_in[0] = all ? one_in[0] : p->cfg.one_in[0];
    p->cfg.one_in[1] = one_in[1];
    return all;
}
