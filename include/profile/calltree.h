// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the call tree of a result: top-down (callees) or bottom-up (callers), merged by function.
 *
 * Bottom-up, the self weight is at level 1, in the function that ran; its callers have no self weight. */
#ifndef FLAMETOP_PROFILE_CALLTREE_H
#define FLAMETOP_PROFILE_CALLTREE_H

#include "profile/query.h"

#define CALLTREE_MAX_NODES (1u << 20) /* what goes beyond is added to the deepest existing node */

struct calltree_node {
    uint64_t key; /* hash of the path: the same path of functions has the same key in another result */
    uint64_t self_weight, total_weight;
    uint32_t self_count, total_count;
    uint32_t func;  /* 0 for the root and for group nodes */
    uint32_t group; /* of a group node and all nodes below it; else 0 */
    /* A frame of the result with this function, for colour, module and address. */
    uint32_t frame;
    uint32_t parent, first_child, next_sibling; /* 0: none */
    uint16_t depth;                             /* the root has 0 */
    uint8_t is_group;
};

struct calltree {
    struct calltree_node *nodes; /* nodes[0] is the root: everything */
    uint32_t n;
    size_t cap;
    /* Top-down only: `besides` sums of the other events per node, with its descendants, as in the
     * result. NULL: none. */
    uint64_t *group_sums;
    uint32_t group_events;
    size_t group_sums_cap;
    struct calltree_scratch *scratch;
};

struct calltree_options {
    bool inverted; /* bottom-up: level 1 has the leaf functions; callers below each */
    bool by_group; /* level 1 is the groups */
    /* As for functions_build. 0: this frame is left out, and its children move up. */
    const uint32_t *frame_func;
    /* Identity per function number that is stable between results; NULL: the number. */
    const uint64_t *func_key;
    /* The same per group number, for by_group; NULL: the number. */
    const uint64_t *group_key;
    /* 0: 512. Deeper frames are left out; their self weight goes to the node at the limit. */
    uint16_t max_depth;
};
/* Fills t, which is zero-initialised at first, and reuses its memory. Parents come before their children
 * in `nodes`. */
void calltree_build(struct calltree *t, const struct result *r, const struct calltree_options *o);
/* Sort all siblings: by descending total weight (equal ones by key), or for flame graphs by the rank of
 * their functions. Group nodes come first, by group_rank. NULL: by number. */
void calltree_sort_weight(struct calltree *t);
void calltree_sort_rank(struct calltree *t, const uint32_t *func_rank, const uint32_t *group_rank);
uint32_t calltree_find(const struct calltree *t, uint64_t key); /* returns 0 if not found */
void calltree_done(struct calltree *t);

#endif
