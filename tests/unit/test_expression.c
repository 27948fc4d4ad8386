// SPDX-License-Identifier: GPL-2.0-or-later
#include <byteswap.h>
#include <string.h>

#include "unit_test.h"
#include "unwind/dwarfread.h"
#include "unwind/expression.h"

#define BASE UINT64_C(0x7000)

static const uint64_t words[] = { 0x1122334455667788, 0x7010, 42 };

static bool evaluate(const uint8_t *code, size_t n, bool swap, uint64_t *value, uint64_t *missing)
{
    uint64_t swapped[3];
    struct unwind_memory m = {
        .bytes = (const uint8_t *)words, .size = sizeof words, .base = BASE, .swap = swap
    };
    struct unwind_regs regs = { .known = 1u << 3 | 1u << 16 };
    uint64_t cfa = 1000;

    for (unsigned i = 0; i < 3; i++)
        swapped[i] = bswap_64(words[i]);
    if (swap)
        m.bytes = (const uint8_t *)swapped;
    regs.r[3] = BASE;
    regs.r[16] = 7;
    *missing = 0;
    return unwind_evaluate(&m, &regs, cursor_of(code, n, false), &cfa, value, missing);
}

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define GIVES(result, ...)                                                                                   \
    do {                                                                                                     \
        uint64_t value_, missing_;                                                                           \
        assert_true(evaluate(CODE(__VA_ARGS__), false, &value_, &missing_));                                 \
        assert_true(value_ == (uint64_t)(result));                                                           \
    } while (0)
#define REFUSED(...)                                                                                         \
    do {                                                                                                     \
        uint64_t value_, missing_;                                                                           \
        assert_false(evaluate(CODE(__VA_ARGS__), false, &value_, &missing_));                                \
    } while (0)

enum { L = DW_OP_lit0, M1 = DW_OP_const1s }; /* L + n is n; M1, 0xff is -1 */

