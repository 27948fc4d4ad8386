// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_maker.h"
#include "unit_test.h"
#include "unwind/rowformat.h"
#include "unwind/unwind.h"
#include "unwind_row.h"

#define STACK UINT64_C(0xc000010000)

enum { /* offsets in the code */
       WORK = 0x100,
       PUSHES = 0x200,
       ASSEMBLY = 0x300,
       GOEXIT = 0x400,
       SYSTEM = 0x500,
       MCALL = 0x600,
       SWITCH = 0x700,
       CGO_CALL = 0x800,
       PREEMPT = 0x900,
       CLONE = 0xa00,
       SIGRETURN = 0xb00,
       SIGTRAMP = 0xc00,
       WRAPPER = 0xd00,
       SMALL = 0xd80,
       CLOCK = 0xdc0,
       GOGO = 0xe00,
       MORESTACK = 0xe40,
       END = 0xe80
};

/* clang-format off */
static const struct go_spec specs[] = {
    /* sub rsp, 0x18; mov [rsp + 0x10], rbp; …; add rsp, 0x18; ret */
    { "main.work", WORK, { { 0, 8 }, { 0x18, 0x20 }, { 0, 1 }, { 0x18, 7 } }, 0,
      { [4] = 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10 } },
    /* push rbp; …; sub rsp, 0x100 */
    { "main.pushes", PUSHES, { { 0, 1 }, { 8, 7 }, { 0x108, 0x30 } }, 0, { 0x55 } },
    /* pushf; sub rsp, 0x10; mov [rsp + 8], rbp */
    { "crosscall2", ASSEMBLY, { { 0, 1 }, { 8, 5 }, { 0x18, 0x20 } }, 0,
      { 0x9c, 0xfc, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x6c, 0x24, 0x08 } },
    { "runtime.goexit", GOEXIT, { { 0, 8 } }, GOTABLE_TOP, { 0x90 } },
    /* …; mov rsp, rbx; call rdi */
    { "runtime.systemstack", SYSTEM, { { 0, 0x40 } }, GOTABLE_SP_WRITE,
      { [0x10] = 0x48, 0x89, 0xdc, 0xff, 0xd7 } },
    /* mov rsp, [rsi + 0x38] */
    { "runtime.mcall", MCALL, { { 0, 0x10 }, { 8, 0x20 } }, GOTABLE_SP_WRITE,
      { [0x0c] = 0x48, 0x8b, 0x66, 0x38 } },
    { "runtime.systemstack_switch", SWITCH, { { 0, 1 } }, 0, { 0xc3 } },
    /* mov rdx, rsp; mov rsp, [rsi + 0x38]; and rsp, ~15; call rax */
    { "runtime.asmcgocall", CGO_CALL, { { 0, 0x30 } }, GOTABLE_SP_WRITE,
      { 0x48, 0x89, 0xe2, 0xff, 0xd1, 0x48, 0x8b, 0x66, 0x38, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0 } },
    { "runtime.asyncPreempt", PREEMPT, { { 0, 1 }, { 8, 0x20 } }, 0, { 0x55 } },
    /* …; syscall; …; mov rsp, rsi */
    { "runtime.clone", CLONE, { { 0, 0x60 } }, GOTABLE_SP_WRITE,
      { [4] = 0x0f, 0x05, [0x10] = 0x48, 0x89, 0xf4 } },
    { "runtime.sigreturn", SIGRETURN, { { 0, 0x10 } }, 0, { 0 } },
    { "runtime.sigtramp", SIGTRAMP, { { 0, 4 }, { 0x30, 0x20 } }, GOTABLE_TOP, { 0 } },
    { "runtime.asmcgocall", WRAPPER, { { 0, 8 }, { 0x20, 0x20 } }, 0, { 0 } },
    /* sub rsp, 8; mov [rsp], rbp */
    { "main.small", SMALL, { { 0, 4 }, { 8, 0x20 } }, 0, { 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24 } },
    /* push rbp; …; mov rsp, rdx */
    { "runtime.nanotime1", CLOCK, { { 0, 1 }, { 8, 0x20 } }, GOTABLE_SP_WRITE,
      { 0x55, [0x0d] = 0x48, 0x89, 0xd4 } },
    { "runtime.gogo", GOGO, { { 0, 0x20 } }, GOTABLE_SP_WRITE, { [0x0d] = 0x48, 0x89, 0xd4 } },
    { "runtime.morestack", MORESTACK, { { 0, 0x20 } }, GOTABLE_SP_WRITE, { [0x0d] = 0x48, 0x89, 0xd4 } },
};
/* clang-format on */

static void make_rows(struct go_maker *m, enum go_version version)
{
    struct error e = { 0 };

    memset(m, 0, sizeof *m);
    m->version = version;
    m->text = GO_TEXT;
    go_make_table(m, specs, sizeof specs / sizeof *specs, END);
    if (!go_make_rows(m, &e))
        fail_msg("%s", e.text);
}

