// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind.h"

#include "unwind/general.h"
#include "unwind/otherstack.h"
#include "unwind/rowformat.h"
#include "unwind/signalframe.h"
#include "unwind/unwind_state.h"

#define FP_STEP_MAX (16u << 10)
/* Bytes beyond the dump: no frame is larger. */
#define FAR        (UINT64_C(16) << 20)
#define DUMP_MOST  65536 /* bytes: the kernel's limit of a stack dump */
#define FIRST_PAGE 4096
/* Frames before src->knows is called: with fewer, more paths lead on; with more, less work is saved. */
#define ASK_AFTER 2
#define RESULT    0 /* DWARF number of the register with a syscall's result: rax, x0 */

static bool stop(struct unwinder *w, enum unwind_end end)
{
    w->end = end;
    return false;
}

/* Sets why a word is missing: the stack is deeper than its dump, or the address is nonsense. */
static bool stop_missing(struct unwinder *w, uint64_t addr)
{
    uint64_t past = addr - w->m.base;

    if (w->elsewhere)
        return stop(w, UNWIND_ELSEWHERE);
    if (w->beyond || past < w->m.size + FAR)
        return stop(w, UNWIND_DUMP);
    return stop(w, UNWIND_BAD_STEP);
}

static bool load(struct unwinder *w, uint64_t addr, uint64_t *value)
{
    return unwind_memory_word(&w->m, addr, value) || stop_missing(w, addr);
}

static void set_known(struct unwind_regs *regs, unsigned reg, uint64_t value)
{
    regs->r[reg] = value;
    regs->known |= UINT64_C(1) << reg;
}

static uint64_t fp_of(struct unwinder *w)
{
    if (w->fp_supplied)
        w->m.reads->fp = true;
    return w->regs.fp;
}

/* Steps over a signal frame. The interrupted code may have used another stack. */
static bool step_signal(struct unwinder *w)
{
    uint64_t sp = w->regs.sp;

    if (!unwind_signal_take(w->arch, &w->m, sp, &w->regs))
        return stop_missing(w, sp);
    if (w->regs.sp - sp >= w->m.base + w->m.size - sp)
        w->beyond = true;
    if (w->beyond && w->regs.sp - w->m.base >= DUMP_MOST)
        w->elsewhere = true;
    w->exact = true;
    w->by_fp = w->weak_sp = w->fp_supplied = false;
    w->proven = true;
    return true;
}

/* Steps by frame pointer. x86-64: the return address is above the saved rbp, and the frame ends there.
 * arm64: the frame record has two words; where the frame ends is unknown. */
static bool step_by_fp(struct unwinder *w)
{
    struct unwind_regs *r = &w->regs;
    uint64_t fp = fp_of(w), up, pc;

    if (!w->exact && unwind_signal_is(w->arch, &w->m, r->sp))
        return step_signal(w);
    /* A chain of frame pointers ends in 0, but a register that is no frame pointer may be 0 as well: no
     * root without a proof. */
    if (!fp)
        return stop(w, w->by_fp ? UNWIND_UNPROVEN : UNWIND_NO_TABLE);
    if (fp < r->sp || fp % 8 || fp - r->sp > FP_STEP_MAX)
        return stop(w, UNWIND_NO_TABLE);
    if (!load(w, fp, &up) || !load(w, fp + 8, &pc))
        return false;
    r->known = 0;
    r->pc = unwind_arch_strip(w->arch, pc);
    r->fp = up;
    r->sp = fp + 16;
    set_known(r, w->abi->sp, r->sp);
    set_known(r, w->abi->fp, r->fp);
    w->exact = w->fp_supplied = w->proven = false;
    w->by_fp = true;
    w->weak_sp = w->arch == UNWIND_ARCH_ARM64;
    return true;
}

static bool step_general(struct unwinder *w, const struct unwind_rows *rows, uint32_t at)
{
    struct unwind_regs before = w->regs;
    uint64_t missing;
    bool signal = false;

    if (!w->all && !w->exact) {
        w->wants_all = true;
        return stop(w, UNWIND_BAD_STEP);
    }
    w->all = true;
    (void)fp_of(w);
    if (!unwind_general_step(rows, at, w->arch, &w->m, &w->regs, &signal, &missing)) {
        w->regs = before;
        return missing ? stop_missing(w, missing) : stop(w, UNWIND_BAD_STEP);
    }
    if (w->regs.sp <= before.sp && !signal)
        return stop(w, UNWIND_BAD_STEP);
    w->exact = signal;
    w->by_fp = w->weak_sp = false;
    w->proven = true;
    return true;
}

