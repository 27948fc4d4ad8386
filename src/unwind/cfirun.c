// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfirun.h"

#include "unwind/dwarf.h"

struct runner {
    struct cfi_run *r;
    struct cursor *c;
    unsigned n_kept;
    bool changed; /* since the last address */
    bool done;    /* the end of the function is reached */
    struct cfi_state *kept;
};

static struct cfi_rule expression(struct cursor *c, enum cfi_rule_kind kind)
{
    uint64_t n = dwarf_uleb(c);
    const uint8_t *bytes = n <= UINT32_MAX ? cursor_bytes(c, (size_t)n) : NULL;

    if (!bytes)
        c->bad = true;
    return (struct cfi_rule){ .kind = (uint8_t)kind, .size = bytes ? (uint32_t)n : 0, .bytes = bytes };
}

static struct cfi_rule number(enum cfi_rule_kind kind, uint64_t value)
{
    return (struct cfi_rule){ .kind = (uint8_t)kind, .value = (int64_t)value };
}

/* Products of numbers from a file: they may wrap, but not trap. */
static uint64_t scaled(const struct runner *x, uint64_t factor)
{
    return factor * (uint64_t)x->r->data_align;
}

static void set(struct runner *x, uint64_t reg, struct cfi_rule rule)
{
    if (reg < x->r->n_regs) {
        x->r->state.regs[reg] = rule;
        x->changed = true;
    }
}

static void restore(struct runner *x, uint64_t reg)
{
    if (reg < x->r->n_regs && x->r->initial)
        set(x, reg, x->r->initial->regs[reg]);
}

static void advance_to(struct runner *x, uint64_t at)
{
    struct cfi_run *r = x->r;

    if (at < r->at) {
        x->c->bad = true;
        return;
    }
    if (x->changed && at > r->at && r->advance) {
        r->advance(r->ctx, r->at, &r->state);
        x->changed = false;
    }
    if (at >= r->size)
        x->done = true;
    else
        r->at = at;
}

static void advance_by(struct runner *x, uint64_t delta)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(delta, x->r->code_align, &bytes) || bytes > x->r->size - x->r->at)
        bytes = x->r->size - x->r->at;
    advance_to(x, x->r->at + bytes);
}

static void set_loc(struct runner *x)
{
    uint64_t addr;

    if (x->r->pointer && x->r->pointer(x->r->ctx, x->c, &addr) && addr >= x->r->begin)
        advance_to(x, addr - x->r->begin);
    else
        x->c->bad = true;
}

static void remember(struct runner *x)
{
    if (x->n_kept == CFI_REMEMBER_MAX)
        x->c->bad = true;
    else
        x->kept[x->n_kept++] = x->r->state;
}

/* The CFA comes back as well: DWARF 3 left it open, and all compilers count on it. */
static void recall(struct runner *x)
{
    if (!x->n_kept) {
        x->c->bad = true;
        return;
    }
    x->r->state = x->kept[--x->n_kept];
    x->changed = true;
}

static void define_cfa(struct runner *x, uint64_t reg, uint64_t offset)
{
    x->r->state.cfa = number(CFI_REGISTER, offset);
    x->r->state.cfa.size = reg < UNWIND_REGS_MAX ? (uint32_t)reg : UNWIND_REGS_MAX;
    x->changed = true;
}

static void move_cfa(struct runner *x, uint64_t offset)
{
    if (x->r->state.cfa.kind == CFI_REGISTER)
        define_cfa(x, x->r->state.cfa.size, offset);
    else
        x->c->bad = true;
}

static void cfa_instruction(struct runner *x, uint8_t op)
{
    uint64_t reg;

    switch (op) {
    case DW_CFA_DEF_CFA:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, dwarf_uleb(x->c));
        break;
    case DW_CFA_DEF_CFA_SF:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, scaled(x, (uint64_t)dwarf_sleb(x->c)));
        break;
    case DW_CFA_DEF_CFA_REGISTER:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, x->r->state.cfa.kind == CFI_REGISTER ? (uint64_t)x->r->state.cfa.value : 0);
        break;
    case DW_CFA_DEF_CFA_OFFSET:
        move_cfa(x, dwarf_uleb(x->c));
        break;
    case DW_CFA_DEF_CFA_OFFSET_SF:
        move_cfa(x, scaled(x, (uint64_t)dwarf_sleb(x->c)));
        break;
    default:
        x->r->state.cfa = expression(x->c, CFI_VAL_EXPRESSION);
        x->changed = true;
    }
}

