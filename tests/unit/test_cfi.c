// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi_maker.h"
#include "unit_test.h"
#include "unwind/cfirun.h"
#include "unwind/rowformat.h"
#include "unwind_row.h"

enum { RDI = 5, RBP = 6, RSP = 7, R10 = 10, R12 = 12, RA = 16 };

static struct unwind_row row_at(const struct cfi_maker *m, uint64_t into)
{
    struct unwind_row row = { .kind = UNWIND_ROW_NONE };

    unwind_rows_find(&m->rows, OFFSET + into, &row);
    return row;
}

static void make_table(struct cfi_maker *m)
{
    if (!cfi_make(m))
        fail_msg("%s", m->error.text);
}

static void expect(const struct cfi_maker *m, uint64_t into, enum unwind_row_kind kind, int cfa)
{
    struct unwind_row row = row_at(m, into);

    assert_int_equal(row.kind, kind);
    assert_int_equal(row.cfa_offset, cfa);
}

/* push rbp; mov rbp, rsp; …; pop rbp; ret */
static void put_frame_pointer_function(struct cfi_maker *m)
{
    CFI(m, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | RBP, 2);
    CFI(m, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, RBP);
    CFI(m, DW_CFA_advance_loc1, 0x20, DW_CFA_def_cfa, RSP, 8);
}

static void expect_frame_pointer_function(const struct cfi_maker *m)
{
    expect(m, 0x00, UNWIND_ROW_SP, 8);
    expect(m, 0x01, UNWIND_ROW_SP, 16);
    assert_true(row_at(m, 1).fp_saved);
    assert_false(row_at(m, 0).fp_saved);
    assert_int_equal(row_at(m, 1).fp_offset, -16);
    assert_int_equal(row_at(m, 1).ra_offset, -8);
    expect(m, 0x04, UNWIND_ROW_FP, 16);
    expect(m, 0x23, UNWIND_ROW_FP, 16);
    expect(m, 0x24, UNWIND_ROW_SP, 8);
    expect(m, 0x2f, UNWIND_ROW_SP, 8);
    expect(m, 0x30, UNWIND_ROW_NONE, 0);
}

TEST(rows_follow_the_prologue_and_epilogue_of_a_frame_pointer_function)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x30);
    put_frame_pointer_function(&m);
    cfi_close(&m);
    make_table(&m);
    expect_frame_pointer_function(&m);
    cfi_done(&m);
}

TEST(debug_frame_versions_1_3_and_4_are_read)
{
    static const unsigned versions[] = { 1, 3, 4 };

    for (unsigned i = 0; i < 3; i++) {
        struct cfi_maker m = { .arch = UNWIND_ARCH_X86_64, .debug = true };
        cfi_cie(&m, versions[i], "");
        CFI(&m, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RA, 1);
        cfi_close(&m);
        cfi_fde(&m, CODE, 0x30);
        put_frame_pointer_function(&m);
        cfi_close(&m);
        make_table(&m);
        expect_frame_pointer_function(&m);
        cfi_done(&m);
    }
}

TEST(pointers_are_read_in_every_encoding)
{
    static const struct {
        uint8_t encoding;
        uint64_t base;
        unsigned bytes;
    } ways[] = {
        { DW_EH_PE_absptr, 0, 8 },
        { DW_EH_PE_udata4, 0, 4 },
        { DW_EH_PE_udata8, 0, 8 },
        { DW_EH_PE_textrel | DW_EH_PE_udata2, CODE, 2 },
        { DW_EH_PE_textrel | DW_EH_PE_sdata2, CODE, 2 },
        { DW_EH_PE_datarel | DW_EH_PE_sdata4, FRAME_AT, 4 },
        { DW_EH_PE_datarel | DW_EH_PE_sdata8, FRAME_AT, 8 },
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct cfi_maker m;
        cfi_x86_64(&m, "");
        cfi_cie(&m, 1, "zRL");
        CFI(&m, 2, ways[i].encoding, DW_EH_PE_omit, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RA, 1);
        cfi_close(&m);
        m.entry = m.n;
        cfi_int(&m, 0, 4);
        cfi_int(&m, m.n - m.cie, 4);
        cfi_int(&m, CODE + 0x100 - ways[i].base, ways[i].bytes);
        cfi_int(&m, 0x40, ways[i].bytes);
        cfi_u8(&m, 0);
        cfi_close(&m);
        make_table(&m);
        expect(&m, 0xff, UNWIND_ROW_NONE, 0);
        expect(&m, 0x100, UNWIND_ROW_SP, 8);
        expect(&m, 0x13f, UNWIND_ROW_SP, 8);
        expect(&m, 0x140, UNWIND_ROW_NONE, 0);
        cfi_done(&m);
    }
}

