// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"
#include "cfi_maker.h"
#include "unit_test.h"
#include "unwind/rowformat.h"
#include "unwind/unwind.h"
#include "unwind_row.h"

#define STACK UINT32_C(0xffff0000)
#define BARE  (CODE + 0x10000) /* code without a table */
#define ROOM  16
#define WORDS 64

enum {                   /* functions in CODE */
       SAVES = 0x000,    /* CFA = esp + 16, ebp at CFA - 8 */
       BY_FP = 0x100,    /* CFA = ebp + 8, ebp at CFA - 8 */
       REALIGNS = 0x200, /* CFA = *(ebp - 4), ebp at ebp + 0 */
       OUTER = 0x300
};

struct fixture {
    struct cfi_maker m;
    uint32_t stack[WORDS];
    struct unwind_frame frames[ROOM];
    enum unwind_end end;
    uint32_t n;
    enum unwind_call call; /* the result for return addresses in BARE */
    uint64_t call_only;    /* … but for this one only, else REFUTED; 0: for all */
};

static bool find_rows(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct fixture *f = ctx;

    *out = (struct unwind_location){ .frame = (uint32_t)addr };
    if (addr >= CODE && addr < CODE + CODE_SIZE) {
        out->offset = addr - CODE + OFFSET;
        out->rows = &f->m.rows;
    }
    return (addr >= CODE && addr < CODE + CODE_SIZE) || (addr >= BARE && addr < BARE + 0x1000);
}

static enum unwind_call check_call(void *ctx, uint64_t back, uint64_t callee)
{
    struct fixture *f = ctx;

    assert_true(callee >= BARE); /* a table's return address is not checked */
    return f->call_only && back != f->call_only ? UNWIND_CALL_REFUTED : f->call;
}

static void unwind_from(struct fixture *f, uint64_t pc, uint32_t ebp)
{
    const struct unwind_source source = { .ctx = f, .find = find_rows, .called = check_call };
    const struct unwind_input in = { .arch = UNWIND_ARCH_X86_64,
                                     .regs = { .pc = pc, .sp = STACK, .fp = ebp },
                                     .stack = (const uint8_t *)f->stack,
                                     .stack_bytes = sizeof f->stack };

    f->n = unwind_stack_32(&in, &source, f->frames, ROOM, &f->end);
}

static void expect_frames(const struct fixture *f, enum unwind_end end, uint32_t n)
{
    assert_int_equal(f->end, end);
    assert_int_equal(f->n, n);
}

