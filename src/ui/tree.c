// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/tree.h"

#include "base/mem.h"

/* maximum of remembered path keys: a call graph of JIT code always adds new ones */
#define TREE_STATE_MAX 100000

struct tree_rows { /* context of the list's callback */
    const struct tree *tree;
    const struct tree_model *model;
    const void *ctx;
};

#define TREE_REST UINT64_C(0x9e3779b97f4a7c15) /* makes the key of a rest from its parent's */

static uint64_t rest_key(const struct tree_model *m, const void *ctx, uint32_t node)
{
    uint32_t parent = m->parent(ctx, node);
    return (parent ? m->key(ctx, parent) : 0) ^ TREE_REST;
}

static uint64_t key_of_row(const struct tree_model *m, const void *ctx, const struct tree_row *row)
{
    return row->rest ? rest_key(m, ctx, row->node) : m->key(ctx, row->node);
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    const struct tree_rows *r = ctx;
    return key_of_row(r->model, r->ctx, &r->tree->rows[row]);
}

static bool is_open(const struct tree *t, uint64_t key, uint16_t depth)
{
    uint64_t state;
    if (map_get(&t->state, key, &state))
        return state == 1;
    return depth < t->open_depth;
}

/* --- rows --- */

static uint32_t skip_hidden(const struct tree_model *m, const void *ctx, uint32_t node)
{
    while (node && m->hidden && m->hidden(ctx, node))
        node = m->next_sibling(ctx, node);
    return node;
}

static uint32_t first_child(const struct tree_model *m, const void *ctx, uint32_t node)
{
    return skip_hidden(m, ctx, m->first_child(ctx, node));
}

static uint32_t next_sibling(const struct tree_model *m, const void *ctx, uint32_t node)
{
    return skip_hidden(m, ctx, m->next_sibling(ctx, node));
}

/* A node that was searched or selected (t->apart) ends its row, so keys act on it. A child is in its
 * parent's row only if it has all of the parent's samples. */
static uint32_t chain_end(const struct tree *t, const struct tree_model *m, const void *ctx, uint32_t node)
{
    uint32_t child;
    while (m->chained && m->key(ctx, node) != t->apart && (child = first_child(m, ctx, node)) != 0 &&
           !next_sibling(m, ctx, child) && m->chained(ctx, node, child))
        node = child;
    return node;
}

/* Returns whether a rest begins here: not for a single node, nor inside another rest. */
static bool begins_rest(const struct tree *t, const struct tree_model *m, const void *ctx, uint32_t node,
                        uint16_t depth)
{
    return m->small && m->small(ctx, node) && next_sibling(m, ctx, node) &&
           !(depth && t->rows[t->path[depth - 1]].rest);
}

static void add_row(struct tree *t, uint32_t node, uint16_t depth, const struct tree_model *m,
                    const void *ctx)
{
    MEM_GROW(t->rows, t->cap, t->n + 1);
    MEM_GROW(t->path, t->path_cap, depth + 1u);
    struct tree_row row = {
        .first = node, .node = node, .depth = depth, .rest = begins_rest(t, m, ctx, node, depth)
    };
    uint64_t state, level = depth < 64 ? UINT64_C(1) << depth : 0;
    if (row.rest) {
        row.open = map_get(&t->state, rest_key(m, ctx, node), &state) && state == 1;
    } else {
        row.node = chain_end(t, m, ctx, node);
        row.leaf = !first_child(m, ctx, row.node);
        row.open = !row.leaf && is_open(t, m->key(ctx, row.node), depth);
    }
    row.more = depth ? t->rows[t->path[depth - 1]].more & (level - 1) : 0;
    if (!row.rest && next_sibling(m, ctx, node))
        row.more |= level;
    t->path[depth] = t->n;
    t->rows[t->n++] = row;
}

/* Returns the next node in depth-first order, below open rows only; 0 at the end. */
static uint32_t next_visible(const struct tree *t, const struct tree_model *m, const void *ctx,
                             uint16_t *depth)
{
    const struct tree_row *row = &t->rows[t->n - 1];
    if (row->open) {
        (*depth)++;
        return row->rest ? row->node : first_child(m, ctx, row->node);
    }
    for (;; (*depth)--) {
        row = &t->rows[t->path[*depth]];
        uint32_t sibling = row->rest ? 0 : next_sibling(m, ctx, row->first);
        if (sibling || !*depth)
            return sibling;
    }
}

void tree_update(struct tree *t, const struct tree_model *m, const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    uint16_t depth = 0;
    t->n = 0;
    uint32_t node = first_child(m, ctx, 0);
    while (node && t->n < TREE_ROWS_MAX && depth < UINT16_MAX) {
        add_row(t, node, depth, m, ctx);
        node = next_visible(t, m, ctx, &depth);
    }
    t->cut = node != 0;
    list_update(&t->list, t->n, row_key, &rows);
}

const struct tree_row *tree_cursor(const struct tree *t)
{
    return t->list.cursor < t->n ? &t->rows[t->list.cursor] : NULL;
}

void tree_set_open(struct tree *t, uint64_t key, bool open)
{
    if (t->state.n >= TREE_STATE_MAX)
        map_clear(&t->state);
    map_put(&t->state, key, open ? 1 : 2);
}

