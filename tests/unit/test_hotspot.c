// SPDX-License-Identifier: GPL-2.0-or-later
/* Derives frame sizes from the code of Java methods and unwinds them. The code is from OpenJDK 17. */

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"
#include "unwind/hotspot.h"
#include "unwind/unwind.h"

#define JUMP   0xe9, 0x3b, 0x79, 0x58, 0x07 /* replaces the start of a not-entrant method */
#define PUSH   0x55
#define SUB_16 0x48, 0x83, 0xec, 0x10
#define TAIL   0x49, 0x3b, 0xa7, 0x40, 0x03, 0x00, 0x00, 0x0f, 0x87, 0x0e, 0x00, 0x00, 0x00, 0xc3
#define CHECK                                                                                                \
    0x44, 0x8b, 0x56, 0x08, 0x49, 0x3b, 0xc2, 0x0f, 0x85, 0x46, 0x37, 0xab, 0xff /* inline cache check */
#define BANG 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff
#define CALL 0xe8, 0xec, 0x02, 0x00, 0x00

static const uint8_t METHOD[] = { BANG, PUSH, SUB_16, 0x66, 0x66, 0x90, CALL,
                                  0x48, 0x83, 0xc4,   0x10, 0x5d, TAIL };
enum {
    METHOD_PUSH = 7,
    METHOD_SUB = 8,
    METHOD_BODY = 12,
    METHOD_ADD = 20,
    METHOD_POP = 24,
    METHOD_TAIL = 25
};

static uint32_t size_at(const struct unwind_hotspot *h, uint64_t offset, bool exact, bool fp_saved)
{
    bool saved;
    uint32_t size = unwind_hotspot_size(h, offset, exact, &saved);

    assert_int_equal(saved, fp_saved);
    return size;
}

TEST(the_frame_grows_in_the_prologue_and_shrinks_in_the_epilogue)
{
    struct unwind_hotspot h;

    assert_true(unwind_hotspot_read(&h, METHOD, sizeof METHOD));
    assert_int_equal(size_at(&h, 0, true, false), 8);
    assert_int_equal(size_at(&h, METHOD_PUSH, true, false), 8);
    assert_int_equal(size_at(&h, METHOD_SUB, true, true), 16);
    assert_int_equal(size_at(&h, METHOD_BODY, true, true), 32);
    assert_int_equal(size_at(&h, METHOD_ADD, true, true), 32);
    assert_int_equal(size_at(&h, METHOD_POP, true, true), 16);
    assert_int_equal(size_at(&h, METHOD_TAIL, true, false), 8);
    assert_int_equal(size_at(&h, METHOD_TAIL + 7, true, false), 8);
    assert_int_equal(size_at(&h, METHOD_TAIL + 13, true, false), 8);
    assert_int_equal(size_at(&h, sizeof METHOD, true, true), 32); /* slow paths follow */
}

TEST(a_return_address_has_the_whole_frame)
{
    struct unwind_hotspot h;

    assert_true(unwind_hotspot_read(&h, METHOD, sizeof METHOD));
    assert_int_equal(size_at(&h, METHOD_ADD - 1, false, true), 32);
    assert_int_equal(size_at(&h, METHOD_POP, false, true), 32); /* data that looks like a return address */
}

TEST(the_prologue_follows_the_inline_cache_check)
{
    static const uint8_t code[] = { CHECK, 0x66, 0x90, BANG, PUSH, 0x48, 0x81, 0xec, 0x40, 0x02, 0, 0, CALL };
    struct unwind_hotspot h;

    assert_true(unwind_hotspot_read(&h, code, sizeof code));
    assert_int_equal(size_at(&h, 3, true, false), 8);
    assert_int_equal(size_at(&h, 15 + 7 + 1 + 7, true, true), 0x250);
}

TEST(methods_without_a_stack_bang_are_recognized_by_their_saved_rbp)
{
    static const uint8_t code[] = { 0x48, 0x81, 0xec, 0x18, 0,    0,    0,    0x48, 0x89, 0x6c,
                                    0x24, 0x10, 0x85, 0xd2, 0x48, 0x83, 0xc4, 0x10, 0x5d, TAIL };
    static const uint8_t none[] = { 0x48, 0x81, 0xec, 0x08, 0, 0, 0, 0x48, 0x89, 0x2c, 0x24, 0x90 };
    static const uint8_t large[] = { 0x48, 0x81, 0xec, 0x08, 0x02, 0, 0, 0x48,
                                     0x89, 0xac, 0x24, 0x00, 0x02, 0, 0, 0x90 };
    static const uint8_t blob[] = { 0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0x90 };
    struct unwind_hotspot h;

    assert_true(unwind_hotspot_read(&h, code, sizeof code));
    assert_int_equal(size_at(&h, 0, true, false), 8);
    assert_int_equal(size_at(&h, 7, true, false), 32);
    assert_int_equal(size_at(&h, 12, true, true), 32);
    assert_int_equal(size_at(&h, 18, true, true), 16);
    assert_int_equal(size_at(&h, 19, true, false), 8);
    assert_true(unwind_hotspot_read(&h, none, sizeof none));
    assert_int_equal(size_at(&h, 11, true, true), 16);
    assert_true(unwind_hotspot_read(&h, large, sizeof large));
    assert_int_equal(size_at(&h, 15, true, true), 0x210);
    assert_true(unwind_hotspot_read(&h, blob, sizeof blob));
    assert_int_equal(size_at(&h, 9, true, true), 16);
}

