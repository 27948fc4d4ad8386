// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the stack of a sample, then the stacks that its program switched away from. */
#include "unwind/unwind_state.h"

static struct unwinder start(const struct unwind_input *in, bool all)
{
    return (struct unwinder){
        .arch = in->arch,
        .abi = unwind_arch_abi(in->arch),
        .m = { .bytes = in->stack, .size = in->stack_bytes, .base = in->regs.sp, .swap = in->swap },
        .regs = in->regs,
        .exact = true,
        .all = all,
    };
}

uint32_t unwind_stack(const struct unwind_input *in, const struct unwind_source *src,
                      struct unwind_frame *frames, uint32_t cap, enum unwind_end *end)
{
    struct unwinder w = start(in, false);
    uint32_t n = 0;

    w.end = UNWIND_BAD_STEP;
    if (w.abi)
        n = unwind_stack_on(&w, src, frames, 0, cap);
    if (w.wants_all) {
        if (src->reads)
            src->reads->bad = true;
        w = start(in, true);
        n = unwind_stack_on(&w, src, frames, 0, cap);
    }
    if (w.end == UNWIND_ELSEWHERE && n)
        n = unwind_elsewhere(&w, src, in, frames, n, cap);
    *end = w.end;
    return n;
}
