// SPDX-License-Identifier: GPL-2.0-or-later
/* Self weights belong to the last function of each entry. Totals: the paths of a group are copied into a tree
 * of functions, which is walked depth first with a stack of sums. A function that stands on the path already
 * is a recursion, and its inner calls add nothing. Every node is entered and left once, so the cost goes with
 * the nodes of the trie, not with entries times depth; and the sums of the open nodes stay in the cache. */
#include "profile/functions.h"

#include <string.h>

#include "base/mem.h"
#include "profile/paths.h"

struct sum {
    uint64_t weight;
    uint32_t count;
    uint32_t trend[QUERY_TREND];
};

struct tree_node { /* node 0 is the root and no function */
    uint32_t func;
    uint32_t parent, first_child, next_sibling; /* 0: none */
    uint32_t entries;                           /* list of the entries that end here: entry + 1, 0: none */
};

struct open_node {
    uint32_t node;
    uint32_t sum;  /* the depth whose place in `sums` it uses */
    bool is_first; /* its function does not stand above it */
};

struct func_state {
    uint32_t row;  /* believed only if the row says so, see row_at */
    uint32_t open; /* how many times it stands on the path */
};

struct functions_scratch {
    struct paths paths;
    struct result part; /* what is new of a result */
    struct map rows;    /* (group, function) → row: of the first n_mapped rows */
    uint32_t n_mapped;
    bool with_group, leaf_only, goes_on;
    struct tree_node *tree;
    size_t tree_cap;
    uint32_t n_tree;
    uint32_t *next_entry; /* by entry */
    size_t next_entry_cap;
    struct func_state *funcs;
    size_t funcs_cap;
    struct open_node *open; /* by depth, as are the sums */
    struct sum *sums;
    size_t open_cap, sums_cap;
};

static uint64_t row_key(uint32_t func, uint32_t group)
{
    return (uint64_t)group << 32 | func;
}

/* The index by function is never cleared but checked against what it points to (Briggs and Torczon, "An Efficient
 * Representation for Sparse Sets", 1993). Groups come one after the other, so one index serves them all; only who goes
 * on with a table meets rows of theirs that it does not know. */
static struct function_row *row_at(struct functions *f, uint32_t func, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    uint32_t *row = &s->funcs[func].row;
    bool created = true;

    if (*row < f->n && f->rows[*row].func == func && f->rows[*row].group == group)
        return &f->rows[*row];
    *row = f->n;
    if (s->goes_on && s->with_group) {
        *row = (uint32_t)*map_at(&s->rows, row_key(func, group), f->n, &created);
        s->n_mapped += created;
    }
    if (created) {
        MEM_GROW(f->rows, f->cap, (size_t)f->n + 1);
        f->rows[f->n++] = (struct function_row){ .func = func, .group = group };
    }
    return &f->rows[*row];
}

/* restrict: so that it becomes two vector additions */
static void trend_add(uint32_t *restrict to, const uint32_t *restrict from)
{
    for (int i = 0; i < QUERY_TREND; i++)
        to[i] += from[i];
}

static void row_add_total(struct function_row *row, const struct sum *s)
{
    row->total_weight += s->weight;
    row->total_count += s->count;
    trend_add(row->trend, s->trend);
}

static void sum_add(struct sum *to, const struct sum *s)
{
    to->weight += s->weight;
    to->count += s->count;
    trend_add(to->trend, s->trend);
}

static void sum_add_entry(struct sum *to, const struct result_entry *e)
{
    to->weight += e->weight;
    to->count += e->count;
    trend_add(to->trend, e->trend);
}

static uint32_t tree_add(struct functions_scratch *s, uint32_t parent, uint32_t func)
{
    uint32_t i = s->n_tree++;

    MEM_GROW(s->tree, s->tree_cap, s->n_tree);
    s->tree[i] =
        (struct tree_node){ .func = func, .parent = parent, .next_sibling = s->tree[parent].first_child };
    s->tree[parent].first_child = i;
    return i;
}

