// SPDX-License-Identifier: GPL-2.0-or-later
#include <byteswap.h>

#include "cfi_maker.h"
#include "unit_test.h"
#include "unwind/expression.h"
#include "unwind/unwind.h"

/* Code in CODE has call-frame information; ranges of other kinds follow it. */
#define TABLED  CODE
#define JIT     (CODE + 0x100000)
#define PENDING (CODE + 0x200000)
#define NOWHERE UINT64_C(0x10)
#define STACK   UINT64_C(0x7fff0000)
#define WORDS   4096

enum {                   /* functions in TABLED, 0x100 bytes each */
       PLAIN = 0x000,    /* CFA = rsp + 8 */
       SAVES = 0x100,    /* CFA = rsp + 32, rbp at CFA - 16, rbx at CFA - 24 */
       BY_FP = 0x200,    /* CFA = rbp + 16, rbp at CFA - 16 */
       OUTER = 0x300,    /* the outermost */
       SIGNAL = 0x400,   /* returns from a signal handler */
       BY_RBX = 0x500,   /* CFA = rbx + 16 */
       VFORK = 0x600,    /* the return address is in rdi */
       STUCK = 0x700,    /* CFA = rsp + 0 */
       BARE = 0x800,     /* undefined */
       BASE = 0x900,     /* like PLAIN, with a gap before it */
       CLONE = 0xa00,    /* like PLAIN up to its system call, which is in a gap */
       REALIGNS = 0xb00, /* CFA = r10, rbp at rbp: GCC's table after a function has restored rbp */
       CHILD = 0xa18,    /* … and its child's code, the outermost of a thread */
       ROOM = 16
};

struct fixture {
    struct cfi_maker m;
    uint64_t stack[WORDS];
    struct unwind_input in;
    struct unwind_frame frames[ROOM];
    enum unwind_end end;
    uint32_t n;
    uint64_t no_call; /* a return address without a call instruction before it */
    bool unproven;    /* JIT code has no rows … */
    uint64_t deduced; /* … except that it equals a function of TABLED; 0: none */
};

static bool find_rows(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct fixture *f = ctx;

    *out = (struct unwind_location){ .frame = (uint32_t)addr };
    if (addr >= TABLED && addr < TABLED + CODE_SIZE) {
        out->offset = addr - TABLED + OFFSET;
        out->rows = &f->m.rows;
    } else if (addr >= PENDING && addr < PENDING + 0x1000) {
        out->pending = true;
    } else if (addr >= JIT && addr < JIT + 0x1000) {
        out->jit = true;
        out->unproven = f->unproven;
    } else {
        return false;
    }
    return true;
}

static void deduce_rows(void *ctx, uint64_t addr, uint64_t pc, struct unwind_location *place)
{
    struct fixture *f = ctx;

    assert_true(addr >= JIT && addr < JIT + 0x1000 && pc - addr <= 1);
    place->offset = f->deduced - TABLED + OFFSET;
    place->rows = f->deduced ? &f->m.rows : NULL;
}

