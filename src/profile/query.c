// SPDX-License-Identifier: GPL-2.0-or-later
/* This runs every second over everything that is held, under the lock that the collector waits for: a sample
 * costs one look into an index and one cache line of its entry.
 *
 * The index by stack is never cleared. A slot is believed only if the entry that it names, which was made in
 * this run, names the stack (Briggs and Torczon, "An Efficient Representation for Sparse Sets", 1993). It
 * comes from mem_array, so that a first look reads zeros; pages that no look hits are never made.
 *
 * The copy of the trie marks what is used in bits, few enough to stay in the cache, and then runs through
 * the columns from front to back. */
#include "profile/query.h"

#include <string.h>

#include "base/mem.h"

#define HASH_MIN_BITS 10

struct marks { /* what of the stacks is used, and its number in the result */
    uint64_t *words;
    uint32_t *place; /* only of what is marked */
    size_t n_words, words_cap;
    uint32_t n;
};

struct result_memory {
    uint32_t *by_stack; /* stack * 2 + idle → entry */
    size_t by_stack_cap;
    uint32_t *hash; /* (group, stack, idle) → entry + 1, when there are groups */
    unsigned hash_bits;
    struct marks nodes, frames;
    size_t parent_cap, frame_cap, module_cap, offset_cap, entries_cap;
};

struct scan {
    const struct query *q;
    struct result *r;
    uint32_t n_nodes;
    bool grouped;
    uint64_t span_ns, bucket_ns;
    uint64_t bucket_from_ns; /* of the bucket that the last sample fell in */
    uint32_t bucket;
};

/* Generous, so as not to grow every second; far too much is given back. */
static void by_stack_reserve(struct result_memory *m, size_t n)
{
    if (n <= m->by_stack_cap && m->by_stack_cap / 16 <= n + 4096)
        return;
    mem_free(m->by_stack);
    m->by_stack_cap = n + n / 2;
    m->by_stack = mem_array(m->by_stack_cap, sizeof *m->by_stack);
}

static size_t hash_home(const struct result_memory *m, uint32_t group, uint32_t stack, uint8_t idle)
{
    uint64_t key = (uint64_t)group << 32 | stack;

    key = (key ^ idle) * UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 32;
    return (size_t)(key * UINT64_C(0xd6e8feb86659fd93) >> (64 - m->hash_bits));
}

static bool is_entry(const struct result_entry *e, uint32_t group, uint32_t stack, uint8_t idle)
{
    return e->node == stack && e->group == group && e->idle == idle;
}

