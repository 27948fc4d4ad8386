// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of the call graph: the callees of a result, its callers, or the callers of one function.
 * Draws nothing. Expansion and cursor are in ui/tree.h. */
#ifndef FLAMETOP_UI_CALLGRAPH_H
#define FLAMETOP_UI_CALLGRAPH_H

#include "base/mem.h"
#include "profile/calltree.h"
#include "session/view.h"
#include "ui/tree.h"

enum callgraph_order { CALLGRAPH_CALLEES, CALLGRAPH_CALLERS, CALLGRAPH_ORDERS };

struct callgraph { /* zero-initialised: callees, not built */
    enum callgraph_order order;
    uint64_t focus; /* key of a function: show only its callers; 0: none */
    bool by_group;
    const struct view *view; /* of the last build, borrowed */
    struct calltree tree;    /* siblings in descending weight */
    uint64_t small_below;    /* weight below which nodes are one row (a rest): 1/1000 of all */
    struct calltree own;     /* with a focus: samples in the function itself; same path keys */
    BUFFER(uint64_t) func_key, group_key;
    BUFFER(struct result_entry) entries;
    BUFFER(uint32_t) focus_node;
    BUFFER(uint8_t) func_match;
};
/* Builds the graph. Set order, focus and by_group before. A focus needs CALLGRAPH_CALLERS. */
void callgraph_build(struct callgraph *g, const struct view *v);
void callgraph_done(struct callgraph *g);
extern const struct tree_model callgraph_model; /* ctx: struct callgraph */

const struct calltree_node *callgraph_node(const struct callgraph *g, uint32_t node);
const char *callgraph_name(const struct callgraph *g, uint32_t node);
const struct view_function *callgraph_function(const struct callgraph *g, uint32_t node); /* NULL: a group */
/* Callees: samples in the function itself. Callers: samples in the root function along this path. */
uint64_t callgraph_self_weight(const struct callgraph *g, uint32_t node);
/* Sums over a node and its following siblings. */
struct callgraph_rest {
    uint64_t total, self;
    uint32_t samples, nodes;
};
struct callgraph_rest callgraph_rest_of(const struct callgraph *g, uint32_t node);
/* Returns the heaviest node of a function, preferably in `group` (0: any); in callers order only at the
 * top. 0: none. */
uint32_t callgraph_find(const struct callgraph *g, uint64_t func_key, uint32_t group);
/* Returns the child that continues the hot path from `start`. 0: the path ends: no child has half of the
 * node, or the node has less than 0.5 % of all (if `start` has little itself: less than half of `start`). */
uint32_t callgraph_hot_child(const struct callgraph *g, uint32_t node, uint32_t start);

/* Marks names that contain `needle`, ignoring ASCII case. Call before the next two, and again after a
 * build. */
void callgraph_match(struct callgraph *g, const char *needle);
bool callgraph_matches(const struct callgraph *g, uint32_t node, const char *needle);
/* Returns the next (step >= 0) or previous match in the fully expanded tree, wrapping around (*round).
 * Returns the node itself if it is the only match; 0: none. */
uint32_t callgraph_next_match(const struct callgraph *g, uint32_t node, int step, const char *needle,
                              bool *round);

#endif
