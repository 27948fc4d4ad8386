// SPDX-License-Identifier: GPL-2.0-or-later
/* A private copy of the part of the stacks that a query meets, which grows as more is met. */
#ifndef FLAMETOP_PROFILE_PART_H
#define FLAMETOP_PROFILE_PART_H

#include <stdbool.h>

#include "base/mem.h"
#include "profile/stacks.h"

struct
    part_numbers { /* of what was met: one bit each, few enough to stay in the cache, and its number here */
    uint64_t *bits;
    uint32_t *place; /* only of what was met */
    size_t words_cap;
};

struct part {
    const struct stacks *stacks;
    /* As in stacks: node and frame 0 are always there, parents come first. */
    uint32_t *parent, *frame;
    uint32_t n_nodes;
    uint32_t *frame_module;
    uint64_t *frame_offset;
    uint8_t *frame_interrupted;
    uint32_t n_frames;
    struct part_numbers nodes, frames;
    uint32_t *pending; /* nodes of a path that were not met, the deepest first */
    size_t parent_cap, frame_cap, module_cap, offset_cap, interrupted_cap, pending_cap;
};

/* Empty, with the memory of before. Zero-initialised at first. */
void part_begin(struct part *p, const struct stacks *s);
/* The stacks may have grown since: before the first look. Only while they have the epoch of the beginning. */
void part_go_on(struct part *p);
uint32_t part_add_path(struct part *p, uint32_t stack);
/* The number of a stack here; it and its callers are copied when they are met for the first time. */
static inline uint32_t part_node(struct part *p, uint32_t stack)
{
    if (p->nodes.bits[stack >> 6] >> (stack & 63) & 1)
        return p->nodes.place[stack];
    return part_add_path(p, stack);
}
/* The same without the stacks: 0 when it was not met. */
static inline uint32_t part_find(const struct part *p, uint32_t stack)
{
    bool met = stack >> 6 < p->nodes.words_cap && p->nodes.bits[stack >> 6] >> (stack & 63) & 1;
    return met ? p->nodes.place[stack] : 0;
}
/* What part_node will look at comes into the CPU's cache. */
MEM_FETCHES void part_fetch(const struct part *p, uint32_t stack)
{
    mem_fetch(&p->nodes.bits[stack >> 6], 1);
    mem_fetch(&p->nodes.place[stack], 1);
    mem_fetch(&stacks_parents(p->stacks)[stack], 1);
    mem_fetch(&stacks_frames(p->stacks)[stack], 1);
}
void part_done(struct part *p);

#endif
