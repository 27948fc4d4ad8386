// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the flat profile by following each entry's path from leaf to root.
 *
 * A function that was seen on the path before is recursive and adds nothing. The time is entries times
 * depth. Yet paths merge only near their roots: visiting the trie instead would save at most half of the
 * nodes and cost much more per node (sums, children, open functions). */
#include "profile/functions.h"

#include <string.h>

#include "base/mem.h"
#include "profile/paths.h"

struct func_state {
    uint32_t row; /* valid only if the row refers back, see row_at */
    uint32_t era; /* of the last path with this function */
    /* Sums of the group that are not yet in the row: the sums of all functions fit in the CPU cache, but
     * the rows do not. */
    uint32_t count;
    uint64_t weight;
};

/* A node's data for following its path, in one place. */
struct step {
    uint32_t func; /* 0: left out */
    uint32_t up;   /* nearest caller that is not left out; 0: none */
};

struct functions_scratch {
    struct paths paths;
    BUFFER(struct step) steps; /* per node of r, the first n_steps */
    uint32_t n_steps;
    struct result subset; /* the new part of a result */
    struct map rows;      /* (group, function) → row, of the first n_mapped rows */
    uint32_t n_mapped;
    bool with_group, goes_on, some_left;
    BUFFER(struct func_state) funcs;
    uint32_t era;
    uint32_t bucket;     /* trend bucket of all entries; QUERY_TREND: they have several */
    VEC(uint32_t) aside; /* functions with sums that are not yet in their rows */
};

static uint64_t row_key(uint32_t func, uint32_t group)
{
    return (uint64_t)group << 32 | func;
}

/* Finds or creates a row that is not in the index. Groups are built one after the other, so one index
 * serves all. Only a build that continues a previous one has to look up rows of earlier builds. */
static uint32_t find_row(struct functions *f, uint32_t func, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    uint32_t row = f->n;
    bool created = true;

    if (s->goes_on && s->with_group) {
        row = (uint32_t)*map_at(&s->rows, row_key(func, group), f->n, &created);
        s->n_mapped += created;
    }
    if (created) {
        MEM_GROW(f->rows, f->cap, (size_t)f->n + 1);
        f->rows[f->n++] = (struct function_row){ .func = func, .group = group };
    }
    return row;
}

/* Returns the row of a function. The index is never cleared but verified against the row (Briggs and
 * Torczon, "An Efficient Representation for Sparse Sets", 1993). */
static inline struct function_row *row_at(struct functions *f, uint32_t func, uint32_t group)
{
    uint32_t *row = &f->scratch->funcs.items[func].row;

    if (*row >= f->n || f->rows[*row].func != func || f->rows[*row].group != group)
        *row = find_row(f, func, group);
    return &f->rows[*row];
}

/* restrict makes it vector additions */
static void trend_add(uint64_t *restrict to, const uint64_t *restrict from)
{
    for (int i = 0; i < QUERY_TREND; i++)
        to[i] += from[i];
}

static void row_add_total(struct function_row *row, const struct result_entry *e)
{
    row->total_weight += e->weight;
    row->total_count += e->count;
    trend_add(row->trend, e->trend);
}

static void next_path(struct functions_scratch *s)
{
    if (++s->era)
        return;
    for (size_t i = 0; i < s->funcs.cap; i++)
        s->funcs.items[i].era = 0;
    s->era = 1;
}

static inline void add_total(struct functions *f, uint32_t func, const struct result_entry *e, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    struct func_state *state = &s->funcs.items[func];

    if (state->era == s->era)
        return;
    state->era = s->era;
    if (s->bucket == QUERY_TREND) {
        row_add_total(row_at(f, func, group), e);
        return;
    }
    /* If it happens twice, nothing is added twice: add_aside clears the sums. */
    if (!state->count && !state->weight)
        *VEC_PUSH(&s->aside) = func;
    state->count += e->count;
    state->weight += e->weight;
}

static void add_aside(struct functions *f, uint32_t group)
{
    struct functions_scratch *s = f->scratch;

    for (size_t i = 0; i < s->aside.n; i++) {
        struct func_state *state = &s->funcs.items[s->aside.items[i]];
        struct function_row *row = row_at(f, s->aside.items[i], group);

        row->total_weight += state->weight;
        row->total_count += state->count;
        row->trend[s->bucket] += state->weight;
        state->weight = state->count = 0;
    }
    s->aside.n = 0;
}

static uint32_t bucket_of(const struct result_entry *e)
{
    uint32_t bucket = 0;

    while (bucket + 1 < QUERY_TREND && !e->trend[bucket])
        bucket++;
    for (uint32_t i = bucket + 1; i < QUERY_TREND; i++) {
        if (e->trend[i])
            return QUERY_TREND;
    }
    return e->trend[bucket] == e->weight ? bucket : QUERY_TREND;
}

/* Returns the bucket of all entries. The samples of one second mostly have one bucket. */
static uint32_t common_bucket(const struct result *r)
{
    uint32_t bucket = bucket_of(&r->entries[0]);

    for (uint32_t i = 1; i < r->n_entries && bucket < QUERY_TREND; i++) {
        if (bucket_of(&r->entries[i]) != bucket)
            return QUERY_TREND;
    }
    return bucket;
}

