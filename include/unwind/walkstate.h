// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of a walk (unwind/walk.h), for what leads it on from one stack to another. */
#ifndef FLAMETOP_UNWIND_WALKSTATE_H
#define FLAMETOP_UNWIND_WALKSTATE_H

#include "unwind/expression.h"
#include "unwind/walk.h"

struct walk {
    enum unwind_arch arch;
    const struct unwind_abi *abi;
    struct unwind_memory m;
    struct unwind_regs regs;
    bool exact;                      /* regs.pc is one, not a return address */
    bool all;                        /* all saved registers are followed, not only what most steps need */
    bool wants_all;                  /* … and must be: once more from the start */
    bool by_fp;                      /* the last step was one by frame pointer */
    bool weak_sp;                    /* arm64: and so sp is only a lower bound */
    bool fp_given;                   /* fp is what it was when src->knows was asked */
    bool beyond;                     /* a signal frame led out of the dump … */
    bool proven;                     /* the last step was one by a table */
    bool elsewhere;                  /* … and to where no dump reaches: to another stack */
    bool later;                      /* m was read after the sample: each caller needs a proof */
    bool stays;                      /* on this stack, where a function has a frame on either */
    const struct unwind_entry *last; /* of the frame at which the walk ended; NULL: it has none */
    enum unwind_end end;
};

/* Adds frames behind the first n, from w's registers on; says how many there are then, and in w->end why no more. */
uint32_t unwind_walk_on(struct walk *w, const struct unwind_source *src, struct unwind_frame *frames,
                        uint32_t n, uint32_t cap);
/* walkother.c: the walk has ended ELSEWHERE, after n frames, 1 at least: adds those on other stacks that are proven. */
uint32_t unwind_walk_elsewhere(struct walk *w, const struct unwind_source *src, const struct unwind_input *in,
                               struct unwind_frame *frames, uint32_t n, uint32_t cap);

#endif
