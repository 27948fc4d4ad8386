// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/expression.h"

#include <byteswap.h>
#include <string.h>

#include "unwind/dwarfread.h"

#define OPERATIONS_MAX 256
#define STACK_MAX      64

struct machine {
    const struct unwind_memory *memory;
    const struct unwind_regs *regs;
    uint64_t *missing;
    struct cursor code;
    const uint8_t *begin;
    uint64_t stack[STACK_MAX];
    unsigned n;
    bool bad;
};

bool unwind_regs_value(const struct unwind_regs *regs, uint64_t reg, uint64_t *value)
{
    if (reg >= UNWIND_REGS_MAX || !(regs->known >> reg & 1))
        return false;
    *value = regs->r[reg];
    return true;
}

static void push(struct machine *m, uint64_t value)
{
    if (m->n == STACK_MAX)
        m->bad = true;
    else
        m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
    if (!m->n) {
        m->bad = true;
        return 0;
    }
    return m->stack[--m->n];
}

static void push_register(struct machine *m, uint64_t reg)
{
    uint64_t value = 0, offset = (uint64_t)dwarf_sleb(&m->code);

    m->bad |= !unwind_regs_value(m->regs, reg, &value);
    push(m, value + offset);
}

static void push_picked(struct machine *m, unsigned depth)
{
    if (depth >= m->n)
        m->bad = true;
    else
        push(m, m->stack[m->n - 1 - depth]);
}

static void deref(struct machine *m, unsigned size)
{
    uint64_t addr = pop(m), value = 0;

    if (!size || size > 8 || (size & (size - 1))) {
        m->bad = true;
    } else if (!m->bad && !unwind_memory_word(m->memory, addr, &value)) {
        *m->missing = addr;
        m->bad = true;
    } else if (size < 8) {
        value = m->memory->swap ? value >> (64 - 8 * size) : value & ((UINT64_C(1) << 8 * size) - 1);
    }
    push(m, value);
}

static void jump(struct machine *m, bool taken)
{
    int16_t by = (int16_t)cursor_u16(&m->code);
    const uint8_t *end = m->code.end;
    ptrdiff_t to = m->code.p - m->begin + by;

    if (!taken || m->code.bad)
        return;
    if (to < 0 || to > end - m->begin)
        m->bad = true;
    else
        m->code = cursor_of(m->begin + to, (size_t)(end - m->begin - to), false);
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
    if (!b || (a == UINT64_C(1) << 63 && b == UINT64_MAX)) {
        m->bad = true;
        return 0;
    }
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_right(uint64_t a, uint64_t by, bool sign)
{
    uint64_t filled = sign && (int64_t)a < 0 ? UINT64_MAX : 0;

    if (by >= 64)
        return filled;
    return by ? a >> by | filled << (64 - by) : a;
}

static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case DW_OP_and:
        return a & b;
    case DW_OP_div:
        return divide(m, a, b);
    case DW_OP_minus:
        return a - b;
    case DW_OP_mod:
        m->bad |= !b;
        return b ? a % b : 0;
    case DW_OP_mul:
        return a * b;
    case DW_OP_or:
        return a | b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_shl:
        return b < 64 ? a << b : 0;
    case DW_OP_shr:
    case DW_OP_shra:
        return shift_right(a, b, op == DW_OP_shra);
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_eq:
        return a == b;
    case DW_OP_ne:
        return a != b;
    case DW_OP_ge:
        return (int64_t)a >= (int64_t)b;
    case DW_OP_gt:
        return (int64_t)a > (int64_t)b;
    case DW_OP_le:
        return (int64_t)a <= (int64_t)b;
    case DW_OP_lt:
        return (int64_t)a < (int64_t)b;
    default:
        m->bad = true;
        return 0;
    }
}

