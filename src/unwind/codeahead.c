// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/codeahead.h"

#include "base/mem.h"
#include "unwind/codestate.h"
#include "unwind/rowbuild.h"

/* Branch targets to try if the straight path leads to no return. */
#define BRANCHES_MAX 64
#define WORD         8
#define FRAME_MAX    (1 << 24)

struct way {
    size_t at;
    struct code_state state;
    struct code_value fp_from; /* from where the caller's fp was restored last */
};
struct search {
    const uint8_t *code;
    size_t size;
    uint8_t *seen; /* per byte of code: an instruction there was followed */
    struct way *branches;
    unsigned n, steps;
};

static bool is_address(struct code_value v)
{
    return v.kind == CODE_CFA || v.kind == CODE_ALIGNED;
}

/* Fills the entry when the next instruction is a return: sp then points to the return address. */
static bool put_entry(const struct way *w, struct unwind_entry *out)
{
    struct code_value sp = w->state.regs[X86_SP], fp = w->state.regs[X86_FP];
    int64_t cfa = (int64_t)sp.offset + WORD, saved = (int64_t)w->fp_from.offset - cfa;

    if (!is_address(sp) || cfa < WORD || cfa > FRAME_MAX)
        return false;
    rowbuild_none(out);
    out->kind = sp.kind == CODE_CFA ? UNWIND_ROW_SP : UNWIND_ROW_FP;
    out->flags = UNWIND_ENTRY_DEDUCED;
    out->cfa_offset = (int32_t)cfa;
    out->ra_offset = -WORD;
    if (fp.kind == CODE_ORIGINAL && w->fp_from.kind == sp.kind && saved >= -FRAME_MAX && saved <= -2 * WORD) {
        out->flags |= UNWIND_ENTRY_FP_SAVED;
        out->fp_offset = (int32_t)saved;
    } else if (fp.kind != CODE_ALIGNED || fp.offset) {
        out->flags |= UNWIND_ENTRY_FP_LOST;
    }
    return true;
}

/* Keeps the target of a branch for later. Both paths may end in a return; the fall-through is tried
 * first. */
static void keep_branch(struct search *s, const struct way *w, uint64_t target)
{
    if (s->n == BRANCHES_MAX || target >= s->size || s->seen[target])
        return;
    s->branches[s->n] = *w;
    s->branches[s->n++].at = (size_t)target;
}

/* Applies an instruction. Returns false if the path ends there or becomes unknown. */
static bool step(struct search *s, struct way *w, const struct x86_insn *insn)
{
    size_t next = w->at + insn->size;
    uint64_t target = next + (uint64_t)insn->value;
    struct code_value from;

    switch (insn->kind) {
    case X86_JUMP:
        w->at = (size_t)target;
        return target < s->size;
    case X86_BRANCH:
        keep_branch(s, w, target);
        break;
    case X86_JUMP_INDIRECT:
    case X86_TRAP:
        return false;
    case X86_CALL:
        if (target == next) /* only reads rip */
            return false;
        /* fall through */
    default:
        if (code_state_takes_fp(&w->state, insn, &from))
            w->fp_from = from;
        (void)code_state_step(&w->state, insn);
    }
    w->at = next;
    return is_address(w->state.regs[X86_SP]);
}

static bool follow(struct search *s, struct way *w, struct unwind_entry *out)
{
    struct x86_insn insn;

    for (; s->steps && w->at < s->size && !s->seen[w->at]; s->steps--) {
        s->seen[w->at] = 1;
        if (!x86_decode(s->code + w->at, s->size - w->at, true, &insn))
            return false;
        if (insn.kind == X86_RETURN)
            return put_entry(w, out);
        if (!step(s, w, &insn))
            return false;
    }
    return false;
}

bool codeahead_entry(const uint8_t *code, size_t size, size_t at, struct unwind_entry *out)
{
    struct search s = { .code = code, .size = size, .steps = CODEAHEAD_STEPS };
    struct way w = { .at = at };
    bool found;

    s.seen = mem_try_array(size, 1);
    s.branches = mem_try_array(BRANCHES_MAX, sizeof *s.branches);
    code_state_middle(&w.state);
    found = s.seen && s.branches && follow(&s, &w, out);
    while (!found && s.seen && s.branches && s.n) {
        w = s.branches[--s.n];
        found = follow(&s, &w, out);
    }
    mem_free(s.seen);
    mem_free(s.branches);
    return found;
}