TEST(methods_made_not_entrant_keep_their_frame_size)
{
    static const uint8_t banged[] = { JUMP, 0xfe, 0xff, PUSH, SUB_16, CALL };
    static const uint8_t moved[] = { JUMP, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x20, CALL };
    struct unwind_hotspot h;

    assert_true(unwind_hotspot_read(&h, banged, sizeof banged));
    assert_int_equal(size_at(&h, sizeof banged - 1, false, true), 32);
    assert_true(unwind_hotspot_read(&h, moved, sizeof moved));
    assert_int_equal(size_at(&h, sizeof moved - 1, false, true), 0x30);
}

TEST(methods_with_a_frame_pointer_are_unwound_by_it)
{
    static const uint8_t method[] = { BANG, PUSH, 0x48, 0x8b, 0xec, SUB_16, CALL };
    static const uint8_t stub[] = { PUSH, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x60, 0x90 };
    struct unwind_hotspot h;

    assert_false(unwind_hotspot_read(&h, method, sizeof method));
    assert_false(unwind_hotspot_read(&h, stub, sizeof stub));
}

TEST(inconsistent_prologues_are_refused)
{
    static const uint8_t odd[] = { BANG, PUSH, 0x48, 0x83, 0xec, 0x13, CALL };
    static const uint8_t huge[] = { BANG, PUSH, 0x48, 0x81, 0xec, 0, 0, 0, 0xf0, CALL };
    static const uint8_t other[] = { 0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x08, CALL };
    static const uint8_t up[] = { 0x89, 0x84, 0x24, 0, 0x40, 0x01, 0, PUSH, SUB_16, CALL };
    struct unwind_hotspot h;

    assert_false(unwind_hotspot_read(&h, odd, sizeof odd));
    assert_false(unwind_hotspot_read(&h, huge, sizeof huge));
    assert_false(unwind_hotspot_read(&h, other, sizeof other));
    assert_false(unwind_hotspot_read(&h, up, sizeof up));
    assert_false(unwind_hotspot_read(&h, NULL, 0));
}

static void expect_found(const uint8_t *code, size_t n, size_t at, int cfa_offset, bool fp_saved)
{
    struct unwind_entry e;

    assert_true(unwind_hotspot_find(code, n, at, &e));
    assert_int_equal(e.kind, UNWIND_ROW_SP);
    assert_true(e.flags & UNWIND_ENTRY_DEDUCED);
    assert_int_equal(e.cfa_offset, cfa_offset);
    assert_int_equal(e.ra_offset, -8);
    assert_int_equal(!!(e.flags & UNWIND_ENTRY_FP_SAVED), fp_saved);
    assert_int_equal(e.fp_offset, fp_saved ? -16 : 0);
}

TEST(unnamed_methods_are_found_by_the_preceding_prologue)
{
    static const uint8_t endless[] = { 0xc3, 0, 0, 0x90, BANG, PUSH, SUB_16, CALL, 0xeb, 0xf9 };
    static const uint8_t two[] = { BANG, PUSH, 0x48, 0x83, 0xec, 0x60, 0xc3, BANG, PUSH, SUB_16, CALL };

    expect_found(METHOD, sizeof METHOD, METHOD_SUB, 16, true);
    expect_found(METHOD, sizeof METHOD, METHOD_ADD, 32, true);
    expect_found(METHOD, sizeof METHOD, METHOD_POP, 16, true);
    expect_found(METHOD, sizeof METHOD, METHOD_TAIL, 8, false);
    expect_found(endless, sizeof endless, sizeof endless - 2, 32, true);
    expect_found(two, sizeof two, sizeof two - 1 - 4, 32, true);
}

