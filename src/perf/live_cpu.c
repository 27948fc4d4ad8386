// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/live_cpu.h"

#include <string.h>
#include <unistd.h>

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

bool live_cpu_read_times(int fd, uint64_t times[3])
{
    uint64_t now[3 + 2 * EVENT_GROUP_MAX]; /* a leader's read includes its whole group */
    if (read(fd, now, sizeof now) < (ssize_t)(3 * sizeof *now))
        return false;
    memcpy(times, now, 3 * sizeof *times);
    return true;
}

/* While a ring has records from before its gap, what is read in the order of time is from before, too. */
bool live_cpus_have_gap(const struct live_cpus *cpus, uint32_t cpu)
{
    for (uint32_t i = 0; i < cpus->n; i++) {
        const struct live_cpu *c = cpus->items[i];
        if (c->cpu != cpu && c->ring.has_gap && c->ring.tail == c->ring.gap_at)
            return true;
    }
    return false;
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
