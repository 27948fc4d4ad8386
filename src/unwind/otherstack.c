// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/otherstack.h"

#include "unwind/rowformat.h"

/* Frames: the function itself, and one that jumps to it (Go's asmcgocall_landingpad). */
#define CALLEES 2

static uint64_t chain_entry(const struct unwind_input *in, uint32_t i)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)in->chain + i * sizeof value, sizeof value);
    return value;
}

uint32_t otherstack_in_chain(const struct unwind_input *in, uint64_t fp)
{
    const struct unwind_memory dump = { .bytes = in->stack, .size = in->stack_bytes, .base = in->regs.sp };
    uint64_t at = in->regs.fp, up, back;

    if (in->swap || !in->n_chain || chain_entry(in, 0) != in->regs.pc)
        return 0;
    for (uint32_t i = 1; i < in->n_chain; i++) {
        if (at == fp)
            return i;
        if (!unwind_memory_word(&dump, at, &up) || !unwind_memory_word(&dump, at + 8, &back) ||
            back != chain_entry(in, i))
            return 0;
        at = up;
    }
    return 0;
}

static void set_regs(struct unwind_regs *regs, uint64_t pc, uint64_t sp, uint64_t fp)
{
    *regs = (struct unwind_regs){ .pc = pc, .sp = sp, .fp = fp };
}

static const struct unwind_entry *entry_of(const struct unwind_location *location)
{
    return location->entry || !location->rows ? location->entry
                                              : unwind_rows_entry(location->rows, location->offset);
}

/* Returns true if a return address needs no call instruction before it. A goroutine's first function
 * returns to the root; and Go programs put substitute return addresses on a stack. */
static bool needs_no_call(const struct unwind_location *location)
{
    const struct unwind_entry *entry = entry_of(location);

    return entry && (entry->kind == UNWIND_ROW_END ||
                     (entry->kind == UNWIND_ROW_SP && entry->flags & UNWIND_ENTRY_STANDS_IN));
}

enum unwind_call otherstack_check(const struct unwind_source *src, uint64_t back, uint64_t callee)
{
    struct unwind_location location = { 0 };

    if (!src->called || !src->find(src->ctx, back - 1, &location))
        return UNWIND_CALL_REFUTED;
    if (location.pending)
        return UNWIND_CALL_PENDING;
    return needs_no_call(&location) ? UNWIND_CALL_PROVEN : src->called(src->ctx, back, callee);
}

static enum unwind_end end_of(enum unwind_call call)
{
    return call == UNWIND_CALL_PROVEN    ? UNWIND_ROOT
           : call == UNWIND_CALL_PENDING ? UNWIND_PENDING
                                         : UNWIND_ELSEWHERE;
}

static bool is_root(const struct unwind_location *location)
{
    const struct unwind_entry *entry = entry_of(location);

    return entry && entry->kind == UNWIND_ROW_END;
}

static enum unwind_end add_caller(const struct otherstack *o, uint64_t back, uint64_t callee,
                                  struct unwind_frame *frame)
{
    struct unwind_location location = { 0 };
    enum unwind_end end = end_of(otherstack_check(o->src, back, callee));

    if (end != UNWIND_ROOT)
        return end;
    if (!o->src->find(o->src->ctx, back - 1, &location))
        return UNWIND_ELSEWHERE;
    *frame = (struct unwind_frame){ .addr = back - 1, .frame = location.frame };
    return is_root(&location) ? UNWIND_ROOT : UNWIND_KNOWN;
}

/* Adds the caller of a function without a frame, and keeps `back` for the next step. The frame at fp
 * returns to the caller's caller; so the call before `back` shows which function is missing, and that
 * function's calls show the location in it. */
static enum unwind_end add_hidden(const struct otherstack *o, uint64_t back, uint64_t callee,
                                  struct unwind_frame *frame)
{
    uint64_t between = 0;
    enum unwind_call call =
        o->src->between ? o->src->between(o->src->ctx, back, callee, &between) : UNWIND_CALL_REFUTED;

    return call == UNWIND_CALL_PROVEN ? add_caller(o, between, callee, frame) : end_of(call);
}

static const struct unwind_entry *entry_at(const struct otherstack *o, uint64_t addr)
{
    struct unwind_location location = { 0 };

    return o->src->find(o->src->ctx, addr, &location) ? entry_of(&location) : NULL;
}

static bool has_frame(const struct otherstack *o, const struct unwind_frame *frame)
{
    const struct unwind_entry *entry = entry_at(o, frame->addr);

    return !entry || entry->kind != UNWIND_ROW_SP || entry->flags & UNWIND_ENTRY_FP_SAVED;
}

uint32_t otherstack_follow(const struct otherstack *o, const struct unwind_input *in, uint32_t *at,
                           struct unwind_frame *frames, uint32_t cap, enum unwind_end *end)
{
    bool whole = o->own; /* the last function has a frame */
    uint64_t callee = o->callee;
    uint32_t n = 0;

