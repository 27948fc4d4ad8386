// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/chart.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define LOOK_BACK 16 /* pieces to search for the same stack; chart_lay_out merges the rest */

struct column_path {
    uint32_t func[CHART_DEPTH_MAX];
    uint32_t depth;
};
/* A stack of a column while its path is searched. */
struct stack {
    uint64_t ns;
    /* Its functions, root first, are funcs[first …]. */
    uint32_t depth, first;
};
struct chart_scratch {
    struct column_path path, before;
    BUFFER(struct stack) stacks;
    BUFFER(uint32_t) funcs;
    BUFFER(struct chart_piece) column;
    /* Per row: the box that ends at the previous column. */
    uint32_t open[CHART_DEPTH_MAX];
};

void chart_begin(struct chart *c, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns, uint64_t hold_ns)
{
    c->from_ns = from_ns;
    c->to_ns = to_ns;
    c->bucket_ns = bucket_ns ? bucket_ns : 1;
    c->hold_ns = hold_ns ? hold_ns : 1;
    c->last_ns = c->samples = 0;
    c->pieces.n = 0;
    c->unsorted = false;
    c->n = c->rows = 0;
}

static void add_piece(struct chart *c, uint32_t bucket, uint32_t node, uint64_t ns)
{
    for (size_t i = c->pieces.n;
         i > 0 && c->pieces.n - i < LOOK_BACK && c->pieces.items[i - 1].bucket == bucket; i--) {
        if (c->pieces.items[i - 1].node == node) {
            c->pieces.items[i - 1].ns += ns;
            return;
        }
    }
    c->unsorted |= c->pieces.n && c->pieces.items[c->pieces.n - 1].bucket > bucket;
    *VEC_PUSH(&c->pieces) = (struct chart_piece){ .bucket = bucket, .node = node, .ns = ns };
}

void chart_add(struct chart *c, uint64_t time_ns, uint32_t node)
{
    uint64_t start, end = time_ns + 1; /* includes the sample's own moment */

    if (time_ns < c->from_ns || (c->to_ns && time_ns > c->to_ns))
        return;
    start = time_ns - c->from_ns >= c->hold_ns ? end - c->hold_ns : c->from_ns;
    if (c->samples && c->last_ns >= start)
        start = c->last_ns + 1;
    /* A late sample: the time before it belongs to another one. */
    if (start > time_ns)
        start = time_ns;
    c->last_ns = time_ns > c->last_ns ? time_ns : c->last_ns;
    c->samples++;
    while (start < end) {
        uint64_t bucket = (start - c->from_ns) / c->bucket_ns;
        uint64_t left = c->bucket_ns - (start - c->from_ns) % c->bucket_ns,
                 ns = end - start < left ? end - start : left;

        if (bucket > UINT32_MAX)
            return;
        add_piece(c, (uint32_t)bucket, node, ns);
        start += ns;
    }
}

/* --- path of a column --- */

