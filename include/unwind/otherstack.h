// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the callers of a function that switched stacks (Go's systemstack and asmcgocall).
 *
 * The dump of a sample has only the current stack. The callers come from the frame-pointer callchain
 * that the kernel recorded with the sample, or from the other stack's memory, which is read a moment
 * later. No frame of either source counts without a proof. */
#ifndef FLAMETOP_UNWIND_OTHERSTACK_H
#define FLAMETOP_UNWIND_OTHERSTACK_H

#include "unwind/expression.h"
#include "unwind/unwind.h"

/* Range that is read of another stack. It starts below the frame pointer, because the frame extends
 * below it. */
#define OTHERSTACK_BELOW 4096u
#define OTHERSTACK_BYTES (32u << 10)

struct otherstack {
    const struct unwind_source *src;
    uint64_t fp;     /* the frame pointer at the stack switch */
    uint64_t callee; /* address (as for find) in the function that switched stacks */
    bool own;        /* fp belongs to that function's frame; else to its caller's */
};

/* Returns the index in the callchain of the return address of the frame at fp. 0: the chain does not
 * lead there. The frame pointers in the dump must lead from the sample's fp to this one. */
uint32_t otherstack_in_chain(const struct unwind_input *in, uint64_t fp);
/* Adds the proven callers from entry *at of the callchain. Returns their number and sets *at to the next
 * entry. *end: ROOT, PENDING, or ELSEWHERE if the next caller is not proven. */
uint32_t otherstack_follow(const struct otherstack *o, const struct unwind_input *in, uint32_t *at,
                           struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);
/* Gets the registers at the return address of the last of n frames, entry `at` of the callchain. That
 * address must be in the dump above sp: the function that it called switched away from the current stack
 * (Go's cgocallback). Returns false if it did not, or if the address is not there. */
bool otherstack_come_back(const struct otherstack *o, const struct unwind_input *in,
                          const struct unwind_frame *frames, uint32_t n, uint32_t at, uint64_t sp,
                          struct unwind_regs *regs);

/* Returns true if the other stack's memory has the return addresses of the callchain from entry `at` on,
 * as far as these are code addresses. */
bool otherstack_agrees(const struct otherstack *o, const struct unwind_input *in, uint32_t at,
                       const struct unwind_memory *later);
/* Finds the caller's registers in memory that was read later, and the address of the function to call, the
 * first argument of the function that switched stacks (0: it is not in that memory). Returns ROOT if found;
 * PENDING or ELSEWHERE if not (yet). */
enum unwind_end otherstack_find(const struct otherstack *o, const struct unwind_memory *later,
                                struct unwind_regs *regs, uint64_t *function);
/* Returns true if the function to call is one of these frames of the current stack. */
bool otherstack_calls(const struct otherstack *o, uint64_t function, const struct unwind_frame *frames,
                      uint32_t n);
/* Checks that `callee` returns to `back`: a call instruction proves it, or a table marks `back` as the
 * root. */
enum unwind_call otherstack_check(const struct unwind_source *src, uint64_t back, uint64_t callee);

#endif
