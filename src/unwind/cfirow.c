// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfirow.h"

#include <string.h>

#include "unwind/dwarfread.h"
#include "unwind/general.h"

#define LR                  30 /* arm64: link register (return address) */
#define GENERAL_RULES_BYTES 8192

static bool is_register_plus(const struct cfi_rule *rule, unsigned reg, bool deref, int64_t *offset)
{
    return dwarf_is_register_plus(cursor_of(rule->bytes, rule->size, false), reg, deref, offset);
}

/* Matches the expression that linkers write for PLTs: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool is_plt(const struct cfi_rule *rule, int32_t *n)
{
    static const uint8_t head[] = { DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit0 + 15, DW_OP_and };
    static const uint8_t tail[] = { DW_OP_ge, DW_OP_lit0 + 3, DW_OP_shl, DW_OP_plus };
    const uint8_t *p = rule->bytes;

    if (rule->size != sizeof head + 1 + sizeof tail || memcmp(p, head, sizeof head) ||
        memcmp(p + sizeof head + 1, tail, sizeof tail) || p[sizeof head] < DW_OP_lit0 ||
        p[sizeof head] > DW_OP_lit0 + 15)
        return false;
    *n = p[sizeof head] - DW_OP_lit0;
    return true;
}

static bool put(int64_t value, int32_t *out)
{
    *out = (int32_t)value;
    return *out == value;
}

static bool put_cfa(const struct unwind_abi *abi, bool signal, const struct cfi_rule *cfa,
                    struct unwind_entry *out)
{
    int64_t offset;

    if (cfa->kind == CFI_REGISTER) {
        out->kind = cfa->size == abi->sp ? UNWIND_ROW_SP : UNWIND_ROW_FP;
        return !signal && (cfa->size == abi->sp || cfa->size == abi->fp) && put(cfa->value, &out->cfa_offset);
    }
    if (cfa->kind != CFI_VAL_EXPRESSION || signal)
        return false;
    out->kind = UNWIND_ROW_PLT;
    if (abi->pc == 16 && is_plt(cfa, &out->cfa_offset))
        return true;
    out->kind = UNWIND_ROW_DRAP;
    return is_register_plus(cfa, abi->fp, true, &offset) && put(offset, &out->cfa_offset);
}

static bool put_ra(const struct unwind_abi *abi, const struct cfi_rule *ra, struct unwind_entry *out)
{
    uint64_t reg = LR;

    if (ra->kind == CFI_OFFSET)
        return put(ra->value, &out->ra_offset);
    if (ra->kind == CFI_REGISTER)
        reg = (uint64_t)ra->value;
    else if ((ra->kind != CFI_UNSPECIFIED && ra->kind != CFI_SAME) || abi->ra != LR)
        return false;
    out->flags |= UNWIND_ENTRY_RA_IN_REGISTER;
    out->ra_register = (uint8_t)reg;
    return reg < UNWIND_REGS_MAX;
}

/* Gets where a register is saved: relative to the CFA, or to fp if only fp is stable (DRAP). */
static bool saved_at(const struct unwind_abi *abi, const struct cfi_rule *rule, enum unwind_row_kind kind,
                     bool *is_saved, int64_t *offset)
{
    *is_saved = rule->kind == CFI_OFFSET || rule->kind == CFI_EXPRESSION;
    if (rule->kind == CFI_OFFSET) {
        *offset = rule->value;
        return kind != UNWIND_ROW_DRAP;
    }
    if (rule->kind == CFI_EXPRESSION)
        return kind == UNWIND_ROW_DRAP && is_register_plus(rule, abi->fp, false, offset);
    return rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME || rule->kind == CFI_UNDEFINED;
}

static bool put_fp(const struct unwind_abi *abi, const struct cfi_state *s, struct unwind_entry *out)
{
    bool is_saved;
    int64_t offset = 0;

    if (!saved_at(abi, &s->regs[abi->fp], out->kind, &is_saved, &offset))
        return false;
    if (is_saved)
        out->flags |= UNWIND_ENTRY_FP_SAVED;
    return put(offset, &out->fp_offset);
}

static bool put_saved(const struct unwind_abi *abi, const struct cfi_state *s, struct unwind_entry *out)
{
    for (unsigned i = 0; i < abi->n_saved; i++) {
        bool is_saved;
        int64_t offset = 0;
        if (!saved_at(abi, &s->regs[abi->saved[i]], out->kind, &is_saved, &offset))
            return false;
        if (!is_saved)
            continue;
        if (offset % 8 || offset / 8 <= UNWIND_NOT_SAVED || offset / 8 > INT16_MAX)
            return false;
        out->saved[i] = (int16_t)(offset / 8);
    }
    return true;
}

/* Returns true if the caller's sp is the CFA, which is the default. */
static bool sp_is_cfa(const struct cfi_rule *sp)
{
    return sp->kind == CFI_UNSPECIFIED || sp->kind == CFI_SAME || (sp->kind == CFI_VAL_OFFSET && !sp->value);
}

