// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/codestate.h"

#include <string.h>

#include "unwind/cfirow.h"
#include "unwind/dwarfread.h"

#define FAR_MAX        (1 << 24) /* bytes between a value and the CFA: no frame is larger */
#define CALLER_SAVED   0x0fc7u   /* rax, rcx, rdx, rsi, rdi, r8 to r11 */
#define EXPRESSION_MAX 24

/* Maps instruction register numbers to DWARF's. */
static const uint8_t dwarf_of[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
static const struct code_value unknown = { 0 };

void code_state_entry(struct code_state *s)
{
    static const uint8_t kept[] = { 3, X86_FP, 12, 13, 14, 15 };

    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < sizeof kept; i++)
        s->regs[kept[i]] = (struct code_value){ .kind = CODE_ORIGINAL, .reg = kept[i] };
    s->regs[X86_SP] = (struct code_value){ .kind = CODE_CFA, .offset = -8 };
    s->slots[0].at = s->regs[X86_SP];
    s->slots[0].holds.kind = CODE_RETURN;
    s->n_slots = 1;
}

static bool is_address(struct code_value v)
{
    return v.kind == CODE_CFA || v.kind == CODE_ALIGNED;
}

static struct code_value plus(struct code_value v, int64_t n)
{
    int64_t offset = (int64_t)v.offset + n;

    if (!is_address(v) || n < -FAR_MAX || n > FAR_MAX || offset < -FAR_MAX || offset > FAR_MAX)
        return unknown;
    v.offset = (int32_t)offset;
    return v;
}

static int order(struct code_value a, struct code_value b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    return a.offset < b.offset ? -1 : a.offset > b.offset;
}

/* Returns the index of the slot at an address, or where to insert it. */
static uint32_t slot_at(const struct code_state *s, struct code_value at, bool *found)
{
    uint32_t i = 0;

    while (i < s->n_slots && order(s->slots[i].at, at) < 0)
        i++;
    *found = i < s->n_slots && !order(s->slots[i].at, at);
    return i;
}

static void remove_slot(struct code_state *s, uint32_t i)
{
    memmove(&s->slots[i], &s->slots[i + 1], (s->n_slots - i - 1) * sizeof *s->slots);
    memset(&s->slots[--s->n_slots], 0, sizeof *s->slots);
}

static void store(struct code_state *s, struct code_value at, struct code_value v)
{
    bool found;
    uint32_t i;

    if (!is_address(at))
        return;
    i = slot_at(s, at, &found);
    if (found && v.kind == CODE_UNKNOWN) {
        remove_slot(s, i);
    } else if (found) {
        s->slots[i].holds = v;
    } else if (v.kind != CODE_UNKNOWN && s->n_slots < CODE_SLOTS_MAX) {
        memmove(&s->slots[i + 1], &s->slots[i], (s->n_slots - i) * sizeof *s->slots);
        s->slots[i] = (struct code_slot){ at, v };
        s->n_slots++;
    }
}

static struct code_value load(const struct code_state *s, struct code_value at)
{
    bool found;
    uint32_t i = slot_at(s, at, &found);

    return found ? s->slots[i].holds : unknown;
}

/* Drops the slots below sp, which an interrupt or signal may overwrite. */
static void set_sp(struct code_state *s, struct code_value v)
{
    s->regs[X86_SP] = v;
    for (uint32_t i = s->n_slots; is_address(v) && i--;)
        if (s->slots[i].at.kind == v.kind && s->slots[i].at.offset < v.offset)
            remove_slot(s, i);
}

static void set_reg(struct code_state *s, unsigned reg, struct code_value v)
{
    if (reg == X86_SP)
        set_sp(s, v);
    else if (reg < 16)
        s->regs[reg] = v;
}

/* Rounds sp down. Values relative to the last rounding become unknown, because the distance between the
 * two is unknown. */
static void align_sp(struct code_state *s)
{
    for (unsigned r = 0; r < 16; r++)
        if (s->regs[r].kind == CODE_ALIGNED)
            s->regs[r] = unknown;
    for (uint32_t i = s->n_slots; i--;)
        if (s->slots[i].at.kind == CODE_ALIGNED || s->slots[i].holds.kind == CODE_ALIGNED)
            remove_slot(s, i);
    s->regs[X86_SP] = (struct code_value){ .kind = CODE_ALIGNED };
}

static void step_stack(struct code_state *s, const struct x86_insn *insn)
{
    struct code_value sp = s->regs[X86_SP];
    struct code_value v = insn->reg < 16 ? s->regs[insn->reg] : unknown;

    switch (insn->kind) {
    case X86_PUSH:
        sp = plus(sp, -8);
        set_sp(s, sp);
        store(s, sp, v);
        break;
    case X86_LEAVE:
        sp = s->regs[X86_FP];
        /* fall through */
    default:
        v = is_address(sp) ? load(s, sp) : unknown;
        set_sp(s, plus(sp, 8));
        set_reg(s, insn->reg, v);
    }
}

