// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs queries: scans the history and updates results.
 *
 * A query runs each second, under a lock that the collector waits for. A new query scans the whole range; a
 * repeated one only new samples. A sample costs one access to the part of the trie, one to an index, and one
 * cache line of its entry. */
#include "profile/query.h"

#include "base/mem.h"
#include "base/serial.h"
#include "profile/entries.h"

struct scan {
    const struct query *q;
    struct result *r;
    uint32_t n_stacks;
    bool goes_on, beyond;
    /* 1: add samples; UINT64_MAX: remove them, because sums are modulo 2^64 or 2^32. */
    uint64_t sign;
    uint64_t look_from_ns, look_ns; /* time range of the samples to count */
    uint64_t bucket_ns;
    uint64_t bucket_from_ns; /* start of the last sample's bucket */
    uint32_t bucket;
    struct result_sums sums; /* of added less removed samples */
};

/* ---- the scan ---- */

static inline uint32_t group_of(const struct query *q, const struct sample *s)
{
    if (q->by_cpu)
        return s->cpu + 1u;
    return q->thread_group && s->thread < q->n_threads ? q->thread_group[s->thread] : 0;
}

/* Returns the trend bucket of a time. Samples are nearly in order of time, so that most need no
 * division. */
static inline uint32_t bucket_of(struct scan *c, uint64_t time_ns)
{
    if (time_ns - c->bucket_from_ns >= c->bucket_ns) {
        c->bucket = (uint32_t)((time_ns - c->look_from_ns) / c->bucket_ns);
        c->bucket_from_ns = c->look_from_ns + c->bucket * c->bucket_ns;
    }
    return c->bucket;
}

static inline void sum_up(struct result_sums *sums, const struct sample *s, uint64_t sign)
{
    sums->samples += sign;
    sums->weight += sign * s->weight;
    sums->broken += s->flags & SAMPLE_BROKEN ? sign : 0;
}

static inline void count_sample(struct result_entry *e, const struct sample *s, uint32_t bucket,
                                uint64_t sign)
{
    e->weight += sign * s->weight;
    e->count += (uint32_t)sign;
    e->broken += s->flags & SAMPLE_BROKEN ? (uint32_t)sign : 0;
    e->trend[bucket] += sign * s->weight;
}

/* Returns the index of a sample's event among the other events, plus one; 0: none. */
static inline uint32_t column_of_group(const struct query *q, const struct sample *s)
{
    for (uint32_t i = 0; i < q->n_group_sums; i++) {
        if (q->group_sums[i] == s->event)
            return i + 1;
    }
    return 0;
}

/* Counts a sample of one of the other events. */
static void scan_group_sums(const struct scan *c, const struct sample *s)
{
    struct result *r = c->r;
    uint32_t column = column_of_group(c->q, s), node;

    if (!column || !query_passes_event_aside(c->q, s))
        return;
    node = stack_subset_node(&r->memory->subset, s->stack < c->n_stacks ? s->stack : 0);
    entries_group_sums(r, entries_at(r, group_of(c->q, s), node,
                                     (s->flags & SAMPLE_IDLE) != 0))[column - 1] += c->sign * s->weight;
}

static inline void sum_latency(const struct query *q, uint64_t *sums, const struct sample *s, uint64_t sign)
{
    sums[q->n_group_sums] += sign * query_latency(s);
    sums[q->n_group_sums + 1] += s->running ? sign * s->weight * QUERY_LATENCY_UNIT : 0;
}

static void scan_run(void *ctx, struct sample *samples, size_t n)
{
    struct scan *c = ctx;
    struct result *r = c->r;
    uint64_t first_ns = r->memory->first_ns;

    for (const struct sample *s = samples; s < samples + n; s++) {
        struct result_entry *e;
        uint32_t node, bucket;

        if (s->time_ns - c->look_from_ns > c->look_ns)
            continue;
        c->beyond |= s->thread >= c->q->n_threads;
        if (!query_passes(c->q, s)) {
            if (r->group_events)
                scan_group_sums(c, s);
            continue;
        }
        node = stack_subset_node(&r->memory->subset, s->stack < c->n_stacks ? s->stack : 0);
        bucket = bucket_of(c, s->time_ns);
        e = entries_at(r, group_of(c->q, s), node, (s->flags & SAMPLE_IDLE) != 0);
        count_sample(e, s, bucket, c->sign);
        sum_up(&c->sums, s, c->sign);
        if (r->group_events)
            entries_group_sums(r, e)[r->group_events - 1] +=
                s->flags & SAMPLE_PARTLY ? c->sign * s->weight : 0;
        if (c->q->latency)
            sum_latency(c->q, entries_group_sums(r, e), s, c->sign);
        if (c->goes_on)
            count_sample(entries_added_to(r, e), s, bucket, c->sign);
        first_ns = s->time_ns < first_ns ? s->time_ns : first_ns;
        r->last_ns = s->time_ns > r->last_ns ? s->time_ns : r->last_ns;
    }
    r->memory->first_ns = first_ns;
}

static void count_one(struct scan *c, struct sample *s, uint32_t stack, uint8_t flags, uint64_t sign)
{
    s->stack = stack;
    s->flags = flags;
    c->sign = sign;
    scan_run(c, s, 1);
}

