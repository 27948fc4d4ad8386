// SPDX-License-Identifier: GPL-2.0-or-later
/* A collapsible tree over a model's nodes (call graph, cgroups, events). Draws nothing.
 * Expansion and cursor are stored by the nodes' 64-bit path keys, so that the model may be rebuilt at any
 * time. */
#ifndef FLAMETOP_UI_TREE_H
#define FLAMETOP_UI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ui/list.h"

/* A node is a number; 0 is the root, which is not a row. 0 also means "none". */
struct tree_model {
    uint32_t (*first_child)(const void *ctx, uint32_t node);
    uint32_t (*next_sibling)(const void *ctx, uint32_t node);
    uint32_t (*parent)(const void *ctx, uint32_t node);
    uint64_t (*key)(const void *ctx, uint32_t node);
    bool (*hidden)(const void *ctx, uint32_t node); /* may be NULL; a hidden node hides its subtree */
    /* Returns the next node of the hot path from `start` after `node`; 0: it ends there. NULL: the first
     * child. */
    uint32_t (*hot_child)(const void *ctx, uint32_t node, uint32_t start);
    /* The only child of a node shares the node's row. NULL: never. */
    bool (*chained)(const void *ctx, uint32_t node, uint32_t child);
    /* A node and its following siblings are one row, a rest, until that row is expanded. NULL: never. */
    bool (*small)(const void *ctx, uint32_t node);
};

#define TREE_ROWS_MAX 20000 /* expanded rows beyond these are not listed */

struct tree_row {
    /* A chain of only children in one row: its first and last node. A rest: its first node, twice. */
    uint32_t first, node;
    uint64_t more;  /* bit d (d < 64): a later row has the same parent at depth d */
    uint16_t depth; /* in rows; 0: child of the root */
    bool open, leaf, rest;
};
struct tree {            /* zero-initialised: all collapsed */
    struct map state;    /* path key → 1 open, 2 closed by hand */
    uint16_t open_depth; /* nodes above this depth are open unless closed by hand */
    struct tree_row *rows;
    uint32_t n;
    size_t cap;
    struct list list; /* over rows */
    uint64_t apart;   /* key of the last revealed node: a chain ends there */
    uint32_t *path;   /* scratch: the row at each depth */
    size_t path_cap;
    bool cut; /* more than TREE_ROWS_MAX rows */
};
/* Lists the visible rows of the present model. Call after the model changed; the calls below do it
 * themselves. */
void tree_update(struct tree *t, const struct tree_model *m, const void *ctx);
const struct tree_row *tree_cursor(const struct tree *t); /* NULL when empty */
/* Handles moves, ACTION_EXPAND, _COLLAPSE, _EXPAND_HOT (the hot path from the cursor), _EXPAND_ALL,
 * _COLLAPSE_ALL, _LEFT (collapse, or go to the parent), _RIGHT (expand, or go to the first child), _DRILL
 * (toggle). Returns false for other actions. */
bool tree_act(struct tree *t, enum action a, const struct tree_model *m, const void *ctx);
void tree_set_open(struct tree *t, uint64_t key, bool open); /* call tree_update after the last one */
/* puts the cursor on a row */
void tree_go(struct tree *t, uint32_t row, const struct tree_model *m, const void *ctx);
/* Expands all ancestors of a node and puts the cursor on it. The node ends its row's chain. */
void tree_reveal(struct tree *t, uint32_t node, const struct tree_model *m, const void *ctx);
/* As list_restore; the row of that key must be visible. */
void tree_restore(struct tree *t, const struct view_position *position, const struct tree_model *m,
                  const void *ctx);
void tree_done(struct tree *t);

#endif