static void change(struct code_state *s, const struct x86_insn *insn)
{
    struct code_value base = insn->base < 16 ? s->regs[insn->base] : unknown;

    switch (insn->kind) {
    case X86_PUSH:
    case X86_POP:
    case X86_LEAVE:
        step_stack(s, insn);
        break;
    case X86_COPY:
        set_reg(s, insn->reg, insn->value ? plus(base, insn->value) : base);
        break;
    case X86_ALIGN:
        if (insn->reg == X86_SP)
            align_sp(s);
        else
            set_reg(s, insn->reg, unknown);
        break;
    case X86_LOAD:
        base = plus(base, insn->value);
        set_reg(s, insn->reg, is_address(base) ? load(s, base) : unknown);
        break;
    case X86_STORE:
        store(s, plus(base, insn->value), insn->reg < 16 ? s->regs[insn->reg] : unknown);
        break;
    default:
        for (unsigned r = 0; r < 16; r++)
            if (insn->writes >> r & 1)
                set_reg(s, r, unknown);
    }
}

static bool is_known(const struct code_state *s, unsigned reg)
{
    return reg < 16 && s->regs[reg].kind != CODE_UNKNOWN;
}

/* Returns false for the common case of an instruction that changes nothing known. */
static bool may_change(const struct code_state *s, const struct x86_insn *insn)
{
    switch (insn->kind) {
    case X86_OTHER:
        for (uint32_t left = insn->writes; left; left &= left - 1)
            if (is_known(s, (unsigned)__builtin_ctz(left)))
                return true;
        return false;
    case X86_COPY:
    case X86_LOAD:
        return is_known(s, insn->reg) || is_known(s, insn->base);
    case X86_STORE:
        return is_known(s, insn->base);
    case X86_PUSH:
    case X86_POP:
    case X86_LEAVE:
    case X86_ALIGN:
        return true;
    default:
        return false;
    }
}

bool code_state_step(struct code_state *s, const struct x86_insn *insn)
{
    static const struct x86_insn call = { .writes = CALLER_SAVED };
    struct code_state before;

    if (insn->kind == X86_CALL || insn->kind == X86_CALL_INDIRECT)
        insn = &call;
    if (!may_change(s, insn))
        return false;
    before = *s;
    change(s, insn);
    return memcmp(s, &before, sizeof before) != 0;
}

bool code_state_meet(struct code_state *s, const struct code_state *other)
{
    bool changed = false;

    for (unsigned r = 0; r < 16; r++) {
        if (s->regs[r].kind == CODE_UNKNOWN || !memcmp(&s->regs[r], &other->regs[r], sizeof unknown))
            continue;
        s->regs[r] = unknown;
        changed = true;
    }
    for (uint32_t i = s->n_slots; i--;) {
        struct code_value there = load(other, s->slots[i].at);
        if (!memcmp(&s->slots[i].holds, &there, sizeof there))
            continue;
        remove_slot(s, i);
        changed = true;
    }
    return changed;
}

void code_state_middle(struct code_state *s)
{
    memset(s, 0, sizeof *s);
    s->regs[X86_SP].kind = CODE_CFA;
    s->regs[X86_FP].kind = CODE_ALIGNED;
}

bool code_state_takes_fp(struct code_state *s, const struct x86_insn *insn, struct code_value *from)
{
    struct code_value original = { .kind = CODE_ORIGINAL, .reg = X86_FP };

    if (insn->reg != X86_FP || (insn->kind != X86_POP && insn->kind != X86_LEAVE && insn->kind != X86_LOAD))
        return false;
    *from = s->regs[insn->kind == X86_POP ? X86_SP : X86_FP];
    if (insn->kind == X86_LOAD)
        *from = insn->base < 16 ? plus(s->regs[insn->base], insn->value) : unknown;
    if (!is_address(*from) || load(s, *from).kind != CODE_UNKNOWN)
        return false;
    store(s, *from, original);
    return true;
}

static const struct code_slot *slot_of(const struct code_state *s, struct code_value holds)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (!memcmp(&s->slots[i].holds, &holds, sizeof holds))
            return &s->slots[i];
    return NULL;
}

