// SPDX-License-Identifier: GPL-2.0-or-later
/* Separates samples in JIT code that was replaced while it was sampled, by the times in its dump. Names
 * belong to modules: older samples are moved to a new module that nothing maps, and newer ones stay in the
 * old one. As few changes as possible separate samples: a module has the names of its end, and they apply
 * to all its samples. */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/session_state.h"

#define CHANGES_MAX 32 /* at once; with more, older changes are not separated */
#define SPANS_MAX   (1u << 20)
/* how long late output of a runtime still names samples from before a change */
#define LATE_NS (30 * NS_PER_SEC)

enum { HAS_MODULE = 1, HAS_REPLACED = 2 };

struct span { /* a sample in replaced code, and the time until which the code was there */
    uint64_t time_ns, until_ns;
};
struct dating {
    struct session *s;
    const struct symbol_table *dates;
    uint32_t module;
    uint64_t from_ns;
    uint8_t *frames, *nodes; /* HAS_… by number */
    VEC(struct span) spans;
    uint64_t ends[CHANGES_MAX];  /* the last moment before each change, rising */
    uint32_t pasts[CHANGES_MAX]; /* module of the samples up to each end */
    unsigned n_ends;
    struct map moved; /* node and change → node */
    VEC(uint32_t) path;
};

static bool mark_frames(struct dating *d)
{
    const struct stacks *stacks = d->s->store.stacks;
    const uint32_t *modules = stacks_frame_modules(stacks);
    const uint64_t *offsets = stacks_frame_offsets(stacks);
    uint32_t n = stacks_frame_count(stacks);
    bool any = false;
    d->frames = mem_array(n, 1);
    for (uint32_t i = 1; i < n; i++)
        if (modules[i] == d->module) {
            bool replaced = symbolizer_replaced(d->dates, offsets[i]);
            d->frames[i] = HAS_MODULE | (replaced ? HAS_REPLACED : 0);
            any |= replaced;
        }
    return any;
}

static void mark_nodes(struct dating *d)
{
    const uint32_t *parents = stacks_parents(d->s->store.stacks), *frames = stacks_frames(d->s->store.stacks);
    uint32_t n = stacks_node_count(d->s->store.stacks);
    d->nodes = mem_array(n, 1);
    for (uint32_t i = 1; i < n; i++)
        d->nodes[i] = d->nodes[parents[i]] | d->frames[frames[i]];
}

static void look_at_stack(struct dating *d, const struct sample *sample)
{
    const uint32_t *parents = stacks_parents(d->s->store.stacks), *frames = stacks_frames(d->s->store.stacks);
    const uint64_t *offsets = stacks_frame_offsets(d->s->store.stacks);
    for (uint32_t node = sample->stack; d->nodes[node] & HAS_REPLACED; node = parents[node]) {
        if (!(d->frames[frames[node]] & HAS_REPLACED) || d->spans.n >= SPANS_MAX)
            continue;
        uint64_t until_ns = symbolizer_named_until(d->dates, offsets[frames[node]], sample->time_ns);
        if (until_ns == UINT64_MAX)
            continue;
        *VEC_PUSH(&d->spans) = (struct span){ sample->time_ns, until_ns };
    }
}

static void look_at_run(void *ctx, struct sample *samples, size_t n)
{
    struct dating *d = ctx;
    for (size_t i = 0; i < n; i++)
        if (samples[i].time_ns >= d->from_ns && d->nodes[samples[i].stack] & HAS_REPLACED)
            look_at_stack(d, &samples[i]);
}

static int by_end(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return a->until_ns < b->until_ns ? -1 : a->until_ns > b->until_ns;
}

/* Chooses the fewest moments that separate each sample from the change of its code. */
static void choose_ends(struct dating *d)
{
    if (d->spans.n)
        qsort(d->spans.items, d->spans.n, sizeof *d->spans.items, by_end);
    for (size_t i = 0; i < d->spans.n && d->n_ends < CHANGES_MAX; i++)
        if (!d->n_ends || d->ends[d->n_ends - 1] < d->spans.items[i].time_ns)
            d->ends[d->n_ends++] = d->spans.items[i].until_ns - 1;
}