TEST(leb128_pointers_and_personality_data_are_skipped)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "");
    cfi_cie(&m, 3, "zPLR");
    CFI(&m, 11, DW_EH_PE_indirect | DW_EH_PE_udata8, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b,
        DW_EH_PE_textrel | DW_EH_PE_uleb128);
    CFI(&m, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RA, 1);
    cfi_close(&m);
    m.entry = m.n;
    cfi_int(&m, 0, 4);
    cfi_int(&m, m.n - m.cie, 4);
    CFI(&m, 0x80, 0x02, 0x90, 0x01, 4, 9, 9, 9,
        9); /* starts at 0x100, 0x90 bytes; four bytes of augmentation */
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0x100, UNWIND_ROW_SP, 8);
    expect(&m, 0x18f, UNWIND_ROW_SP, 8);
    expect(&m, 0x190, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
}

TEST(gaps_between_functions_have_no_row)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE + 0x100, 0x10); /* not in address order */
    cfi_close(&m);
    cfi_fde(&m, CODE, 0x10);
    cfi_close(&m);
    cfi_fde(&m, CODE + 0x10, 0x10);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0x0f, UNWIND_ROW_SP, 8);
    expect(&m, 0x1f, UNWIND_ROW_SP, 8);
    expect(&m, 0x20, UNWIND_ROW_NONE, 0);
    expect(&m, 0xff, UNWIND_ROW_NONE, 0);
    expect(&m, 0x100, UNWIND_ROW_SP, 8);
    expect(&m, 0x110, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
}

/* Builds two functions with a gap between them and the given entry point. */
static struct cfi_maker with_entry(uint64_t begins)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE + 0x100, 0x10);
    cfi_close(&m);
    cfi_fde(&m, CODE + 0x400, 0x10);
    cfi_close(&m);
    m.begins = begins;
    make_table(&m);
    return m;
}

TEST(the_entry_point_ends_the_stack)
{
    struct cfi_maker m = with_entry(CODE + 0x200);

    expect(&m, 0x1ff, UNWIND_ROW_NONE, 0);
    expect(&m, 0x200, UNWIND_ROW_END, 0);
    expect(&m, 0x27f, UNWIND_ROW_END, 0);
    expect(&m, 0x280, UNWIND_ROW_NONE, 0); /* start code is never this long */
    expect(&m, 0x400, UNWIND_ROW_SP, 8);
    cfi_done(&m);
    m = with_entry(CODE + 0x3f0);
    expect(&m, 0x3ef, UNWIND_ROW_NONE, 0);
    expect(&m, 0x3f0, UNWIND_ROW_END, 0);
    expect(&m, 0x400, UNWIND_ROW_SP, 8);
    cfi_done(&m);
    m = with_entry(CODE + 0x10);
    expect(&m, 0x10, UNWIND_ROW_END, 0);
    expect(&m, 0x90, UNWIND_ROW_NONE, 0);
    expect(&m, 0x100, UNWIND_ROW_SP, 8);
    cfi_done(&m);
    m = with_entry(CODE + 0x500);
    expect(&m, 0x410, UNWIND_ROW_NONE, 0);
    expect(&m, 0x500, UNWIND_ROW_END, 0);
    expect(&m, 0x580, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
}

TEST(an_entry_point_with_an_fde_uses_its_rows)
{
    struct cfi_maker m = with_entry(CODE + 0x104);

    expect(&m, 0x104, UNWIND_ROW_SP, 8);
    expect(&m, 0x110, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
    m = with_entry(UINT64_MAX - 8); /* in no segment */
    expect(&m, 0x100, UNWIND_ROW_SP, 8);
    cfi_done(&m);
}

TEST(restore_state_restores_the_cfa)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    put_frame_pointer_function(&m); /* up to 0x24 */
    CFI(&m, DW_CFA_def_cfa, RBP, 16, DW_CFA_remember_state);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, RSP, 8, DW_CFA_restore | RBP);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_restore_state);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0x24, UNWIND_ROW_FP, 16);
    expect(&m, 0x28, UNWIND_ROW_SP, 8);
    assert_false(row_at(&m, 0x28).fp_saved);
    expect(&m, 0x2c, UNWIND_ROW_FP, 16);
    assert_true(row_at(&m, 0x2c).fp_saved);
    cfi_done(&m);
}

