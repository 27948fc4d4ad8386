// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of "threads now" as a tree: threads with equal stacks are one row, its lines are below it. Draws
 * nothing. Expansion and cursor are in ui/tree.h. */
#ifndef FLAMETOP_UI_THREADS_TREE_H
#define FLAMETOP_UI_THREADS_TREE_H

#include "base/mem.h"
#include "session/threads_text.h"
#include "ui/tree.h"

struct threads_node {
    uint32_t parent, next, first; /* node numbers: index + 1; 0: none */
    uint64_t key;
    /* Threads: `row`, and the texts of its columns. */
    const struct threads_now_row *row;
    const char *since, *name, *call;
    /* A line: row is NULL. */
    struct threads_line line;
};
struct threads_tree { /* zero-initialised: empty */
    struct arena strings;
    VEC(struct threads_node);
};
/* Fills the tree, which is empty. The result stays in use. */
void threads_tree_build(struct threads_tree *t, const struct threads_now *now);
void threads_tree_done(struct threads_tree *t);
extern const struct tree_model threads_model; /* ctx: struct threads_tree */
const struct threads_node *threads_node(const struct threads_tree *t, uint32_t node);
/* Returns the next (step >= 0) or previous node with a matching text, also in closed rows, wrapping around;
 * 0: none. step 0 starts at `node` itself. */
uint32_t threads_next_match(const struct threads_tree *t, uint32_t node, int step, const char *needle);

#endif
