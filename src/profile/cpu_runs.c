// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/cpu_runs.h"

#define RING_MIN 64

static const struct cpu_thread unseen = { .tid = CPU_UNSEEN };

static struct cpu_runs_cpu *cpu_at(struct cpu_runs *c, uint32_t cpu)
{
    return &VEC_RESERVE_ZEROED(&c->cpus, cpu + 1)[cpu];
}

/* Doubles a full ring whose oldest run is recent. */
static void make_room(struct cpu_runs_cpu *u, uint64_t now_ns)
{
    if (u->n < u->cap)
        return;
    if (u->cap == CPU_RUNS_MAX || (u->cap && u->ring[u->first].to_ns + CPU_RUNS_KEPT_NS < now_ns)) {
        u->first = (u->first + 1) % u->cap;
        u->n--;
        return;
    }
    uint32_t cap = u->cap ? 2 * u->cap : RING_MIN;
    struct cpu_run *ring = mem_array(cap, sizeof *ring);
    for (uint32_t i = 0; i < u->n; i++)
        ring[i] = u->ring[(u->first + i) % u->cap];
    mem_free(u->ring);
    u->ring = ring;
    u->cap = cap;
    u->first = 0;
}

static struct cpu_run *last_run(struct cpu_runs_cpu *u)
{
    return u->n ? &u->ring[(u->first + u->n - 1) % u->cap] : NULL;
}

/* Ends the run that goes on. False: the record is older than that run, from the overlap of two sources. */
static bool end_run(struct cpu_runs_cpu *u, uint64_t time_ns)
{
    struct cpu_run *last = last_run(u);
    if (time_ns < u->now.from_ns)
        return false;
    if (!u->now.from_ns || u->now.thread.tid == CPU_UNSEEN || time_ns == u->now.from_ns)
        return true;
    if (last && last->to_ns == u->now.from_ns && last->thread.name == u->now.thread.name) {
        last->thread = u->now.thread; /* which lives longer */
        last->to_ns = time_ns;
    } else {
        make_room(u, time_ns);
        struct cpu_run *run = &u->ring[(u->first + u->n++) % u->cap];
        *run = u->now;
        run->to_ns = time_ns;
    }
    return true;
}

void cpu_runs_leave(struct cpu_runs *c, uint32_t cpu, uint64_t time_ns, struct cpu_thread next)
{
    struct cpu_runs_cpu *u = cpu_at(c, cpu);
    if (end_run(u, time_ns))
        u->now = (struct cpu_run){ .thread = next, .from_ns = time_ns };
}

/* The switch itself, between the two records, belongs to the thread that leaves. */
void cpu_runs_come(struct cpu_runs *c, uint32_t cpu, uint64_t time_ns, struct cpu_thread thread)
{
    struct cpu_runs_cpu *u = cpu_at(c, cpu);
    struct cpu_run *last = last_run(u);
    if (time_ns < u->now.from_ns)
        return;
    if (u->now.thread.tid != thread.tid)
        end_run(u, time_ns);
    else if (last && last->to_ns == u->now.from_ns)
        last->to_ns = time_ns;
    u->now = (struct cpu_run){ .thread = thread, .from_ns = time_ns };
}

struct cpu_thread cpu_runs_now(const struct cpu_runs *c, uint32_t cpu)
{
    const struct cpu_runs_cpu *u = cpu < c->cpus.cap ? &c->cpus.items[cpu] : NULL;
    return u && u->now.from_ns ? u->now.thread : unseen;
}

void cpu_runs_forget(struct cpu_runs *c, uint32_t cpu)
{
    if (cpu >= c->cpus.cap)
        return;
    c->cpus.items[cpu].n = 0;
    c->cpus.items[cpu].now = (struct cpu_run){ .from_ns = 0 };
}

void cpu_runs_forget_all(struct cpu_runs *c)
{
    for (size_t i = 0; i < c->cpus.cap; i++)
        cpu_runs_forget(c, (uint32_t)i);
}

/* ---- shares ---- */

static void add_share(struct cpu_share *out, size_t *n, struct cpu_thread thread, uint64_t ns)
{
    size_t i = 0;
    while (i < *n && out[i].thread.name != thread.name)
        i++;
    if (i == CPU_SHARES_MAX - 1) /* the last one is for what is not known */
        return;
    if (i == *n)
        out[(*n)++] = (struct cpu_share){ .thread = thread };
    out[i].ns += ns;
}

/* The part of a run between two times, in ns. */
static uint64_t overlap(const struct cpu_run *run, uint64_t from_ns, uint64_t to_ns)
{
    from_ns = run->from_ns > from_ns ? run->from_ns : from_ns;
    to_ns = run->to_ns < to_ns ? run->to_ns : to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

size_t cpu_runs_between(const struct cpu_runs *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
                        struct cpu_share *out)
{
    const struct cpu_runs_cpu *u = cpu < c->cpus.cap ? &c->cpus.items[cpu] : NULL;
    size_t n = 0;
    uint64_t known_ns = 0;
    if (u && u->now.from_ns && u->now.thread.tid != CPU_UNSEEN) {
        struct cpu_run now = u->now;
        now.to_ns = to_ns;
        if (overlap(&now, from_ns, to_ns))
            add_share(out, &n, now.thread, overlap(&now, from_ns, to_ns));
    }
    for (uint32_t i = u ? u->n : 0; i-- > 0;) {
        const struct cpu_run *run = &u->ring[(u->first + i) % u->cap];
        if (run->to_ns <= from_ns)
            break;
        if (overlap(run, from_ns, to_ns))
            add_share(out, &n, run->thread, overlap(run, from_ns, to_ns));
    }
    for (size_t i = 0; i < n; i++)
        known_ns += out[i].ns;
    if (known_ns < to_ns - from_ns)
        out[n++] = (struct cpu_share){ unseen, to_ns - from_ns - known_ns };
    return n;
}

void cpu_runs_done(struct cpu_runs *c)
{
    for (size_t i = 0; i < c->cpus.cap; i++)
        mem_free(c->cpus.items[i].ring);
    mem_free(c->cpus.items);
    *c = (struct cpu_runs){ 0 };
}