TEST(rows_report_a_return_address_in_a_register)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0, DW_CFA_register, RA,
        RDI); /* a vfork() wrapper */
    CFI(&m, DW_CFA_advance_loc | 1, DW_CFA_undefined, RA);
    cfi_close(&m);
    make_table(&m);
    assert_false(row_at(&m, 0).ra_in_register);
    assert_true(row_at(&m, 1).ra_in_register);
    assert_int_equal(row_at(&m, 1).ra_register, RDI);
    expect(&m, 1, UNWIND_ROW_SP, 0);
    expect(&m, 2, UNWIND_ROW_END, 0);
    cfi_done(&m);
}

TEST(plt_entries_are_recognized_by_their_cfa_expression)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 6, DW_CFA_def_cfa_offset, 24,
        DW_CFA_advance_loc | 10);
    CFI(&m, DW_CFA_def_cfa_expression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0, UNWIND_ROW_SP, 16);
    expect(&m, 6, UNWIND_ROW_SP, 24);
    expect(&m, 16, UNWIND_ROW_PLT, 11);
    cfi_done(&m);
}

TEST(a_realigned_stack_is_unwound_through_the_frame_pointer)
{
    const struct unwind_entry *e;
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_advance_loc | 5, DW_CFA_def_cfa, R10, 0);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_expression, RBP, 2, DW_OP_breg0 + RBP, 0);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + RBP, 0x78, DW_OP_deref);
    CFI(&m, DW_CFA_expression, R12, 2, DW_OP_breg0 + RBP, 0x70);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0, UNWIND_ROW_SP, 8);
    assert_int_equal(row_at(&m, 5).kind, UNWIND_ROW_GENERAL);
    expect(&m, 13, UNWIND_ROW_DRAP, -8);
    assert_true(row_at(&m, 13).fp_saved);
    assert_int_equal(row_at(&m, 13).fp_offset, 0);
    assert_int_equal(row_at(&m, 13).ra_offset, -8);
    e = unwind_rows_entry(&m.rows, OFFSET + 13);
    assert_int_equal(e->saved[0], UNWIND_NOT_SAVED);
    assert_int_equal(e->saved[1], -2); /* r12 at rbp - 16 */
    cfi_done(&m);
}

TEST(the_kernel_signal_frame_is_recognized)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zRS");
    cfi_fde(&m, CODE, 0x10);
    CFI(&m, DW_CFA_def_cfa_expression, 4, DW_OP_breg0 + RSP, 0xa0, 0x01, DW_OP_deref);
    CFI(&m, DW_CFA_expression, RBP, 3, DW_OP_breg0 + RSP, 0xf8, 0x00);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0, UNWIND_ROW_SIGNAL, 0);
    expect(&m, 0x10, UNWIND_ROW_SIGNAL, 0); /* the pc while the kernel runs its system call */
    expect(&m, 0x11, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
    cfi_x86_64(&m, "zRS"); /* another form of signal frame */
    cfi_fde(&m, CODE, 0x10);
    cfi_close(&m);
    make_table(&m);
    assert_int_equal(row_at(&m, 0).kind, UNWIND_ROW_GENERAL);
    cfi_done(&m);
}

TEST(saved_registers_are_stored_with_the_row)
{
    const struct unwind_entry *e;
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_advance_loc | 2, DW_CFA_offset | 15, 2, DW_CFA_offset_extended, 3, 3,
        DW_CFA_offset_extended_sf, 13, 4);
    CFI(&m, DW_CFA_advance_loc | 2, DW_CFA_same_value, 3, DW_CFA_restore_extended, 13);
    cfi_close(&m);
    make_table(&m);
    e = unwind_rows_entry(&m.rows, OFFSET + 2);
    assert_int_equal(e->saved[0], -3);
    assert_int_equal(e->saved[2], -4);
    assert_int_equal(e->saved[4], -2);
    assert_int_equal(e->saved[1], UNWIND_NOT_SAVED);
    e = unwind_rows_entry(&m.rows, OFFSET + 4);
    assert_int_equal(e->saved[0], UNWIND_NOT_SAVED);
    assert_int_equal(e->saved[2], UNWIND_NOT_SAVED);
    assert_int_equal(e->saved[4], -2);
    cfi_done(&m);
}

/* _Unwind_Resume saves rax and rdx for the handler it returns to. At its end its own frame no longer gives
 * the caller. */
