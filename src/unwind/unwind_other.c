// SPDX-License-Identifier: GPL-2.0-or-later
/* Continues an unwind after a stack switch, on the stack that the program left. */
#include "unwind/otherstack.h"
#include "unwind/rowformat.h"
#include "unwind/unwind_state.h"

#define CHANGES_MAX 8 /* stack switches per unwind */

/* Returns whose frame fp belongs to in interrupted Go code: the function's own, if it has made its
 * frame; else its caller's. */
static enum unwind_switch made_frame(const struct unwinder *w)
{
    const struct unwind_entry *e = w->last;
    bool saved = e->flags & UNWIND_ENTRY_FP_SAVED;

    if (e->kind != UNWIND_ROW_SP || !(e->flags & UNWIND_ENTRY_CLOBBERS))
        return UNWIND_SWITCH_LOST;
    if (!saved)
        return UNWIND_SWITCH_CALLERS;
    return w->regs.sp + (uint64_t)(int64_t)e->cfa_offset + (uint64_t)(int64_t)e->fp_offset == w->regs.fp
               ? UNWIND_SWITCH_OWN
               : UNWIND_SWITCH_LOST;
}

static enum unwind_switch frame_of_fp(const struct unwinder *w)
{
    if (w->end != UNWIND_ELSEWHERE || !w->last)
        return UNWIND_SWITCH_LOST;
    if (w->last->more & UNWIND_MORE_BOTH_STACKS)
        return UNWIND_SWITCH_OWN;
    if (w->last->kind == UNWIND_ROW_SWITCH)
        return (enum unwind_switch)w->last->cfa_offset;
    return w->elsewhere ? made_frame(w) : UNWIND_SWITCH_LOST;
}

/* Gets the memory around fp: from the sample, or read later. */
static enum unwind_call memory_at(const struct otherstack *o, const struct unwind_input *in,
                                  struct unwind_memory *out)
{
    const struct unwind_memory dump = {
        .bytes = in->stack, .size = in->stack_bytes, .base = in->regs.sp, .swap = in->swap
    };
    uint64_t word;

    *out = dump;
    if (unwind_memory_word(&dump, o->fp + 8, &word))
        return UNWIND_CALL_PROVEN;
    return o->src->other ? o->src->other(o->src->ctx, o->fp, out) : UNWIND_CALL_REFUTED;
}

/* Checks that memory read later still matches the sample: by the callchain, or by the function that is
 * called. */
static bool is_of_then(const struct otherstack *o, const struct unwind_input *in, uint32_t in_chain,
                       const struct unwind_memory *m, uint64_t function, const struct unwind_frame *frames,
                       uint32_t n)
{
    return in_chain ? otherstack_agrees(o, in, in_chain, m) : otherstack_calls(o, function, frames, n);
}

/* Rejects memory that was read later. */
static uint32_t refuse(struct unwinder *w, const struct otherstack *o, uint32_t n)
{
    if (w->end != UNWIND_PENDING)
        w->end = o->src->again(o->src->ctx, o->fp) ? UNWIND_PENDING : UNWIND_ELSEWHERE;
    return n;
}

/* Adds the callers on the other stack from its memory. Returns the new number of frames. */
static uint32_t unwind_from_memory(struct unwinder *w, const struct otherstack *o,
                                   const struct unwind_input *in, uint32_t in_chain,
                                   struct unwind_frame *frames, uint32_t n, uint32_t cap)
{
    struct unwind_memory m;
    uint64_t function;
    uint32_t more;
    enum unwind_call call = memory_at(o, in, &m);
    bool later = m.bytes != in->stack;

    w->end = call == UNWIND_CALL_PENDING ? UNWIND_PENDING : UNWIND_ELSEWHERE;
    if (call != UNWIND_CALL_PROVEN)
        return n;
    w->end = otherstack_find(o, &m, &w->regs, &function);
    if (w->end == UNWIND_ROOT && later && !is_of_then(o, in, in_chain, &m, function, frames, n - 1))
        w->end = UNWIND_ELSEWHERE;
    if (w->end != UNWIND_ROOT)
        return later ? refuse(w, o, n) : n;
    w->m = m;
    w->later = later;
    w->proven = true;
    w->exact = w->by_fp = w->beyond = w->elsewhere = w->fp_supplied = false;
    more = unwind_stack_on(w, o->src, frames, n, cap);
    if (more > n && frame_of_fp(w) != UNWIND_SWITCH_LOST)
        return more;
    if (!later || (w->end == UNWIND_ROOT &&
                   (in_chain || o->src->believe(o->src->ctx, o->fp, function, frames + n - 1, more - n + 1))))
        return more;
    return refuse(w, o, n);
}

static uint32_t go_elsewhere(struct unwinder *w, const struct otherstack *o, const struct unwind_input *in,
                             struct unwind_frame *frames, uint32_t n, uint32_t cap)
{
    uint32_t first = otherstack_in_chain(in, o->fp), next = first, more;
    /* By a signal: the thread is back long before that stack can be read. */
    bool interrupted = w->elsewhere;

    w->last = NULL;
    if (first) {
        more = otherstack_follow(o, in, &next, frames + n, cap - n, &w->end);
        if (w->end != UNWIND_ELSEWHERE)
            return n + more;
        if (otherstack_come_back(o, in, frames + n, more, next - 1, w->regs.sp, &w->regs)) {
            w->exact = w->by_fp = w->fp_supplied = false;
            return unwind_stack_on(w, o->src, frames, n + more - 1, cap);
        }
    }
    return interrupted ? n : unwind_from_memory(w, o, in, first, frames, n, cap);
}

uint32_t unwind_elsewhere(struct unwinder *w, const struct unwind_source *src, const struct unwind_input *in,
                          struct unwind_frame *frames, uint32_t n, uint32_t cap)
{
    enum unwind_switch of;

    for (unsigned i = 0; i < CHANGES_MAX && (of = frame_of_fp(w)) != UNWIND_SWITCH_LOST; i++) {
        const struct otherstack o = {
            .src = src, .fp = w->regs.fp, .callee = frames[n - 1].addr, .own = of == UNWIND_SWITCH_OWN
        };
        if (src->reads)
            src->reads->bad = true; /* the dump alone does not determine the result */
        const struct unwinder from = *w;
        uint32_t more = go_elsewhere(w, &o, in, frames, n, cap);
        if (more == n && w->end == UNWIND_ELSEWHERE && from.last->more & UNWIND_MORE_BOTH_STACKS) {
            *w = from;
            w->stays = true;
            more = unwind_stack_on(w, src, frames, n - 1, cap);
        }
        n = more;
    }
    return n;
}