static void put_functions(struct cfi_maker *m)
{
    cfi_x86_64(m, "zR");
    cfi_fde(m, CODE + PLAIN, 0x100);
    cfi_close(m);
    cfi_fde(m, CODE + SAVES, 0x100);
    CFI(m, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 2, DW_CFA_offset | 3, 3);
    cfi_close(m);
    cfi_fde(m, CODE + BY_FP, 0x100);
    CFI(m, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
    cfi_close(m);
    cfi_fde(m, CODE + OUTER, 0x100);
    CFI(m, DW_CFA_undefined, 16);
    cfi_close(m);
    cfi_fde(m, CODE + BY_RBX, 0x100);
    CFI(m, DW_CFA_def_cfa, 3, 16);
    cfi_close(m);
    cfi_fde(m, CODE + REALIGNS, 0x100);
    CFI(m, DW_CFA_def_cfa, 10, 0, DW_CFA_expression, 6, 2, DW_OP_breg0 + 6, 0);
    cfi_close(m);
    cfi_fde(m, CODE + VFORK, 0x100);
    CFI(m, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5);
    cfi_close(m);
    cfi_fde(m, CODE + STUCK, 0x100);
    CFI(m, DW_CFA_def_cfa_offset, 0);
    cfi_close(m);
    cfi_fde(m, CODE + BASE, 0x100);
    cfi_close(m);
    cfi_fde(m, CODE + CLONE, 0x10);
    cfi_close(m);
    cfi_fde(m, CODE + CHILD, 0x10);
    CFI(m, DW_CFA_undefined, 16);
    cfi_close(m);
    cfi_cie(m, 1, "zRS");
    CFI(m, DW_CFA_def_cfa_expression, 4, DW_OP_breg0 + 7, 0xa0, 0x01, DW_OP_deref);
    cfi_close(m);
    cfi_fde(m, CODE + SIGNAL, 0x100);
    cfi_close(m);
}

static void set_reg(struct fixture *f, unsigned reg, uint64_t value)
{
    f->in.regs.r[reg] = value;
    f->in.regs.known |= UINT64_C(1) << reg;
}

static int set_up(void **state)
{
    static const uint8_t code[CODE_SIZE] = { [CLONE + 0x10] = 0x0f, [CLONE + 0x11] = 0x05 }; /* syscall */
    struct fixture *f = mem_zalloc(sizeof *f);

    put_functions(&f->m);
    f->m.code = code;
    if (!cfi_make(&f->m))
        return -1;
    f->in = (struct unwind_input){
        .arch = UNWIND_ARCH_X86_64,
        .stack = (const uint8_t *)f->stack,
        .stack_bytes = sizeof f->stack,
    };
    set_reg(f, 7, STACK);
    f->in.regs.sp = STACK;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    cfi_done(&f->m);
    mem_free(f);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void set_fp(struct fixture *f, uint64_t fp)
{
    set_reg(f, 6, fp);
    f->in.regs.fp = fp;
}

/* All return addresses but one are known to be of a call that leads to the callee. */
static enum unwind_call check_call(void *ctx, uint64_t back, uint64_t callee)
{
    const struct fixture *f = ctx;

    (void)callee;
    return back == f->no_call ? UNWIND_CALL_REFUTED : UNWIND_CALL_PROVEN;
}

static void unwind_from(struct fixture *f, uint64_t pc)
{
    struct unwind_source source = {
        .ctx = f, .find = find_rows, .deduce = deduce_rows, .called = check_call
    };

    f->in.regs.pc = pc;
    f->n = unwind_stack(&f->in, &source, f->frames, ROOM, &f->end);
}

/* The frames as put on the stack: the pc, then return addresses. */
static void expect_frames(const struct fixture *f, enum unwind_end end, uint32_t n, const uint64_t *pcs)
{
    assert_int_equal(f->end, end);
    assert_int_equal(f->n, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(f->frames[i].addr + !f->frames[i].exact == pcs[i]);
        assert_int_equal(f->frames[i].frame, (uint32_t)f->frames[i].addr);
    }
}
#define EXPECT(f, end, ...)                                                                                  \
    expect_frames(f, end, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, (const uint64_t[]){ __VA_ARGS__ })

FIXTURE_TEST(frames_are_followed_to_the_outermost)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SAVES + 5;
    f->stack[1 + 3] = CODE + PLAIN + 9; /* the CFA of SAVES is 32 above its sp */
    f->stack[5] = CODE + OUTER + 1;
    unwind_from(f, CODE + PLAIN + 3);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN + 3, CODE + SAVES + 5, CODE + PLAIN + 9, CODE + OUTER + 1);
    assert_true(f->frames[0].exact);
    assert_false(f->frames[1].exact);
}

/* A call that does not return may be the last instruction of its function: the next byte belongs to
 * another. */
FIXTURE_TEST(the_byte_before_a_return_address_is_looked_up)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SAVES;
    f->stack[1] = CODE + OUTER + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SAVES, CODE + OUTER + 1);
}

FIXTURE_TEST(a_return_address_of_0_ends_a_stack_that_has_callers)
{
    struct fixture *f = *state;

    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_UNPROVEN, CODE + PLAIN);
    f->stack[0] = CODE + SAVES + 5;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SAVES + 5);
}

/* makecontext puts it there as the outermost function's return address: no call did. */
FIXTURE_TEST(a_return_address_at_a_function_start_after_a_gap_ends_the_stack)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + BASE;
    f->stack[1] = CODE + PLAIN + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + BASE);
    assert_true(f->frames[1].exact);
    f->stack[0] = CODE + BASE + 1;
    f->stack[2] = 0;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + BASE + 1, CODE + PLAIN + 1);
}