TEST(rows_after_saving_rax_and_rdx_are_marked_as_deduced)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 0, 3);
    CFI(&m, DW_CFA_advance_loc | 2, DW_CFA_offset | 1, 4);
    cfi_close(&m);
    make_table(&m);
    assert_false(unwind_rows_entry(&m.rows, OFFSET + 2)->flags & UNWIND_ENTRY_DEDUCED);
    assert_true(unwind_rows_entry(&m.rows, OFFSET + 4)->flags & UNWIND_ENTRY_DEDUCED);
    expect(&m, 4, UNWIND_ROW_SP, 32);
    cfi_done(&m);
}

TEST(arm64_leaf_functions_keep_the_return_address_in_x30)
{
    struct cfi_maker m = { .arch = UNWIND_ARCH_ARM64 };

    cfi_cie(&m, 3, "zR");
    CFI(&m, DW_CFA_def_cfa, 31, 0);
    cfi_close(&m);
    cfi_fde(&m, CODE, 0x40);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_AARCH64_NEGATE_RA_STATE); /* paciasp */
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3);
    cfi_close(&m);
    make_table(&m);
    assert_int_equal(unwind_rows_arch(&m.rows), UNWIND_ARCH_ARM64);
    expect(&m, 0, UNWIND_ROW_SP, 0);
    assert_true(row_at(&m, 4).ra_in_register);
    assert_int_equal(row_at(&m, 4).ra_register, 30);
    expect(&m, 8, UNWIND_ROW_SP, 32);
    assert_false(row_at(&m, 8).ra_in_register);
    assert_int_equal(row_at(&m, 8).ra_offset, -24);
    assert_int_equal(row_at(&m, 8).fp_offset, -32);
    cfi_done(&m);
}

TEST(a_damaged_fde_loses_only_its_own_function)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x10);
    CFI(&m, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 4, DW_CFA_restore_state);
    cfi_close(&m);
    cfi_fde(&m, CODE + 0x10, 0x10);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 3, UNWIND_ROW_SP, 8);
    expect(&m, 4, UNWIND_ROW_SP, 16);
    expect(&m, 8, UNWIND_ROW_NONE, 0);
    expect(&m, 0x10, UNWIND_ROW_SP, 8);
    cfi_done(&m);
}

/* Found by the fuzzer: the length ends before the id. */
TEST(an_entry_that_ends_within_its_id_is_not_a_cie)
{
    static const uint8_t lengths[] = { 0, 1, 3, 4 };

    for (size_t i = 0; i < sizeof lengths; i++) {
        struct cfi_maker m;
        cfi_x86_64(&m, "zR");
        cfi_fde(&m, CODE, 0x10);
        cfi_close(&m);
        m.bytes[m.cie] = lengths[i];
        if (cfi_make(&m))
            expect(&m, 0, UNWIND_ROW_NONE, 0);
        cfi_done(&m);
    }
}

TEST(the_first_of_overlapping_functions_wins)
{
    struct cfi_maker m;
    uint64_t start, size;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x20);
    cfi_close(&m);
    cfi_fde(&m, CODE + 0x10, 0x20);
    CFI(&m, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 24);
    cfi_close(&m);
    cfi_fde(&m, CODE + 0x12, 2);
    CFI(&m, DW_CFA_def_cfa_offset, 32);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0x00, UNWIND_ROW_SP, 8);
    expect(&m, 0x12, UNWIND_ROW_SP, 8);
    expect(&m, 0x1f, UNWIND_ROW_SP, 8);
    expect(&m, 0x20, UNWIND_ROW_SP, 24);
    expect(&m, 0x2f, UNWIND_ROW_SP, 24);
    expect(&m, 0x30, UNWIND_ROW_NONE, 0);
    assert_true(unwind_rows_function(&m.rows, OFFSET + 0x20, &start, &size));
    assert_int_equal(start, OFFSET + 0x20);
    assert_int_equal(size, 0x10);
    cfi_done(&m);
}

TEST(functions_end_at_the_end_of_their_segment)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE + CODE_SIZE - 8, 0x1000);
    cfi_close(&m);
    cfi_fde(&m, CODE + CODE_SIZE, 0x1000);
    cfi_close(&m);
    make_table(&m);
    expect(&m, CODE_SIZE - 8, UNWIND_ROW_SP, 8);
    expect(&m, CODE_SIZE - 1, UNWIND_ROW_SP, 8);
    expect(&m, CODE_SIZE, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
}

