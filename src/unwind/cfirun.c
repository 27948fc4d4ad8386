// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfirun.h"

#include <string.h>

#include "unwind/dwarfread.h"

struct runner {
    struct cfi_run *r;
    struct cursor *c;
    unsigned n_kept;
    bool changed; /* since the last advance */
    bool done;    /* reached the end of the function */
    uint32_t kept[CFI_REMEMBER_MAX];
    /* A copy of state r->now, which the current instruction changes. */
    struct cfi_state *state;
};

static struct cfi_rule expression(struct cursor *c, enum cfi_rule_kind kind)
{
    uint64_t n = dwarf_uleb(c);
    const uint8_t *bytes = n <= UINT32_MAX ? cursor_bytes(c, (size_t)n) : NULL;

    if (!bytes)
        c->bad = true;
    return (struct cfi_rule){ .kind = kind, .size = bytes ? (uint32_t)n : 0, .bytes = bytes };
}

static struct cfi_rule number(enum cfi_rule_kind kind, uint64_t value)
{
    return (struct cfi_rule){ .kind = kind, .value = (int64_t)value };
}

/* Multiplies numbers from a file: the product may wrap, but must not trap. */
static uint64_t scaled(const struct runner *x, uint64_t factor)
{
    return factor * (uint64_t)x->r->data_align;
}

static void set(struct runner *x, uint64_t reg, struct cfi_rule rule)
{
    if (reg < x->r->n_regs)
        x->state->regs[reg] = rule;
}

static void restore(struct runner *x, uint64_t reg)
{
    if (reg < x->r->n_regs && x->r->initial != CFI_NO_STATE)
        set(x, reg, cfi_states_at(x->r->states, x->r->initial)->state.regs[reg]);
}

static void advance_to(struct runner *x, uint64_t at)
{
    struct cfi_run *r = x->r;

    if (at < r->at) {
        x->c->bad = true;
        return;
    }
    if (x->changed && at > r->at && r->advance) {
        r->advance(r->ctx, r->at, r->now);
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

    if (x->r->pointer(x->r, x->c, &addr) && addr >= x->r->begin)
        advance_to(x, addr - x->r->begin);
    else
        x->c->bad = true;
}

static void remember(struct runner *x)
{
    if (x->n_kept == CFI_REMEMBER_MAX)
        x->c->bad = true;
    else
        x->kept[x->n_kept++] = x->r->now;
}

/* Restores the CFA as well: DWARF 3 left this open, and all compilers rely on it. */
static void recall(struct runner *x)
{
    if (!x->n_kept) {
        x->c->bad = true;
        return;
    }
    x->r->now = x->kept[--x->n_kept];
    x->changed = true;
}

static void define_cfa(struct runner *x, uint64_t reg, uint64_t offset)
{
    x->state->cfa = number(CFI_REGISTER, offset);
    x->state->cfa.size = reg < UNWIND_REGS_MAX ? (uint32_t)reg : UNWIND_REGS_MAX;
}

static void move_cfa(struct runner *x, uint64_t offset)
{
    if (x->state->cfa.kind == CFI_REGISTER)
        define_cfa(x, x->state->cfa.size, offset);
    else
        x->c->bad = true;
}

static void cfa_instruction(struct runner *x, uint8_t op)
{
    uint64_t reg;

    switch (op) {
    case DW_CFA_def_cfa:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, dwarf_uleb(x->c));
        break;
    case DW_CFA_def_cfa_sf:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, scaled(x, (uint64_t)dwarf_sleb(x->c)));
        break;
    case DW_CFA_def_cfa_register:
        reg = dwarf_uleb(x->c);
        define_cfa(x, reg, x->state->cfa.kind == CFI_REGISTER ? (uint64_t)x->state->cfa.value : 0);
        break;
    case DW_CFA_def_cfa_offset:
        move_cfa(x, dwarf_uleb(x->c));
        break;
    case DW_CFA_def_cfa_offset_sf:
        move_cfa(x, scaled(x, (uint64_t)dwarf_sleb(x->c)));
        break;
    default:
        x->state->cfa = expression(x->c, CFI_VAL_EXPRESSION);
    }
}