static void add_entry(struct functions *f, const struct result_entry *e, uint32_t group)
{
    const struct step *steps = f->scratch->steps.items;
    uint32_t node = steps[e->node].func ? e->node : steps[e->node].up, leaf = steps[node].func;
    struct function_row *row;

    if (!leaf)
        return;
    next_path(f->scratch);
    add_total(f, leaf, e, group);
    for (node = steps[node].up; node; node = steps[node].up)
        add_total(f, steps[node].func, e, group);
    row = row_at(f, leaf, group);
    row->self_weight += e->weight;
    row->self_count += e->count;
}

static void build_group(struct functions *f, uint32_t i)
{
    const struct paths *p = &f->scratch->paths;

    for (uint32_t k = p->starts.items[i]; k < p->starts.items[i + 1]; k++)
        add_entry(f, &p->r->entries[p->order.items[k]], p->groups.items[i]);
    add_aside(f, p->groups.items[i]);
}

/* Callers have lower numbers, so their steps exist already. */
static void make_steps(struct functions_scratch *s, const struct result *r, const uint32_t *frame_func)
{
    VEC_RESERVE(&s->steps, (size_t)r->n_nodes + 1);
    if (!s->n_steps)
        s->steps.items[s->n_steps++] = (struct step){ .func = frame_func[0] };
    for (; s->n_steps < r->n_nodes; s->n_steps++) {
        uint32_t parent = r->parent[s->n_steps];

        s->steps.items[s->n_steps] =
            (struct step){ .func = frame_func[r->frame[s->n_steps]],
                           .up = s->steps.items[parent].func ? parent : s->steps.items[parent].up };
    }
}

static void map_rows(struct functions *f)
{
    struct functions_scratch *s = f->scratch;

    for (; s->n_mapped < f->n; s->n_mapped++)
        map_put(&s->rows, row_key(f->rows[s->n_mapped].func, f->rows[s->n_mapped].group), s->n_mapped);
}

/* Returns what to add: all of the result, or its deltas since the previous build. */
static const struct result *start_functions(struct functions *f, const struct result *r, bool with_group)
{
    struct functions_scratch *s = f->scratch;

    s->goes_on = f->version && f->version == r->since && s->with_group == with_group;
    s->some_left = s->goes_on && r->some_left;
    f->version = r->version;
    s->with_group = with_group;
    if (!s->goes_on) {
        f->n = s->n_mapped = s->n_steps = 0;
        map_clear(&s->rows);
        return r;
    }
    if (with_group)
        map_rows(f);
    s->subset = *r;
    s->subset.entries = r->added;
    s->subset.n_entries = r->n_added;
    return &s->subset;
}

/* Removes rows without remaining samples. */
static void remove_empty(struct functions *f)
{
    struct functions_scratch *s = f->scratch;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->rows[i].total_count)
            continue;
        s->funcs.items[f->rows[i].func].row = n;
        f->rows[n++] = f->rows[i];
    }
    if (n == f->n)
        return;
    f->n = n;
    s->n_mapped = 0;
    map_clear(&s->rows);
}

void functions_build(struct functions *f, const struct result *r, const uint32_t *frame_func,
                     uint32_t n_funcs, bool with_group)
{
    struct functions_scratch *s = f->scratch = f->scratch ? f->scratch : mem_zalloc(sizeof *s);

    r = start_functions(f, r, with_group);
    if (!r->n_entries)
        return;
    VEC_RESERVE_ZEROED(&s->funcs, (size_t)n_funcs + 1);
    make_steps(s, r, frame_func);
    s->bucket = common_bucket(r);
    paths_begin(&s->paths, r, with_group);
    for (uint32_t i = 0; i < s->paths.groups.n; i++)
        build_group(f, i);
    if (s->some_left)
        remove_empty(f);
}

void functions_group_sums(const struct functions *f, const struct result *r, const uint32_t *frame_func,
                          bool with_group, uint64_t **sums, size_t *cap)
{
    struct map rows = { 0 };
    uint64_t row;

    MEM_GROW(*sums, *cap, (size_t)f->n * r->group_events + 1);
    memset(*sums, 0, (size_t)f->n * r->group_events * sizeof **sums);
    for (uint32_t i = 0; i < f->n; i++)
        map_put(&rows, row_key(f->rows[i].func, f->rows[i].group), i);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint32_t func = functions_leaf(r, frame_func, e->node);

        if (!map_get(&rows, row_key(func, with_group ? e->group : 0), &row))
            continue;
        for (uint32_t k = 0; k < r->group_events; k++)
            (*sums)[row * r->group_events + k] += r->group_sums[(size_t)i * r->group_events + k];
    }
    map_done(&rows);
}

void functions_done(struct functions *f)
{
    struct functions_scratch *s = f->scratch;

    if (s) {
        paths_done(&s->paths);
        mem_free(s->funcs.items);
        mem_free(s->aside.items);
        mem_free(s->steps.items);
        map_done(&s->rows);
        mem_free(s);
    }
    mem_free(f->rows);
    *f = (struct functions){ 0 };
}