/* Moves samples that were counted before to their new stacks. Returns true if there were any. */
static bool take_changes(struct scan *c, const struct history *h)
{
    const struct query_key *asked = &c->r->memory->asked;
    bool any = false;

    for (uint64_t i = asked->changes; i < history_changes(h); i++) {
        const struct history_change *change = history_change(h, i);
        const struct sample *now = change->number < asked->next ? history_sample(h, change->number) : NULL;
        struct sample s;

        if (!now)
            continue;
        s = *now;
        count_one(c, &s, change->old_stack, change->old_flags, UINT64_MAX);
        count_one(c, &s, change->stack, change->flags, 1);
        any = true;
    }
    return any;
}

static void scan_history(const struct query *q, struct history *h, const struct stacks *s, struct result *r)
{
    struct query_key *asked = &r->memory->asked;
    struct scan c = { .q = q,
                      .r = r,
                      .n_stacks = stacks_node_count(s),
                      .goes_on = r->is_same_query,
                      .sign = 1,
                      .look_from_ns = r->from_ns,
                      .look_ns = r->to_ns - r->from_ns,
                      .bucket_from_ns = r->from_ns,
                      .bucket_ns = query_bucket_ns(r->from_ns, r->to_ns),
                      .sums = r->memory->sums };

    if (r->is_same_query) {
        r->some_left = take_changes(&c, h);
        if (r->some_left)
            entries_remove_empty(r);
        history_scan_after(h, asked->count, scan_run, &c);
    } else
        history_scan(h, r->from_ns, r->to_ns, scan_run, &c);
    asked->count = history_count(h);
    asked->next = history_next(h);
    asked->changes = history_changes(h);
    asked->beyond |= c.beyond;
    r->memory->sums = c.sums;
}

/* ---- query_run ---- */

/* Returns true if the part can stay. It serves other queries over the same stacks, too: a window that has
 * moved meets nearly all of it again, with known symbols. It stays until half of it may be unused. */
static bool stack_subset_serves(const struct result_memory *m, const struct stacks *s)
{
    return m->asked.stacks_epoch == stacks_epoch(s) && m->subset.n_nodes / 2 <= m->n_needed;
}

static void start_anew(const struct query *q, struct result *r)
{
    struct result_memory *m = r->memory;

    r->group_events = q->n_group_sums || q->latency ? q->n_group_sums + (q->latency ? 3u : 1u) : 0;
    r->last_ns = 0;
    m->first_ns = UINT64_MAX;
    m->asked.beyond = false;
    m->sums = (struct result_sums){ 0 };
    entries_begin(r);
}

static void stack_subset_anew(const struct stacks *s, struct result *r)
{
    stack_subset_begin(&r->memory->subset, s);
    r->memory->all_needed = true;
    r->memory->version_before = 0;
    r->n_frames_before = 1;
}

static void stack_subset_stays(struct result *r)
{
    stack_subset_go_on(&r->memory->subset);
    r->memory->all_needed &= r->is_same_query;
    r->memory->version_before = r->version;
    r->n_frames_before = r->memory->subset.n_frames;
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
    const struct stack_subset *p = &r->memory->subset;

    r->parent = p->parent;
    r->frame = p->frame;
    r->n_nodes = p->n_nodes;
    r->frame_module = p->frame_module;
    r->frame_offset = p->frame_offset;
    r->frame_interrupted = p->frame_interrupted;
    r->n_frames = p->n_frames;
}

static void show_sums(struct result *r)
{
    const struct result_sums *sums = &r->memory->sums;

    r->samples = sums->samples;
    r->weight = sums->weight;
    r->broken_samples = sums->broken;
    r->first_ns = r->memory->first_ns == UINT64_MAX ? 0 : r->memory->first_ns;
}

void query_run(const struct query *q, struct history *h, const struct stacks *s, struct result *r)
{
    bool serves, empty;

    if (!r->memory)
        r->memory = mem_zalloc(sizeof *r->memory);
    choose_range(q, h, r);
    r->is_same_query = query_key_is_same(&r->memory->asked, q, h, s, r);
    serves = r->is_same_query || stack_subset_serves(r->memory, s);
    query_key_keep(&r->memory->asked, q, h, s, r);
    if (r->is_same_query)
        go_on(r);
    else
        start_anew(q, r);
    if (serves)
        stack_subset_stays(r);
    else
        stack_subset_anew(s, r);
    empty = r->to_ns < r->from_ns;
    r->n_added = 0;
    r->some_left = false;
    if (!empty)
        scan_history(q, h, s, r);
    if (r->memory->all_needed)
        r->memory->n_needed = r->memory->subset.n_nodes;
    show_part(r);
    if (empty)
        r->to_ns = r->from_ns;
    show_sums(r);
    r->version = serial_next();
    r->goes_on_from = r->memory->version_before;
    /* Entries that were left out are included again. */
    r->since =
        r->is_same_query && r->memory->kept_before == r->memory->all_before ? r->memory->version_before : 0;
}

struct result_moment result_moment(const struct result *r)
{
    const struct query_key *asked = &r->memory->asked;

    return (struct result_moment){ asked->count, asked->changes, asked->history_epoch, asked->stacks_epoch };
}

uint32_t result_node(const struct result *r, uint32_t stack)
{
    return stack_subset_find(&r->memory->subset, stack);
}

void result_done(struct result *r)
{
    struct result_memory *m = r->memory;

    mem_free(r->entries);
    mem_free(r->added);
    mem_free(r->group_sums);
    if (m) {
        stack_subset_done(&m->subset);
        mem_free(m->by_node);
        mem_free(m->hash);
        query_key_done(&m->asked);
        mem_free(m);
    }
    *r = (struct result){ 0 };
}