static struct unwind_row row_at(const struct go_maker *m, uint64_t into)
{
    struct unwind_row row = { .kind = UNWIND_ROW_NONE };

    unwind_rows_find(&m->rows, GO_OFFSET + into, &row);
    return row;
}

static void expect_row(const struct go_maker *m, uint64_t into, enum unwind_row_kind kind, int cfa)
{
    struct unwind_row row = row_at(m, into);

    assert_int_equal(row.kind, kind);
    assert_int_equal(row.cfa_offset, cfa);
}

static void expect_saved(const struct go_maker *m, uint64_t into, int cfa, int fp)
{
    struct unwind_row row = row_at(m, into);

    expect_row(m, into, UNWIND_ROW_SP, cfa);
    assert_int_equal(row.fp_saved, fp != 0);
    assert_int_equal(row.fp_offset, fp);
    assert_int_equal(row.ra_offset, -8);
}

TEST(frame_sizes_are_exact_in_every_go_version)
{
    struct go_maker m;

    for (enum go_version v = 0; v < GO_VERSIONS; v++) {
        make_rows(&m, v);
        expect_row(&m, WORK - 1, UNWIND_ROW_NONE, 0);
        expect_saved(&m, WORK, 8, 0);
        expect_saved(&m, WORK + 8, 0x20, 0); /* not saved yet */
        expect_saved(&m, WORK + 13, 0x20, -16);
        expect_saved(&m, WORK + 0x27, 0x20, -16);
        expect_saved(&m, WORK + 0x28, 8, 0);
        expect_saved(&m, WORK + 0x29, 0x20, -16);
        expect_row(&m, WORK + 0x30, UNWIND_ROW_NONE, 0);
        expect_saved(&m, PUSHES, 8, 0);
        expect_saved(&m, PUSHES + 1, 16, -16);
        expect_saved(&m, PUSHES + 8, 0x110, -16);
        expect_saved(&m, SMALL + 4, 16, 0);
        expect_saved(&m, SMALL + 8, 16, -16);
        mem_free(m.blob);
    }
}

TEST(rows_locate_the_frame_pointer_saved_by_assembly_functions)
{
    struct go_maker m;

    make_rows(&m, GO_118);
    expect_saved(&m, ASSEMBLY + 1, 16, 0);
    expect_saved(&m, ASSEMBLY + 6, 0x20, 0);
    expect_saved(&m, ASSEMBLY + 11, 0x20, -0x18);
    mem_free(m.blob);
}

TEST(rows_mark_stack_ends_and_stack_switches)
{
    struct go_maker m;

    for (enum go_version v = 0; v < GO_VERSIONS; v++) {
        make_rows(&m, v);
        expect_row(&m, GOEXIT, UNWIND_ROW_END, 0);
        expect_row(&m, SYSTEM + 0x12, UNWIND_ROW_SP, 8);
        expect_row(&m, SYSTEM + 0x13, UNWIND_ROW_SWITCH, UNWIND_SWITCH_CALLERS);
        expect_row(&m, SYSTEM + 0x3f, UNWIND_ROW_SWITCH, UNWIND_SWITCH_CALLERS);
        expect_row(&m, MCALL + 0x0f, UNWIND_ROW_SP, 8);
        expect_row(&m, MCALL + 0x10, UNWIND_ROW_END, 0);
        expect_row(&m, CGO_CALL + 8, UNWIND_ROW_SP, 8);
        expect_row(&m, CGO_CALL + 9, UNWIND_ROW_SWITCH, UNWIND_SWITCH_CALLERS);
        expect_row(&m, CLOCK + 0x10, UNWIND_ROW_SWITCH, UNWIND_SWITCH_OWN);
        expect_row(&m, GOGO + 0x0f, UNWIND_ROW_SP, 8);
        expect_row(&m, GOGO + 0x10, UNWIND_ROW_SWITCH, UNWIND_SWITCH_LOST);
        expect_row(&m, MORESTACK + 0x10, UNWIND_ROW_END, 0);
        expect_row(&m, CLONE + 0x12, UNWIND_ROW_SP, 8);
        expect_row(&m, CLONE + 0x13, UNWIND_ROW_END, 0);
        expect_row(&m, SIGRETURN - 1, UNWIND_ROW_SIGNAL, 0);
        expect_row(&m, SIGTRAMP + 4, UNWIND_ROW_SP, 0x38);
        expect_row(&m, WRAPPER + 8, UNWIND_ROW_SP, 0x28);
        mem_free(m.blob);
    }
}

TEST(the_program_entry_point_ends_the_stack)
{
    struct error e = { 0 };
    struct go_maker m;

    make_rows(&m, GO_120);
    mem_free(m.blob);
    m.entry = GO_TEXT + PUSHES;
    assert_true(go_make_rows(&m, &e));
    expect_row(&m, WORK, UNWIND_ROW_SP, 8);
    expect_row(&m, PUSHES, UNWIND_ROW_END, 0);
    expect_row(&m, PUSHES + 8, UNWIND_ROW_END, 0);
    mem_free(m.blob);
}

