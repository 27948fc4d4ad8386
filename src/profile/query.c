// SPDX-License-Identifier: GPL-2.0-or-later
/* This runs every second under the lock that the collector waits for, over all that is held when the question is
 * new, and else over what has come since: a sample costs one look into the part of the trie, one into an index and
 * one cache line of its entry. */
#include "profile/query.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "profile/part.h"
#include "profile/question.h"

#define HASH_MIN_BITS 10

struct result_memory {
    struct part part;
    uint32_t *by_node; /* node * 2 + idle → entry + 1, when there are no groups */
    uint32_t n_by_node;
    uint32_t *hash;    /* (group, node, idle) → entry + 1, when there are */
    unsigned hash_bits;
    struct question asked;
    uint32_t kept_before, all_before; /* entries, after the filter of the run before */
    uint64_t version_before;
    uint32_t n_needed; /* nodes that the first run over the part needed */
    size_t by_node_cap, entries_cap, added_cap, beside_cap;
};

struct scan {
    const struct query *q;
    struct result *r;
    uint32_t n_stacks;
    bool grouped, goes_on, beyond;
    uint64_t span_ns, bucket_ns;
    uint64_t bucket_from_ns; /* of the bucket that the last sample fell in */
    uint32_t bucket;
};

static uint64_t next_version(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

/* ---- entries ---- */

static size_t hash_home(const struct result_memory *m, uint32_t group, uint32_t node, uint8_t idle)
{
    uint64_t key = (uint64_t)group << 32 | node;

    key = (key ^ idle) * UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 32;
    return (size_t)(key * UINT64_C(0xd6e8feb86659fd93) >> (64 - m->hash_bits));
}

static uint32_t *hash_find(const struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    const struct result_memory *m = r->memory;
    size_t mask = ((size_t)1 << m->hash_bits) - 1;
    size_t i = hash_home(m, group, node, idle);

    for (; m->hash[i]; i = (i + 1) & mask) {
        const struct result_entry *e = &r->entries[m->hash[i] - 1];
        if (e->node == node && e->group == group && e->idle == idle)
            break;
    }
    return &m->hash[i];
}

static void hash_reset(struct result_memory *m, unsigned bits)
{
    size_t size = (size_t)1 << bits;

    if (m->hash && m->hash_bits == bits) {
        memset(m->hash, 0, size * sizeof *m->hash);
        return;
    }
    mem_free(m->hash);
    m->hash_bits = bits;
    m->hash = mem_array(size, sizeof *m->hash);
}

static void hash_grow(struct result *r)
{
    hash_reset(r->memory, r->memory->hash_bits + 1);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        *hash_find(r, e->group, e->node, e->idle) = i + 1;
    }
}

static bool is_grouped(const struct query *q)
{
    return q->by_cpu || q->thread_group;
}

static void index_new_nodes(struct result_memory *m)
{
    MEM_GROW(m->by_node, m->by_node_cap, (size_t)m->part.n_nodes * 2);
    memset(m->by_node + (size_t)m->n_by_node * 2, 0,
           (size_t)(m->part.n_nodes - m->n_by_node) * 2 * sizeof *m->by_node);
    m->n_by_node = m->part.n_nodes;
}

/* Where the number of an entry, plus one, is to be found. */
static inline uint32_t *entry_slot(const struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    struct result_memory *m = r->memory;

    if (is_grouped(&m->asked.q))
        return hash_find(r, group, node, idle);
    if (node >= m->n_by_node)
        index_new_nodes(m);
    return &m->by_node[(size_t)node * 2 + idle];
}

static struct result_entry *add_entry(struct result *r, uint32_t *slot, uint32_t group, uint32_t node, uint8_t idle)
{
    uint32_t i = r->n_entries++;

    *slot = i + 1;
    MEM_GROW(r->entries, r->memory->entries_cap, r->n_entries);
    r->entries[i] = (struct result_entry){ .group = group, .node = node, .idle = idle };
    if (r->besides) {
        MEM_GROW(r->beside, r->memory->beside_cap, (size_t)r->n_entries * r->besides);
        memset(r->beside + (size_t)i * r->besides, 0, r->besides * sizeof *r->beside);
    }
    if (is_grouped(&r->memory->asked.q) && r->n_entries > (size_t)1 << (r->memory->hash_bits - 1))
        hash_grow(r);
    return &r->entries[i];
}

static inline struct result_entry *entry_at(struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    uint32_t *slot = entry_slot(r, group, node, idle);

    return *slot ? &r->entries[*slot - 1] : add_entry(r, slot, group, node, idle);
}

/* What is added to an entry. The two point at each other: nothing needs to be cleared before a run. */
static struct result_entry *added_to(struct result *r, struct result_entry *e)
{
    uint32_t entry = (uint32_t)(e - r->entries);

    if (e->other >= r->n_added || r->added[e->other].other != entry) {
        e->other = r->n_added++;
        MEM_GROW(r->added, r->memory->added_cap, r->n_added);
        r->added[e->other] =
            (struct result_entry){ .group = e->group, .node = e->node, .idle = e->idle, .other = entry };
    }
    return &r->added[e->other];
}