FIXTURE_TEST(a_dump_that_is_too_small_is_reported)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SAVES + 5;
    f->stack[4] = CODE + OUTER + 1;
    f->in.stack_bytes = 4 * 8;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_DUMP, CODE + PLAIN, CODE + SAVES + 5);
    f->in.stack_bytes = 5 * 8 - 1;
    unwind_from(f, CODE + PLAIN);
    assert_int_equal(f->end, UNWIND_DUMP);
    f->in.stack_bytes = 0;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_DUMP, CODE + PLAIN);
}

FIXTURE_TEST(a_frame_pointer_that_leads_far_away_is_a_bad_step)
{
    struct fixture *f = *state;

    set_fp(f, UINT64_C(0x7ffffffff000));
    unwind_from(f, CODE + BY_FP);
    EXPECT(f, UNWIND_BAD_STEP, CODE + BY_FP);
    set_fp(f, STACK - 64);
    unwind_from(f, CODE + BY_FP);
    EXPECT(f, UNWIND_BAD_STEP, CODE + BY_FP);
}

FIXTURE_TEST(a_cfa_that_does_not_grow_is_a_bad_step)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + STUCK + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_BAD_STEP, CODE + PLAIN, CODE + STUCK + 1);
}

/* The row still says that rbp is in the frame, below the return address that is all that is left of it. */
FIXTURE_TEST(a_register_popped_by_the_epilogue_keeps_its_value)
{
    struct fixture *f = *state;
    uint64_t sp = STACK + 8;

    f->stack[1 + 3] = CODE + BY_FP + 1;
    f->stack[10] = 0; /* rbp of BY_FP's caller */
    f->stack[11] = CODE + OUTER + 1;
    f->in.stack += 8 + 3 * 8; /* the dump begins at sp */
    f->in.stack_bytes -= 8 + 3 * 8;
    sp += 3 * 8;
    set_reg(f, 7, sp);
    f->in.regs.sp = sp;
    set_fp(f, STACK + 10 * 8);
    f->m.rows = (struct unwind_rows){ 0 };
    cfi_done(&f->m);
    cfi_x86_64(&f->m, "zR");
    cfi_fde(&f->m, CODE + SAVES, 0x100); /* popped, and CFA = rsp + 8 */
    CFI(&f->m, DW_CFA_offset | 6, 2);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + BY_FP, 0x100);
    CFI(&f->m, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + OUTER, 0x100);
    CFI(&f->m, DW_CFA_undefined, 16);
    cfi_close(&f->m);
    assert_true(cfi_make(&f->m));
    unwind_from(f, CODE + SAVES + 0x20);
    EXPECT(f, UNWIND_ROOT, CODE + SAVES + 0x20, CODE + BY_FP + 1, CODE + OUTER + 1);
}

FIXTURE_TEST(code_without_a_table_is_left_by_frame_pointer_then_tables_apply_again)
{
    struct fixture *f = *state;

    set_fp(f, STACK + 16);
    f->stack[2] = STACK + 80; /* rbp of the caller, another piece of JIT code */
    f->stack[3] = JIT + 0x20;
    f->stack[10] = 0;
    f->stack[11] = CODE + SAVES + 5; /* sp is above this word */
    f->stack[12 + 3] = CODE + OUTER + 1;
    unwind_from(f, JIT + 0x10);
    EXPECT(f, UNWIND_ROOT, JIT + 0x10, JIT + 0x20, CODE + SAVES + 5, CODE + OUTER + 1);
    unwind_from(f, CODE + BARE); /* a file's code that is in no table */
    EXPECT(f, UNWIND_ROOT, CODE + BARE, JIT + 0x20, CODE + SAVES + 5, CODE + OUTER + 1);
}

