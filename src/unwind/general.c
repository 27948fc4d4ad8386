// SPDX-License-Identifier: GPL-2.0-or-later
/* Evaluates general unwind rules. libunwind is not used for it, because the tables are files of other
 * users, and flametop has more rights than their owner: libunwind 1.6.2 loops forever on a DW_OP_skip to
 * itself, and dies of SIGFPE on INT64_MIN / -1. It is only the oracle of the tests. */
#include "unwind/general.h"

#include "unwind/cfirun.h"
#include "unwind/dwarfread.h"
#include "unwind/expression.h"
#include "unwind/rowformat.h"

struct rule { /* a rule, as read from the blob */
    uint8_t kind, reg;
    int64_t value;
    struct cursor expression;
};
struct step {
    const struct unwind_memory *m;
    const struct unwind_abi *abi;
    bool signal;
    struct unwind_regs old;
    struct unwind_regs *regs; /* registers of the caller */
    uint64_t cfa;
    uint64_t missing;
};

static bool evaluate(struct step *s, struct cursor expression, const uint64_t *cfa, uint64_t *value)
{
    return unwind_evaluate(s->m, &s->old, expression, cfa, value, &s->missing);
}

static bool load(struct step *s, uint64_t addr, uint64_t *value)
{
    if (unwind_memory_word(s->m, addr, value))
        return true;
    s->missing = addr;
    return false;
}

/* Reads a rule: its kind, then the fields of that kind. */
static bool read_rule(struct cursor *c, struct rule *rule)
{
    size_t n;

    rule->kind = cursor_u8(c);
    rule->value = 0;
    switch (rule->kind) {
    case CFI_SAME:
    case CFI_UNDEFINED:
        break;
    case CFI_OFFSET:
    case CFI_VAL_OFFSET:
        rule->value = (int64_t)cursor_u64(c);
        break;
    case CFI_REGISTER:
        rule->value = cursor_u8(c);
        break;
    case CFI_EXPRESSION:
    case CFI_VAL_EXPRESSION:
        n = cursor_u16(c);
        rule->expression = cursor_of(c->p, n <= cursor_left(c) ? n : 0, false);
        cursor_skip(c, n);
        break;
    default:
        c->bad = true;
    }
    return !c->bad;
}

static bool find_cfa(struct step *s, struct cursor *c)
{
    const uint8_t *kind = c->p;
    struct rule rule;
    uint64_t value;

    if (!read_rule(c, &rule))
        return false;
    if (*kind == CFI_VAL_EXPRESSION)
        return evaluate(s, rule.expression, NULL, &s->cfa);
    if (*kind != CFI_REGISTER || !unwind_regs_value(&s->old, (uint64_t)rule.value, &value))
        return false;
    s->cfa = value + cursor_u64(c);
    return !c->bad;
}

/* Returns true if a register that was saved relative to fp has its value again: fp is restored, and so points
 * out of this frame. GCC's table does not say so in the epilogue of a function that realigned sp:
 *     pop %rbp; lea -8(%r10),%rsp; ret */
static bool is_popped(const struct step *s, const struct rule *rule)
{
    uint64_t fp;
    int64_t offset;

    return rule->kind == CFI_EXPRESSION && !s->signal &&
           dwarf_is_register_plus(rule->expression, s->abi->fp, false, &offset) &&
           unwind_regs_value(&s->old, s->abi->fp, &fp) && fp + (uint64_t)offset >= s->cfa;
}

static bool apply(struct step *s, const struct rule *rule, uint64_t *value)
{
    uint64_t addr;

    if (is_popped(s, rule))
        return unwind_regs_value(&s->old, rule->reg, value);
    switch (rule->kind) {
    case CFI_SAME:
        return unwind_regs_value(&s->old, rule->reg, value);
    case CFI_OFFSET:
        return load(s, s->cfa + (uint64_t)rule->value, value);
    case CFI_VAL_OFFSET:
        *value = s->cfa + (uint64_t)rule->value;
        return true;
    case CFI_REGISTER:
        return unwind_regs_value(&s->old, (uint64_t)rule->value, value);
    case CFI_EXPRESSION:
        return evaluate(s, rule->expression, &s->cfa, &addr) && load(s, addr, value);
    case CFI_VAL_EXPRESSION:
        return evaluate(s, rule->expression, &s->cfa, value);
    default:
        return false;
    }
}

static void give(struct unwind_regs *regs, unsigned reg, bool known, uint64_t value)
{
    regs->r[reg] = value;
    regs->known = (regs->known & ~(UINT64_C(1) << reg)) | (uint64_t)known << reg;
}

/* Sets the defaults without rules: sp is the CFA; callee-saved registers and fp keep their values;
 * others are lost. */
static void give_defaults(struct step *s)
{
    const struct unwind_abi *abi = s->abi;
    uint64_t keep = UINT64_C(1) << abi->fp;

    for (unsigned i = 0; i < abi->n_saved; i++)
        keep |= UINT64_C(1) << abi->saved[i];
    if (abi->ra != abi->pc)
        keep |= UINT64_C(1) << abi->ra;
    s->regs->known &= keep;
    give(s->regs, abi->sp, true, s->cfa);
}

static bool apply_all(struct step *s, struct cursor *c)
{
    unsigned n = cursor_u8(c);

    for (unsigned i = 0; i < n; i++) {
        struct rule rule;
        uint64_t value = 0;
        bool known;
        rule.reg = cursor_u8(c);
        if (!read_rule(c, &rule) || rule.reg >= UNWIND_REGS_MAX)
            return false;
        known = apply(s, &rule, &value);
        give(s->regs, rule.reg, known, value);
    }
    return !c->bad;
}

bool unwind_general_step(const struct unwind_rows *t, uint32_t at, enum unwind_arch arch,
                         const struct unwind_memory *m, struct unwind_regs *regs, bool *signal,
                         uint64_t *missing)
{
    const struct unwind_abi *abi = unwind_arch_abi(arch);
    struct step s = { .m = m, .abi = abi, .old = *regs, .regs = regs };
    struct cursor c;
    bool ok;

    *missing = 0;
    if (!abi || !t->header || at >= t->header->general_size)
        return false;
    c = cursor_of(t->general + at, t->header->general_size - at, false);
    *signal = s.signal = cursor_u8(&c) & GENERAL_SIGNAL;
    ok = find_cfa(&s, &c);
    if (ok) {
        give_defaults(&s);
        ok = apply_all(&s, &c) && (regs->known >> abi->sp & 1) && (regs->known >> abi->ra & 1);
    }
    *missing = s.missing;
    if (!ok)
        return false;
    regs->pc = unwind_arch_strip(arch, regs->r[abi->ra]);
    regs->sp = regs->r[abi->sp];
    regs->fp = regs->r[abi->fp];
    return true;
}