/* Writes the expression "rsp + offset" and returns its length. */
static uint32_t put_sp_plus(uint8_t *p, int64_t offset)
{
    uint32_t n = 0;

    p[n++] = DW_OP_breg0 + 7;
    for (bool more = true; more; offset >>= 7) {
        uint8_t byte = offset & 0x7f;
        more = !((offset >> 7 == 0 && !(byte & 0x40)) || (offset >> 7 == -1 && byte & 0x40));
        p[n++] = byte | (more ? 0x80 : 0);
    }
    return n;
}

/* Computes the CFA from a register, sp and fp first, or from a word above an aligned sp that holds an
 * address in the frame. */
static bool put_cfa(const struct code_state *s, struct cfi_rule *cfa, uint8_t expression[EXPRESSION_MAX])
{
    static const uint8_t order_of[] = { X86_SP, X86_FP, 3, 10, 12, 13, 14, 15, 0, 1, 2, 6, 7, 8, 9, 11 };
    struct code_value sp = s->regs[X86_SP];

    for (unsigned i = 0; i < sizeof order_of; i++) {
        struct code_value v = s->regs[order_of[i]];
        if (v.kind != CODE_CFA)
            continue;
        *cfa = (struct cfi_rule){ .kind = CFI_REGISTER,
                                  .size = dwarf_of[order_of[i]],
                                  .value = -(int64_t)v.offset };
        return true;
    }
    for (uint32_t i = 0; sp.kind == CODE_ALIGNED && i < s->n_slots; i++) {
        const struct code_slot *slot = &s->slots[i];
        uint32_t n;
        if (slot->at.kind != CODE_ALIGNED || slot->holds.kind != CODE_CFA || slot->holds.offset > 0)
            continue;
        n = put_sp_plus(expression, (int64_t)slot->at.offset - sp.offset);
        expression[n++] = DW_OP_deref;
        expression[n++] = DW_OP_plus_uconst;
        for (uint32_t left = (uint32_t)-slot->holds.offset, more = 1; more; left >>= 7) {
            more = left >> 7 != 0;
            expression[n++] = (uint8_t)((left & 0x7f) | (more ? 0x80 : 0));
        }
        *cfa = (struct cfi_rule){ .kind = CFI_VAL_EXPRESSION, .size = n, .bytes = expression };
        return true;
    }
    return false;
}

/* Finds where a register's original value is. Returns false if the register was changed and its value is
 * lost. */
static bool put_saved(const struct code_state *s, unsigned reg, struct cfi_rule *rule,
                      uint8_t expression[EXPRESSION_MAX])
{
    struct code_value original = { .kind = CODE_ORIGINAL, .reg = (uint8_t)reg }, sp = s->regs[X86_SP];
    const struct code_slot *slot;

    if (!memcmp(&s->regs[reg], &original, sizeof original))
        return true;
    slot = slot_of(s, original);
    if (slot && slot->at.kind == CODE_CFA)
        *rule = (struct cfi_rule){ .kind = CFI_OFFSET, .value = slot->at.offset };
    else if (slot && sp.kind == CODE_ALIGNED)
        *rule = (struct cfi_rule){ .kind = CFI_EXPRESSION,
                                   .size = put_sp_plus(expression, (int64_t)slot->at.offset - sp.offset),
                                   .bytes = expression };
    else
        return false;
    return true;
}

void code_state_row(const struct code_state *s, struct rowbuild *b, struct unwind_entry *out)
{
    static const uint8_t kept[] = { X86_FP, 3, 12, 13, 14, 15 };
    const struct unwind_abi *abi = unwind_arch_abi(UNWIND_ARCH_X86_64);
    struct code_value sp = s->regs[X86_SP], at = { .kind = CODE_CFA, .offset = -8 };
    uint8_t expressions[sizeof kept + 1][EXPRESSION_MAX];
    struct cfi_state cfi;
    bool lost = false;

    memset(&cfi, 0, sizeof cfi);
    rowbuild_none(out);
    if (load(s, at).kind != CODE_RETURN || (sp.kind == CODE_CFA && sp.offset > -8) ||
        !put_cfa(s, &cfi.cfa, expressions[0]))
        return;
    cfi.regs[abi->ra] = (struct cfi_rule){ .kind = CFI_OFFSET, .value = -8 };
    for (unsigned i = 0; i < sizeof kept; i++) {
        struct cfi_rule *rule = &cfi.regs[dwarf_of[kept[i]]];
        if (put_saved(s, kept[i], rule, expressions[i + 1]))
            continue;
        rule->kind = CFI_UNDEFINED;
        lost |= kept[i] == X86_FP;
    }
    cfi_row(b, abi, false, &cfi, out);
    if (out->kind == UNWIND_ROW_NONE)
        return;
    out->flags |= UNWIND_ENTRY_DEDUCED;
    if (lost)
        out->flags |= UNWIND_ENTRY_FP_LOST;
}