static uint32_t *hash_find(const struct result *r, uint32_t group, uint32_t stack, uint8_t idle)
{
    const struct result_memory *m = r->memory;
    size_t mask = ((size_t)1 << m->hash_bits) - 1;
    size_t i = hash_home(m, group, stack, idle);

    while (m->hash[i] && !is_entry(&r->entries[m->hash[i] - 1], group, stack, idle))
        i = (i + 1) & mask;
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

static uint32_t add_entry(struct result *r, uint32_t group, uint32_t stack, uint8_t idle)
{
    uint32_t i = r->n_entries++;

    MEM_GROW(r->entries, r->memory->entries_cap, r->n_entries);
    r->entries[i] = (struct result_entry){ .group = group, .node = stack, .idle = idle };
    return i;
}

static struct result_entry *entry_grouped(struct result *r, uint32_t group, uint32_t stack, uint8_t idle)
{
    uint32_t *slot = hash_find(r, group, stack, idle);
    uint32_t i;

    if (*slot)
        return &r->entries[*slot - 1];
    i = add_entry(r, group, stack, idle);
    *slot = i + 1;
    if (r->n_entries > (size_t)1 << (r->memory->hash_bits - 1))
        hash_grow(r);
    return &r->entries[i];
}

static inline struct result_entry *entry_plain(struct result *r, uint32_t stack, uint8_t idle)
{
    uint32_t *slot = &r->memory->by_stack[(size_t)stack * 2 + idle];

    if (*slot >= r->n_entries || !is_entry(&r->entries[*slot], 0, stack, idle))
        *slot = add_entry(r, 0, stack, idle);
    return &r->entries[*slot];
}

static inline uint32_t group_of(const struct query *q, const struct sample *s)
{
    if (q->by_cpu)
        return s->cpu;
    return s->thread < q->n_threads ? q->thread_group[s->thread] : 0;
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

static void scan_run(void *ctx, struct sample *samples, size_t n)
{
    struct scan *c = ctx;
    struct result *r = c->r;

    for (const struct sample *s = samples; s < samples + n; s++) {
        struct result_entry *e;
        uint32_t stack;
        uint8_t idle;

        if (s->time_ns - r->from_ns > c->span_ns || !query_passes(c->q, s))
            continue;
        stack = s->stack < c->n_nodes ? s->stack : 0;
        idle = (s->flags & SAMPLE_IDLE) != 0;
        e = c->grouped ? entry_grouped(r, group_of(c->q, s), stack, idle) : entry_plain(r, stack, idle);
        e->weight += s->weight;
        e->count++;
        e->broken += (s->flags & SAMPLE_BROKEN) != 0;
        e->trend[bucket_of(c, s->time_ns)]++;
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

static void scan_history(const struct query *q, struct history *h, const struct stacks *s, struct result *r)
{
    struct scan c = { .q = q, .r = r, .n_nodes = stacks_node_count(s) };

    r->n_entries = 0;
    r->first_ns = UINT64_MAX;
    r->last_ns = 0;
    r->from_ns = q->from_ns ? q->from_ns : history_first_ns(h);
    r->to_ns = q->to_ns ? q->to_ns : history_last_ns(h);
    if (r->to_ns >= r->from_ns) {
        c.grouped = q->by_cpu || q->thread_group;
        c.span_ns = r->to_ns - r->from_ns;
        c.bucket_ns = c.span_ns / QUERY_TREND + 1;
        c.bucket_from_ns = r->from_ns;
        if (c.grouped)
            hash_reset(r->memory, r->memory->hash_bits);
        else
            by_stack_reserve(r->memory, (size_t)c.n_nodes * 2);
        history_scan(h, r->from_ns, r->to_ns, scan_run, &c);
    } else {
        r->to_ns = r->from_ns;
    }
    sum_up(r);
    if (!r->samples)
        r->first_ns = 0;
}

static void marks_reset(struct marks *m, size_t n)
{
    size_t words = n / 64 + 1;

    if (words > m->words_cap || words < m->words_cap / 16) {
        mem_free(m->words);
        mem_free(m->place);
        m->words_cap = words + words / 2;
        m->words = mem_alloc(m->words_cap * sizeof *m->words);
        m->place = mem_alloc(m->words_cap * 64 * sizeof *m->place);
    }
    memset(m->words, 0, words * sizeof *m->words);
    m->n_words = words;
    m->n = 0;
}

/* False: it was marked before. */
static inline bool mark(struct marks *m, uint32_t i)
{
    uint64_t bit = UINT64_C(1) << (i & 63);

    if (m->words[i >> 6] & bit)
        return false;
    m->words[i >> 6] |= bit;
    m->n++;
    return true;
}

static inline uint32_t marked(size_t word, uint64_t bits)
{
    return (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
}

static void mark_used(const struct stacks *s, struct result *r)
{
    struct marks *nodes = &r->memory->nodes, *frames = &r->memory->frames;
    const uint32_t *parent_of = stacks_parents(s), *frame_of = stacks_frames(s);

    marks_reset(nodes, stacks_node_count(s));
    marks_reset(frames, stacks_frame_count(s));
    mark(nodes, 0);
    mark(frames, 0);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        for (uint32_t node = r->entries[i].node; mark(nodes, node); node = parent_of[node])
            mark(frames, frame_of[node]);
    }
}

static void copy_frames(const struct stacks *s, struct result *r)
{
    struct result_memory *m = r->memory;
    const uint32_t *modules = stacks_frame_modules(s);
    const uint64_t *offsets = stacks_frame_offsets(s);
    uint32_t n = 0;

    MEM_GROW(r->frame_module, m->module_cap, m->frames.n);
    MEM_GROW(r->frame_offset, m->offset_cap, m->frames.n);
    for (size_t w = 0; w < m->frames.n_words; w++) {
        for (uint64_t bits = m->frames.words[w]; bits; bits &= bits - 1) {
            uint32_t i = marked(w, bits);

            m->frames.place[i] = n;
            r->frame_module[n] = modules[i];
            r->frame_offset[n] = offsets[i];
            n++;
        }
    }
    r->n_frames = n;
}

/* In order of the stacks' own numbers: there, too, parents come first. */
static void copy_nodes(const struct stacks *s, struct result *r)
{
    struct result_memory *m = r->memory;
    const uint32_t *parent_of = stacks_parents(s), *frame_of = stacks_frames(s);
    uint32_t n = 0;

    MEM_GROW(r->parent, m->parent_cap, m->nodes.n);
    MEM_GROW(r->frame, m->frame_cap, m->nodes.n);
    for (size_t w = 0; w < m->nodes.n_words; w++) {
        for (uint64_t bits = m->nodes.words[w]; bits; bits &= bits - 1) {
            uint32_t i = marked(w, bits);

            m->nodes.place[i] = n;
            r->parent[n] = m->nodes.place[parent_of[i]];
            r->frame[n] = m->frames.place[frame_of[i]];
            n++;
        }
    }
    r->n_nodes = n;
}

static void copy_trie(const struct stacks *s, struct result *r)
{
    mark_used(s, r);
    copy_frames(s, r);
    copy_nodes(s, r);
    for (uint32_t i = 0; i < r->n_entries; i++)
        r->entries[i].node = r->memory->nodes.place[r->entries[i].node];
}

void query_run(const struct query *q, struct history *h, const struct stacks *s, struct result *r)
{
    if (!r->memory) {
        r->memory = mem_zalloc(sizeof *r->memory);
        r->memory->hash_bits = HASH_MIN_BITS;
    }
    scan_history(q, h, s, r);
    copy_trie(s, r);
}

void result_filter(struct result *r, const uint8_t *drop)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_entries; i++) {
        if (!drop[i])
            r->entries[n++] = r->entries[i];
    }
    r->n_entries = n;
    sum_up(r);
}

void result_done(struct result *r)
{
    struct result_memory *m = r->memory;

    mem_free(r->parent);
    mem_free(r->frame);
    mem_free(r->frame_module);
    mem_free(r->frame_offset);
    mem_free(r->entries);
    if (m) {
        mem_free(m->by_stack);
        mem_free(m->hash);
        mem_free(m->nodes.words);
        mem_free(m->nodes.place);
        mem_free(m->frames.words);
        mem_free(m->frames.place);
        mem_free(m);
    }
    *r = (struct result){ 0 };
}