FIXTURE_TEST(unknown_code_is_unwound_by_its_instructions)
{
    struct fixture *f = *state;

    f->unproven = true;
    set_fp(f, STACK + 16); /* the caller's: following it would skip the caller */
    f->stack[3] = CODE + OUTER + 1;
    f->stack[0] = JIT + 0x20;
    f->stack[1] = CODE + PLAIN + 5;
    f->stack[2] = CODE + OUTER + 1;
    f->deduced = CODE + PLAIN;
    unwind_from(f, JIT + 0x10);
    EXPECT(f, UNWIND_ROOT, JIT + 0x10, JIT + 0x20, CODE + PLAIN + 5, CODE + OUTER + 1);
}

FIXTURE_TEST(callers_of_unknown_code_with_a_frame_pointer_are_assumed_to_keep_it)
{
    struct fixture *f = *state;

    f->unproven = true;
    set_fp(f, STACK + 16);
    f->stack[2] = STACK + 80;
    f->stack[3] = JIT + 0x20;
    f->stack[10] = 0;
    f->stack[11] = CODE + OUTER + 1;
    f->deduced = CODE + BY_FP;
    f->no_call = CODE + OUTER + 1; /* is not looked up again */
    unwind_from(f, JIT + 0x10);
    EXPECT(f, UNWIND_ROOT, JIT + 0x10, JIT + 0x20, CODE + OUTER + 1);
}

FIXTURE_TEST(undeducible_code_needs_a_call_before_the_return_address)
{
    struct fixture *f = *state;

    f->unproven = true;
    set_fp(f, STACK + 16);
    f->stack[3] = CODE + OUTER + 1;
    unwind_from(f, JIT + 0x10);
    EXPECT(f, UNWIND_ROOT, JIT + 0x10, CODE + OUTER + 1);
    f->no_call = CODE + OUTER + 1;
    unwind_from(f, JIT + 0x10);
    EXPECT(f, UNWIND_UNPROVEN, JIT + 0x10);
}

FIXTURE_TEST(an_impossible_frame_pointer_is_not_followed)
{
    static const uint64_t bad[] = { STACK - 8, STACK + 4, STACK + (16 << 10) + 8, 1 };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set_fp(f, bad[i]);
        unwind_from(f, JIT);
        EXPECT(f, UNWIND_NO_TABLE, JIT);
    }
    set_fp(f, 0); /* an unused register may be 0 … */
    unwind_from(f, JIT);
    EXPECT(f, UNWIND_NO_TABLE, JIT);
    set_fp(f, STACK); /* … and a chain that ends in such a value proves nothing */
    f->stack[1] = JIT + 5;
    unwind_from(f, JIT);
    EXPECT(f, UNWIND_UNPROVEN, JIT, JIT + 5);
    set_fp(f, STACK); /* looks like one, but the address is no code */
    f->stack[1] = NOWHERE;
    unwind_from(f, JIT);
    EXPECT(f, UNWIND_NO_TABLE, JIT);
}

/* glibc's clone() has no rows after its system call, which returns twice, once on a new stack. */
FIXTURE_TEST(the_caller_of_clone_is_found_and_its_child_has_none)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SAVES + 5;
    f->stack[4] = CODE + OUTER + 1;
    set_reg(f, 0, 1234);
    unwind_from(f, CODE + CLONE + 0x12);
    EXPECT(f, UNWIND_ROOT, CODE + CLONE + 0x12, CODE + SAVES + 5, CODE + OUTER + 1);
    set_reg(f, 0, 0);
    unwind_from(f, CODE + CLONE + 0x12);
    EXPECT(f, UNWIND_ROOT, CODE + CLONE + 0x12);
    unwind_from(f, CODE + CHILD + 2);
    EXPECT(f, UNWIND_ROOT, CODE + CHILD + 2);
}

FIXTURE_TEST(unmapped_addresses_are_reported)
{
    struct fixture *f = *state;

    f->stack[0] = 0x123456789;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_NO_MAP, CODE + PLAIN);
    unwind_from(f, 0x123456789);
    assert_int_equal(f->n, 0);
    assert_int_equal(f->end, UNWIND_NO_MAP);
}

FIXTURE_TEST(a_pending_table_is_reported)
{
    struct fixture *f = *state;

    f->stack[0] = PENDING + 5;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_PENDING, CODE + PLAIN, PENDING + 5);
}

FIXTURE_TEST(too_many_frames_are_reported)
{
    struct fixture *f = *state;

    for (int i = 0; i < WORDS; i++)
        f->stack[i] = CODE + PLAIN + 1;
    unwind_from(f, CODE + PLAIN);
    assert_int_equal(f->end, UNWIND_DEEP);
    assert_int_equal(f->n, ROOM);
}