TEST(a_prologue_that_does_not_reach_the_address_is_ignored)
{
    static const uint8_t data[] = { BANG, PUSH, SUB_16, 0xc3, 0, 0, 0, 0, 0x90, 0x90 };
    static const uint8_t kept[] = {
        BANG, PUSH, SUB_16, 0xc3, BANG, PUSH, 0x48, 0x8b, 0xec, SUB_16, 0x90, 0x90
    };
    struct unwind_entry e;

    assert_false(unwind_hotspot_find(METHOD, sizeof METHOD, METHOD_ADD - 1, &e)); /* within an instruction */
    assert_false(unwind_hotspot_find(METHOD, sizeof METHOD, 0, &e));              /* none precedes it */
    assert_false(unwind_hotspot_find(METHOD, sizeof METHOD, sizeof METHOD, &e));
    assert_false(unwind_hotspot_find(data, sizeof data, sizeof data - 1, &e));
    assert_false(unwind_hotspot_find(kept, sizeof kept, sizeof kept - 1, &e));
}

TEST(the_interpreter_is_recognized_by_its_return_sequence)
{
    static const uint8_t code[] = { 0x48, 0x8b, 0x65, 0xf0, 0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0 };
    static const uint8_t other[] = { 0x48, 0x8b, 0x65, 0xf0, 0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 1 };

    assert_true(unwind_hotspot_returns(code, sizeof code));
    assert_false(unwind_hotspot_returns(code, sizeof code - 1));
    assert_false(unwind_hotspot_returns(other, sizeof other));
}

/* Copies each length to a block of exactly that size, so that a sanitizer detects a read past its end. */
TEST(truncated_code_is_not_read_past_its_end)
{
    static const uint8_t moved[] = { 0x48, 0x81, 0xec, 0x08, 0x02, 0, 0,    0x48, 0x89,
                                     0xac, 0x24, 0,    0x02, 0,    0, 0x5d, TAIL };
    struct unwind_hotspot h;

    for (size_t n = 1; n <= sizeof METHOD; n++) {
        uint8_t *cut = malloc(n);
        assert_non_null(cut);
        memcpy(cut, METHOD, n);
        assert_int_equal(unwind_hotspot_read(&h, cut, n), n > METHOD_PUSH);
        memcpy(cut, moved, n < sizeof moved ? n : sizeof moved);
        assert_int_equal(unwind_hotspot_read(&h, cut, n), n >= 15);
        for (size_t at = 0; at <= n; at++)
            (void)unwind_hotspot_find(cut, n, at, &(struct unwind_entry){ 0 });
        free(cut);
    }
}

TEST(random_bytes_give_a_bounded_frame)
{
    static const uint8_t pieces[][8] = { { BANG, PUSH },
                                         { PUSH, SUB_16 },
                                         { 0x5d, 0xc3 },
                                         { 0x5d, 0x49, 0x3b, 0xa7 },
                                         { 0x48, 0x81, 0xec, 0xff, 0xff, 0xff, 0x7f },
                                         { JUMP, 0xfe, 0xff },
                                         { 0x48, 0x89, 0xac, 0x24, 0xf8, 0xff, 0xff, 0xff } };
    uint8_t code[256];
    uint32_t seed = 1;
    unsigned read = 0;

    for (unsigned round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof code; i += 8) {
            seed = seed * 1664525 + 1013904223;
            memcpy(code + i, pieces[(seed >> 16) % 7], 8);
            code[i + (seed >> 8) % 8] ^= (uint8_t)(seed >> 24 & (seed >> 20 & 1 ? 0xff : 0));
        }
        struct unwind_hotspot h;
        if (!unwind_hotspot_read(&h, code, sizeof code))
            continue;
        read++;
        assert_true(h.n_epilogues <= UNWIND_HOTSPOT_EPILOGUES);
        for (unsigned i = 0; i < 2 * sizeof code; i++) {
            bool saved;
            uint32_t size = unwind_hotspot_size(&h, i, i % 2, &saved);
            assert_true(size >= 8 && size % 8 == 0 && size <= (1u << 20) + 16);
            assert_true(!saved || size >= 16);
        }
    }
    assert_true(read > 0);
}

/* ---- unwinding ---- */

#define STACK UINT64_C(0x7fff0000)
#define CODE  UINT64_C(0x10000)

enum { WHOLE = 0x100, BARE = 0x200, INTERPRETER = 0x300, BY_FP = 0x400, HUGE_FRAME = 0x500, NO_CODE = 0x700 };

static bool find_method(void *ctx, uint64_t addr, struct unwind_location *out)
{
    (void)ctx;
    *out = (struct unwind_location){ .jit = true };
    switch ((addr - CODE) & ~UINT64_C(0xff)) {
    case WHOLE:
        out->frame_size = 32;
        out->fp_saved = true;
        return true;
    case BARE:
        out->frame_size = 8;
        return true;
    case INTERPRETER:
        out->sender_sp = true;
        return true;
    case HUGE_FRAME:
        out->frame_size = UINT32_MAX;
        return true;
    default:
        return addr - CODE == BY_FP + 0x0f;
    }
}

static uint64_t stack[64];
static struct unwind_frame frames[32];
static uint64_t no_call; /* a return address that does not follow a call instruction */
static enum unwind_end end;