/* ---- the scan ---- */

static inline uint32_t group_of(const struct query *q, const struct sample *s)
{
    if (q->by_cpu)
        return s->cpu + 1u;
    return q->thread_group && s->thread < q->n_threads ? q->thread_group[s->thread] : 0;
}

/* Samples come in order of time, nearly: most of them need no division. */
static inline uint32_t bucket_of(struct scan *c, uint64_t time_ns)
{
    if (time_ns - c->bucket_from_ns >= c->bucket_ns) {
        c->bucket = (uint32_t)((time_ns - c->r->from_ns) / c->bucket_ns);
        c->bucket_from_ns = c->r->from_ns + c->bucket * c->bucket_ns;
    }
    return c->bucket;
}

static inline void count_sample(struct result_entry *e, const struct sample *s, uint32_t bucket)
{
    e->weight += s->weight;
    e->count++;
    e->broken += (s->flags & SAMPLE_BROKEN) != 0;
    e->trend[bucket]++;
}

/* Which of the other events a sample is of, plus one; 0: none. */
static inline uint32_t column_beside(const struct query *q, const struct sample *s)
{
    for (uint32_t i = 0; i < q->n_beside; i++) {
        if (q->beside[i] == s->event)
            return i + 1;
    }
    return 0;
}

static inline uint64_t *beside_of(const struct result *r, const struct result_entry *e)
{
    return r->beside + (size_t)(e - r->entries) * r->besides;
}

/* A sample of an event beside the one that is asked for. */
static void scan_beside(const struct scan *c, const struct sample *s)
{
    struct result *r = c->r;
    uint32_t column = column_beside(c->q, s), node;

    if (!column || !query_passes_event_aside(c->q, s))
        return;
    node = part_node(&r->memory->part, s->stack < c->n_stacks ? s->stack : 0);
    beside_of(r, entry_at(r, group_of(c->q, s), node, (s->flags & SAMPLE_IDLE) != 0))[column - 1] += s->weight;
}

static void scan_run(void *ctx, struct sample *samples, size_t n)
{
    struct scan *c = ctx;
    struct result *r = c->r;

    for (const struct sample *s = samples; s < samples + n; s++) {
        struct result_entry *e;
        uint32_t node, bucket;

        if (s->time_ns - r->from_ns > c->span_ns)
            continue;
        c->beyond |= s->thread >= c->q->n_threads;
        if (!query_passes(c->q, s)) {
            if (r->besides)
                scan_beside(c, s);
            continue;
        }
        node = part_node(&r->memory->part, s->stack < c->n_stacks ? s->stack : 0);
        bucket = bucket_of(c, s->time_ns);
        e = entry_at(r, group_of(c->q, s), node, (s->flags & SAMPLE_IDLE) != 0);
        count_sample(e, s, bucket);
        if (r->besides)
            beside_of(r, e)[r->besides - 1] += s->flags & SAMPLE_PARTLY ? s->weight : 0;
        if (c->goes_on)
            count_sample(added_to(r, e), s, bucket);
        r->first_ns = s->time_ns < r->first_ns ? s->time_ns : r->first_ns;
        r->last_ns = s->time_ns > r->last_ns ? s->time_ns : r->last_ns;
    }
}

static void sum_up(struct result *r)
{
    r->samples = r->weight = r->broken_samples = 0;
    for (uint32_t i = 0; i < r->n_entries; i++) {
        r->samples += r->entries[i].count;
        r->weight += r->entries[i].weight;
        r->broken_samples += r->entries[i].broken;
    }
}

static void scan_history(const struct query *q, struct history *h, const struct stacks *s, struct result *r,
                         bool goes_on)
{
    struct question *asked = &r->memory->asked;
    struct scan c = { .q = q, .r = r, .n_stacks = stacks_node_count(s), .goes_on = goes_on };

    c.span_ns = r->to_ns - r->from_ns;
    c.bucket_ns = query_bucket_ns(r->from_ns, r->to_ns);
    c.bucket_from_ns = r->from_ns;
    if (goes_on)
        history_scan_after(h, asked->count, scan_run, &c);
    else
        history_scan(h, r->from_ns, r->to_ns, scan_run, &c);
    asked->count = history_count(h);
    asked->beyond |= c.beyond;
}

/* ---- the whole ---- */

/* The part serves other questions over the same stacks, too: a window that slides meets nearly all of it again, whose
 * names are known and whose tables stand. Until half of it may be of no use any more. */
static bool part_serves(const struct result_memory *m, const struct stacks *s)
{
    return m->asked.stacks == s && m->asked.stacks_epoch == stacks_epoch(s) && m->part.n_nodes / 2 <= m->n_needed;
}

static void start_anew(const struct query *q, struct result *r)
{
    struct result_memory *m = r->memory;

    r->n_entries = r->n_left_out = 0;
    r->besides = q->n_beside ? q->n_beside + 1u : 0;
    r->samples = 0;
    m->kept_before = m->all_before = 0;
    m->asked.beyond = false;
    m->n_by_node = 0;
    if (is_grouped(q))
        hash_reset(m, m->hash_bits);
}