/* A struct ucontext at word `at`: the interrupted code had this pc, sp and rbp. */
static void put_signal_frame(struct fixture *f, int at, uint64_t pc, uint64_t sp, uint64_t fp)
{
    f->stack[at] = 7;
    f->stack[at + 1] = 0;
    f->stack[at + 120 / 8] = fp;
    f->stack[at + 160 / 8] = sp;
    f->stack[at + 168 / 8] = pc;
    f->stack[at + 184 / 8] = UINT64_C(0x002b000000000033);
}

FIXTURE_TEST(the_interrupted_frame_of_a_signal_is_exact)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SIGNAL + 1;
    put_signal_frame(f, 1, CODE + SAVES, STACK + 100 * 8, 0);
    f->stack[103] = CODE + OUTER + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SIGNAL + 1, CODE + SAVES, CODE + OUTER + 1);
    assert_true(f->frames[2].exact);
    assert_false(f->frames[3].exact);
}

FIXTURE_TEST(a_handler_on_its_own_stack_ends_at_the_interrupted_frame)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + SIGNAL + 1;
    put_signal_frame(f, 1, CODE + SAVES, STACK - (1 << 30), 0);
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ELSEWHERE, CODE + PLAIN, CODE + SIGNAL + 1, CODE + SAVES);
    put_signal_frame(f, 1, CODE + SAVES, STACK + (1 << 30), 0);
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ELSEWHERE, CODE + PLAIN, CODE + SIGNAL + 1, CODE + SAVES);
    put_signal_frame(f, 1, CODE + SAVES, STACK + 32768, 0); /* within the size of a larger dump */
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_DUMP, CODE + PLAIN, CODE + SIGNAL + 1, CODE + SAVES);
}

FIXTURE_TEST(a_signal_frame_is_recognized_without_a_table)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + BARE + 1;
    put_signal_frame(f, 1, CODE + SAVES, STACK + 100 * 8, 0);
    f->stack[103] = CODE + OUTER + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + BARE + 1, CODE + SAVES, CODE + OUTER + 1);
}

FIXTURE_TEST(a_signal_frame_is_recognized_even_if_its_row_is_a_functions)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + PLAIN + 0x50;
    put_signal_frame(f, 1, CODE + SAVES, STACK + 100 * 8, 0);
    f->stack[103] = CODE + OUTER + 1;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + PLAIN + 0x50, CODE + SAVES, CODE + OUTER + 1);
}

FIXTURE_TEST(a_return_address_in_a_register_counts_only_in_an_exact_frame)
{
    struct fixture *f = *state;

    set_reg(f, 5, CODE + SAVES + 5);
    f->stack[3] = CODE + VFORK + 5;
    unwind_from(f, CODE + VFORK);
    EXPECT(f, UNWIND_BAD_STEP, CODE + VFORK, CODE + SAVES + 5, CODE + VFORK + 5);
    f->stack[3] = CODE + OUTER + 5;
    unwind_from(f, CODE + VFORK);
    EXPECT(f, UNWIND_ROOT, CODE + VFORK, CODE + SAVES + 5, CODE + OUTER + 5);
}

/* BY_RBX's CFA needs the rbx that its callee SAVES has put on the stack. */
FIXTURE_TEST(a_general_row_finds_registers_saved_by_other_frames)
{
    struct fixture *f = *state;

    set_reg(f, 3, 0xdead);
    f->stack[0] = CODE + SAVES + 5;
    f->stack[1 + 1] = STACK + 50 * 8; /* rbx, at CFA - 24 */
    f->stack[1 + 3] = CODE + BY_RBX + 5;
    f->stack[51] = CODE + OUTER + 5;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SAVES + 5, CODE + BY_RBX + 5, CODE + OUTER + 5);
    set_reg(f, 3, STACK + 50 * 8); /* and then in the first frame */
    unwind_from(f, CODE + BY_RBX);
    EXPECT(f, UNWIND_ROOT, CODE + BY_RBX, CODE + OUTER + 5);
    set_reg(f, 3, STACK + sizeof f->stack + 64);
    unwind_from(f, CODE + BY_RBX);
    EXPECT(f, UNWIND_DUMP, CODE + BY_RBX);
    set_reg(f, 3, STACK - 64);
    unwind_from(f, CODE + BY_RBX);
    EXPECT(f, UNWIND_BAD_STEP, CODE + BY_RBX);
}

