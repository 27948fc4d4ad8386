// SPDX-License-Identifier: GPL-2.0-or-later
/* Lays out boxes breadth-first. The array of boxes is the queue, so it ends up sorted by row, then x. */
#include "profile/flame.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

/* The claim of the box's self weight; no child has number 0, because the root is no child. */
#define SELF 0

struct claim {
    uint64_t weight, remainder;
    uint32_t node, cells;
    uint32_t place;  /* position before sorting by remainder */
    uint32_t shared; /* children in it; if more than 1, node is the heaviest */
    bool shares;     /* to be merged with others */
};

struct flame_scratch {
    struct claim *claims;
    size_t claims_cap;
    uint32_t n_claims;
};

static struct flame_box *add_box(struct flame *f, uint32_t node, uint32_t x, uint32_t width, uint32_t row)
{
    MEM_GROW(f->boxes, f->cap, (size_t)f->n + 1);
    f->boxes[f->n] = (struct flame_box){ .node = node, .x = x, .width = width, .row = row };
    f->rows = row + 1;
    return &f->boxes[f->n++];
}

static void add_claim(struct flame_scratch *s, uint32_t node, uint64_t weight)
{
    MEM_GROW(s->claims, s->claims_cap, (size_t)s->n_claims + 1);
    s->claims[s->n_claims] =
        (struct claim){ .weight = weight, .node = node, .place = s->n_claims, .shared = 1 };
    s->n_claims++;
}

/* Returns the sum of all claims. It should be the node's total. It is more only if sums of hostile
 * weights have overflowed; then the children divide the box among themselves. */
static uint64_t collect_claims(struct flame_scratch *s, const struct calltree *t, uint32_t node)
{
    uint64_t total = t->nodes[node].total_weight, sum = 0;

    s->n_claims = 0;
    for (uint32_t i = t->nodes[node].first_child; i; i = t->nodes[i].next_sibling) {
        add_claim(s, i, t->nodes[i].total_weight);
        if (__builtin_add_overflow(sum, t->nodes[i].total_weight, &sum))
            sum = UINT64_MAX;
    }
    if (s->n_claims && sum < total) {
        add_claim(s, SELF, total - sum);
        sum = total;
    }
    return sum;
}

