// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of an unwind (unwind/unwind.h), for continuing it on another stack. */
#ifndef FLAMETOP_UNWIND_UNWIND_STATE_H
#define FLAMETOP_UNWIND_UNWIND_STATE_H

#include "unwind/expression.h"
#include "unwind/unwind.h"

struct unwinder {
    enum unwind_arch arch;
    const struct unwind_abi *abi;
    struct unwind_memory m;
    struct unwind_regs regs;
    bool exact;                      /* regs.pc is a pc, not a return address */
    bool all;                        /* follow all callee-saved registers, not only the most needed */
    bool wants_all;                  /* a row needs all of them: restart from the beginning */
    bool by_fp;                      /* the last step was by frame pointer */
    bool weak_sp;                    /* arm64, by_fp: sp is only a lower bound */
    bool fp_supplied;                /* fp is unchanged since the call of src->knows */
    bool beyond;                     /* a signal frame led out of the dump */
    bool proven;                     /* the last step was by a table */
    bool elsewhere;                  /* the next frame is on another stack, which is not in the dump */
    bool later;                      /* m was read after the sample: each caller needs a proof */
    bool stays;                      /* stay on this stack where a function has a frame on both */
    const struct unwind_entry *last; /* entry of the last frame; NULL: none */
    enum unwind_end end;
};

/* Adds frames after the first n, starting from w's registers. Returns the new number of frames; w->end
 * is why unwinding ended. */
uint32_t unwind_stack_on(struct unwinder *w, const struct unwind_source *src, struct unwind_frame *frames,
                         uint32_t n, uint32_t cap);
/* Adds the proven frames on other stacks, after unwinding ended ELSEWHERE with n >= 1 frames. In
 * unwind_other.c. */
uint32_t unwind_elsewhere(struct unwinder *w, const struct unwind_source *src, const struct unwind_input *in,
                          struct unwind_frame *frames, uint32_t n, uint32_t cap);

#endif