FIXTURE_TEST(an_epilogue_that_has_restored_the_frame_pointer_keeps_it)
{
    struct fixture *f = *state;

    /* rbp is not restored yet: it points to the caller's, below the CFA */
    set_reg(f, 10, STACK + 10 * 8);
    f->stack[9] = CODE + BY_FP + 5;
    f->stack[4] = STACK + 20 * 8;
    f->stack[21] = CODE + OUTER + 5;
    set_fp(f, STACK + 4 * 8);
    unwind_from(f, CODE + REALIGNS);
    EXPECT(f, UNWIND_ROOT, CODE + REALIGNS, CODE + BY_FP + 5, CODE + OUTER + 5);
    /* restored: there, the caller has saved another one */
    f->stack[4] = 0;
    f->stack[20] = STACK + 30 * 8;
    f->stack[31] = CODE + SAVES + 5;
    set_fp(f, STACK + 20 * 8);
    unwind_from(f, CODE + REALIGNS);
    EXPECT(f, UNWIND_ROOT, CODE + REALIGNS, CODE + BY_FP + 5, CODE + OUTER + 5);
}

FIXTURE_TEST(dumps_of_the_other_byte_order_are_swapped)
{
    struct fixture *f = *state;

    f->in.swap = true;
    f->stack[0] = bswap_64(CODE + SAVES + 5);
    f->stack[4] = bswap_64(CODE + OUTER + 1);
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SAVES + 5, CODE + OUTER + 1);
}

/* PLAIN: a leaf; SAVES: CFA = sp + 32, x29 and x30 at its bottom; OUTER: x30 is undefined. */
static void set_up_arm64(struct fixture *f)
{
    static const uint8_t code[CODE_SIZE] = { [CLONE + 0x10] = 0x01, [CLONE + 0x13] = 0xd4 }; /* svc #0 */

    cfi_done(&f->m);
    memset(&f->m, 0, sizeof f->m);
    f->m.arch = f->in.arch = UNWIND_ARCH_ARM64;
    cfi_cie(&f->m, 1, "zR");
    CFI(&f->m, DW_CFA_def_cfa, 31, 0);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + PLAIN, 0x100);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + SAVES, 0x100);
    CFI(&f->m, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + OUTER, 0x100);
    CFI(&f->m, DW_CFA_undefined, 30);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + CLONE, 0x10);
    cfi_close(&f->m);
    cfi_fde(&f->m, CODE + CHILD, 0x10);
    CFI(&f->m, DW_CFA_undefined, 30);
    cfi_close(&f->m);
    f->m.code = code;
    assert_true(cfi_make(&f->m));
    set_reg(f, 31, STACK);
}

static void set_fp_arm64(struct fixture *f, uint64_t fp)
{
    set_reg(f, 29, fp);
    f->in.regs.fp = fp;
}

FIXTURE_TEST(an_arm64_leaf_returns_by_its_link_register)
{
    struct fixture *f = *state;

    set_up_arm64(f);
    set_reg(f, 30, (CODE + SAVES + 8) | UINT64_C(0x0041) << 48); /* signed */
    f->stack[1] = (CODE + OUTER + 4) | UINT64_C(0x0027) << 48;
    unwind_from(f, CODE + PLAIN + 4);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN + 4, CODE + SAVES + 8, CODE + OUTER + 4);
}

FIXTURE_TEST(the_caller_of_clone_is_in_an_arm64_link_register)
{
    struct fixture *f = *state;

    set_up_arm64(f);
    set_reg(f, 30, CODE + SAVES + 8);
    set_reg(f, 0, 1234);
    f->stack[1] = CODE + OUTER + 4;
    unwind_from(f, CODE + CLONE + 0x14);
    EXPECT(f, UNWIND_ROOT, CODE + CLONE + 0x14, CODE + SAVES + 8, CODE + OUTER + 4);
    set_reg(f, 0, 0);
    unwind_from(f, CODE + CLONE + 0x14);
    EXPECT(f, UNWIND_ROOT, CODE + CLONE + 0x14);
}