static int set_up(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    struct cfi_maker *m = &f->m;

    cfi_i386(m, "zR");
    cfi_fde(m, CODE + SAVES, 0x100);
    CFI(m, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 5, 2);
    cfi_close(m);
    cfi_fde(m, CODE + BY_FP, 0x100);
    CFI(m, DW_CFA_def_cfa, 5, 8, DW_CFA_offset | 5, 2);
    cfi_close(m);
    cfi_fde(m, CODE + REALIGNS, 0x100);
    CFI(m, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 5, 0x7c, DW_OP_deref, DW_CFA_expression, 5, 2,
        DW_OP_breg0 + 5, 0);
    cfi_close(m);
    cfi_fde(m, CODE + OUTER, 0x100);
    CFI(m, DW_CFA_undefined, 8);
    cfi_close(m);
    *state = f;
    return cfi_make(m) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    mem_free(f->m.blob);
    mem_free(f);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(tables_unwind_to_the_outermost_frame)
{
    struct fixture *f = *state;

    f->stack[2] = STACK + 40; /* ebp saved by SAVES */
    f->stack[3] = CODE + BY_FP + 0x10;
    f->stack[10] = STACK + 80; /* of BY_FP's frame */
    f->stack[11] = CODE + REALIGNS + 0x10;
    f->stack[19] = STACK + 120; /* REALIGNS' CFA */
    f->stack[20] = 0;
    f->stack[29] = CODE + OUTER + 0x10;
    unwind_from(f, CODE + SAVES + 8, 0x1234);
    expect_frames(f, UNWIND_ROOT, 4);
    assert_int_equal(f->frames[0].addr, CODE + SAVES + 8);
    assert_true(f->frames[0].exact);
    assert_int_equal(f->frames[1].addr, CODE + BY_FP + 0x0f);
    assert_int_equal(f->frames[2].addr, CODE + REALIGNS + 0x0f);
    assert_int_equal(f->frames[3].addr, CODE + OUTER + 0x0f);
    assert_false(f->frames[3].exact);
}

FIXTURE_TEST(a_return_address_of_0_after_a_table_ends_the_stack)
{
    struct fixture *f = *state;

    unwind_from(f, CODE + SAVES + 8, 0);
    expect_frames(f, UNWIND_ROOT, 1);
}

FIXTURE_TEST(a_frame_beyond_the_dump_is_reported)
{
    struct fixture *f = *state;

    unwind_from(f, CODE + BY_FP + 8, STACK + sizeof f->stack);
    expect_frames(f, UNWIND_DUMP, 1);
    unwind_from(f, CODE + BY_FP + 8, 0x1000);
    expect_frames(f, UNWIND_BAD_STEP, 1);
}

FIXTURE_TEST(code_without_a_table_needs_a_proof)
{
    struct fixture *f = *state;

    f->stack[0] = CODE + OUTER + 0x20; /* above esp */
    f->stack[4] = STACK + 32;          /* a frame record */
    f->stack[5] = CODE + OUTER + 0x40;
    f->call = UNWIND_CALL_PROVEN;
    unwind_from(f, BARE, STACK + 16);
    expect_frames(f, UNWIND_ROOT, 2);
    assert_int_equal(f->frames[1].addr, CODE + OUTER + 0x1f);
    f->call_only = CODE + OUTER + 0x40;
    unwind_from(f, BARE, STACK + 16);
    expect_frames(f, UNWIND_ROOT, 2);
    assert_int_equal(f->frames[1].addr, CODE + OUTER + 0x3f);
    f->call = UNWIND_CALL_REFUTED;
    unwind_from(f, BARE, STACK + 16);
    expect_frames(f, UNWIND_UNPROVEN, 1);
    f->call = UNWIND_CALL_UNKNOWN;
    unwind_from(f, BARE, STACK + 16);
    expect_frames(f, UNWIND_UNPROVEN, 1);
    f->call = UNWIND_CALL_PENDING;
    unwind_from(f, BARE, STACK + 16);
    expect_frames(f, UNWIND_PENDING, 1);
}

FIXTURE_TEST(no_root_is_found_without_a_table)
{
    struct fixture *f = *state;

    f->call = UNWIND_CALL_PROVEN;
    unwind_from(f, BARE, STACK + 16); /* nothing but zeros */
    expect_frames(f, UNWIND_UNPROVEN, 1);
}

FIXTURE_TEST(rows_of_another_machine_are_not_used)
{
    struct fixture *f = *state;
    struct unwind_rows_header *h = f->m.blob;

    h->arch = UNWIND_ARCH_X86_64;
    unwind_from(f, CODE + OUTER, 0);
    h->arch = UNWIND_ARCH_I386;
    expect_frames(f, UNWIND_UNPROVEN, 1);
}

TEST(pointers_of_4_bytes_are_read)
{
    struct cfi_maker m;
    struct unwind_row row;

    cfi_i386(&m, "");
    cfi_fde(&m, CODE + 0x40, 0x10);
    CFI(&m, DW_CFA_def_cfa_offset, 12);
    cfi_close(&m);
    assert_true(cfi_make(&m));
    assert_true(unwind_rows_find(&m.rows, OFFSET + 0x4f, &row));
    assert_int_equal(row.kind, UNWIND_ROW_SP);
    assert_int_equal(row.cfa_offset, 12);
    assert_int_equal(row.ra_offset, -4);
    assert_false(unwind_rows_find(&m.rows, OFFSET + 0x50, &row));
    cfi_done(&m);
}

FIXTURE_TEST(garbage_is_reported_as_unmapped)
{
    struct fixture *f = *state;

    f->stack[3] = 0x5000;
    unwind_from(f, CODE + SAVES + 8, 0);
    expect_frames(f, UNWIND_NO_MAP, 1);
}

TEST_MAIN(NULL, NULL)
