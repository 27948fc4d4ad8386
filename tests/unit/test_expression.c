// SPDX-License-Identifier: GPL-2.0-or-later
#include <byteswap.h>
#include <string.h>

#include "unit_test.h"
#include "unwind/dwarf.h"
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

enum { L = DW_OP_LIT0, M1 = DW_OP_CONST1S }; /* L + n is n; M1, 0xff is -1 */

TEST(constants_of_every_size_are_pushed)
{
    GIVES(31, L + 31);
    GIVES(0xff, DW_OP_CONST1U, 0xff);
    GIVES(-1, DW_OP_CONST1S, 0xff);
    GIVES(0xfffe, DW_OP_CONST2U, 0xfe, 0xff);
    GIVES(-2, DW_OP_CONST2S, 0xfe, 0xff);
    GIVES(0xfffffffd, DW_OP_CONST4U, 0xfd, 0xff, 0xff, 0xff);
    GIVES(-3, DW_OP_CONST4S, 0xfd, 0xff, 0xff, 0xff);
    GIVES(0x0807060504030201, DW_OP_CONST8U, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(0x0807060504030201, DW_OP_CONST8S, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(300, DW_OP_CONSTU, 0xac, 0x02);
    GIVES(-2, DW_OP_CONSTS, 0x7e);
}

TEST(arithmetic_operations_are_evaluated)
{
    GIVES(7, L + 3, L + 4, DW_OP_PLUS);
    GIVES(-1, L + 3, L + 4, DW_OP_MINUS);
    GIVES(12, L + 3, L + 4, DW_OP_MUL);
    GIVES(-5, M1, 0xf6, L + 2, DW_OP_DIV);
    GIVES(3, L + 11, L + 4, DW_OP_MOD);
    GIVES(2, L + 3, L + 6, DW_OP_AND);
    GIVES(7, L + 3, L + 6, DW_OP_OR);
    GIVES(5, L + 3, L + 6, DW_OP_XOR);
    GIVES(24, L + 3, L + 3, DW_OP_SHL);
    GIVES(0, L + 3, DW_OP_CONST1U, 64, DW_OP_SHL);
    GIVES(3, L + 24, L + 3, DW_OP_SHR);
    GIVES(0, M1, 0xff, DW_OP_CONST1U, 200, DW_OP_SHR);
    GIVES(-2, M1, 0xf0, L + 3, DW_OP_SHRA);
    GIVES(-1, M1, 0xff, DW_OP_CONST1U, 200, DW_OP_SHRA);
    GIVES(4, M1, 0xfc, DW_OP_ABS);
    GIVES(-4, L + 4, DW_OP_NEG);
    GIVES(~UINT64_C(4), L + 4, DW_OP_NOT);
    GIVES(134, L + 4, DW_OP_PLUS_UCONST, 0x82, 1);
}

TEST(comparisons_are_signed)
{
    GIVES(1, M1, 0xff, L + 0, DW_OP_LT);
    GIVES(1, M1, 0xff, L + 0, DW_OP_LE);
    GIVES(0, M1, 0xff, L + 0, DW_OP_GT);
    GIVES(0, M1, 0xff, L + 0, DW_OP_GE);
    GIVES(0, M1, 0xff, L + 0, DW_OP_EQ);
    GIVES(1, M1, 0xff, L + 0, DW_OP_NE);
}

TEST(stack_operations_reorder_the_stack)
{
    GIVES(1000, DW_OP_NOP); /* the stack starts with the CFA */
    GIVES(2000, DW_OP_DUP, DW_OP_PLUS);
    GIVES(1, L + 1, L + 2, DW_OP_DROP);
    GIVES(1, L + 1, L + 2, DW_OP_OVER);
    GIVES(1000, L + 1, L + 2, DW_OP_PICK, 2);
    GIVES(1, L + 1, L + 2, DW_OP_SWAP);
    GIVES(2, L + 1, L + 2, L + 3, DW_OP_ROT); /* 1 2 3 becomes 3 1 2 */
    GIVES(1, L + 1, L + 2, L + 3, DW_OP_ROT, DW_OP_DROP);
    GIVES(3, L + 1, L + 2, L + 3, DW_OP_ROT, DW_OP_DROP, DW_OP_DROP);
}

TEST(registers_and_memory_are_read)
{
    uint64_t value, missing;

    GIVES(BASE + 8, DW_OP_BREG0 + 3, 8);
    GIVES(BASE - 8, DW_OP_BREGX, 3, 0x78);
    GIVES(42, DW_OP_BREG0 + 3, 8, DW_OP_DEREF, DW_OP_DEREF);
    GIVES(0x88, DW_OP_BREG0 + 3, 0, DW_OP_DEREF_SIZE, 1);
    GIVES(0x55667788, DW_OP_BREG0 + 3, 0, DW_OP_DEREF_SIZE, 4);
    REFUSED(DW_OP_BREG0 + 3, 0, DW_OP_DEREF_SIZE, 3);
    REFUSED(DW_OP_BREG0 + 3, 0, DW_OP_DEREF_SIZE, 0);
    REFUSED(DW_OP_BREG0 + 4, 0); /* unknown register */
    REFUSED(DW_OP_BREGX, 0xff, 0x7f, 0);
    assert_true(evaluate(CODE(DW_OP_BREG0 + 3, 0, DW_OP_DEREF_SIZE, 2), true, &value, &missing));
    assert_int_equal(value, 0x1122); /* the first two bytes of a word in opposite byte order */
    assert_false(evaluate(CODE(DW_OP_BREG0 + 3, 0x11, DW_OP_DEREF), false, &value, &missing));
    assert_int_equal(missing, BASE + 0x11);
}

TEST(jumps_stay_inside_the_expression)
{
    GIVES(5, L + 5, DW_OP_SKIP, 1, 0, L + 6);
    GIVES(6, L + 6, L + 0, DW_OP_BRA, 1, 0, DW_OP_NOP);
    GIVES(1, L + 3, L + 1, DW_OP_MINUS, DW_OP_DUP, L + 1, DW_OP_NE, DW_OP_BRA, 0xf8,
          0xff); /* counts down to 1 */
    REFUSED(L + 5, DW_OP_SKIP, 2, 0, L + 6);
    REFUSED(L + 5, DW_OP_SKIP, 0xfb, 0xff);
}

/* Expressions that would hang or crash a program that trusts the file. */
TEST(hostile_expressions_are_refused)
{
    REFUSED(DW_OP_SKIP, 0xfd, 0xff);            /* endless loop */
    REFUSED(DW_OP_DUP, DW_OP_SKIP, 0xfc, 0xff); /* endless loop that grows the stack */
    REFUSED(L + 1, L + 0, DW_OP_DIV);
    REFUSED(L + 1, L + 0, DW_OP_MOD);
    REFUSED(L + 1, DW_OP_CONST1U, 63, DW_OP_SHL, M1, 0xff, DW_OP_DIV); /* overflows */
    REFUSED(DW_OP_DROP, DW_OP_DROP);
    REFUSED(DW_OP_PLUS);
    REFUSED(DW_OP_PICK, 200);
    REFUSED(DW_OP_DROP);
    REFUSED(DW_OP_CONST8U, 1);
    REFUSED(DW_OP_CONSTU, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0);
    REFUSED(0xe0);
    REFUSED(DW_OP_ADDR, 1, 2, 3, 4, 5, 6, 7, 8); /* memory of the file, which is not available */
}

TEST_MAIN(NULL, NULL)
