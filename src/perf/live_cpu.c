// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/live_cpu.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define STARVED_LOOKS 256 /* number of descriptors checked */

/* Bytes per ns since the rate was set. */
static double rate_since(const struct live_cpu *c, uint64_t past_ns)
{
    return (double)(ring_written(&c->ring) - c->rated_bytes) / (double)past_ns;
}

void live_cpu_rate(struct live_cpu *c, uint64_t past_ns)
{
    c->rate = past_ns ? rate_since(c, past_ns) : 0;
    c->rated_bytes = ring_written(&c->ring);
    c->is_rated = past_ns != 0;
}

bool live_cpu_lasts(const struct live_cpu *c, uint64_t past_ns, double left)
{
    double now = past_ns ? rate_since(c, past_ns) : 0, rate = now > c->rate ? now : c->rate;
    return c->is_rated && (double)ring_waiting(&c->ring) + rate * left <= (double)c->ring.size_bytes;
}

bool live_cpu_has_ended(const struct live_cpu *c)
{
    return c->watched >= c->n_own;
}

/* The first n values. */
static bool read_values(int fd, uint64_t *values, size_t n)
{
    uint64_t now[3 + 2 * EVENT_GROUP_MAX]; /* a leader's read includes its whole group */
    if (read(fd, now, sizeof now) < (ssize_t)(n * sizeof *now))
        return false;
    memcpy(values, now, n * sizeof *values);
    return true;
}

bool live_cpu_read_times(int fd, uint64_t times[3])
{
    return read_values(fd, times, 3);
}

uint64_t live_cpu_lost(const struct plan *p, uint32_t member, int fd)
{
    const struct perf_event_attr *attr = plan_attr(p, member);
    uint64_t values[4]; /* behind the value and the times, as there is no id */
    return attr->read_format & PERF_FORMAT_LOST && read_values(fd, values, 4) ? values[3] : 0;
}

bool live_cpu_is_lossy(const struct live_cpu *c)
{
    return c->reported || c->ring.has_gap;
}

bool live_cpu_unreported(const struct plan *p, struct live_cpu *c, struct record *out)
{
    uint64_t lost = c->left_lost;
    if (!live_cpu_is_lossy(c))
        return false;
    for (uint32_t i = 0; i < c->fds.n; i++)
        lost += live_cpu_lost(p, c->fds.items[i].member, c->fds.items[i].fd);
    for (uint32_t i = 0; i < c->selected.n; i++)
        lost += live_cpu_lost(p, c->selected.items[i].member, c->selected.items[i].fd);
    if (lost <= c->reported)
        return false;
    *out = (struct record){
        .type = PERF_RECORD_LOST,
        .size = sizeof(struct perf_event_header),
        .known = true,
        .id = { .has = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, .time_ns = clock_now_ns(), .cpu = c->cpu },
        .lost.lost = lost - c->reported,
    };
    live_cpu_reported(c, out);
    return true;
}

struct live_cpu *live_cpus_find(const struct live_cpus *cpus, uint32_t cpu)
{
    struct live_cpu *found = NULL;
    for (uint32_t i = 0; i < cpus->n && (!found || found->leaving); i++)
        if (cpus->items[i]->cpu == cpu)
            found = cpus->items[i];
    return found;
}

bool live_cpus_are_starved(const struct live_cpus *cpus)
{
    uint32_t looks = 0;
    uint64_t enabled_ns = 0, now[3];
    for (uint32_t i = 0; i < cpus->n; i++)
        for (uint32_t fd = 0; fd < cpus->items[i]->fds.n && looks < STARVED_LOOKS; fd++, looks++) {
            if (!live_cpu_read_times(cpus->items[i]->fds.items[fd].fd, now))
                continue;
            if (now[2])
                return false;
            enabled_ns += now[1];
        }
    return enabled_ns >= NS_PER_SEC;
}

/* While a ring has records from before its gap, what is read in the order of time is from before, too. */
uint64_t live_cpus_gap_ns(const struct live_cpus *cpus, uint32_t cpu)
{
    uint64_t gap_ns = 0;
    for (uint32_t i = 0; i < cpus->n; i++) {
        const struct live_cpu *c = cpus->items[i];
        if (c->cpu != cpu && ring_is_at_gap(&c->ring) && (!gap_ns || c->ring.last_ns < gap_ns))
            gap_ns = c->ring.last_ns ? c->ring.last_ns : 1;
    }
    return gap_ns;
}

void live_cpu_reported(struct live_cpu *c, struct record *lost)
{
    c->reported += lost->lost.lost;
    lost->lost.from_ns = c->ring.last_ns;
}

void live_cpu_count_record(struct live_stats *s, const struct record *r)
{
    s->records++;
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        s->samples++;
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        s->lost += r->lost.lost;
        break;
    case PERF_RECORD_THROTTLE:
        s->throttled++;
        break;
    }
}
