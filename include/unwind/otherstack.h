// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the callers of a function that changed to another stack (Go's systemstack and asmcgocall): the dump of a sample has
 * only the stack that was in use. They come from the chain that the kernel followed by frame pointers when it took the
 * sample, or from the other stack's memory, which is read a moment later. Nothing of either counts without a proof. */
#ifndef FLAMETOP_UNWIND_OTHERSTACK_H
#define FLAMETOP_UNWIND_OTHERSTACK_H

#include "unwind/expression.h"
#include "unwind/walk.h"

/* What is read of another stack: from a bit below the frame pointer, where the frame that it belongs to lies. */
#define OTHERSTACK_BELOW 4096u
#define OTHERSTACK_BYTES (32u << 10)

struct otherstack {
    const struct unwind_source *src;
    uint64_t fp;     /* the frame pointer with which the stack was changed */
    uint64_t callee; /* an address, as find takes it, in the function that changed the stack */
    bool own;        /* fp is of that function's frame; else of its caller's */
};

/* Which entry of the chain is the return address of the frame at fp; 0: the chain does not lead there. It does if the
 * frame pointers in the dump lead from the sample's to that one. */
uint32_t otherstack_in_chain(const struct unwind_input *in, uint64_t fp);
/* The callers by the chain from entry *at on, as far as they are proven: their number; *at is then the next entry. *end: ROOT,
 * PENDING, or ELSEWHERE: the next one is not proven. */
uint32_t otherstack_follow(const struct otherstack *o, const struct unwind_input *in, uint32_t *at,
                           struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);
/* The registers behind the return address of the last of n frames, that of an entry of the chain, which lies in the dump above
 * sp: the function that it called changed from the stack in use (Go's cgocallback). False: it did not, or it is not there. */
bool otherstack_come_back(const struct otherstack *o, const struct unwind_input *in,
                          const struct unwind_frame *frames, uint32_t n, uint32_t at, uint64_t sp,
                          struct unwind_regs *regs);

/* Does the memory of the other stack have the return addresses that the chain has from entry `at` on, as far as they are of
 * code? */
bool otherstack_agrees(const struct otherstack *o, const struct unwind_input *in, uint32_t at,
                       const struct unwind_memory *later);
/* The registers of the caller in memory that was read later, and where the arguments of the function begin that changed
 * the stack. ROOT: found. PENDING, ELSEWHERE: not (yet). */
enum unwind_end otherstack_find(const struct otherstack *o, const struct unwind_memory *later,
                                struct unwind_regs *regs, uint64_t *arguments);
/* Is the function to call, the first argument, one of these frames, which lie on the stack that was in use? */
bool otherstack_calls(const struct otherstack *o, const struct unwind_memory *later, uint64_t arguments,
                      const struct unwind_frame *frames, uint32_t n);
/* Is `back` proven to be where `callee` returns to, by a call instruction or since a table calls it the root? */
enum unwind_call otherstack_check(const struct unwind_source *src, uint64_t back, uint64_t callee);

#endif