/* The node of a path, made with what is missing of it. Frames that are left out have their caller's node. */
static uint32_t tree_path(struct functions_scratch *s, uint32_t node, const uint32_t *frame_func)
{
    const uint32_t *frames = s->paths.r->frame;
    uint32_t at, n = paths_climb(&s->paths, node, &at);

    while (n-- > 0) {
        uint32_t below = s->paths.pending[n];
        uint32_t func = frame_func[frames[below]];

        if (func)
            at = tree_add(s, at, func);
        paths_set(&s->paths, below, at);
    }
    return at;
}

static void tree_make(struct functions_scratch *s, uint32_t group, const uint32_t *frame_func)
{
    const struct paths *p = &s->paths;

    s->n_tree = 1;
    MEM_GROW(s->tree, s->tree_cap, 1);
    s->tree[0] = (struct tree_node){ 0 };
    paths_next_group(&s->paths, 0);
    for (uint32_t i = p->starts[group]; i < p->starts[group + 1]; i++) {
        uint32_t entry = p->order[i];
        uint32_t at = tree_path(s, p->r->entries[entry].node, frame_func);

        s->next_entry[entry] = s->tree[at].entries;
        s->tree[at].entries = entry + 1;
    }
}

/* What ends at a node is the self weight of `func`, which stands there. */
static void add_self(struct functions *f, uint32_t node, uint32_t func, uint32_t group, struct sum *sum)
{
    const struct functions_scratch *s = f->scratch;
    struct function_row *row = func ? row_at(f, func, group) : NULL;

    for (uint32_t i = s->tree[node].entries; i; i = s->next_entry[i - 1]) {
        const struct result_entry *e = &s->paths.r->entries[i - 1];

        sum_add_entry(sum, e);
        if (row) {
            row->self_weight += e->weight;
            row->self_count += e->count;
        }
    }
}

/* What a parent sums up is nothing yet when its first child is entered, if nothing ends at the parent: they can
 * use one sum. Nearly all nodes are their parent's only child. */
static bool shares_sum(const struct functions_scratch *s, const struct tree_node *n)
{
    const struct tree_node *parent = &s->tree[n->parent];

    return n->parent && !parent->entries && &s->tree[parent->first_child] == n;
}

static void enter(struct functions *f, uint32_t depth, uint32_t node, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    const struct tree_node *n = &s->tree[node];
    struct open_node *o;

    MEM_GROW(s->open, s->open_cap, (size_t)depth + 1);
    MEM_GROW(s->sums, s->sums_cap, (size_t)depth + 1);
    o = &s->open[depth];
    o->node = node;
    o->is_first = s->funcs[n->func].open++ == 0;
    if (shares_sum(s, n)) {
        o->sum = o[-1].sum;
    } else {
        o->sum = depth;
        s->sums[depth] = (struct sum){ 0 };
    }
    if (n->entries)
        add_self(f, node, n->func, group, &s->sums[o->sum]);
}

static void leave(struct functions *f, uint32_t depth, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    const struct open_node *o = &s->open[depth];
    uint32_t func = s->tree[o->node].func;

    s->funcs[func].open--;
    if (o->is_first)
        row_add_total(row_at(f, func, group), &s->sums[o->sum]);
    if (depth && o->sum == depth)
        sum_add(&s->sums[o[-1].sum], &s->sums[depth]);
}

/* Depth first below one child of the root, whose depth is 0 here. */
static void walk(struct functions *f, uint32_t top, uint32_t group)
{
    struct functions_scratch *s = f->scratch;
    uint32_t node = top, depth = 0;

    enter(f, 0, node, group);
    for (;;) {
        if (s->tree[node].first_child) {
            node = s->tree[node].first_child;
            enter(f, ++depth, node, group);
            continue;
        }
        while (depth && !s->tree[node].next_sibling) {
            leave(f, depth--, group);
            node = s->tree[node].parent;
        }
        leave(f, depth, group);
        if (!depth)
            return;
        node = s->tree[node].next_sibling;
        enter(f, depth, node, group);
    }
}

static void build_group(struct functions *f, uint32_t i, const uint32_t *frame_func)
{
    struct functions_scratch *s = f->scratch;
    uint32_t group = s->paths.groups[i];
    struct sum frameless = { 0 };

    tree_make(s, i, frame_func);
    if (frame_func[0] && s->tree[0].entries)
        add_self(f, 0, frame_func[0], group, &frameless);
    if (frameless.count)
        row_add_total(row_at(f, frame_func[0], group), &frameless);
    for (uint32_t top = s->tree[0].first_child; top; top = s->tree[top].next_sibling)
        walk(f, top, group);
}