/* A frame record does not say where the frame ends; but the caller's frame pointer points to its own
 * record. */
FIXTURE_TEST(arm64_tables_apply_again_after_a_frame_record)
{
    struct fixture *f = *state;

    set_up_arm64(f);
    set_fp_arm64(f, STACK + 16);
    f->stack[2] = STACK + 20 * 8; /* the record of JIT code, above which are locals */
    f->stack[3] = CODE + SAVES + 8;
    f->stack[20] = 0;
    f->stack[21] = CODE + OUTER + 4;
    unwind_from(f, JIT);
    EXPECT(f, UNWIND_ROOT, JIT, CODE + SAVES + 8, CODE + OUTER + 4);
}

FIXTURE_TEST(an_arm64_signal_frame_is_recognized_by_its_layout)
{
    struct fixture *f = *state;
    uint64_t *frame = f->stack + 2;

    set_up_arm64(f);
    set_reg(f, 30, CODE + BARE + 1); /* of the handler, which is a leaf: sp is at the signal frame */
    set_reg(f, 31, STACK + 16);
    f->in.regs.sp = STACK + 16;
    f->in.stack += 16;
    f->in.stack_bytes -= 16;
    frame[0] = 10;                          /* a signal's number */
    frame[312 / 8 + 30] = CODE + OUTER + 4; /* x30: the interrupted function is a leaf, too */
    frame[312 / 8 + 31] = STACK + 200 * 8;
    frame[312 / 8 + 32] = CODE + PLAIN + 8;
    frame[592 / 8] = 0x46508001;
    unwind_from(f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + BARE + 1, CODE + PLAIN + 8, CODE + OUTER + 4);
    assert_true(f->frames[2].exact);
}

FIXTURE_TEST(an_unknown_machine_has_no_frames)
{
    struct fixture *f = *state;

    f->in.arch = UNWIND_ARCH_NONE;
    unwind_from(f, CODE + PLAIN);
    assert_int_equal(f->n, 0);
}

/* An unwound stack that is remembered, as a caller of unwind_stack would. */
struct memory {
    struct fixture *f;
    struct unwind_regs regs; /* where it was looked up */
    struct unwind_reads reads;
    uint64_t sum;
    bool kept, known;
};

static bool sum_of(const struct memory *m, const struct unwind_memory *dump, uint64_t *sum)
{
    return unwind_reads_sum(m->reads.runs, m->reads.n, m->reads.words, m->reads.sp, dump, sum);
}

static bool find_again(void *ctx, uint64_t addr, struct unwind_location *out)
{
    return find_rows(((struct memory *)ctx)->f, addr, out);
}

static bool keep_regs(void *ctx, const struct unwind_frame *frames, uint32_t n,
                      const struct unwind_memory *dump, const struct unwind_regs *regs)
{
    (void)dump;
    assert_true(n >= 1 && frames[0].exact);
    ((struct memory *)ctx)->regs = *regs;
    return false;
}

static bool knows_callers(void *ctx, const struct unwind_frame *frames, uint32_t n,
                          const struct unwind_memory *dump, const struct unwind_regs *regs)
{
    struct memory *m = ctx;
    uint64_t sum;

    (void)frames;
    (void)n;
    assert_false(regs->known & ~(UINT64_C(1) << 7 | UINT64_C(1) << 6)); /* only sp and fp are needed */
    m->known = m->kept && regs->pc == m->regs.pc && regs->sp == m->regs.sp &&
               (!m->reads.fp || regs->fp == m->regs.fp) && sum_of(m, dump, &sum) && sum == m->sum;
    return m->known;
}

static enum unwind_call check_call_again(void *ctx, uint64_t back, uint64_t callee)
{
    struct memory *m = ctx;

    return check_call(m->f, back, callee);
}

static void remember_unwind(struct memory *m, struct fixture *f, uint64_t pc)
{
    struct unwind_source source = {
        .ctx = m, .find = find_again, .called = check_call_again, .knows = keep_regs, .reads = &m->reads
    };
    struct unwind_memory dump;

    *m = (struct memory){ .f = f, .reads.bad = true };
    f->in.regs.pc = pc;
    f->n = unwind_stack(&f->in, &source, f->frames, ROOM, &f->end);
    dump = (struct unwind_memory){ .bytes = f->in.stack, .size = f->in.stack_bytes, .base = f->in.regs.sp };
    m->kept = f->end == UNWIND_ROOT && !m->reads.bad && sum_of(m, &dump, &m->sum);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345; /* POSIX, rand() */
    return *seed >> 16;
}