struct dump {
    struct go_maker m;
    uint64_t words[64];
    struct unwind_frame frames[16];
    enum unwind_end end;
    uint32_t n;
};

static bool find_rows(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct dump *d = ctx;

    *out = (struct unwind_location){ .offset = addr - GO_TEXT + GO_OFFSET,
                                     .rows = &d->m.rows,
                                     .frame = (uint32_t)addr };
    return addr >= GO_TEXT && addr < GO_TEXT + GO_SIZE;
}

static void unwind_dump(struct dump *d, uint64_t pc)
{
    struct unwind_source source = { .ctx = d, .find = find_rows };
    struct unwind_input in = {
        .arch = UNWIND_ARCH_X86_64,
        .regs = { .pc = pc, .sp = STACK, .known = 1u << 7 | 1u << 6, .r = { [7] = STACK } },
        .stack = (const uint8_t *)d->words,
        .stack_bytes = sizeof d->words
    };

    d->n = unwind_stack(&in, &source, d->frames, 16, &d->end);
}

static void expect_frame(const struct dump *d, uint32_t i, uint64_t addr, bool exact)
{
    assert_true(i < d->n);
    assert_int_equal(d->frames[i].addr, addr);
    assert_int_equal(d->frames[i].frame, (uint32_t)addr);
    assert_int_equal(d->frames[i].exact, exact);
}

TEST(callbacks_from_c_continue_below_the_cgo_call)
{
    struct dump d = { .words = {
                          [0] = GO_TEXT + SWITCH, [1] = GO_TEXT + WORK + 0x15, [5] = GO_TEXT + GOEXIT + 1 } };

    make_rows(&d.m, GO_118);
    unwind_dump(&d, GO_TEXT + WORK);
    assert_int_equal(d.end, UNWIND_ROOT);
    assert_int_equal(d.n, 4);
    expect_frame(&d, 0, GO_TEXT + WORK, true);
    expect_frame(&d, 1, GO_TEXT + CGO_CALL + 14, false);
    expect_frame(&d, 2, GO_TEXT + WORK + 0x14, false);
    expect_frame(&d, 3, GO_TEXT + GOEXIT, false);
    mem_free(d.m.blob);
}

TEST(unwinding_reports_that_the_stack_continues_elsewhere)
{
    struct dump d = { .words = { [0] = GO_TEXT + SYSTEM + 0x15, [1] = GO_TEXT + WORK + 0x15 } };

    make_rows(&d.m, GO_118);
    unwind_dump(&d, GO_TEXT + WORK);
    assert_int_equal(d.end, UNWIND_ELSEWHERE);
    assert_int_equal(d.n, 2);
    d.words[0] = GO_TEXT + MCALL + 0x15;
    unwind_dump(&d, GO_TEXT + WORK);
    assert_int_equal(d.end, UNWIND_ROOT);
    assert_int_equal(d.n, 2);
    mem_free(d.m.blob);
}

/* The first byte of a function has another row than the byte before. */
TEST(the_frame_interrupted_by_preemption_is_exact)
{
    struct dump d = { .words = { [0] = GO_TEXT + WORK, [1] = GO_TEXT + GOEXIT + 1 } };

    make_rows(&d.m, GO_118);
    unwind_dump(&d, GO_TEXT + PREEMPT);
    assert_int_equal(d.end, UNWIND_ROOT);
    assert_int_equal(d.n, 3);
    expect_frame(&d, 1, GO_TEXT + WORK, true);
    mem_free(d.m.blob);
}

TEST(a_new_thread_has_no_caller)
{
    struct go_maker m;

    make_rows(&m, GO_118);
    assert_false(unwind_rows_entry(&m.rows, GO_OFFSET + CLONE + 5)->flags & UNWIND_ENTRY_CLONE);
    assert_true(unwind_rows_entry(&m.rows, GO_OFFSET + CLONE + 6)->flags & UNWIND_ENTRY_CLONE);
    mem_free(m.blob);
}

TEST(damaged_tables_are_handled)
{
    for (enum go_version v = 0; v < GO_VERSIONS; v++) {
        struct go_maker m, whole;
        make_rows(&whole, v);
        mem_free(whole.blob);
        for (size_t i = 0; i < whole.n; i++) {
            m = whole;
            m.blob = NULL;
            m.bytes[i] ^= 0xff;
            go_make_rows(&m, NULL);
            mem_free(m.blob);
        }
        for (size_t n = 0; n < whole.n; n += 7) {
            m = whole;
            m.blob = NULL;
            m.n = n;
            go_make_rows(&m, NULL);
            mem_free(m.blob);
        }
    }
}

TEST_MAIN(NULL, NULL)