static enum unwind_call check_call(void *ctx, uint64_t back, uint64_t callee)
{
    (void)ctx;
    (void)callee;
    return back == no_call ? UNWIND_CALL_REFUTED : UNWIND_CALL_PROVEN;
}

static uint32_t unwind_from(uint64_t pc, uint64_t fp)
{
    struct unwind_source source = { .find = find_method, .called = check_call };
    struct unwind_input in = {
        .arch = UNWIND_ARCH_X86_64,
        .stack = (const uint8_t *)stack,
        .stack_bytes = sizeof stack,
        .regs = { .known = 1 << 7 | 1 << 6,
                  .pc = CODE + pc,
                  .sp = STACK,
                  .fp = fp,
                  .r[6] = fp,
                  .r[7] = STACK },
    };

    return unwind_stack(&in, &source, frames, 32, &end);
}

TEST(methods_are_unwound_by_their_frame_size)
{
    memset(stack, 0, sizeof stack);
    stack[0] = CODE + WHOLE + 0x10; /* frame of BARE, which does not use rbp */
    stack[3] = STACK + 10 * 8;      /* rbp of the next caller */
    stack[4] = CODE + WHOLE + 0x20;
    stack[7] = STACK + 10 * 8;
    stack[8] = CODE + BY_FP + 0x10;
    stack[11] = 0;
    assert_int_equal(unwind_from(BARE, 1), 4);
    assert_int_equal(frames[1].addr, CODE + WHOLE + 0x0f);
    assert_int_equal(frames[2].addr, CODE + WHOLE + 0x1f);
    assert_int_equal(frames[3].addr, CODE + BY_FP + 0x0f);
    assert_int_equal(end, UNWIND_UNPROVEN);
}

TEST(the_caller_of_an_interpreted_method_may_have_a_higher_sp)
{
    memset(stack, 0, sizeof stack);
    stack[3] = STACK + 20 * 8; /* the caller's sp before locals were added to the arguments */
    stack[4] = 7;              /* the caller's rbp, not a frame pointer */
    stack[5] = CODE + WHOLE + 0x10;
    stack[23] = CODE + WHOLE + 0x30;
    assert_int_equal(unwind_from(INTERPRETER, STACK + 4 * 8), 3);
    assert_int_equal(frames[1].addr, CODE + WHOLE + 0x0f);
    assert_int_equal(frames[2].addr, CODE + WHOLE + 0x2f);
}

TEST(an_impossible_sender_sp_is_ignored)
{
    const uint64_t wrong[] = { 0, STACK, STACK + 5 * 8 + 4, STACK + (1 << 20), UINT64_MAX - 7 };

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(stack, 0, sizeof stack);
        stack[3] = wrong[i];
        stack[5] = CODE + WHOLE + 0x10;
        stack[9] = CODE + WHOLE + 0x40;
        assert_int_equal(unwind_from(INTERPRETER, STACK + 4 * 8), 3);
        assert_int_equal(frames[2].addr, CODE + WHOLE + 0x3f);
    }
}

TEST(a_frame_that_cannot_be_unwound_ends_the_stack)
{
    memset(stack, 0, sizeof stack);
    for (unsigned i = 3; i < 64; i += 4)
        stack[i] = CODE + WHOLE + 0x10;
    assert_int_equal(unwind_from(WHOLE, 0), 17);
    assert_int_equal(end, UNWIND_DUMP);
    stack[59] = 0;
    assert_int_equal(unwind_from(WHOLE, 0), 15);
    assert_int_equal(end, UNWIND_UNPROVEN); /* a method always has a caller */
    assert_int_equal(unwind_from(HUGE_FRAME, 0), 1);
    assert_int_equal(end, UNWIND_BAD_STEP);
    stack[3] = CODE + NO_CODE;
    assert_int_equal(unwind_from(WHOLE, 0), 1);
    assert_int_equal(end, UNWIND_NO_MAP);
}

TEST(a_frame_size_not_proven_by_a_call_is_treated_as_stale)
{
    memset(stack, 0, sizeof stack);
    stack[0] = CODE + WHOLE + 0x50; /* the code was replaced by a method without a frame yet */
    stack[3] = no_call = CODE + WHOLE + 0x10;
    stack[4] = CODE + BY_FP + 0x10;
    assert_int_equal(unwind_from(WHOLE, 0), 3);
    assert_int_equal(frames[1].addr, CODE + WHOLE + 0x4f);
    assert_int_equal(frames[2].addr, CODE + BY_FP + 0x0f);
    stack[0] = no_call;
    assert_int_equal(unwind_from(WHOLE, 0), 1);
    assert_int_equal(end, UNWIND_UNPROVEN);
    no_call = 0;
}

TEST_MAIN(NULL, NULL)