TEST(constants_of_every_size_are_pushed)
{
    GIVES(31, L + 31);
    GIVES(0xff, DW_OP_const1u, 0xff);
    GIVES(-1, DW_OP_const1s, 0xff);
    GIVES(0xfffe, DW_OP_const2u, 0xfe, 0xff);
    GIVES(-2, DW_OP_const2s, 0xfe, 0xff);
    GIVES(0xfffffffd, DW_OP_const4u, 0xfd, 0xff, 0xff, 0xff);
    GIVES(-3, DW_OP_const4s, 0xfd, 0xff, 0xff, 0xff);
    GIVES(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(0x0807060504030201, DW_OP_const8s, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(300, DW_OP_constu, 0xac, 0x02);
    GIVES(-2, DW_OP_consts, 0x7e);
}

TEST(arithmetic_operations_are_evaluated)
{
    GIVES(7, L + 3, L + 4, DW_OP_plus);
    GIVES(-1, L + 3, L + 4, DW_OP_minus);
    GIVES(12, L + 3, L + 4, DW_OP_mul);
    GIVES(-5, M1, 0xf6, L + 2, DW_OP_div);
    GIVES(3, L + 11, L + 4, DW_OP_mod);
    GIVES(2, L + 3, L + 6, DW_OP_and);
    GIVES(7, L + 3, L + 6, DW_OP_or);
    GIVES(5, L + 3, L + 6, DW_OP_xor);
    GIVES(24, L + 3, L + 3, DW_OP_shl);
    GIVES(0, L + 3, DW_OP_const1u, 64, DW_OP_shl);
    GIVES(3, L + 24, L + 3, DW_OP_shr);
    GIVES(0, M1, 0xff, DW_OP_const1u, 200, DW_OP_shr);
    GIVES(-2, M1, 0xf0, L + 3, DW_OP_shra);
    GIVES(-1, M1, 0xff, DW_OP_const1u, 200, DW_OP_shra);
    GIVES(4, M1, 0xfc, DW_OP_abs);
    GIVES(-4, L + 4, DW_OP_neg);
    GIVES(~UINT64_C(4), L + 4, DW_OP_not);
    GIVES(134, L + 4, DW_OP_plus_uconst, 0x82, 1);
}

TEST(comparisons_are_signed)
{
    GIVES(1, M1, 0xff, L + 0, DW_OP_lt);
    GIVES(1, M1, 0xff, L + 0, DW_OP_le);
    GIVES(0, M1, 0xff, L + 0, DW_OP_gt);
    GIVES(0, M1, 0xff, L + 0, DW_OP_ge);
    GIVES(0, M1, 0xff, L + 0, DW_OP_eq);
    GIVES(1, M1, 0xff, L + 0, DW_OP_ne);
}

TEST(stack_operations_reorder_the_stack)
{
    GIVES(1000, DW_OP_nop); /* the stack starts with the CFA */
    GIVES(2000, DW_OP_dup, DW_OP_plus);
    GIVES(1, L + 1, L + 2, DW_OP_drop);
    GIVES(1, L + 1, L + 2, DW_OP_over);
    GIVES(1000, L + 1, L + 2, DW_OP_pick, 2);
    GIVES(1, L + 1, L + 2, DW_OP_swap);
    GIVES(2, L + 1, L + 2, L + 3, DW_OP_rot); /* 1 2 3 becomes 3 1 2 */
    GIVES(1, L + 1, L + 2, L + 3, DW_OP_rot, DW_OP_drop);
    GIVES(3, L + 1, L + 2, L + 3, DW_OP_rot, DW_OP_drop, DW_OP_drop);
}

TEST(registers_and_memory_are_read)
{
    uint64_t value, missing;

    GIVES(BASE + 8, DW_OP_breg0 + 3, 8);
    GIVES(BASE - 8, DW_OP_bregx, 3, 0x78);
    GIVES(42, DW_OP_breg0 + 3, 8, DW_OP_deref, DW_OP_deref);
    GIVES(0x88, DW_OP_breg0 + 3, 0, DW_OP_deref_size, 1);
    GIVES(0x55667788, DW_OP_breg0 + 3, 0, DW_OP_deref_size, 4);
    REFUSED(DW_OP_breg0 + 3, 0, DW_OP_deref_size, 3);
    REFUSED(DW_OP_breg0 + 3, 0, DW_OP_deref_size, 0);
    REFUSED(DW_OP_breg0 + 4, 0); /* unknown register */
    REFUSED(DW_OP_bregx, 0xff, 0x7f, 0);
    assert_true(evaluate(CODE(DW_OP_breg0 + 3, 0, DW_OP_deref_size, 2), true, &value, &missing));
    assert_int_equal(value, 0x1122); /* the first two bytes of a word in opposite byte order */
    assert_false(evaluate(CODE(DW_OP_breg0 + 3, 0x11, DW_OP_deref), false, &value, &missing));
    assert_int_equal(missing, BASE + 0x11);
}

TEST(jumps_stay_inside_the_expression)
{
    GIVES(5, L + 5, DW_OP_skip, 1, 0, L + 6);
    GIVES(6, L + 6, L + 0, DW_OP_bra, 1, 0, DW_OP_nop);
    GIVES(1, L + 3, L + 1, DW_OP_minus, DW_OP_dup, L + 1, DW_OP_ne, DW_OP_bra, 0xf8,
          0xff); /* counts down to 1 */
    REFUSED(L + 5, DW_OP_skip, 2, 0, L + 6);
    REFUSED(L + 5, DW_OP_skip, 0xfb, 0xff);
}

/* Expressions that would hang or crash a program that trusts the file. */
TEST(hostile_expressions_are_refused)
{
    REFUSED(DW_OP_skip, 0xfd, 0xff);            /* endless loop */
    REFUSED(DW_OP_dup, DW_OP_skip, 0xfc, 0xff); /* endless loop that grows the stack */
    REFUSED(L + 1, L + 0, DW_OP_div);
    REFUSED(L + 1, L + 0, DW_OP_mod);
    REFUSED(L + 1, DW_OP_const1u, 63, DW_OP_shl, M1, 0xff, DW_OP_div); /* overflows */
    REFUSED(DW_OP_drop, DW_OP_drop);
    REFUSED(DW_OP_plus);
    REFUSED(DW_OP_pick, 200);
    REFUSED(DW_OP_drop);
    REFUSED(DW_OP_const8u, 1);
    REFUSED(DW_OP_constu, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0);
    REFUSED(0xe0);
    REFUSED(DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8); /* memory of the file, which is not available */
}

TEST_MAIN(NULL, NULL)