static bool find_cfa(struct unwinder *w, const struct unwind_entry *entry, uint64_t *cfa)
{
    uint64_t offset = (uint64_t)(int64_t)entry->cfa_offset;

    switch (entry->kind) {
    case UNWIND_ROW_SP:
        *cfa = w->regs.sp + offset;
        if (w->weak_sp && entry->flags & UNWIND_ENTRY_FP_SAVED) /* fp points to the saved fp */
            *cfa = fp_of(w) - (uint64_t)(int64_t)entry->fp_offset;
        return true;
    case UNWIND_ROW_FP:
        *cfa = fp_of(w) + offset;
        return true;
    case UNWIND_ROW_PLT:
        *cfa = w->regs.sp + 8 + ((int64_t)(w->regs.pc & 15) >= entry->cfa_offset ? 8 : 0);
        return true;
    default:
        return load(w, fp_of(w) + offset, cfa);
    }
}

/* Returns true if the slot is below sp: the epilogue has popped it, and the register has its value
 * again. Call-frame information rarely says so. */
static bool is_popped(const struct unwinder *w, uint64_t addr)
{
    return addr < w->regs.sp;
}

/* Restores callee-saved registers. Only a general row further up the stack needs them. */
static void restore_saved(struct unwinder *w, const struct unwind_entry *entry, uint64_t base)
{
    uint64_t kept = UINT64_C(1) << w->abi->fp;

    for (unsigned i = 0; i < w->abi->n_saved; i++) {
        uint64_t addr = base + (uint64_t)((int64_t)entry->saved[i] * 8), value;
        uint64_t bit = UINT64_C(1) << w->abi->saved[i];
        if (entry->saved[i] == UNWIND_NOT_SAVED || is_popped(w, addr)) {
            kept |= bit;
        } else if (unwind_memory_word(&w->m, addr, &value)) {
            set_known(&w->regs, w->abi->saved[i], value);
            kept |= bit;
        }
    }
    w->regs.known &= kept;
}

static bool find_ra(struct unwinder *w, const struct unwind_entry *entry, uint64_t cfa, uint64_t *ra)
{
    if (!(entry->flags & UNWIND_ENTRY_RA_IN_REGISTER))
        return load(w, cfa + (uint64_t)(int64_t)entry->ra_offset, ra);
    /* Valid only if no call has changed it since. */
    return (w->exact && unwind_regs_value(&w->regs, entry->ra_register, ra)) || stop(w, UNWIND_BAD_STEP);
}

static bool step_by_entry(struct unwinder *w, const struct unwind_entry *entry)
{
    struct unwind_regs *r = &w->regs;
    bool leaf = w->exact && entry->flags & UNWIND_ENTRY_RA_IN_REGISTER;
    uint64_t cfa, ra, fp = r->fp, base, fp_at, result;

    if (entry->flags & UNWIND_ENTRY_CLONE && unwind_regs_value(r, RESULT, &result) && !result)
        return stop(w, UNWIND_ROOT);
    if (!find_cfa(w, entry, &cfa))
        return false;
    /* The CFA grows with each step, so no table can make a loop. */
    if (cfa < r->sp || (cfa == r->sp && !leaf))
        return stop(w, UNWIND_BAD_STEP);
    base = entry->kind == UNWIND_ROW_DRAP ? r->fp : cfa;
    fp_at = base + (uint64_t)(int64_t)entry->fp_offset;
    if (!find_ra(w, entry, cfa, &ra))
        return false;
    if (entry->flags & UNWIND_ENTRY_FP_SAVED && !is_popped(w, fp_at)) {
        if (!load(w, fp_at, &fp))
            return false;
        w->fp_supplied = false;
    }
    if (entry->flags & UNWIND_ENTRY_FP_LOST) {
        fp = 0;
        w->fp_supplied = false;
    }
    if (w->all && !(entry->flags & UNWIND_ENTRY_CLOBBERS))
        restore_saved(w, entry, base);
    else
        r->known = 0;
    r->pc = unwind_arch_strip(w->arch, ra);
    r->sp = cfa;
    r->fp = fp;
    set_known(r, w->abi->sp, cfa);
    set_known(r, w->abi->fp, fp);
    w->exact = entry->flags & UNWIND_ENTRY_INJECTED;
    w->by_fp = w->weak_sp = false;
    w->proven = true;
    return true;
}

