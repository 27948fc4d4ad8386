// SPDX-License-Identifier: GPL-2.0-or-later
/* Interns frames and stacks. A frame is (module, offset); a stack is a node of a trie.
 *
 * The path from a node to the root lists its frames from the leaf to the thread's root. Ids are dense
 * u32. Node 0 is the empty stack; frame 0 is never used. A parent's id is always smaller than its
 * children's. */
#ifndef FLAMETOP_PROFILE_STACKS_H
#define FLAMETOP_PROFILE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stacks;
struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);

#define STACKS_FRAME_MAX INT32_MAX
/* Interns a frame. Returns 0 if there are too many. */
uint32_t stacks_frame(struct stacks *s, uint32_t module, uint64_t offset);
/* Interns the same location as an interrupted pc: its address is exact although the frame has a callee. */
uint32_t stacks_frame_interrupted(struct stacks *s, uint32_t frame);
uint32_t stacks_child(struct stacks *s, uint32_t parent, uint32_t frame); /* interns a node */
/* Interns the frames from `node` up to, but without, its ancestor `from` on top of `to`. from 0: all
 * frames. Returns `to` if `from` is not an ancestor. */
uint32_t stacks_rebase(struct stacks *s, uint32_t node, uint32_t from, uint32_t to);
uint32_t stacks_node_count(const struct stacks *s); /* includes node 0 */
uint32_t stacks_frame_count(const struct stacks *s);
/* Whole columns, indexed by id. Valid until the next frame, child or compact. */
const uint32_t *stacks_parents(const struct stacks *s);
const uint32_t *stacks_frames(const struct stacks *s);
const uint32_t *stacks_frame_modules(const struct stacks *s);
const uint64_t *stacks_frame_offsets(const struct stacks *s);
const uint8_t *stacks_frame_interrupts(const struct stacks *s); /* 1: interned by stacks_frame_interrupted */
/* Offsets of the frames in a module. NULL: none. Free with mem_free. */
uint64_t *stacks_offsets_in(const struct stacks *s, uint32_t module, size_t *n);
size_t stacks_bytes(const struct stacks *s);

/* Forgets each node that is neither marked in `keep` (a byte per node) nor an ancestor of a marked one,
 * and each frame that then has no node. Returns the new id by old id (0: forgotten), to be freed with
 * mem_free. Keeps the order, and releases memory. */
uint32_t *stacks_compact(struct stacks *s, const uint8_t *keep);
/* Returns a number that changes with each compact, because ids then change. It differs between stacks. */
uint64_t stacks_epoch(const struct stacks *s);

#endif