static int by_remainder(const void *va, const void *vb)
{
    const struct claim *a = va, *b = vb;

    if (a->remainder != b->remainder)
        return a->remainder > b->remainder ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static int by_place(const void *va, const void *vb)
{
    const struct claim *a = va, *b = vb;

    return a->place < b->place ? -1 : 1;
}

/* Keeps weight * width below 2^64 by shifting the weights below 2^32. That drops at most the lowest bits
 * of huge sums. */
static void deal_whole_cells(struct flame_scratch *s, uint64_t sum, uint32_t width, uint32_t *left)
{
    unsigned shift = 0;

    while (sum >> shift > UINT32_MAX)
        shift++;
    for (uint32_t i = 0; i < s->n_claims; i++) {
        struct claim *c = &s->claims[i];
        uint64_t share = (c->weight >> shift) * width;

        c->cells = (uint32_t)(share / (sum >> shift));
        c->remainder = share % (sum >> shift);
        if (c->cells > *left)
            c->cells = *left;
        *left -= c->cells;
    }
}

static void deal_cells(struct flame_scratch *s, uint64_t sum, uint32_t width)
{
    uint32_t left = width;

    if (!sum)
        return;
    deal_whole_cells(s, sum, width, &left);
    if (!left)
        return;
    qsort(s->claims, s->n_claims, sizeof *s->claims, by_remainder);
    for (uint32_t i = 0; i < s->n_claims && left && s->claims[i].remainder; i++, left--)
        s->claims[i].cells++;
    qsort(s->claims, s->n_claims, sizeof *s->claims, by_place);
}

static bool has_no_cell(const struct claim *c)
{
    return c->node != SELF && !c->cells;
}

/* Marks the claims that share a box: those without a cell and those that share already. If only one is
 * marked, and the weight without a cell is more than a quarter of a cell, also marks the lightest claim
 * with one cell. Returns false if fewer than two are marked. */
static bool choose_sharing(struct flame_scratch *s, uint64_t sum, uint32_t width)
{
    struct claim *lightest = NULL;
    uint32_t sharing = 0;
    uint64_t without = 0;

    for (uint32_t i = 0; i < s->n_claims; i++) {
        struct claim *c = &s->claims[i];

        c->shares = has_no_cell(c) || c->shared > 1;
        sharing += c->shares;
        without += has_no_cell(c) ? c->weight : 0;
        if (c->node != SELF && c->cells == 1 && !c->shares && (!lightest || c->weight <= lightest->weight))
            lightest = c;
    }
    if (sharing != 1 || !lightest || (double)without * width * 4 < (double)sum)
        return sharing > 1;
    return lightest->shares = true;
}

/* Merges the marked claims into one after the others. Returns false if there are none. */
static bool share_cells(struct flame_scratch *s, const struct calltree *t, uint64_t sum, uint32_t width)
{
    struct claim rest = { .shared = 0 };
    uint32_t n = 0;

    if (!choose_sharing(s, sum, width))
        return false;
    for (uint32_t i = 0; i < s->n_claims; i++) {
        struct claim c = s->claims[i];

        if (!c.shares) {
            c.place = n;
            s->claims[n++] = c;
            continue;
        }
        if (!rest.shared || t->nodes[c.node].total_weight > t->nodes[rest.node].total_weight)
            rest.node = c.node;
        if (__builtin_add_overflow(rest.weight, c.weight, &rest.weight))
            rest.weight = UINT64_MAX;
        rest.shared += c.shared;
    }
    rest.place = n;
    s->claims[n++] = rest;
    s->n_claims = n;
    return true;
}

static void add_children(struct flame *f, const struct calltree *t, const struct flame_box *box)
{
    struct flame_scratch *s = f->scratch;
    uint64_t sum = collect_claims(s, t, box->node);
    uint32_t x = box->x, row = box->row + 1;

    do /* ends, because each time there are fewer claims */
        deal_cells(s, sum, box->width);
    while (share_cells(s, t, sum, box->width));
    for (uint32_t i = 0; i < s->n_claims; i++) {
        const struct claim *c = &s->claims[i];

        if (c->node == SELF)
            continue;
        if (c->cells)
            add_box(f, c->node, x, c->cells, row)->rest = c->shared > 1;
        if (!c->cells)
            f->hidden_weight += c->weight;
        else if (c->shared > 1)
            f->rest_weight += c->weight;
        x += c->cells;
    }
}

static void add_ancestors(struct flame *f, const struct calltree *t, uint32_t zoom, uint32_t columns)
{
    uint32_t depth = t->nodes[zoom].depth;

    for (uint32_t row = 0; row < depth; row++)
        add_box(f, 0, 0, columns, row)->ancestor = true;
    for (uint32_t node = zoom; depth-- > 0;) {
        node = t->nodes[node].parent;
        f->boxes[depth].node = node;
    }
}

void flame_layout(struct flame *f, const struct calltree *t, uint32_t zoom, uint32_t columns)
{
    uint32_t first;

    f->n = f->rows = 0;
    f->hidden_weight = f->rest_weight = 0;
    if (!f->scratch)
        f->scratch = mem_zalloc(sizeof *f->scratch);
    if (!t->n)
        return;
    if (zoom >= t->n)
        zoom = 0;
    if (!columns) {
        f->hidden_weight = t->nodes[zoom].total_weight;
        return;
    }
    add_ancestors(f, t, zoom, columns);
    first = f->n;
    add_box(f, zoom, 0, columns, t->nodes[zoom].depth);
    for (uint32_t i = first; i < f->n; i++) {
        struct flame_box box = f->boxes[i]; /* a copy, because the array may move */
        if (!box.rest)
            add_children(f, t, &box);
    }
}

struct flame_rest flame_rest_of(const struct calltree *t, uint32_t node)
{
    const struct calltree_node *nodes = t->nodes;
    struct flame_rest rest = { 0 };
    bool behind = false;

    for (uint32_t i = nodes[nodes[node].parent].first_child; i; i = nodes[i].next_sibling) {
        behind = behind || i == node;
        if (nodes[i].total_weight > nodes[node].total_weight ||
            (!behind && nodes[i].total_weight == nodes[node].total_weight))
            continue;
        rest.weight += nodes[i].total_weight;
        rest.count += nodes[i].total_count;
        rest.nodes++;
    }
    return rest;
}

/* Returns the first box at or after (row, x). */
static uint32_t lower_bound(const struct flame *f, uint32_t row, uint32_t x)
{
    const struct flame_box *b = f->boxes;

    return SEARCH_FIRST(i, 0, f->n, b[i].row > row || (b[i].row == row && b[i].x >= x));
}

int flame_box_at(const struct flame *f, uint32_t row, uint32_t x)
{
    uint32_t i = lower_bound(f, row, x);
    const struct flame_box *b;

    if (i < f->n && f->boxes[i].row == row && f->boxes[i].x == x)
        return (int)i;
    if (!i)
        return -1;
    b = &f->boxes[i - 1];
    return b->row == row && x - b->x < b->width ? (int)(i - 1) : -1;
}

int flame_box_of(const struct flame *f, uint32_t node)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->boxes[i].node == node)
            return (int)i;
    }
    return -1;
}

void flame_done(struct flame *f)
{
    if (f->scratch)
        mem_free(f->scratch->claims);
    mem_free(f->scratch);
    mem_free(f->boxes);
    *f = (struct flame){ 0 };
}