/* Steps by a known frame size. Such code saves no register for its callers, so a general row further up
 * finds none. */
static bool step_by_size(struct unwinder *w, const struct unwind_location *location)
{
    struct unwind_entry entry = {
        .kind = UNWIND_ROW_SP,
        .flags = location->fp_saved ? UNWIND_ENTRY_FP_SAVED : 0,
        .cfa_offset = (int32_t)location->frame_size,
        .ra_offset = -8,
        .fp_offset = -16,
    };
    bool all = w->all;

    if (location->frame_size > INT32_MAX)
        return stop(w, UNWIND_BAD_STEP);
    w->all = false;
    bool stepped = step_by_entry(w, &entry);
    w->all = all;
    /* Such code always has a caller: a return address of 0 is no root. */
    w->proven = false;
    return stepped;
}

/* Steps by frame pointer in HotSpot's interpreter. The callee's locals extend the caller's frame, so its
 * own sp may be above the end of this frame. */
static bool step_by_sender(struct unwinder *w)
{
    uint64_t fp = w->regs.fp, sp;

    if (!step_by_fp(w))
        return false;
    if (w->by_fp && unwind_memory_word(&w->m, fp - 8, &sp) && sp % 8 == 0 && sp > w->regs.sp &&
        sp - fp <= FP_STEP_MAX) {
        w->regs.sp = sp;
        set_known(&w->regs, w->abi->sp, sp);
    }
    return true;
}

static enum unwind_row_kind kind_of(const struct unwind_entry *entry)
{
    return entry ? (enum unwind_row_kind)entry->kind : UNWIND_ROW_NONE;
}

static bool step_by_table(struct unwinder *w, const struct unwind_location *location,
                          const struct unwind_entry *entry)
{
    switch (kind_of(entry)) {
    case UNWIND_ROW_SP:
    case UNWIND_ROW_FP:
    case UNWIND_ROW_PLT:
    case UNWIND_ROW_DRAP:
        return step_by_entry(w, entry);
    case UNWIND_ROW_SIGNAL:
        return step_signal(w);
    case UNWIND_ROW_END:
        return stop(w, UNWIND_ROOT);
    case UNWIND_ROW_SWITCH:
        return stop(w, UNWIND_ELSEWHERE);
    case UNWIND_ROW_GENERAL:
        return step_general(w, location->rows, (uint32_t)entry->cfa_offset);
    default:
        return stop(w, UNWIND_NO_TABLE);
    }
}

/* Steps from a function that has saved nothing (yet). x86-64: the return address is the last word;
 * arm64: it is in a register. */
static bool step_bare(struct unwinder *w, const struct unwind_location *location)
{
    static const struct unwind_entry x86_64 = { .kind = UNWIND_ROW_SP, .cfa_offset = 8, .ra_offset = -8 };
    struct unwind_entry arm64 = { .kind = UNWIND_ROW_SP, .flags = UNWIND_ENTRY_RA_IN_REGISTER };

    (void)location;
    if (!w->exact)
        return stop(w, UNWIND_UNPROVEN);
    arm64.ra_register = w->abi->ra;
    return step_by_entry(w, w->arch == UNWIND_ARCH_ARM64 ? &arm64 : &x86_64);
}

static bool step_frame_record(struct unwinder *w, const struct unwind_location *location)
{
    return w->arch == UNWIND_ARCH_X86_64 && location->sender_sp ? step_by_sender(w) : step_by_fp(w);
}

static enum unwind_call check_caller(const struct unwinder *w, const struct unwind_source *src,
                                     uint64_t callee)
{
    if (w->regs.pc < FIRST_PAGE)
        return UNWIND_CALL_REFUTED;
    return src->called ? src->called(src->ctx, w->regs.pc, callee) : UNWIND_CALL_UNKNOWN;
}

/* Steps from code without a table. Tries its deduced rows, then what functions usually do; each only if
 * a call instruction proves it. If the caller's code cannot be read, the deduced rows are believed. */
