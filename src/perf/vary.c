// SPDX-License-Identifier: GPL-2.0-or-later
/* Vary the sampling periods of clocks at random, so that no program runs in step with them.
 *
 * The timer of cpu-clock and task-clock has a fixed period. PERF_EVENT_IOC_PERIOD changes it, but
 *  - the new period starts at once, and the kernel forgets the elapsed part of the old one;
 *  - samples still report the period with which the event was opened (hw.last_period is not updated);
 *  - events inherited by children keep theirs.
 *
 * So events of CPUs, which always run, get another period once a second, slightly shortened to make up for
 * the half period that is forgotten on average. A task or a cgroup may run for so small a part of a second
 * that it would lose most of its time: its events get different periods from the start, and keep them. */
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/map.h"
#include "perf/open.h"

#define LEAST        0.02 /* a hundred periods in a row drift by two periods of the program */
#define MOST         0.06
#define HOLD_NS      NS_PER_SEC
#define HOLD_PERIODS 50 /* half a period is forgotten at each change: 1 % */

bool vary_may(const struct plan *p, uint32_t member)
{
    uint64_t freq_hz, period;
    plan_rate(p, member, &freq_hz, &period);
    bool is_throttled = p->limit_hz && (double)freq_hz * (1 + 2 * MOST) > (double)p->limit_hz;
    return freq_hz && event_is_clock(plan_event(p, member)) && !plan_is_silent(p, member) && !is_throttled;
}

double vary_share(uint64_t seed, uint64_t number)
{
    uint64_t bits = map_mix(seed ^ map_mix(number / 2 + 1));
    double share = LEAST + (MOST - LEAST) * (double)(bits >> 32) / (double)UINT32_MAX;
    return (bits ^ number) & 1 ? share : -share;
}

uint64_t vary_task_period(uint64_t freq_hz, uint64_t seed, uint64_t number)
{
    return (uint64_t)((double)NS_PER_SEC / ((double)freq_hz * (1 + vary_share(seed, number))));
}

uint64_t vary_cpu_period(uint64_t freq_hz, uint64_t held_ns, uint64_t seed, uint64_t number)
{
    double forgotten_hz = (double)NS_PER_SEC / (2 * (double)held_ns);
    return (uint64_t)((double)NS_PER_SEC / ((double)freq_hz * (1 + vary_share(seed, number)) + forgotten_hz));
}

/* How long a period is held; 0: nothing to vary. */
static uint64_t hold_ns(const struct plan *p)
{
    uint64_t longest_ns = 0, freq_hz, period;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        plan_rate(p, member, &freq_hz, &period);
        uint64_t ns = vary_may(p, member) ? HOLD_PERIODS * NS_PER_SEC / freq_hz : 0;
        ns = ns && ns < HOLD_NS ? HOLD_NS : ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

static void vary_cpu(const struct plan *p, struct live_cpu *c, uint64_t held_ns)
{
    uint64_t freq_hz, period;
    for (uint32_t i = 0; i < c->fds.n; i++) {
        if (!vary_may(p, c->fds.items[i].member))
            continue;
        plan_rate(p, c->fds.items[i].member, &freq_hz, &period);
        period = vary_cpu_period(freq_hz, held_ns, p->vary_seed ^ map_mix((uint64_t)c->cpu << 32 | i),
                                 c->n_varied);
        ioctl(c->fds.items[i].fd, PERF_EVENT_IOC_PERIOD, &period);
    }
}

void vary_cpus(const struct plan *p, const struct live_cpus *cpus)
{
    uint64_t now_ns = clock_now_ns(), hold = p->where == PLAN_CPUS ? hold_ns(p) : 0;
    for (uint32_t i = 0; hold && i < cpus->n; i++) {
        struct live_cpu *c = cpus->items[i];
        uint64_t held_ns = c->varied_ns ? now_ns - c->varied_ns : hold;
        bool idles = c->varied_ns &&
                     ring_written(&c->ring) == c->varied_head; /* do not interrupt an idle CPU for this */
        if (c->leaving || idles || held_ns < hold)
            continue;
        vary_cpu(p, c, held_ns);
        c->n_varied++;
        c->varied_head = ring_written(&c->ring);
        c->varied_ns = now_ns;
    }
}