static void part_anew(const struct stacks *s, struct result *r)
{
    part_begin(&r->memory->part, s);
    r->memory->n_needed = 0;
    r->memory->version_before = 0;
    r->n_frames_before = 1;
}

static void part_stays(struct result *r)
{
    part_go_on(&r->memory->part);
    r->memory->version_before = r->version;
    r->n_frames_before = r->memory->part.n_frames;
}

static void go_on(struct result *r)
{
    struct result_memory *m = r->memory;

    m->kept_before = r->n_entries;
    r->n_entries += r->n_left_out;
    r->n_left_out = 0;
    m->all_before = r->n_entries;
}

static void choose_range(const struct query *q, const struct history *h, struct result *r)
{
    r->from_ns = q->from_ns ? q->from_ns : history_first_ns(h);
    r->to_ns = q->to_ns ? q->to_ns : history_last_ns(h);
}

static void show_part(struct result *r)
{
    const struct part *p = &r->memory->part;

    r->parent = p->parent;
    r->frame = p->frame;
    r->n_nodes = p->n_nodes;
    r->frame_module = p->frame_module;
    r->frame_offset = p->frame_offset;
    r->n_frames = p->n_frames;
}

void query_run(const struct query *q, struct history *h, const struct stacks *s, struct result *r)
{
    bool goes_on, serves, empty;

    if (!r->memory) {
        r->memory = mem_zalloc(sizeof *r->memory);
        r->memory->hash_bits = HASH_MIN_BITS;
    }
    choose_range(q, h, r);
    goes_on = question_is_same(&r->memory->asked, q, h, s, r);
    serves = goes_on || part_serves(r->memory, s);
    if (goes_on)
        go_on(r);
    else
        start_anew(q, r);
    if (serves)
        part_stays(r);
    else
        part_anew(s, r);
    question_keep(&r->memory->asked, q, h, s, r);
    empty = r->to_ns < r->from_ns;
    if (!r->n_entries) {
        r->first_ns = UINT64_MAX;
        r->last_ns = 0;
    }
    r->n_added = 0;
    if (!empty)
        scan_history(q, h, s, r, goes_on);
    if (!serves)
        r->memory->n_needed = r->memory->part.n_nodes;
    show_part(r);
    if (empty)
        r->to_ns = r->from_ns;
    sum_up(r);
    if (!r->samples)
        r->first_ns = 0;
    r->version = next_version();
    r->goes_on_from = r->memory->version_before;
    r->is_same_question = goes_on;
    /* what was left out is so no more */
    r->since = goes_on && r->memory->kept_before == r->memory->all_before ? r->memory->version_before : 0;
}

static void swap_entries(struct result *r, uint32_t a, uint32_t b)
{
    struct result_entry *x = &r->entries[a], *y = &r->entries[b], z = *x;
    uint32_t *slot_x = entry_slot(r, x->group, x->node, x->idle), *slot_y = entry_slot(r, y->group, y->node, y->idle);

    *slot_x = b + 1;
    *slot_y = a + 1;
    *x = *y;
    *y = z;
    for (uint32_t i = 0; i < r->besides; i++) {
        uint64_t *left = beside_of(r, x) + i, *right = beside_of(r, y) + i, sum = *left;

        *left = *right;
        *right = sum;
    }
}

static bool is_dropped_as_before(const struct result *r, const uint8_t *drop)
{
    const struct result_memory *m = r->memory;

    for (uint32_t i = 0; i < m->all_before; i++) {
        if (!drop[i] != (i < m->kept_before))
            return false;
    }
    return true;
}

static void filter_added(struct result *r, const uint8_t *drop)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_added; i++) {
        if (!drop[r->added[i].other])
            r->added[n++] = r->added[i];
    }
    r->n_added = n;
}

void result_filter(struct result *r, const uint8_t *drop)
{
    uint32_t n = 0;

    r->since = r->is_same_question && is_dropped_as_before(r, drop) ? r->memory->version_before : 0;
    filter_added(r, drop);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        if (drop[i])
            continue;
        if (n < i)
            swap_entries(r, n, i);
        n++;
    }
    r->n_left_out += r->n_entries - n;
    r->n_entries = n;
    sum_up(r);
}

struct result_moment result_moment(const struct result *r)
{
    const struct question *asked = &r->memory->asked;

    return (struct result_moment){ asked->count, asked->history_epoch, asked->stacks_epoch };
}

uint32_t result_node(const struct result *r, uint32_t stack)
{
    return part_find(&r->memory->part, stack);
}

void result_done(struct result *r)
{
    struct result_memory *m = r->memory;

    mem_free(r->entries);
    mem_free(r->added);
    mem_free(r->beside);
    if (m) {
        part_done(&m->part);
        mem_free(m->by_node);
        mem_free(m->hash);
        question_done(&m->asked);
        mem_free(m);
    }
    *r = (struct result){ 0 };
}