static bool step_proven(struct unwinder *w, const struct unwind_source *src,
                        const struct unwind_location *location, const struct unwind_entry *entry,
                        uint64_t callee)
{
    static bool (*const ways[])(struct unwinder *, const struct unwind_location *) = { step_bare,
                                                                                       step_frame_record };
    const struct unwinder from = *w;
    bool deduced = kind_of(entry) != UNWIND_ROW_NONE;
    enum unwind_end end = UNWIND_UNPROVEN;

    for (unsigned i = deduced ? 0 : 1; i < 3; i++) {
        bool stepped = i ? ways[i - 1](w, location) : step_by_table(w, location, entry);
        enum unwind_call call =
            stepped && !(w->exact && !from.exact) ? check_caller(w, src, callee) : UNWIND_CALL_PROVEN;
        if (w->wants_all || (stepped && (call == UNWIND_CALL_PROVEN || (!i && call == UNWIND_CALL_UNKNOWN))))
            return stepped;
        if (stepped && call == UNWIND_CALL_PENDING) {
            *w = from;
            return stop(w, UNWIND_PENDING);
        }
        if (!stepped && !i && w->end == UNWIND_DUMP)
            end = w->end;
        *w = from;
    }
    return stop(w, end);
}

/* Steps from code with unknown bounds. If it keeps a frame pointer, its callers are assumed to keep one,
 * too. */
static bool step_unknown(struct unwinder *w, const struct unwind_source *src,
                         const struct unwind_location *location, uint64_t callee)
{
    struct unwind_location deduced = *location;
    const struct unwind_entry *entry = NULL;

    if (src->deduce)
        src->deduce(src->ctx, callee, w->regs.pc, &deduced);
    if (deduced.pending)
        return stop(w, UNWIND_PENDING);
    if (deduced.rows)
        entry = unwind_rows_entry(deduced.rows, deduced.offset);
    if (!step_proven(w, src, &deduced, entry, callee))
        return false;
    w->by_fp |= kind_of(entry) == UNWIND_ROW_FP;
    return true;
}

/* Checks a caller in memory that was read after the sample: it may have changed since. */
static bool check_later(struct unwinder *w, const struct unwind_source *src, uint64_t callee)
{
    enum unwind_call call = otherstack_check(src, w->regs.pc, callee);

    return call == UNWIND_CALL_PROVEN ||
           stop(w, call == UNWIND_CALL_PENDING ? UNWIND_PENDING : UNWIND_ELSEWHERE);
}

/* Steps from JIT-compiled code. Methods are replaced and moved: the frame size may be outdated, and then
 * no call proves the step. */
static bool step_jit(struct unwinder *w, const struct unwind_source *src,
                     const struct unwind_location *location, uint64_t callee)
{
    const struct unwinder from = *w;
    enum unwind_call call;

    if (w->arch != UNWIND_ARCH_X86_64 || !location->frame_size)
        return step_frame_record(w, location);
    if (!step_by_size(w, location))
        return false;
    call = check_caller(w, src, callee);
    if (call == UNWIND_CALL_PROVEN || call == UNWIND_CALL_UNKNOWN)
        return true;
    *w = from;
    return call == UNWIND_CALL_PENDING ? stop(w, UNWIND_PENDING) : step_unknown(w, src, location, callee);
}

static bool step(struct unwinder *w, const struct unwind_source *src, const struct unwind_location *location,
                 const struct unwind_entry *entry, uint64_t callee)
{
    if (location->pending)
        return stop(w, UNWIND_PENDING);
    if (location->jit && location->unproven && (!w->by_fp || location->sender_sp))
        return step_unknown(w, src, location, callee);
    if (location->jit && !location->rows)
        return step_jit(w, src, location, callee);
    if (kind_of(entry) == UNWIND_ROW_NONE || entry->flags & UNWIND_ENTRY_DEDUCED)
        return step_proven(w, src, location, entry, callee);
    if (!step_by_table(w, location, entry))
        return false;
    return !w->later || w->exact || check_later(w, src, callee);
}

/* Sets the frame to the start of the function at a "return address" that no call pushed; the byte before
 * it belongs to another function. */
static void begin_there(const struct unwind_source *src, struct unwind_frame *frame)
{
    struct unwind_location location = { 0 };

    if (!src->find(src->ctx, frame->addr + 1, &location))
        return;
    *frame = (struct unwind_frame){ .addr = frame->addr + 1, .frame = location.frame, .exact = true };
}