static void build_group_leaves(struct functions *f, uint32_t i, const uint32_t *frame_func)
{
    const struct paths *p = &f->scratch->paths;
    const struct result *r = p->r;

    for (uint32_t k = p->starts[i]; k < p->starts[i + 1]; k++) {
        const struct result_entry *e = &r->entries[p->order[k]];
        uint32_t func = functions_leaf(r, frame_func, e->node);
        struct function_row *row;
        struct sum own = { 0 };

        if (!func)
            continue;
        row = row_at(f, func, p->groups[i]);
        sum_add_entry(&own, e);
        row_add_total(row, &own);
        row->self_weight += own.weight;
        row->self_count += own.count;
    }
}

static void reserve_funcs(struct functions_scratch *s, uint32_t n_funcs)
{
    size_t old = s->funcs_cap;

    if (n_funcs < old)
        return;
    MEM_GROW(s->funcs, s->funcs_cap, (size_t)n_funcs + 1);
    memset(s->funcs + old, 0, (s->funcs_cap - old) * sizeof *s->funcs);
}

static void map_rows(struct functions *f)
{
    struct functions_scratch *s = f->scratch;

    for (; s->n_mapped < f->n; s->n_mapped++)
        map_put(&s->rows, row_key(f->rows[s->n_mapped].func, f->rows[s->n_mapped].group), s->n_mapped);
}

/* What is to be looked at: all of the result, or what has come since the build before. */
static const struct result *begin(struct functions *f, const struct result *r, bool with_group, bool leaf_only)
{
    struct functions_scratch *s = f->scratch;

    s->goes_on = f->version && f->version == r->since && s->with_group == with_group && s->leaf_only == leaf_only;
    f->version = r->version;
    s->with_group = with_group;
    s->leaf_only = leaf_only;
    if (!s->goes_on) {
        f->n = s->n_mapped = 0;
        map_clear(&s->rows);
        return r;
    }
    if (with_group)
        map_rows(f);
    s->part = *r;
    s->part.entries = r->added;
    s->part.n_entries = r->n_added;
    return &s->part;
}

void functions_build(struct functions *f, const struct result *r, const uint32_t *frame_func,
                     uint32_t n_funcs, bool with_group, bool leaf_only)
{
    struct functions_scratch *s = f->scratch = f->scratch ? f->scratch : mem_zalloc(sizeof *s);

    r = begin(f, r, with_group, leaf_only);
    if (!r->n_entries)
        return;
    reserve_funcs(s, n_funcs);
    MEM_GROW(s->next_entry, s->next_entry_cap, r->n_entries);
    paths_begin(&s->paths, r, with_group);
    for (uint32_t i = 0; i < s->paths.n_groups; i++) {
        if (leaf_only)
            build_group_leaves(f, i, frame_func);
        else
            build_group(f, i, frame_func);
    }
}

void functions_beside(const struct functions *f, const struct result *r, const uint32_t *frame_func, bool with_group,
                      uint64_t **sums, size_t *cap)
{
    struct map rows = { 0 };
    uint64_t row;

    MEM_GROW(*sums, *cap, (size_t)f->n * r->besides + 1);
    memset(*sums, 0, (size_t)f->n * r->besides * sizeof **sums);
    for (uint32_t i = 0; i < f->n; i++)
        map_put(&rows, row_key(f->rows[i].func, f->rows[i].group), i);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint32_t func = functions_leaf(r, frame_func, e->node);

        if (!map_get(&rows, row_key(func, with_group ? e->group : 0), &row))
            continue;
        for (uint32_t k = 0; k < r->besides; k++)
            (*sums)[row * r->besides + k] += r->beside[(size_t)i * r->besides + k];
    }
    map_done(&rows);
}

void functions_done(struct functions *f)
{
    struct functions_scratch *s = f->scratch;

    if (s) {
        paths_done(&s->paths);
        mem_free(s->tree);
        mem_free(s->next_entry);
        mem_free(s->funcs);
        map_done(&s->rows);
        mem_free(s->open);
        mem_free(s->sums);
        mem_free(s);
    }
    mem_free(f->rows);
    *f = (struct functions){ 0 };
}
