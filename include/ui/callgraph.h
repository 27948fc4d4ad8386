// SPDX-License-Identifier: GPL-2.0-or-later
/* What the call graph shows: the nodes of an answer in one of two orders, or the callers of one function. Draws
 * nothing, and knows neither expansion nor cursor (ui/tree.h). */
#ifndef FLAMETOP_UI_CALLGRAPH_H
#define FLAMETOP_UI_CALLGRAPH_H

#include "profile/calltree.h"
#include "session/view.h"
#include "ui/tree.h"

enum callgraph_order { CALLGRAPH_CALLEES, CALLGRAPH_CALLERS, CALLGRAPH_ORDERS };

struct callgraph { /* zero-initialised: callees, nothing built */
    enum callgraph_order order;
    uint64_t focus; /* key of a function: only what passes through it, and who called it; 0: none */
    bool by_group;
    const struct view *view; /* of the last build, borrowed */
    struct calltree tree;    /* siblings by weight */
    uint64_t small_below;    /* weight of nodes that are listed as a rest: a thousandth of all */
    struct calltree own;     /* with a focus: what ended in the function itself; the same path keys */
    uint64_t *func_key, *group_key;
    struct result_entry *entries;
    uint32_t *focus_node;
    uint8_t *func_match;
    size_t func_key_cap, group_key_cap, entries_cap, focus_node_cap, func_match_cap;
};
/* Sets order, focus and by_group first. A focus is for callers only. */
void callgraph_build(struct callgraph *g, const struct view *v);
void callgraph_done(struct callgraph *g);
extern const struct tree_model callgraph_model; /* its ctx is a struct callgraph */

const struct calltree_node *callgraph_node(const struct callgraph *g, uint32_t node);
const char *callgraph_name(const struct callgraph *g, uint32_t node);
const struct view_function *callgraph_function(const struct callgraph *g,
                                               uint32_t node); /* NULL: of a group */
/* Callees: what ended in the function. Callers: what ended in the one at the top, called along this path. */
uint64_t callgraph_self_weight(const struct callgraph *g, uint32_t node);
/* A node and its siblings behind it, as one. */
struct callgraph_rest {
    uint64_t total, self;
    uint32_t samples, nodes;
};
struct callgraph_rest callgraph_rest_of(const struct callgraph *g, uint32_t node);
/* The heaviest node of a function, rather in `group` (0: any); among callers only at the top. 0: none. */
uint32_t callgraph_find(const struct callgraph *g, uint64_t func_key, uint32_t group);
/* The heaviest child of a node, where the hot path from `start` goes on. 0: the path ends, for no child has half of the
 * node, or it has less than half a percent of all (from a row that has little itself: less than half of that row). */
uint32_t callgraph_hot_child(const struct callgraph *g, uint32_t node, uint32_t start);

/* Names with `needle` in them, ASCII case folded. To be called before the other two; again after a build. */
void callgraph_match(struct callgraph *g, const char *needle);
bool callgraph_matches(const struct callgraph *g, uint32_t node, const char *needle);
/* The next (step >= 0) or previous match seen from a node, in the order of the tree with everything open, around
 * its end, which *round tells. The node itself when it is the only one; 0: none. */
uint32_t callgraph_next_match(const struct callgraph *g, uint32_t node, int step, const char *needle,
                              bool *round);

#endif