/* Replaces a substitute return address: shows the call for which it was put on the stack. */
static uint64_t stand_in(const struct unwind_source *src, const struct unwind_location *at,
                         struct unwind_frame *frame, const struct unwind_entry *entry)
{
    struct unwind_location location = { 0 };
    uint64_t begin, size, addr;

    if (!unwind_rows_function(at->rows, at->offset, &begin, &size))
        return frame->addr;
    addr = frame->addr - (at->offset - begin) + (uint64_t)(int64_t)unwind_entry_stands_for(entry);
    if (src->find(src->ctx, addr, &location))
        *frame = (struct unwind_frame){ .addr = addr, .frame = location.frame };
    return frame->addr;
}

/* Returns true if a function starts at the return address and no code is before it. Such addresses are
 * pushed as the return address of a coroutine's outermost function (makecontext) or of a signal handler. */
static bool is_base(const struct unwinder *w, const struct unwind_source *src)
{
    struct unwind_location location = { 0 };
    uint64_t start, size;

    return src->find(src->ctx, w->regs.pc, &location) && location.rows &&
           unwind_rows_function(location.rows, location.offset, &start, &size) && start == location.offset;
}

/* Steps over a signal frame that a table describes as a normal function (Go's trampoline): the "return
 * address" was the first word of the signal frame. */
static bool fix_signal(struct unwinder *w, uint64_t sp)
{
    if (w->exact || !unwind_signal_is(w->arch, &w->m, sp))
        return false;
    w->regs.sp = sp;
    return step_signal(w);
}

/* Steps one frame up. Moves `frame` to the start of its function if it was not called. */
static bool go_up(struct unwinder *w, const struct unwind_source *src, const struct unwind_location *location,
                  struct unwind_frame *frame)
{
    const struct unwind_entry *entry = location->entry;
    bool called = !w->exact;
    uint64_t sp = w->regs.sp, callee = w->regs.pc - called;

    if (!entry && location->rows)
        entry = unwind_rows_entry(location->rows, location->offset);
    if (called && location->rows && kind_of(entry) == UNWIND_ROW_NONE && is_base(w, src)) {
        begin_there(src, frame);
        return unwind_signal_is(w->arch, &w->m, sp) ? step_signal(w) : stop(w, UNWIND_ROOT);
    }
    if (called && kind_of(entry) == UNWIND_ROW_SIGNAL)
        begin_there(src, frame);
    if (called && entry && entry->flags & UNWIND_ENTRY_STANDS_IN && location->rows)
        callee = stand_in(src, location, frame, entry);
    w->last = entry;
    if (called && entry && entry->more & UNWIND_MORE_BOTH_STACKS && !w->stays)
        return stop(w, UNWIND_ELSEWHERE);
    if (!step(w, src, location, entry, callee))
        return false;
    if (w->regs.pc >= FIRST_PAGE)
        return true;
    if (called && fix_signal(w, sp)) {
        begin_there(src, frame);
        return true;
    }
    /* A table of assembly may cover many functions (LuaJIT), and is wrong for a leaf. */
    return w->regs.pc || stop(w, w->proven && called ? UNWIND_ROOT : UNWIND_UNPROVEN);
}

/* Returns true if only pc, sp, fp and memory determine the next frames. */
static bool begins_plain(const struct unwinder *w)
{
    return !w->all && !w->exact && !w->by_fp && !w->beyond;
}

uint32_t unwind_stack_on(struct unwinder *w, const struct unwind_source *src, struct unwind_frame *frames,
                         uint32_t n, uint32_t cap)
{
    for (; n < cap; n++) {
        struct unwind_location location = { 0 };
        uint64_t addr = w->regs.pc - !w->exact;
        if (!src->find(src->ctx, addr, &location)) {
            w->end = w->by_fp ? UNWIND_NO_TABLE : UNWIND_NO_MAP;
            return n;
        }
        frames[n] = (struct unwind_frame){ .addr = addr, .frame = location.frame, .exact = w->exact };
        if (!go_up(w, src, &location, &frames[n]))
            return n + 1;
        if (n + 1 == ASK_AFTER && src->knows && begins_plain(w)) {
            if (src->knows(src->ctx, frames, n + 1, &w->m, &w->regs)) {
                w->end = UNWIND_KNOWN;
                return n + 1;
            }
            w->m.reads = src->reads;
            unwind_reads_begin(src->reads, w->regs.sp);
            w->fp_supplied = true;
        }
    }
    w->end = UNWIND_DEEP;
    return cap;
}
