// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the stack of a 32-bit program (i386) on a 64-bit kernel.
 *
 * Uses tables and, where there are none, steps that a call instruction proves. Registers and words have
 * 4 bytes; only ebp is tracked. */
#include "unwind/expression.h"
#include "unwind/rowformat.h"
#include "unwind/unwind.h"

#define FIRST_PAGE  4096
#define FP_STEP_MAX (16u << 10)
#define FAR         (16u << 20) /* bytes beyond the dump: no frame is larger */
#define CANDIDATES  2

struct regs {
    uint32_t pc, sp, fp;
};

struct unwinder_32 {
    const struct unwind_input *in;
    const struct unwind_source *src;
    struct regs regs;
    bool exact; /* regs.pc is a pc, not a return address */
    enum unwind_end end;
};

static bool stop(struct unwinder_32 *w, enum unwind_end end)
{
    w->end = end;
    return false;
}

static bool load(struct unwinder_32 *w, uint32_t addr, uint32_t *value)
{
    uint64_t at = addr - w->in->regs.sp;

    if (at > w->in->stack_bytes || w->in->stack_bytes - at < sizeof *value)
        return stop(w, at < w->in->stack_bytes + FAR ? UNWIND_DUMP : UNWIND_BAD_STEP);
    memcpy(value, w->in->stack + at, sizeof *value);
    if (w->in->swap)
        *value = bswap_32(*value);
    return true;
}

static bool find_cfa(struct unwinder_32 *w, const struct unwind_entry *e, uint32_t *cfa)
{
    uint32_t offset = (uint32_t)e->cfa_offset;

    if (e->kind == UNWIND_ROW_DRAP)
        return load(w, w->regs.fp + offset, cfa);
    *cfa = (e->kind == UNWIND_ROW_SP ? w->regs.sp : w->regs.fp) + offset;
    return true;
}

static bool step_by_entry(struct unwinder_32 *w, const struct unwind_entry *e)
{
    struct regs *r = &w->regs;
    uint32_t cfa, back, fp = r->fp, base, fp_at;

    if (e->flags & UNWIND_ENTRY_RA_IN_REGISTER)
        return stop(w, UNWIND_BAD_STEP);
    if (!find_cfa(w, e, &cfa))
        return false;
    if (cfa <= r->sp)
        return stop(w, UNWIND_BAD_STEP);
    base = e->kind == UNWIND_ROW_DRAP ? r->fp : cfa;
    fp_at = base + (uint32_t)e->fp_offset;
    if (!load(w, cfa + (uint32_t)e->ra_offset, &back))
        return false;
    /* A slot below sp was popped by the epilogue. */
    if (e->flags & UNWIND_ENTRY_FP_SAVED && fp_at >= r->sp && !load(w, fp_at, &fp))
        return false;
    *r = (struct regs){ back, cfa, fp };
    w->exact = false;
    return true;
}

/* Tries a usual step: the function has saved nothing (yet), or it starts with a frame record. */
static bool try_way(struct unwinder_32 *w, unsigned way)
{
    struct regs *r = &w->regs;
    uint32_t back, fp = r->fp;

    if (way == 0) {
        if (!w->exact || !load(w, r->sp, &back))
            return false;
        *r = (struct regs){ back, r->sp + 4, fp };
    } else {
        if (fp < r->sp || fp % 4 || fp - r->sp > FP_STEP_MAX || !load(w, fp, &r->fp) ||
            !load(w, fp + 4, &back))
            return false;
        *r = (struct regs){ back, fp + 8, r->fp };
    }
    w->exact = false;
    return true;
}

static bool step_proven(struct unwinder_32 *w, uint64_t callee)
{
    const struct unwinder_32 from = *w;

    for (unsigned way = 0; way < CANDIDATES; way++) {
        enum unwind_call call = UNWIND_CALL_REFUTED;
        if (try_way(w, way) && w->regs.pc >= FIRST_PAGE && w->src->called)
            call = w->src->called(w->src->ctx, w->regs.pc, callee);
        if (call == UNWIND_CALL_PROVEN)
            return true;
        *w = from;
        if (call == UNWIND_CALL_PENDING)
            return stop(w, UNWIND_PENDING);
    }
    return stop(w, UNWIND_UNPROVEN);
}

static const struct unwind_entry *entry_of(const struct unwind_location *location)
{
    if (!location->rows || unwind_rows_arch(location->rows) != UNWIND_ARCH_I386)
        return NULL;
    return location->entry ? location->entry : unwind_rows_entry(location->rows, location->offset);
}

static bool step(struct unwinder_32 *w, const struct unwind_location *location, uint64_t callee)
{
    const struct unwind_entry *e = entry_of(location);

    if (location->pending)
        return stop(w, UNWIND_PENDING);
    switch (e ? (enum unwind_row_kind)e->kind : UNWIND_ROW_NONE) {
    case UNWIND_ROW_SP:
    case UNWIND_ROW_FP:
    case UNWIND_ROW_DRAP:
        if (!step_by_entry(w, e))
            return false;
        return w->regs.pc || stop(w, UNWIND_ROOT);
    case UNWIND_ROW_END:
        return stop(w, UNWIND_ROOT);
    default:
        return step_proven(w, callee);
    }
}

uint32_t unwind_stack_32(const struct unwind_input *in, const struct unwind_source *src,
                         struct unwind_frame *frames, uint32_t cap, enum unwind_end *end)
{
    struct unwinder_32 w = {
        .in = in,
        .src = src,
        .regs = { (uint32_t)in->regs.pc, (uint32_t)in->regs.sp, (uint32_t)in->regs.fp },
        .exact = true,
        .end = UNWIND_DEEP,
    };
    uint32_t n = 0;

    while (n < cap) {
        struct unwind_location location = { 0 };
        uint64_t addr = (uint64_t)w.regs.pc - !w.exact;
        if (!src->find(src->ctx, addr, &location)) {
            w.end = UNWIND_NO_MAP;
            break;
        }
        frames[n++] = (struct unwind_frame){ .addr = addr, .frame = location.frame, .exact = w.exact };
        if (!step(&w, &location, addr))
            break;
    }
    *end = w.end;
    return n;
}