TEST(advancing_past_the_end_of_a_function_ends_it)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x10);
    CFI(&m, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset,
        24);
    cfi_close(&m);
    make_table(&m);
    expect(&m, 0xf, UNWIND_ROW_SP, 16);
    expect(&m, 0x10, UNWIND_ROW_NONE, 0);
    cfi_done(&m);
}

TEST(eh_frame_takes_precedence_over_debug_frame)
{
    struct cfi_segment segment = { .addr = CODE, .offset = OFFSET, .size = CODE_SIZE };
    struct cfi_maker eh, debug = { .arch = UNWIND_ARCH_X86_64, .debug = true };
    struct cfi_input in = { .arch = UNWIND_ARCH_X86_64, .segments = &segment, .n_segments = 1 };

    cfi_x86_64(&eh, "zR");
    cfi_fde(&eh, CODE, 0x10);
    cfi_close(&eh);
    cfi_cie(&debug, 3, "");
    CFI(&debug, DW_CFA_def_cfa, RSP, 16, DW_CFA_offset | RA, 1);
    cfi_close(&debug);
    cfi_fde(&debug, CODE, 0x10);
    cfi_close(&debug);
    cfi_fde(&debug, CODE + 0x10, 0x10);
    cfi_close(&debug);
    in.eh_frame = (struct cfi_section){ eh.bytes, eh.n, FRAME_AT };
    in.debug_frame = (struct cfi_section){ debug.bytes, debug.n, 0 };
    assert_true(cfi_compile(&in, &eh.blob, &eh.size, &eh.error));
    assert_true(unwind_rows_view(&eh.rows, eh.blob, eh.size, &eh.error));
    expect(&eh, 0x00, UNWIND_ROW_SP, 8);
    expect(&eh, 0x10, UNWIND_ROW_SP, 16);
    cfi_done(&eh);
}

TEST(a_section_truncated_anywhere_gives_a_table_or_an_error)
{
    struct cfi_maker m;
    size_t whole;

    cfi_x86_64(&m, "zR");
    cfi_fde(&m, CODE, 0x30);
    put_frame_pointer_function(&m);
    cfi_close(&m);
    for (whole = m.n, m.n = 0; m.n < whole; m.n++)
        assert_false(cfi_make(&m));
    assert_int_equal(m.error.class, ERROR_MISSING);
    assert_true(cfi_make(&m));
    cfi_done(&m);
}

/* Each small function would execute a megabyte of CIE instructions. */
TEST(cies_with_excessive_instructions_are_abandoned)
{
    size_t size = 4u << 20, at;
    uint8_t *bytes = mem_alloc(size);
    struct cfi_segment segment = { .addr = CODE, .offset = OFFSET, .size = CODE_SIZE };
    struct cfi_input in = {
        .arch = UNWIND_ARCH_X86_64, .segments = &segment, .n_segments = 1, .debug_frame = { bytes, size, 0 }
    };
    struct cfi_maker m = { .arch = UNWIND_ARCH_X86_64, .debug = true };
    uint32_t half = (uint32_t)(size / 2 / 40), cies = 0;
    struct error e;
    void *blob = NULL;

    memset(bytes, DW_CFA_remember_state, size);
    for (at = 0; cies < 20; cies++, at += half) { /* more CIEs than are cached */
        m.n = 0;
        cfi_cie(&m, 1, "");
        memcpy(bytes + at, m.bytes, m.n);
        memset(bytes + at + m.n, DW_CFA_nop, half - m.n);
        half -= half % 8;
        memcpy(bytes + at, &(uint32_t){ half - 4 }, 4);
    }
    for (uint32_t i = 0; at + 24 <= size; i++, at += 24) {
        uint32_t head[2] = { 20, i % 20 * half };
        uint64_t range[2] = { CODE + i, 1 };
        memcpy(bytes + at, head, 8);
        memcpy(bytes + at + 8, range, 16);
    }
    if (cfi_compile(&in, &blob, &size, &e))
        assert_true(size < (64u << 20));
    mem_free(blob);
    mem_free(bytes);
}

TEST(architectures_without_unwind_rules_are_refused)
{
    struct cfi_maker m;

    cfi_x86_64(&m, "zR");
    m.arch = UNWIND_ARCH_NONE;
    assert_false(cfi_make(&m));
    assert_int_equal(m.error.class, ERROR_UNSUPPORTED);
}

TEST_MAIN(NULL, NULL)