static void register_instruction(struct runner *x, uint8_t op)
{
    uint64_t reg = dwarf_uleb(x->c);

    switch (op) {
    case DW_CFA_offset_extended:
        set(x, reg, number(CFI_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_offset_extended_sf:
        set(x, reg, number(CFI_OFFSET, scaled(x, (uint64_t)dwarf_sleb(x->c))));
        break;
    case DW_CFA_GNU_negative_offset_extended:
        set(x, reg, number(CFI_OFFSET, -scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_restore_extended:
        restore(x, reg);
        break;
    case DW_CFA_undefined:
        set(x, reg, number(CFI_UNDEFINED, 0));
        break;
    case DW_CFA_same_value:
        set(x, reg, number(CFI_SAME, 0));
        break;
    case DW_CFA_register:
        set(x, reg, number(CFI_REGISTER, dwarf_uleb(x->c)));
        break;
    case DW_CFA_val_offset:
        set(x, reg, number(CFI_VAL_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_val_offset_sf:
        set(x, reg, number(CFI_VAL_OFFSET, scaled(x, (uint64_t)dwarf_sleb(x->c))));
        break;
    case DW_CFA_expression:
        set(x, reg, expression(x->c, CFI_EXPRESSION));
        break;
    case DW_CFA_val_expression:
        set(x, reg, expression(x->c, CFI_VAL_EXPRESSION));
        break;
    default:
        x->c->bad = true;
    }
}

/* Runs an instruction that changes the state. */
static void change(struct runner *x)
{
    uint8_t op = cursor_u8(x->c), operand = op & 0x3f;

    switch (op & 0xc0) {
    case DW_CFA_offset:
        set(x, operand, number(CFI_OFFSET, scaled(x, dwarf_uleb(x->c))));
        break;
    case DW_CFA_restore:
        restore(x, operand);
        break;
    default:
        if (op >= DW_CFA_def_cfa && op <= DW_CFA_def_cfa_expression)
            cfa_instruction(x, op);
        else if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf)
            cfa_instruction(x, op);
        else
            register_instruction(x, op);
    }
}

/* Returns the number of operands of the most frequent instructions. */
static unsigned usual_operands(uint8_t op, bool *is_usual)
{
    *is_usual = true;
    if ((op & 0xc0) == DW_CFA_offset || op == DW_CFA_def_cfa_offset || op == DW_CFA_def_cfa_register)
        return 1;
    if (op == DW_CFA_def_cfa)
        return 2;
    *is_usual = (op & 0xc0) == DW_CFA_restore;
    return 0;
}

/* Returns the bytes of a frequent instruction as one number. 0: it is another one, or longer than 8
 * bytes. */
static uint64_t whole_instruction(const struct cursor *c, size_t *n)
{
    size_t left = cursor_left(c), most = left < sizeof(uint64_t) ? left : sizeof(uint64_t);
    bool is_usual;
    unsigned operands = usual_operands(*c->p, &is_usual);
    uint64_t bytes = *c->p;

    for (*n = 1; operands && *n < most; ++*n) {
        operands -= !(c->p[*n] & 0x80);
        bytes |= (uint64_t)c->p[*n] << 8 * *n;
    }
    return is_usual && !operands ? bytes : 0;
}

static void change_state(struct runner *x)
{
    struct cfi_run *r = x->r;
    size_t n = 0;
    uint64_t bytes = whole_instruction(x->c, &n);
    struct cfi_step *step = cfi_states_step(r->states, bytes, r->now, r->location);
    uint32_t from = r->now;

    x->changed = true;
    if (bytes && step->instruction == bytes && step->from == from && step->location == r->location) {
        r->now = step->to;
        cursor_skip(x->c, n);
        return;
    }
    *x->state = cfi_states_at(r->states, from)->state;
    change(x);
    r->now = cfi_states_number(r->states, x->state);
    if (r->now == CFI_NO_STATE) {
        r->now = from;
        x->c->bad = true;
    } else if (bytes && !x->c->bad) {
        *step = (struct cfi_step){ bytes, from, r->now, r->location };
    }
}

static void instruction(struct runner *x)
{
    uint8_t op = *x->c->p;

    if ((op & 0xc0) == DW_CFA_advance_loc) {
        cursor_skip(x->c, 1);
        advance_by(x, op & 0x3f);
        return;
    }
    if (op & 0xc0) {
        change_state(x);
        return;
    }
    switch (op) {
    case DW_CFA_nop:
    /* No effect: addresses are stripped of the signature that it describes. */
    case DW_CFA_AARCH64_NEGATE_RA_STATE:
    case DW_CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
        cursor_skip(x->c, 1);
        break;
    case DW_CFA_set_loc:
        cursor_skip(x->c, 1);
        set_loc(x);
        break;
    case DW_CFA_advance_loc1:
        cursor_skip(x->c, 1);
        advance_by(x, cursor_u8(x->c));
        break;
    case DW_CFA_advance_loc2:
        cursor_skip(x->c, 1);
        advance_by(x, cursor_u16(x->c));
        break;
    case DW_CFA_advance_loc4:
        cursor_skip(x->c, 1);
        advance_by(x, cursor_u32(x->c));
        break;
    case DW_CFA_remember_state:
        cursor_skip(x->c, 1);
        remember(x);
        break;
    case DW_CFA_restore_state:
        cursor_skip(x->c, 1);
        recall(x);
        break;
    case DW_CFA_GNU_args_size:
        cursor_skip(x->c, 1);
        dwarf_uleb(x->c);
        break;
    default:
        change_state(x);
    }
}

bool cfi_run(struct cfi_run *r, struct cursor *c)
{
    struct cfi_state state; /* large, so do not clear it for each function */
    struct runner x;

    x.r = r;
    x.c = c;
    x.n_kept = 0;
    x.changed = true;
    x.done = false;
    x.state = &state;
    while (cursor_left(c) && !c->bad && !x.done && *r->budget) {
        --*r->budget;
        instruction(&x);
    }
    if (x.changed && r->advance && !c->bad)
        r->advance(r->ctx, r->at, r->now);
    return !c->bad && *r->budget;
}
