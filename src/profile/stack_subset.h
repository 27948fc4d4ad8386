// SPDX-License-Identifier: GPL-2.0-or-later
/* A private copy of the part of the stacks that a query uses. It grows as the query meets more stacks. */
#ifndef FLAMETOP_PROFILE_STACK_SUBSET_H
#define FLAMETOP_PROFILE_STACK_SUBSET_H

#include <stdbool.h>

#include "profile/stacks.h"

/* Numbers of the copied items. The bits are few enough to stay in the CPU cache. */
struct stack_subset_numbers {
    uint64_t *bits;
    uint32_t *place; /* number in the part; valid only if the bit is set */
    size_t words_cap;
};

struct stack_subset {
    const struct stacks *stacks;
    /* As in stacks: node 0 and frame 0 always exist, and parents come first. */
    uint32_t *parent, *frame;
    uint32_t n_nodes;
    uint32_t *frame_module;
    uint64_t *frame_offset;
    uint8_t *frame_interrupted;
    uint32_t n_frames;
    struct stack_subset_numbers nodes, frames;
    uint32_t *pending; /* nodes of a path that are not yet copied, deepest first */
    size_t parent_cap, frame_cap, module_cap, offset_cap, interrupted_cap, pending_cap;
};

/* Empties the part and keeps its memory. Zero-initialised at first. */
void stack_subset_begin(struct stack_subset *p, const struct stacks *s);
/* Prepares the part for stacks that have grown. Call it before the first lookup; valid only while the
 * stacks have the epoch of stack_subset_begin. */
void stack_subset_go_on(struct stack_subset *p);
uint32_t stack_subset_add_path(struct stack_subset *p, uint32_t stack);
/* Returns the node of a stack in the part. Copies the stack and its callers if needed. */
static inline uint32_t stack_subset_node(struct stack_subset *p, uint32_t stack)
{
    if (p->nodes.bits[stack >> 6] >> (stack & 63) & 1)
        return p->nodes.place[stack];
    return stack_subset_add_path(p, stack);
}
/* Returns the node without copying; 0: it is not in the part. */
static inline uint32_t stack_subset_find(const struct stack_subset *p, uint32_t stack)
{
    bool met = stack >> 6 < p->nodes.words_cap && p->nodes.bits[stack >> 6] >> (stack & 63) & 1;
    return met ? p->nodes.place[stack] : 0;
}
void stack_subset_done(struct stack_subset *p);

#endif