static void register_instruction(struct runner *x, uint8_t op)
{
    uint64_t reg = dwarf_uleb(x->c);

    switch (op) {
    case DW_CFA_OFFSET_EXTENDED:
        set(x, reg, number(CFI_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_OFFSET_EXTENDED_SF:
        set(x, reg, number(CFI_OFFSET, scaled(x, (uint64_t)dwarf_sleb(x->c))));
        break;
    case DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set(x, reg, number(CFI_OFFSET, -scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_RESTORE_EXTENDED:
        restore(x, reg);
        break;
    case DW_CFA_UNDEFINED:
        set(x, reg, number(CFI_UNDEFINED, 0));
        break;
    case DW_CFA_SAME_VALUE:
        set(x, reg, number(CFI_SAME, 0));
        break;
    case DW_CFA_REGISTER:
        set(x, reg, number(CFI_REGISTER, dwarf_uleb(x->c)));
        break;
    case DW_CFA_VAL_OFFSET:
        set(x, reg, number(CFI_VAL_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_VAL_OFFSET_SF:
        set(x, reg, number(CFI_VAL_OFFSET, scaled(x, (uint64_t)dwarf_sleb(x->c))));
        break;
    case DW_CFA_EXPRESSION:
        set(x, reg, expression(x->c, CFI_EXPRESSION));
        break;
    case DW_CFA_VAL_EXPRESSION:
        set(x, reg, expression(x->c, CFI_VAL_EXPRESSION));
        break;
    default:
        x->c->bad = true;
    }
}

static void other_instruction(struct runner *x, uint8_t op)
{
    switch (op) {
    case DW_CFA_NOP:
    case DW_CFA_AARCH64_NEGATE_RA_STATE: /* addresses are stripped of what it would tell to check */
    case DW_CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
        break;
    case DW_CFA_SET_LOC:
        set_loc(x);
        break;
    case DW_CFA_ADVANCE_LOC1:
        advance_by(x, cursor_u8(x->c));
        break;
    case DW_CFA_ADVANCE_LOC2:
        advance_by(x, cursor_u16(x->c));
        break;
    case DW_CFA_ADVANCE_LOC4:
        advance_by(x, cursor_u32(x->c));
        break;
    case DW_CFA_REMEMBER_STATE:
        remember(x);
        break;
    case DW_CFA_RESTORE_STATE:
        recall(x);
        break;
    case DW_CFA_GNU_ARGS_SIZE:
        dwarf_uleb(x->c);
        break;
    case DW_CFA_DEF_CFA:
    case DW_CFA_DEF_CFA_SF:
    case DW_CFA_DEF_CFA_REGISTER:
    case DW_CFA_DEF_CFA_OFFSET:
    case DW_CFA_DEF_CFA_OFFSET_SF:
    case DW_CFA_DEF_CFA_EXPRESSION:
        cfa_instruction(x, op);
        break;
    default:
        register_instruction(x, op);
    }
}

static void instruction(struct runner *x)
{
    uint8_t op = cursor_u8(x->c), operand = op & 0x3f;

    switch (op & 0xc0) {
    case DW_CFA_ADVANCE_LOC:
        advance_by(x, operand);
        break;
    case DW_CFA_OFFSET:
        set(x, operand, number(CFI_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_RESTORE:
        restore(x, operand);
        break;
    default:
        other_instruction(x, op);
    }
}

bool cfi_run(struct cfi_run *r, struct cursor *c)
{
    struct cfi_state kept[CFI_REMEMBER_MAX]; /* large: not to be cleared for each function */
    struct runner x = { .r = r, .c = c, .changed = true, .kept = kept };

    while (cursor_left(c) && !c->bad && !x.done && *r->budget) {
        --*r->budget;
        instruction(&x);
    }
    if (x.changed && r->advance && !c->bad)
        r->advance(r->ctx, r->at, &r->state);
    return !c->bad && *r->budget;
}