    while (*at < in->n_chain && n < cap) {
        uint64_t back = chain_entry(in, *at);
        *end = whole ? add_caller(o, back, callee, &frames[n]) : add_hidden(o, back, callee, &frames[n]);
        if (*end == UNWIND_ROOT)
            return n + 1;
        if (*end != UNWIND_KNOWN)
            return n;
        *at += whole;
        callee = frames[n].addr;
        whole = !whole || has_frame(o, &frames[n]);
        n++;
    }
    *end = UNWIND_ELSEWHERE;
    return n;
}

bool otherstack_come_back(const struct otherstack *o, const struct unwind_input *in,
                          const struct unwind_frame *frames, uint32_t n, uint32_t at, uint64_t sp,
                          struct unwind_regs *regs)
{
    const struct unwind_entry *from = n > 1 ? entry_at(o, frames[n - 2].addr) : NULL;
    const struct unwind_memory dump = { .bytes = in->stack, .size = in->stack_bytes, .base = in->regs.sp };
    uint64_t wanted = chain_entry(in, at), back, up;

    if (!from || !(from->more & UNWIND_MORE_BOTH_STACKS))
        return false;
    for (; unwind_memory_word(&dump, sp, &up) && unwind_memory_word(&dump, sp + 8, &back); sp += 8)
        if (back == wanted) {
            set_regs(regs, back, sp + 16, up);
            return true;
        }
    return false;
}

bool otherstack_agrees(const struct otherstack *o, const struct unwind_input *in, uint32_t at,
                       const struct unwind_memory *later)
{
    uint64_t fp = o->fp, up, back;

    for (; at < in->n_chain && unwind_memory_word(later, fp, &up) && unwind_memory_word(later, fp + 8, &back);
         at++) {
        if (back != chain_entry(in, at)) {
            struct unwind_location location = { 0 };
            /* It is not a code address: the frame pointer of the callchain was not one there. */
            return !o->src->find(o->src->ctx, chain_entry(in, at) - 1, &location);
        }
        if (up <= fp)
            break;
        fp = up;
    }
    return true;
}

/* Tests if the word at an address is the return address into the function whose frame pointer is o->fp. */
static enum unwind_end try_word(const struct otherstack *o, uint64_t at, uint64_t back)
{
    struct unwind_location location = { 0 };
    const struct unwind_entry *entry;
    uint64_t cfa;

    if (!o->src->find(o->src->ctx, back - 1, &location))
        return UNWIND_ELSEWHERE;
    if (location.pending)
        return UNWIND_PENDING;
    entry = entry_of(&location);
    if (!entry || entry->kind != UNWIND_ROW_SP || !(entry->flags & UNWIND_ENTRY_FP_SAVED))
        return UNWIND_ELSEWHERE;
    cfa = at + 8 + (uint64_t)(int64_t)entry->cfa_offset;
    if (cfa + (uint64_t)(int64_t)entry->fp_offset != o->fp)
        return UNWIND_ELSEWHERE;
    return end_of(otherstack_check(o->src, back, o->callee));
}

static enum unwind_end find_own(const struct otherstack *o, const struct unwind_memory *later,
                                struct unwind_regs *regs)
{
    uint64_t up, back;

    if (!unwind_memory_word(later, o->fp, &up) || !unwind_memory_word(later, o->fp + 8, &back))
        return UNWIND_ELSEWHERE;
    set_regs(regs, back, o->fp + 16, up);
    return end_of(otherstack_check(o->src, back, o->callee));
}

static enum unwind_end find_callers(const struct otherstack *o, const struct unwind_memory *later,
                                    struct unwind_regs *regs, uint64_t *arguments)
{
    enum unwind_end end = UNWIND_ELSEWHERE;
    uint64_t back;

    for (uint64_t at = o->fp - 8; unwind_memory_word(later, at, &back) && end == UNWIND_ELSEWHERE; at -= 8) {
        end = try_word(o, at, back);
        if (end == UNWIND_ROOT)
            set_regs(regs, back, *arguments = at + 8, o->fp);
    }
    return end;
}

enum unwind_end otherstack_find(const struct otherstack *o, const struct unwind_memory *later,
                                struct unwind_regs *regs, uint64_t *function)
{
    uint64_t arguments = o->fp + 16;
    enum unwind_end end = o->own ? find_own(o, later, regs) : find_callers(o, later, regs, &arguments);

    if (!unwind_memory_word(later, arguments, function))
        *function = 0;
    return end;
}

/* Returns true if a function starts at `address` and contains the frame. */
static bool begins_function(const struct otherstack *o, uint64_t address, const struct unwind_frame *frame)
{
    struct unwind_location begin = { 0 }, inside = { 0 };
    uint64_t start, size;

    return o->src->find(o->src->ctx, address, &begin) && o->src->find(o->src->ctx, frame->addr, &inside) &&
           inside.rows && begin.rows == inside.rows &&
           unwind_rows_function(inside.rows, inside.offset, &start, &size) && start == begin.offset;
}

bool otherstack_calls(const struct otherstack *o, uint64_t function, const struct unwind_frame *frames,
                      uint32_t n)
{
    for (uint32_t i = 0; function && i < CALLEES && i < n; i++)
        if (begins_function(o, function, &frames[n - 1 - i]))
            return true;
    return false;
}