static bool put_simple(const struct unwind_abi *abi, bool signal, const struct cfi_state *s,
                       struct unwind_entry *out)
{
    return put_cfa(abi, signal, &s->cfa, out) && put_ra(abi, &s->regs[abi->ra], out) &&
           sp_is_cfa(&s->regs[abi->sp]) && put_fp(abi, s, out) && put_saved(abi, s, out);
}

/* Returns true for the kernel's signal frame, whose layout is known. On arm64 the call-frame information
 * describes a nearby frame record that lacks the pc. */
static bool is_kernel_signal(const struct unwind_abi *abi, bool signal, const struct cfi_state *s)
{
    int64_t offset;

    if (!signal || abi->ra == LR)
        return signal;
    return s->cfa.kind == CFI_VAL_EXPRESSION && is_register_plus(&s->cfa, abi->sp, true, &offset) &&
           offset == 160;
}

struct writer {
    uint8_t bytes[GENERAL_RULES_BYTES];
    size_t n;
    bool bad;
};

static void write_bytes(struct writer *w, const void *p, size_t n)
{
    if (n > sizeof w->bytes - w->n) {
        w->bad = true;
        return;
    }
    memcpy(w->bytes + w->n, p, n);
    w->n += n;
}

static void write_u8(struct writer *w, uint64_t value)
{
    uint8_t byte = (uint8_t)value;

    w->bad |= value > UINT8_MAX;
    write_bytes(w, &byte, 1);
}

static void write_expression(struct writer *w, const struct cfi_rule *rule)
{
    uint16_t size = (uint16_t)rule->size;

    if (rule->size > GENERAL_EXPRESSION_MAX) {
        w->bad = true;
        return;
    }
    write_bytes(w, &size, sizeof size);
    write_bytes(w, rule->bytes, rule->size);
}

static void write_rule(struct writer *w, unsigned reg, const struct cfi_rule *rule)
{
    write_u8(w, reg);
    write_u8(w, rule->kind);
    if (rule->kind == CFI_OFFSET || rule->kind == CFI_VAL_OFFSET)
        write_bytes(w, &rule->value, sizeof rule->value);
    else if (rule->kind == CFI_REGISTER)
        write_u8(w, (uint64_t)rule->value);
    else if (rule->kind == CFI_EXPRESSION || rule->kind == CFI_VAL_EXPRESSION)
        write_expression(w, rule);
}

static void write_cfa(struct writer *w, const struct cfi_rule *cfa)
{
    write_u8(w, cfa->kind);
    if (cfa->kind == CFI_REGISTER) {
        write_u8(w, cfa->size);
        write_bytes(w, &cfa->value, sizeof cfa->value);
    } else if (cfa->kind == CFI_VAL_EXPRESSION) {
        write_expression(w, cfa);
    } else {
        w->bad = true;
    }
}

static bool has_rule(const struct unwind_abi *abi, const struct cfi_state *s, unsigned reg)
{
    return s->regs[reg].kind != CFI_UNSPECIFIED && (reg != abi->sp || !sp_is_cfa(&s->regs[reg]));
}

static bool put_general(struct rowbuild *b, const struct unwind_abi *abi, bool signal,
                        const struct cfi_state *s, struct unwind_entry *out)
{
    struct writer w;
    uint32_t at;
    unsigned n = 0;

    w.n = 0;
    w.bad = false;
    for (unsigned i = 0; i < UNWIND_REGS_MAX; i++)
        n += has_rule(abi, s, i);
    write_u8(&w, signal ? GENERAL_SIGNAL : 0);
    write_cfa(&w, &s->cfa);
    write_u8(&w, n);
    for (unsigned i = 0; i < UNWIND_REGS_MAX; i++)
        if (has_rule(abi, s, i))
            write_rule(&w, i, &s->regs[i]);
    if (w.bad || !rowbuild_rules(b, w.bytes, w.n, &at))
        return false;
    out->kind = UNWIND_ROW_GENERAL;
    out->cfa_offset = (int32_t)at;
    return true;
}

/* Returns true for a function that returns to an exception handler, like _Unwind_Resume. Such a function
 * saves the registers of the handler's arguments (rax and rdx, x0 and x1). At its end it has put the
 * handler's frame over its own, but its table still describes its own frame. */
static bool returns_to_handler(const struct cfi_state *s)
{
    return s->regs[0].kind == CFI_OFFSET && s->regs[1].kind == CFI_OFFSET;
}

void cfi_row(struct rowbuild *b, const struct unwind_abi *abi, bool signal, const struct cfi_state *s,
             struct unwind_entry *out)
{
    rowbuild_none(out);
    if (s->regs[abi->ra].kind == CFI_UNDEFINED) {
        out->kind = UNWIND_ROW_END;
        return;
    }
    if (is_kernel_signal(abi, signal, s)) {
        out->kind = UNWIND_ROW_SIGNAL;
        return;
    }
    if (!put_simple(abi, signal, s, out)) {
        rowbuild_none(out);
        if ((s->regs[abi->ra].kind == CFI_UNSPECIFIED && abi->ra != LR) ||
            !put_general(b, abi, signal, s, out))
            rowbuild_none(out);
    }
    if (out->kind != UNWIND_ROW_NONE && !signal && returns_to_handler(s))
        out->flags |= UNWIND_ENTRY_DEDUCED;
}