/* Functions that read the stack in all ways, one above the other; frames with a frame pointer are chained. */
static void put_path(struct fixture *f, unsigned *seed)
{
    static const unsigned kinds[] = { PLAIN, SAVES, BY_FP, BY_RBX, BARE, SIGNAL, BASE };
    unsigned at = 0, kind = PLAIN;

    memset(f->stack, 0, sizeof f->stack);
    set_fp(f, STACK + 8 * (next_random(seed) % 40));
    for (unsigned i = 0; i < 10; i++) {
        unsigned size = kind == SAVES ? 4 : kind == PLAIN ? 1 : 2, next = kinds[next_random(seed) % 7];
        if (i == 9 || (next >= BY_RBX && next_random(seed) % 4))
            next = i == 9 ? OUTER : PLAIN;
        at += size;
        if (size > 1)
            f->stack[at - 2] = STACK + 8 * (at + next_random(seed) % 4);
        f->stack[at - 1] = CODE + next + 1;
        kind = next;
    }
}

FIXTURE_TEST(words_read_while_unwinding_identify_equal_stacks)
{
    struct fixture *f = *state;
    unsigned seed = 1, n_kept = 0, n_known = 0, n_other = 0;

    for (unsigned round = 0; round < 3000; round++) {
        struct memory m;
        struct unwind_source source = { .ctx = &m,
                                        .find = find_again,
                                        .called = check_call_again,
                                        .knows = knows_callers,
                                        .reads = &(struct unwind_reads){ 0 } };
        struct unwind_frame first[ROOM], frames[ROOM];
        enum unwind_end end;
        put_path(f, &seed);
        remember_unwind(&m, f, CODE + PLAIN);
        n_kept += m.kept;
        uint32_t n_first = f->n;
        memcpy(first, f->frames, sizeof first);
        for (unsigned i = 0; i < 20 && m.kept; i++) {
            uint64_t *word = &f->stack[next_random(&seed) % 40], before = *word, fp = f->in.regs.fp;
            *word = next_random(&seed) % 2 ? CODE + SAVES + 1 : STACK + 8 * (next_random(&seed) % 60);
            set_fp(f, next_random(&seed) % 2 ? fp : STACK + 8 * (next_random(&seed) % 40));
            m.known = false;
            uint32_t n = unwind_stack(&f->in, &source, frames, ROOM, &end);
            unwind_from(f, CODE + PLAIN);
            assert_int_equal(end == UNWIND_KNOWN, m.known);
            if (m.known) { /* the rest is unchanged */
                memcpy(frames + n, first + n, (n_first - n) * sizeof *first);
                n = n_first;
                end = UNWIND_ROOT;
            }
            assert_int_equal(end, f->end);
            assert_int_equal(n, f->n);
            for (uint32_t k = 0; k < n; k++)
                assert_int_equal(frames[k].frame, f->frames[k].frame);
            n_known += m.known;
            n_other += n != n_first || memcmp(frames, first, n * sizeof *frames) != 0;
            *word = before;
            set_fp(f, fp);
        }
    }
    assert_in_range(n_kept, 300, 3000);
    assert_in_range(n_known, 1000, 60000);
    assert_in_range(n_other, 1000, 60000);
}

FIXTURE_TEST(stacks_that_depend_on_other_registers_are_not_reused)
{
    struct fixture *f = *state;
    struct memory m;

    f->stack[0] = CODE + SAVES + 5;
    f->stack[2] = STACK + 80; /* rbx */
    f->stack[4] = CODE + BY_RBX + 1;
    f->stack[11] = CODE + OUTER + 1;
    remember_unwind(&m, f, CODE + PLAIN);
    EXPECT(f, UNWIND_ROOT, CODE + PLAIN, CODE + SAVES + 5, CODE + BY_RBX + 1, CODE + OUTER + 1);
    assert_true(m.reads.bad);
}

TEST_MAIN(NULL, NULL)
