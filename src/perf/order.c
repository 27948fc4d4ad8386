// SPDX-License-Identifier: GPL-2.0-or-later
/* Merge the records of many rings in time order: a binary heap of each ring's next record.
 *
 * Within a ring records are almost in time order: an NMI while a record is being written puts its own,
 * later record before it. Rings are not reordered: a record that is older than the previous one goes out as
 * soon as it is reached. */
#include "base/clock.h"
#include "base/mem.h"
#include "perf/ring.h"

struct order_entry {
    uint64_t time_ns;
    uint32_t ring, size;
};

struct merge {
    struct order *o;
    struct ring *const *rings;
    const struct order_rule *rule;
    uint64_t until_ns;
    uint32_t n; /* number of entries in the heap */
};

/* The time of a sample is near its front, so that a wrapped dump need not be copied to read it. */
#define SAMPLE_FRONT_BYTES 64u

static uint64_t time_of(struct merge *m, const struct ring *r, uint32_t size)
{
    uint64_t t;
    bool front = size > SAMPLE_FRONT_BYTES && ring_type(r) == PERF_RECORD_SAMPLE;
    const void *bytes = ring_bytes(r, front ? SAMPLE_FRONT_BYTES : size, m->o->scratch);
    if (!record_time(bytes, size, m->rule->layout, &t))
        return 0;
    return !m->rule->foreign_clock && t > m->rule->absurd_ns ? 0 : t;
}

/* Get the ring's next record, if it may go out now. */
static bool peek_ring(struct merge *m, uint32_t ring, struct order_entry *e)
{
    struct ring *r = m->rings[ring];
    uint32_t size;
    if (!ring_next(r, &size))
        m->o->errors++;
    if (size == 0)
        return false;
    m->o->gap |= ring_is_at_gap(r);
    *e = (struct order_entry){ .time_ns = time_of(m, r, size), .ring = ring, .size = size };
    return m->rule->all || e->time_ns <= m->until_ns || m->o->full.items[ring];
}

static void sift_down(struct order_entry *heap, uint32_t n, uint32_t i)
{
    struct order_entry e = heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap[child + 1].time_ns < heap[child].time_ns)
            child++;
        if (heap[child].time_ns >= e.time_ns)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
}

static void note_newest(struct merge *m, uint32_t ring, uint64_t *newest)
{
    struct ring walk = *m->rings[ring];
    uint32_t size;
    while (ring_next(&walk, &size) && size) {
        uint64_t t = time_of(m, &walk, size);
        if (t > *newest)
            *newest = t;
        ring_skip(&walk, size);
    }
}

/* Read all heads before the first record goes out, so that all rings are read at the same time. */
static void start_merge(struct merge *m, uint32_t n)
{
    struct order *o = m->o;
    uint64_t newest = o->newest_ns;
    o->fill = 0;
    o->gap = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!ring_begin(m->rings[i]))
            o->errors++;
        ring_look_for_gap(m->rings[i], clock_now_ns());
        o->gap |= m->rings[i]->has_gap;
        double fill = ring_fill(m->rings[i]);
        o->full.items[i] = fill > 0.75;
        if (fill > o->fill)
            o->fill = fill;
        if (m->rule->foreign_clock)
            note_newest(m, i, &newest);
    }
    m->until_ns = m->rule->foreign_clock ? o->newest_ns : m->rule->until_ns;
    o->newest_ns = newest;
    for (uint32_t i = 0; i < n; i++)
        if (peek_ring(m, i, &o->heap.items[m->n]))
            m->n++;
    for (uint32_t i = m->n / 2; i-- > 0;)
        sift_down(o->heap.items, m->n, i);
}

void order_drain(struct order *o, struct ring *const *rings, uint32_t n, const struct order_rule *rule,
                 order_fn *fn, void *ctx)
{
    struct merge m = { .o = o, .rings = rings, .rule = rule };
    if (!o->scratch)
        o->scratch = mem_alloc(RING_SCRATCH_BYTES);
    struct order_entry *top = VEC_RESERVE(&o->heap, n);
    VEC_RESERVE(&o->full, n);
    start_merge(&m, n);
    for (bool more = true; more && m.n > 0;) {
        struct ring *r = rings[top->ring];
        more = fn(ctx, ring_bytes(r, top->size, o->scratch), top->size);
        ring_skip(r, top->size);
        r->last_ns = top->time_ns;
        if (!peek_ring(&m, top->ring, top))
            *top = o->heap.items[--m.n];
        sift_down(o->heap.items, m.n, 0);
    }
    for (uint32_t i = 0; i < n; i++)
        ring_end(rings[i]);
}

void order_done(struct order *o)
{
    mem_free(o->heap.items);
    mem_free(o->full.items);
    mem_free(o->scratch);
    *o = (struct order){ 0 };
}