static uint32_t moved_frame(struct dating *d, uint32_t frame, unsigned change)
{
    if (!d->frames[frame])
        return frame;
    struct stacks *stacks = d->s->store.stacks;
    uint32_t moved = stacks_frame(stacks, d->pasts[change], stacks_frame_offsets(stacks)[frame]);
    return stacks_frame_interrupts(stacks)[frame] ? stacks_frame_interrupted(stacks, moved) : moved;
}

static uint32_t moved_node(struct dating *d, uint32_t node, unsigned change)
{
    struct stacks *stacks = d->s->store.stacks;
    uint64_t known = 0;
    for (; d->nodes[node] && !map_get(&d->moved, (uint64_t)node << 8 | change, &known);
         node = stacks_parents(stacks)[node])
        *VEC_PUSH(&d->path) = node;
    uint32_t to = d->nodes[node] ? (uint32_t)known : node;
    while (d->path.n) {
        node = d->path.items[--d->path.n];
        to = stacks_child(stacks, to, moved_frame(d, stacks_frames(stacks)[node], change));
        map_put(&d->moved, (uint64_t)node << 8 | change, to);
    }
    return to;
}

static uint32_t moved_stack(void *ctx, const struct sample *sample)
{
    struct dating *d = ctx;
    unsigned change = 0;
    if (!d->nodes[sample->stack])
        return sample->stack;
    while (d->ends[change] < sample->time_ns)
        change++;
    return moved_node(d, sample->stack, change);
}

/* Time after the last change that was applied. */
static uint64_t begin_of(const struct session *s, uint32_t module)
{
    uint64_t from_ns = 0;
    for (size_t i = 0; i < s->unwind.jit.pasts.n; i++)
        if (s->unwind.jit.pasts.items[i].of == module && s->unwind.jit.pasts.items[i].until_ns >= from_ns)
            from_ns = s->unwind.jit.pasts.items[i].until_ns + 1;
    return from_ns;
}

static void take_apart(struct dating *d)
{
    struct jit_names *j = &d->s->unwind.jit;
    for (unsigned i = 0; i < d->n_ends; i++) {
        d->pasts[i] = world_past_jit(d->s->store.world, d->module);
        *VEC_PUSH(&j->pasts) = (struct jit_past){ d->module, d->pasts[i], d->ends[i] };
    }
    history_change_stacks(d->s->store.history, d->from_ns, d->ends[d->n_ends - 1], moved_stack, d);
    d->s->store.generation++;
}

static void name_pasts(struct dating *d)
{
    struct jit_names *j = &d->s->unwind.jit;
    uint64_t now_ns = clock_now_ns();
    size_t kept = 0;
    for (size_t i = 0; i < j->pasts.n; i++) {
        struct jit_past p = j->pasts.items[i];
        struct module *m = world_module(d->s->store.world, p.module);
        bool fresh = d->n_ends && p.of == d->module && p.until_ns >= d->ends[0];
        if (!m)
            continue;
        if (p.of == d->module && (fresh || p.until_ns + LATE_NS > now_ns)) {
            size_t n;
            uint64_t *offsets = stacks_offsets_in(d->s->store.stacks, p.module, &n);
            symbolizer_keep_dated(d->s->store.symbolizer, m, d->dates, p.until_ns, offsets, n);
            mem_free(offsets);
        }
        j->pasts.items[kept++] = p;
    }
    j->pasts.n = kept;
}

void jitdates_apply(struct session *s, struct module *m, const struct symbol_table *dates)
{
    const struct perf_event_attr *attr = &s->store.events[s->store.live_event].attr;
    if (!attr->use_clockid || attr->clockid != CLOCK_MONOTONIC)
        return; /* samples use another clock */
    struct dating d = { .s = s, .dates = dates, .module = m->id, .from_ns = begin_of(s, m->id) };
    if (mark_frames(&d)) {
        mark_nodes(&d);
        history_scan(s->store.history, d.from_ns, 0, look_at_run, &d);
        choose_ends(&d);
    }
    if (d.n_ends)
        take_apart(&d);
    name_pasts(&d);
    mem_free(d.frames);
    mem_free(d.nodes);
    mem_free(d.spans.items);
    mem_free(d.path.items);
    map_done(&d.moved);
}
