// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/readings.h"

#include "base/cursor.h"

/* A group that ran for less than this share of its enabled time shared the PMU with others. */
#define PARTLY(running, enabled) ((running) < (enabled) - (enabled) / 10)

enum what { VALUE, ENABLED, RUNNING, TASK_NOW, TASK_ENABLED, TASK_RUNNING, TASK_SAMPLES, TASK_CPUS };

/* A task's times are averaged over about TASK_WINDOW samples, and used after TASK_LEAST samples for each
 * CPU on which it was sampled: the running time of its counter on a CPU is known only at the next sample
 * there. */
#define TASK_WINDOW 64
#define TASK_LEAST  16

void readings_clear(struct readings *m)
{
    map_clear(&m->last);
    map_clear(&m->old);
}

void readings_done(struct readings *m)
{
    map_done(&m->last);
    map_done(&m->old);
}

bool readings_in(const struct record *r, const struct record_layout *l)
{
    return r->type == PERF_RECORD_SAMPLE && r->sample.read && l->sample_type & PERF_SAMPLE_READ &&
           l->read_format & PERF_FORMAT_ID;
}

static uint64_t *last_of(struct readings *m, uint64_t key)
{
    uint64_t old = 0;
    if (m->last.n >= READINGS_MAX && !map_get(&m->last, key, NULL)) {
        struct map spare = m->old;
        m->old = m->last;
        m->last = spare;
        map_clear(&m->last);
    }
    bool created;
    uint64_t *at = map_at(&m->last, key, 0, &created);
    if (created && map_get(&m->old, key, &old))
        *at = old;
    return at;
}

uint64_t readings_key(const struct record *r, bool per_task, uint64_t id)
{
    return per_task ? id ^ map_mix(r->id.tid + UINT64_C(1)) : id;
}

/* The increase of a number since it was last seen; one that decreased has restarted. */
static uint64_t grown(struct readings *m, const struct record *r, const struct record_layout *l, uint64_t id,
                      enum what what, uint64_t now)
{
    uint64_t key = readings_key(r, l->per_task, id);
    uint64_t *last = last_of(m, what ? map_mix(key) + what : key), before = *last;
    *last = now;
    return now >= before ? now - before : now;
}

struct reading {
    uint64_t n, enabled, running; /* enabled: 0 if unknown */
};

/* Extrapolate a counter to its full enabled time, as perf stat scales. */
static uint64_t scaled(uint64_t value, struct reading since)
{
    if (!since.running || since.running >= since.enabled)
        return value;
    double all = (double)value * ((double)since.enabled / (double)since.running);
    return all < (double)(UINT64_MAX / 2) ? (uint64_t)(all + 0.5) : value;
}

/* The times of a task whose counters are open on several CPUs. Each counter is enabled wherever the task
 * runs, so only all of them together tell for how long the task was counted. now: the enabled time of this
 * counter; here: its enabled and running time since the previous sample on its CPU. Both results are 0
 * while too little is known. */
static struct reading of_task(struct readings *m, const struct record *r, const struct record_layout *l,
                              uint64_t now, struct reading here)
{
    uint64_t key = map_mix((uintptr_t)l ^ map_mix(r->id.tid));
    uint64_t *at = last_of(m, key + TASK_NOW);
    uint64_t passed = now > *at ? now - *at : 0; /* they were not enabled at the same moment */
    *at = now;
    uint64_t *enabled = last_of(m, key + TASK_ENABLED);
    uint64_t e = *enabled = *enabled - *enabled / TASK_WINDOW + passed;
    uint64_t *running = last_of(m, key + TASK_RUNNING);
    uint64_t ran = *running = *running - *running / TASK_WINDOW + here.running;
    uint64_t samples = ++*last_of(m, key + TASK_SAMPLES);
    uint64_t *cpus = last_of(m, key + TASK_CPUS);
    *cpus += here.enabled == now;
    return samples < TASK_LEAST * *cpus ? (struct reading){ 0 }
                                        : (struct reading){ .enabled = e, .running = ran };
}

static void read_times(struct cursor *c, uint64_t format, struct reading *out)
{
    out->enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED ? cursor_u64(c) : 0;
    out->running = format & PERF_FORMAT_TOTAL_TIME_RUNNING ? cursor_u64(c) : out->enabled;
}

/* Read the times of a group, which is scheduled as a whole. */
static struct reading read_head(struct cursor *c, uint64_t format)
{
    struct reading g = { .n = 1 };
    if (!(format & PERF_FORMAT_GROUP))
        return g;
    g.n = cursor_u64(c);
    read_times(c, format, &g);
    return g;
}

bool readings_each(struct readings *m, const struct record *r, const struct record_layout *l, readings_fn *fn,
                   void *ctx)
{
    uint64_t format = l->read_format;
    struct cursor c = cursor_of(r->sample.read, r->sample.read_size, r->swap);
    struct reading g = read_head(&c, format);
    struct reading since = { 0 }; /* increase of the group's times */
    bool again = false, partly = false;
    for (uint64_t i = 0; i < g.n; i++) {
        uint64_t value = cursor_u64(&c);
        if (!(format & PERF_FORMAT_GROUP))
            read_times(&c, format, &g);
        uint64_t id = cursor_u64(&c);
        cursor_skip(&c, format & PERF_FORMAT_LOST ? sizeof(uint64_t) : 0);
        if (c.bad)
            break;
        if (i == 0 && g.enabled) {
            since.enabled = grown(m, r, l, id, ENABLED, g.enabled);
            since.running = grown(m, r, l, id, RUNNING, g.running);
            if (l->elsewhere)
                since = of_task(m, r, l, g.enabled, since);
            partly = PARTLY(since.running, since.enabled);
        }
        struct record one = *r;
        one.id.id = id;
        one.sample.period = grown(m, r, l, id, VALUE, value);
        if (l->scales || (l->elsewhere && partly))
            one.sample.period = scaled(one.sample.period, since);
        one.again = again;
        one.partly = partly;
        if (!one.sample.period)
            continue;
        again = true;
        if (!fn(ctx, &one, (uint32_t)i))
            return false;
    }
    return true;
}