static void open_subtree(struct tree *t, uint32_t node, bool open, const struct tree_model *m,
                         const void *ctx, uint32_t *budget)
{
    uint32_t at = node;
    for (;;) {
        if (*budget == 0)
            return;
        (*budget)--;
        uint32_t child = m->first_child(ctx, at);
        if (child) {
            tree_set_open(t, m->key(ctx, at), open);
            at = child;
            continue;
        }
        while (at != node && !m->next_sibling(ctx, at))
            at = m->parent(ctx, at);
        if (at == node)
            return;
        at = m->next_sibling(ctx, at);
    }
}

static uint32_t hot_child(const struct tree_model *m, const void *ctx, uint32_t node, uint32_t start)
{
    uint32_t child = m->hot_child ? m->hot_child(ctx, node, start) : m->first_child(ctx, node);
    return skip_hidden(m, ctx, child);
}

static void open_hot_path(struct tree *t, uint32_t start, const struct tree_model *m, const void *ctx)
{
    uint32_t node = start;
    for (uint32_t child; (child = hot_child(m, ctx, node, start)) != 0; node = child)
        tree_set_open(t, m->key(ctx, node), true);
}

static void go_to_node(struct tree *t, uint32_t node, const struct tree_model *m, const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    (void)list_go_key(&t->list, m->key(ctx, node), row_key, &rows);
}

void tree_go(struct tree *t, uint32_t row, const struct tree_model *m, const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    list_choose(&t->list, row, row_key, &rows);
}

/* Returns the nearest row above the cursor's with a depth less than `below`. */
static uint32_t row_above(const struct tree *t, uint16_t below)
{
    uint32_t at = t->list.cursor;
    while (at && t->rows[at].depth >= below)
        at--;
    return at;
}

static void step_left(struct tree *t, const struct tree_row *row, const struct tree_model *m, const void *ctx)
{
    if (row->open)
        tree_set_open(t, key_of_row(m, ctx, row), false);
    else if (row->depth)
        tree_go(t, row_above(t, row->depth), m, ctx);
}

static void step_right(struct tree *t, const struct tree_row *row, const struct tree_model *m,
                       const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    if (!row->open && !row->leaf)
        tree_set_open(t, key_of_row(m, ctx, row), true);
    else if (row->open)
        list_scroll(&t->list, 1, row_key, &rows);
}

static bool act_on_row(struct tree *t, enum action a, const struct tree_row *row, const struct tree_model *m,
                       const void *ctx)
{
    uint64_t key = key_of_row(m, ctx, row);
    uint32_t budget = TREE_ROWS_MAX;
    if (row->rest && (a == ACTION_EXPAND_HOT || a == ACTION_EXPAND_ALL))
        a = ACTION_EXPAND;
    switch (a) {
    case ACTION_LEFT:
    case ACTION_PICK_CLOSE_BRANCH:
        step_left(t, row, m, ctx);
        return true;
    case ACTION_RIGHT:
    case ACTION_PICK_OPEN_BRANCH:
        step_right(t, row, m, ctx);
        return true;
    case ACTION_EXPAND:
        tree_set_open(t, key, true);
        return true;
    case ACTION_COLLAPSE:
        tree_set_open(t, key, false);
        return true;
    case ACTION_TOGGLE:
    case ACTION_DRILL:
        if (!row->leaf)
            tree_set_open(t, key, !row->open);
        return true;
    case ACTION_EXPAND_HOT:
        open_hot_path(t, row->node, m, ctx);
        return true;
    case ACTION_EXPAND_ALL:
        open_subtree(t, row->node, true, m, ctx, &budget);
        return true;
    default:
        return false;
    }
}

/* Collapses everything and moves the cursor to its top-level row. */
static void collapse_all(struct tree *t, const struct tree_model *m, const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    uint64_t key = row_key(&rows, row_above(t, 1));
    map_clear(&t->state);
    t->open_depth = 0;
    tree_update(t, m, ctx);
    (void)list_go_key(&t->list, key, row_key, &rows);
}

bool tree_act(struct tree *t, enum action a, const struct tree_model *m, const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    const struct tree_row *row = tree_cursor(t);
    bool done = list_act(&t->list, a, row_key, &rows);
    if (done)
        return true;
    if (!row)
        return false;
    if (a == ACTION_COLLAPSE_ALL) {
        collapse_all(t, m, ctx);
        return true;
    }
    struct tree_row copy = *row;
    if (!act_on_row(t, a, &copy, m, ctx))
        return false;
    /* The cursor keeps its row, even the first one: the row just opened must not move away. */
    t->list.moved = true;
    tree_update(t, m, ctx);
    return true;
}

void tree_reveal(struct tree *t, uint32_t node, const struct tree_model *m, const void *ctx)
{
    t->apart = m->key(ctx, node);
    for (uint32_t at = m->parent(ctx, node); at; at = m->parent(ctx, at))
        tree_set_open(t, m->key(ctx, at), true);
    for (uint32_t at = node; at && m->small; at = m->parent(ctx, at))
        if (m->small(ctx, at))
            tree_set_open(t, rest_key(m, ctx, at), true);
    tree_update(t, m, ctx);
    go_to_node(t, node, m, ctx);
}

void tree_restore(struct tree *t, const struct view_position *position, const struct tree_model *m,
                  const void *ctx)
{
    struct tree_rows rows = { t, m, ctx };
    list_restore(&t->list, position, row_key, &rows);
}

void tree_done(struct tree *t)
{
    map_done(&t->state);
    mem_free(t->rows);
    mem_free(t->path);
    *t = (struct tree){ 0 };
}