static int by_bucket(const void *x, const void *y)
{
    const struct chart_piece *a = x, *b = y;

    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int by_node(const void *x, const void *y)
{
    const struct chart_piece *a = x, *b = y;

    return a->node < b->node ? -1 : a->node > b->node;
}

static void add_stack(struct chart_scratch *s, const struct chart_trie *trie, uint32_t *n_stacks,
                      uint32_t *n_funcs, const struct chart_piece *p)
{
    struct stack *to;
    uint32_t node = p->node < trie->n_nodes ? p->node : 0, depth = 0, i;

    if (trie->node_of)
        node = trie->node_of[node];
    VEC_RESERVE(&s->stacks, (size_t)*n_stacks + 1);
    to = &s->stacks.items[(*n_stacks)++];
    *to = (struct stack){ .ns = p->ns, .first = *n_funcs };
    for (; node; node = trie->parent[node]) {
        uint32_t func = trie->frame_func[trie->frame[node]];
        if (!func)
            continue;
        VEC_RESERVE(&s->funcs, (size_t)*n_funcs + depth + 1);
        s->funcs.items[*n_funcs + depth++] = func;
    }
    for (i = 0; i < depth / 2; i++) {
        uint32_t *a = &s->funcs.items[*n_funcs + i], *b = &s->funcs.items[*n_funcs + depth - 1 - i],
                 other = *a;
        *a = *b;
        *b = other;
    }
    to->depth = depth;
    *n_funcs += depth;
}

struct at_depth {
    uint32_t func;
    uint64_t ns;
};

static int by_func(const void *x, const void *y)
{
    const struct at_depth *a = x, *b = y;

    return a->func < b->func ? -1 : a->func > b->func;
}

/* Returns the function with the most time at a depth; 0: more time ended above. */
static uint32_t heaviest(const struct chart_scratch *s, uint32_t n, uint32_t depth, struct at_depth *list)
{
    uint64_t ended = 0, best_ns = 0, sum = 0;
    uint32_t best = 0, m = 0, i;

    for (i = 0; i < n; i++) {
        const struct stack *st = &s->stacks.items[i];
        if (st->depth > depth)
            list[m++] = (struct at_depth){ s->funcs.items[st->first + depth], st->ns };
        else
            ended += st->ns;
    }
    qsort(list, m, sizeof *list, by_func);
    for (i = 0; i < m; i++) {
        sum = i && list[i].func == list[i - 1].func ? sum + list[i].ns : list[i].ns;
        if (sum > best_ns) {
            best_ns = sum;
            best = list[i].func;
        }
    }
    return best_ns >= ended ? best : 0;
}

/* Merges the pieces of each stack, so that each stack is added once. */
static void find_path(struct chart_scratch *s, const struct chart_trie *trie, struct chart_piece *pieces,
                      size_t n)
{
    uint32_t n_stacks = 0, n_funcs = 0, kept, i;
    struct at_depth *list;
    size_t merged = 0, k;

    s->path.depth = 0;
    qsort(pieces, n, sizeof *pieces, by_node);
    for (k = 0; k < n; k++) {
        if (merged && pieces[merged - 1].node == pieces[k].node)
            pieces[merged - 1].ns += pieces[k].ns;
        else
            pieces[merged++] = pieces[k];
    }
    for (k = 0; k < merged; k++)
        add_stack(s, trie, &n_stacks, &n_funcs, &pieces[k]);
    list = mem_array(n_stacks + 1u, sizeof *list);
    while (n_stacks && s->path.depth < CHART_DEPTH_MAX) {
        uint32_t depth = s->path.depth, func = heaviest(s, n_stacks, depth, list);
        if (!func)
            break;
        s->path.func[s->path.depth++] = func;
        for (i = kept = 0; i < n_stacks; i++) {
            if (s->stacks.items[i].depth > depth && s->funcs.items[s->stacks.items[i].first + depth] == func)
                s->stacks.items[kept++] = s->stacks.items[i];
        }
        n_stacks = kept;
    }
    mem_free(list);
}

/* --- boxes --- */

/* Extends the boxes of the frames that both columns have in common from the root on, and starts new
 * boxes for the rest. */
static void add_column(struct chart *c, uint32_t x)
{
    struct chart_scratch *s = c->scratch;
    uint32_t same = 0, row;

    while (same < s->path.depth && same < s->before.depth && s->path.func[same] == s->before.func[same])
        same++;
    for (row = 0; row < s->path.depth; row++) {
        if (row < same) {
            c->boxes[s->open[row]].width++;
            continue;
        }
        MEM_GROW(c->boxes, c->cap, (size_t)c->n + 1);
        s->open[row] = c->n;
        c->boxes[c->n++] = (struct chart_box){ .x = x, .width = 1, .row = row, .func = s->path.func[row] };
    }
    c->rows = s->path.depth > c->rows ? s->path.depth : c->rows;
    s->before.depth = s->path.depth;
    memcpy(s->before.func, s->path.func, s->path.depth * sizeof *s->path.func);
}

static int by_row(const void *x, const void *y)
{
    const struct chart_box *a = x, *b = y;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

void chart_lay_out(struct chart *c, const struct chart_trie *trie, uint32_t per, uint32_t columns)
{
    size_t at = 0;

    if (!c->scratch)
        c->scratch = mem_zalloc(sizeof *c->scratch);
    if (c->unsorted)
        qsort(c->pieces.items, c->pieces.n, sizeof *c->pieces.items, by_bucket);
    c->unsorted = false;
    c->n = c->rows = 0;
    c->scratch->before.depth = 0;
    for (uint32_t x = 0; x < columns; x++) {
        struct chart_scratch *s = c->scratch;
        uint64_t end = ((uint64_t)x + 1) * per;
        size_t first = at;

        while (at < c->pieces.n && c->pieces.items[at].bucket < end)
            at++;
        VEC_RESERVE(&s->column, at - first + 1);
        if (at > first)
            memcpy(s->column.items, c->pieces.items + first, (at - first) * sizeof *s->column.items);
        find_path(s, trie, s->column.items, at - first);
        add_column(c, x);
    }
    if (c->n)
        qsort(c->boxes, c->n, sizeof *c->boxes, by_row);
}

int chart_box_at(const struct chart *c, uint32_t row, uint32_t x)
{
    const struct chart_box *b = c->boxes;
    uint32_t n = SEARCH_FIRST(i, 0, c->n, b[i].row > row || (b[i].row == row && b[i].x > x));

    return n && b[n - 1].row == row && x - b[n - 1].x < b[n - 1].width ? (int)n - 1 : -1;
}

void chart_done(struct chart *c)
{
    if (c->scratch) {
        mem_free(c->scratch->stacks.items);
        mem_free(c->scratch->funcs.items);
        mem_free(c->scratch->column.items);
        mem_free(c->scratch);
    }
    mem_free(c->pieces.items);
    mem_free(c->boxes);
    *c = (struct chart){ 0 };
}
