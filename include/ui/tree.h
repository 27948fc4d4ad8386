// SPDX-License-Identifier: GPL-2.0-or-later
/* A collapsible tree over somebody's nodes (call graph, cgroups, events). Expansion and the cursor are held by
 * the nodes' 64-bit path keys, so that the model may be built anew at any time. Draws nothing. */
#ifndef FLAMETOP_UI_TREE_H
#define FLAMETOP_UI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ui/list.h"

/* Nodes are numbers below which 0 is the root; the root itself is not a row. 0 also means "none". */
struct tree_model {
    uint32_t (*first_child)(const void *ctx, uint32_t node);
    uint32_t (*next_sibling)(const void *ctx, uint32_t node);
    uint32_t (*parent)(const void *ctx, uint32_t node);
    uint64_t (*key)(const void *ctx, uint32_t node);
    bool (*hidden)(const void *ctx, uint32_t node); /* may be NULL; a hidden node takes its subtree with it */
    /* The child that a hot path from `start` goes on to behind `node`, 0: it ends there. NULL: the first child. */
    uint32_t (*hot_child)(const void *ctx, uint32_t node, uint32_t start);
    /* The only child of a node is listed in the node's own row. NULL: never. */
    bool (*chained)(const void *ctx, uint32_t node, uint32_t child);
    /* A node and its siblings behind it are listed as one row, a rest, until that row is opened. NULL:
     * none. */
    bool (*small)(const void *ctx, uint32_t node);
};

#define TREE_ROWS_MAX 20000 /* opened rows beyond these are not shown */

struct tree_row {
    uint32_t first,
        node; /* a chain of only children, as one row: its first and its last node. A rest: its first node, twice */
    uint64_t
        more; /* bit d: behind this row, there is another row of the same parent at depth d; below 64 only */
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
    uint64_t apart;   /* key of the node that was revealed last: a chain ends there */
    uint32_t *path;   /* while rows are listed: the row at each depth */
    size_t path_cap;
    bool cut; /* there were more than TREE_ROWS_MAX rows */
};
/* Lists the visible rows of the model as it is now. Call after the model changed; the calls below do it themselves. */
void tree_update(struct tree *t, const struct tree_model *m, const void *ctx);
const struct tree_row *tree_cursor(const struct tree *t); /* NULL when empty */
/* Moves, ACTION_EXPAND, _COLLAPSE, _EXPAND_HOT (the hot child of each, down from the cursor), _EXPAND_ALL,
 * _COLLAPSE_ALL, _LEFT (collapse, or to the parent), _RIGHT (expand, or to the first child), _DRILL (toggle). True
 * when it was one of them. */
bool tree_act(struct tree *t, enum action a, const struct tree_model *m, const void *ctx);
void tree_set_open(struct tree *t, uint64_t key, bool open); /* tree_update after the last one */
void tree_go(struct tree *t, uint32_t row, const struct tree_model *m,
             const void *ctx); /* puts the cursor on a row */
/* Opens all ancestors of a node, puts the cursor on it. It is the last one of its row. */
void tree_reveal(struct tree *t, uint32_t node, const struct tree_model *m, const void *ctx);
/* As list_restore: the row of that key has to be visible. */
void tree_restore(struct tree *t, const struct view_position *position, const struct tree_model *m,
                  const void *ctx);
void tree_forget(struct tree *t); /* all collapsed, cursor at the top: another tree */
void tree_done(struct tree *t);

#endif
