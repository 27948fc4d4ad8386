// SPDX-License-Identifier: GPL-2.0-or-later
/* Interned frames and the trie of stacks: a frame is (module, offset), a stack is a node whose path to the
 * root lists its frames from leaf to thread root. Ids are dense u32; node 0 is the empty stack, frame 0 is
 * never used. A parent's id is always smaller than its children's. */
#ifndef FLAMETOP_PROFILE_STACKS_H
#define FLAMETOP_PROFILE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stacks;
struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);

#define STACKS_FRAME_MAX INT32_MAX
uint32_t stacks_frame(struct stacks *s, uint32_t module,
                      uint64_t offset); /* interns; 0: there are too many */
/* The same place as that frame's, where a signal interrupted its thread: as an address it is exact, although
 * the frame has a callee. Interns. */
uint32_t stacks_frame_interrupted(struct stacks *s, uint32_t frame);
uint32_t stacks_child(struct stacks *s, uint32_t parent, uint32_t frame); /* interns */
uint32_t stacks_node_count(const struct stacks *s);                       /* with node 0 */
uint32_t stacks_frame_count(const struct stacks *s);
/* Whole columns, indexed by id; valid until the next frame, child or compact. */
const uint32_t *stacks_parents(const struct stacks *s);
const uint32_t *stacks_frames(const struct stacks *s);
const uint32_t *stacks_frame_modules(const struct stacks *s);
const uint64_t *stacks_frame_offsets(const struct stacks *s);
const uint8_t *stacks_frame_interrupts(const struct stacks *s); /* 1: of stacks_frame_interrupted, else 0 */
size_t stacks_bytes(const struct stacks *s);

/* Forgets every node that is neither marked in `keep` (a byte per node) nor an ancestor of a marked one,
 * and every frame that then has no node. Returns new id by old id (0 for what went), which the caller frees
 * with mem_free. Order is kept. Memory is given back. */
uint32_t *stacks_compact(struct stacks *s, const uint8_t *keep);
/* Changes with every compact: ids mean something else then. No two have the same one. */
uint64_t stacks_epoch(const struct stacks *s);

#endif