static void push_constant(struct machine *m, uint8_t op)
{
    struct cursor *c = &m->code;

    switch (op) {
    case DW_OP_const1u:
        push(m, cursor_u8(c));
        break;
    case DW_OP_const1s:
        push(m, (uint64_t)(int8_t)cursor_u8(c));
        break;
    case DW_OP_const2u:
        push(m, cursor_u16(c));
        break;
    case DW_OP_const2s:
        push(m, (uint64_t)(int16_t)cursor_u16(c));
        break;
    case DW_OP_const4u:
        push(m, cursor_u32(c));
        break;
    case DW_OP_const4s:
        push(m, (uint64_t)(int32_t)cursor_u32(c));
        break;
    case DW_OP_constu:
        push(m, dwarf_uleb(c));
        break;
    case DW_OP_consts:
        push(m, (uint64_t)dwarf_sleb(c));
        break;
    default:
        push(m, cursor_u64(c));
    }
}

static void turn(struct machine *m, unsigned n)
{
    uint64_t top;

    if (m->n < n) {
        m->bad = true;
        return;
    }
    top = m->stack[m->n - 1];
    memmove(&m->stack[m->n - n + 1], &m->stack[m->n - n], (n - 1) * sizeof top);
    m->stack[m->n - n] = top;
}

static void on_top(struct machine *m, uint8_t op)
{
    uint64_t value = pop(m);

    if (op == DW_OP_abs)
        value = (int64_t)value < 0 ? -value : value;
    else if (op == DW_OP_neg)
        value = -value;
    else if (op == DW_OP_not)
        value = ~value;
    else
        value += dwarf_uleb(&m->code);
    push(m, value);
}

static void operation(struct machine *m)
{
    uint8_t op = cursor_u8(&m->code);
    uint64_t top;

    if (op >= DW_OP_lit0 && op < DW_OP_lit0 + 32) {
        push(m, op - (uint64_t)DW_OP_lit0);
        return;
    }
    if (op >= DW_OP_breg0 && op < DW_OP_breg0 + 32) {
        push_register(m, op - (uint64_t)DW_OP_breg0);
        return;
    }
    if (op >= DW_OP_const1u && op <= DW_OP_consts) {
        push_constant(m, op);
        return;
    }
    switch (op) {
    case DW_OP_nop:
        break;
    case DW_OP_bregx:
        push_register(m, dwarf_uleb(&m->code));
        break;
    case DW_OP_deref:
        deref(m, 8);
        break;
    case DW_OP_deref_size:
        deref(m, cursor_u8(&m->code));
        break;
    case DW_OP_dup:
        push_picked(m, 0);
        break;
    case DW_OP_over:
        push_picked(m, 1);
        break;
    case DW_OP_pick:
        push_picked(m, cursor_u8(&m->code));
        break;
    case DW_OP_drop:
        pop(m);
        break;
    case DW_OP_swap:
        turn(m, 2);
        break;
    case DW_OP_rot:
        turn(m, 3);
        break;
    case DW_OP_abs:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus_uconst:
        on_top(m, op);
        break;
    case DW_OP_skip:
        jump(m, true);
        break;
    case DW_OP_bra:
        jump(m, pop(m) != 0);
        break;
    default:
        top = pop(m);
        push(m, binary(m, op, pop(m), top));
    }
}

bool unwind_evaluate(const struct unwind_memory *memory, const struct unwind_regs *regs, struct cursor code,
                     const uint64_t *cfa, uint64_t *value, uint64_t *missing)
{
    struct machine m;
    unsigned done;

    m.memory = memory;
    m.regs = regs;
    m.missing = missing;
    m.code = code;
    m.begin = code.p;
    m.n = 0;
    m.bad = false;
    if (cfa)
        push(&m, *cfa);
    for (done = 0; done < OPERATIONS_MAX && cursor_left(&m.code) && !m.bad; done++)
        operation(&m);
    m.bad |= m.code.bad || cursor_left(&m.code) > 0;
    *value = pop(&m);
    return !m.bad;
}
