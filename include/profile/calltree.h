// SPDX-License-Identifier: GPL-2.0-or-later
/* The call tree of a result, top-down (callees) or bottom-up (callers), merged by function. Bottom-up, the
 * self weight stands at level 1, at the function that ran; its callers have none there. */
#ifndef FLAMETOP_PROFILE_CALLTREE_H
#define FLAMETOP_PROFILE_CALLTREE_H

#include "profile/query.h"

#define CALLTREE_MAX_NODES (1u << 20) /* what would be beyond counts at the deepest node that is there */

struct calltree_node {
    uint64_t key; /* path identity: same path of functions in another result, same key */
    uint64_t self_weight, total_weight;
    uint32_t self_count, total_count;
    uint32_t func;  /* 0 for the root and for group nodes */
    uint32_t group; /* of group nodes and all below them; else 0 */
    uint32_t frame; /* one of the result's frames that stands for it (for its colour, module, address) */
    uint32_t parent, first_child, next_sibling; /* 0: none */
    uint16_t depth;                             /* root 0 */
    uint8_t is_group;
};

struct calltree {
    struct calltree_node *nodes; /* nodes[0] is the root: all */
    uint32_t n;
    size_t cap;
    uint64_t *
        beside; /* top-down: of node and below, `besides` sums each, as in the result. NULL: there are none */
    uint32_t besides;
    size_t beside_cap;
    struct calltree_scratch *scratch;
};

struct calltree_options {
    bool inverted;              /* bottom-up: level 1 is the leaf functions, below each who calls it */
    bool by_group;              /* level 1 is the groups */
    const uint32_t *frame_func; /* as in functions_build; 0: this frame is left out, its children move up */
    const uint64_t *func_key;   /* stable identity per function number; NULL: the number itself */
    const uint64_t *group_key;  /* per group number (by_group); NULL: the number itself */
    uint16_t max_depth; /* 0: 512; deeper frames are left out, what runs there counts as self at the cut */
};
/* Fills t (zero-initialised at first), reusing its memory. Parents stand before their children in `nodes`. */
void calltree_build(struct calltree *t, const struct result *r, const struct calltree_options *o);
/* Sorts all siblings: by total weight downwards (ties by key), or by the rank of their functions (func_rank,
 * group nodes first by group_rank; NULL: by number): what flame graphs want. */
void calltree_sort_weight(struct calltree *t);
void calltree_sort_rank(struct calltree *t, const uint32_t *func_rank, const uint32_t *group_rank);
uint32_t calltree_find(const struct calltree *t, uint64_t key); /* 0: not there */
void calltree_done(struct calltree *t);

#endif
