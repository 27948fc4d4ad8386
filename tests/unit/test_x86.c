// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions, and functions of them. The bytes are the output of GNU as for the text next to them. */

#include <string.h>

#include "base/mem.h"
#include "unit_test.h"
#include "unwind/calls.h"
#include "unwind/codeahead.h"
#include "unwind/coderows.h"
#include "unwind/rowformat.h"
#include "unwind/x86.h"

#define OFFSET UINT64_C(0x1000)

struct example {
    const char *bytes, *text;
    unsigned size, kind, reg, base;
    int64_t value;
};
#define INSN(bytes, text, kind, reg, base, value)                                                            \
    {                                                                                                        \
        bytes, text, sizeof bytes - 1, kind, reg, base, value                                                \
    }
#define NONE X86_NO_REG

static void check_decode(const struct example *x, bool wide)
{
    struct x86_insn insn;

    assert_true(x86_decode((const uint8_t *)x->bytes, x->size, wide, &insn));
    assert_int_equal(insn.size, x->size);
    assert_int_equal(insn.kind, x->kind);
    assert_int_equal(insn.reg, x->reg);
    assert_int_equal(insn.base, x->base);
    assert_int_equal(insn.value, x->value);
    for (size_t n = 0; n < x->size; n++) /* truncated anywhere it is none */
        assert_false(x86_decode((const uint8_t *)x->bytes, n, wide, &insn) && insn.size == x->size);
}

TEST(instructions_show_their_effect_on_the_stack)
{
    static const struct example examples[] = {
        INSN("\x55", "push %rbp", X86_PUSH, 5, NONE, 0),
        INSN("\x41\x5c", "pop %r12", X86_POP, 12, NONE, 0),
        INSN("\x48\x89\xe5", "mov %rsp,%rbp", X86_COPY, 5, 4, 0),
        INSN("\x48\x83\xec\x20", "sub $32,%rsp", X86_COPY, 4, 4, -32),
        INSN("\x48\x81\xc4\x00\x01\x00\x00", "add $256,%rsp", X86_COPY, 4, 4, 256),
        INSN("\x48\x8d\x64\x24\xf8", "lea -8(%rsp),%rsp", X86_COPY, 4, 4, -8),
        INSN("\x48\x83\xe4\xc0", "and $-64,%rsp", X86_ALIGN, 4, 4, -64),
        INSN("\x4c\x89\x64\x24\x10", "mov %r12,16(%rsp)", X86_STORE, 12, 4, 16),
        INSN("\x48\x8b\x6c\x24\x08", "mov 8(%rsp),%rbp", X86_LOAD, 5, 4, 8),
        INSN("\xc9", "leave", X86_LEAVE, 5, 5, 0),
        INSN("\xc3", "ret", X86_RETURN, NONE, NONE, 0),
        INSN("\xe8\xfb\xff\xff\xff", "call", X86_CALL, NONE, NONE, -5),
        INSN("\x41\xff\xd2", "call *%r10", X86_CALL_INDIRECT, NONE, NONE, 0),
        INSN("\xeb\x10", "jmp", X86_JUMP, NONE, NONE, 16),
        INSN("\x0f\x84\x00\x01\x00\x00", "je", X86_BRANCH, NONE, NONE, 256),
        INSN("\x0f\x0b", "ud2", X86_TRAP, NONE, NONE, 0),
        INSN("\xc4\xe2\x7d\x18\x44\x24\x08", "vbroadcastss 8(%rsp),%ymm0", X86_OTHER, NONE, NONE, 0),
        INSN("\x62\xf1\x7c\x48\x28\x44\x24\x01", "vmovaps 64(%rsp),%zmm0", X86_OTHER, NONE, NONE, 0),
        INSN("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "nopw", X86_OTHER, NONE, NONE, 0),
        INSN("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", "movabs", X86_OTHER, NONE, NONE, 0),
    };

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check_decode(&examples[i], true);
}

TEST(bytes_decode_differently_in_32_bit_code)
{
    static const struct example wide = INSN("\x4d\x89\xc8", "mov %r9,%r8", X86_COPY, 8, 9, 0);
    struct x86_insn insn;

    check_decode(&wide, true);
    assert_true(x86_decode((const uint8_t *)wide.bytes, wide.size, false, &insn));
    assert_int_equal(insn.size, 1); /* dec %ebp */
    assert_int_equal(insn.writes, 1 << X86_FP);
    assert_false(x86_decode((const uint8_t *)"\x06", 1, true, &insn)); /* push %es */
}

TEST(registers_written_by_an_instruction_are_known)
{
    struct x86_insn insn;

    assert_true(x86_decode((const uint8_t *)"\x31\xed", 2, true, &insn)); /* xor %ebp,%ebp */
    assert_int_equal(insn.writes, 1 << 5);
    assert_true(x86_decode((const uint8_t *)"\x39\xed", 2, true, &insn)); /* cmp */
    assert_int_equal(insn.writes, 0);
    assert_true(x86_decode((const uint8_t *)"\xc5\xf9\x6f\xec", 4, true, &insn)); /* vmovdqa %xmm4,%xmm5 */
    assert_int_equal(insn.writes, 0);
}

static struct unwind_rows rows;
static void *blob;

static void compile_rows(const void *code, size_t n)
{
    struct cfi_segment segment = { .addr = OFFSET, .offset = OFFSET, .size = n, .bytes = code };
    struct cfi_input in = { .arch = UNWIND_ARCH_X86_64, .segments = &segment, .n_segments = 1 };
    size_t size;

    mem_free(blob);
    assert_true(cfi_compile(&in, &blob, &size, NULL));
    assert_true(unwind_rows_view(&rows, blob, size, NULL));
}

static void expect_row(uint64_t at, unsigned kind, int cfa_offset, int fp_offset)
{
    const struct unwind_entry *e = unwind_rows_entry(&rows, OFFSET + at);

    assert_non_null(e);
    assert_int_equal(e->kind, kind);
    if (kind == UNWIND_ROW_NONE)
        return;
    assert_true(e->flags & UNWIND_ENTRY_DEDUCED);
    if (kind != UNWIND_ROW_GENERAL)
        assert_int_equal(e->cfa_offset, cfa_offset);
    assert_int_equal(e->flags & UNWIND_ENTRY_FP_SAVED ? e->fp_offset : 0, fp_offset);
}

static int tear_down(void **state)
{
    mem_free(blob);
    blob = NULL;
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

FIXTURE_TEST(a_frame_is_followed_from_push_to_pop)
{
    static const uint8_t code[] = {
        0x55,                         /* 0: push %rbp */
        0x53,                         /* 1: push %rbx */
        0x48, 0x83, 0xec, 0x08,       /* 2: sub $8,%rsp */
        0x31, 0xed,                   /* 6: xor %ebp,%ebp */
        0x74, 0x05,                   /* 8: je 15 */
        0xe8, 0,    0,    0,    0x10, /* 10: call elsewhere */
        0x48, 0x83, 0xc4, 0x08,       /* 15: add $8,%rsp */
        0x5b, 0x5d, 0xc3,             /* 19: pop %rbx; 20: pop %rbp; 21: ret */
    };

    compile_rows(code, sizeof code);
    expect_row(0, UNWIND_ROW_SP, 8, 0);
    expect_row(1, UNWIND_ROW_SP, 16, 0); /* rbp is saved, and still has its value */
    expect_row(6, UNWIND_ROW_SP, 32, 0);
    expect_row(15, UNWIND_ROW_SP, 32, -16);
    expect_row(20, UNWIND_ROW_SP, 16, -16);
    expect_row(21, UNWIND_ROW_SP, 8, 0);
}

FIXTURE_TEST(an_aligned_frame_is_found_by_the_saved_stack_pointer)
{
    static const uint8_t code[] = {
        0x48, 0x89, 0xe0,             /* 0: mov %rsp,%rax */
        0x48, 0x83, 0xec, 0x64,       /* 3: sub $100,%rsp */
        0x48, 0x83, 0xe4, 0xc0,       /* 7: and $-64,%rsp */
        0x48, 0x89, 0x44, 0x24, 0x40, /* 11: mov %rax,64(%rsp) */
        0x31, 0xc0,                   /* 16: xor %eax,%eax */
        0x48, 0x8b, 0x64, 0x24, 0x40, /* 18: mov 64(%rsp),%rsp */
        0xc3,                         /* 23: ret */
    };

    compile_rows(code, sizeof code);
    expect_row(3, UNWIND_ROW_SP, 8, 0);
    expect_row(7, UNWIND_ROW_SP, 108, 0);
    expect_row(18, UNWIND_ROW_GENERAL, 0, 0);
    expect_row(23, UNWIND_ROW_SP, 8, 0);
}

FIXTURE_TEST(a_stack_pointer_loaded_from_elsewhere_is_unknown)
{
    static const uint8_t code[] = {
        0x48, 0x8b, 0x27,       /* 0: mov (%rdi),%rsp */
        0x48, 0x89, 0xf8,       /* 3: mov %rdi,%rax */
        0xc3, 0x90, 0x90, 0x90, /* 6: ret */
        0x48, 0x89, 0xf8, 0x48, 0x89, 0xf8, 0xc3,
    };

    compile_rows(code, sizeof code);
    expect_row(0, UNWIND_ROW_SP, 8, 0);
    expect_row(3, UNWIND_ROW_NONE, 0, 0);
    expect_row(10, UNWIND_ROW_SP, 8, 0);
}

/* As lld writes it: without a line in .eh_frame. */
FIXTURE_TEST(each_stub_of_a_plt_begins_like_a_function)
{
    static const uint8_t plt[] = {
        0xff, 0x35, 0x02, 0x20, 0,    0, /* 0: push 0x2002(%rip) */
        0xff, 0x25, 0x04, 0x20, 0,    0, /* 6: jmp *0x2004(%rip) */
        0x0f, 0x1f, 0x40, 0x00,          /* 12: nop */
        0xff, 0x25, 0x02, 0x20, 0,    0, /* 16: jmp *0x2002(%rip) */
        0x68, 0,    0,    0,    0,       /* 22: push $0 */
        0xe9, 0xe0, 0xff, 0xff, 0xff,    /* 27: jmp 0 */
        0xff, 0x25, 0xfa, 0x1f, 0,    0, /* 32: jmp *0x1ffa(%rip) */
        0x68, 1,    0,    0,    0,       /* 38: push $1 */
        0xe9, 0xd0, 0xff, 0xff, 0xff,    /* 43: jmp 0 */
    };
    compile_rows(plt, sizeof plt);
    for (uint64_t stub = 16; stub < sizeof plt; stub += 16) {
        expect_row(stub, UNWIND_ROW_SP, 8, 0);
        expect_row(stub + 6, UNWIND_ROW_SP, 8, 0);
        expect_row(stub + 11, UNWIND_ROW_SP, 16, 0);
    }
}

FIXTURE_TEST(no_function_begins_at_invalid_instructions)
{
    uint8_t code[0x60];
    uint64_t start, size;

    memset(code, 0x06, sizeof code);
    memcpy(code + 0x40, "\x53\x5b\xc3", 3); /* push %rbx; pop %rbx; ret */
    compile_rows(code, sizeof code);
    expect_row(0, UNWIND_ROW_NONE, 0, 0);
    expect_row(0x41, UNWIND_ROW_SP, 16, 0);
    assert_true(unwind_rows_function(&rows, OFFSET + 0x40, &start, &size));
    assert_int_equal(start, OFFSET + 0x40);
    assert_false(unwind_rows_function(&rows, OFFSET + 0x10, &start, &size));
}

TEST(a_call_target_reveals_the_function_between_two_others)
{
    static uint8_t code[0x50] = {
        [0x00] = 0xe8, 0x0b, 0,    0,    0, 0xc3,             /* call 10 */
        [0x10] = 0xff, 0xd0, 0xe8, 0x29, 0, 0,    0,    0xc3, /* call *%rax; call 40 */
        [0x20] = 0xe8, 0x0b, 0,    0,    0, 0xc3,             /* call 30 */
        [0x30] = 0xe8, 0x0b, 0,    0,    0, 0xeb, 0xd9,       /* call 40; jmp 10 */
        [0x40] = 0x90, 0xc3,
    };
    static const uint64_t functions[] = { OFFSET, OFFSET + 0x20 };
    struct cfi_segment segment = { .addr = OFFSET, .offset = OFFSET, .size = sizeof code, .bytes = code };
    struct calls_input in = { .machine = CALLS_X86_64,
                              .segments = &segment,
                              .n_segments = 1,
                              .functions = functions,
                              .n_functions = 2 };
    struct calls c;
    void *calls;
    size_t size;
    uint64_t between = 0;

    assert_true(calls_build(&in, &calls, &size, NULL));
    assert_true(calls_view(&c, calls, size, NULL));
    assert_true(calls_between(&c, OFFSET + 0x05, OFFSET + 0x41, &between));
    assert_int_equal(between, OFFSET + 0x17);
    assert_false(calls_between(&c, OFFSET + 0x05, OFFSET + 0x20, &between)); /* is not called from there */
    assert_false(calls_between(&c, OFFSET + 0x12, OFFSET + 0x41, &between)); /* leads anywhere */
    assert_false(calls_between(&c, OFFSET + 0x25, OFFSET + 0x41, &between)); /* may have jumped on */
    assert_false(calls_between(&c, OFFSET + 0x04, OFFSET + 0x41, &between)); /* no call ends there */
    mem_free(calls);
}

TEST(a_call_reaches_its_target_and_where_that_jumps)
{
    static uint8_t code[0x60] = {
        [0x00] = 0xe8,
        0x1b,
        0,
        0,
        0,
        0xc3, /* call 20 */
        [0x10] = 0xe8,
        0x2b,
        0,
        0,
        0,
        0xc3, /* call 40 */
        [0x20] = 0xeb,
        0x0e, /* jmp 30 */
        [0x30] = 0x90,
        0xc3,
        [0x40] = 0xff,
        0x25,
        0,
        0,
        0,
        0, /* jmp *…(%rip): a stub */
        [0x50] = 0xff,
        0xd0,
        0xc3, /* call *%rax */
    };
    static const uint64_t functions[] = { OFFSET, OFFSET + 0x10, OFFSET + 0x30, OFFSET + 0x50 };
    struct cfi_segment segment = { .addr = OFFSET, .offset = OFFSET, .size = sizeof code, .bytes = code };
    struct calls_input in = { .machine = CALLS_X86_64,
                              .segments = &segment,
                              .n_segments = 1,
                              .functions = functions,
                              .n_functions = 4 };
    struct calls c;
    void *calls;
    size_t size;

    assert_true(calls_build(&in, &calls, &size, NULL));
    assert_true(calls_view(&c, calls, size, NULL));
    assert_true(calls_lead(&c, OFFSET + 0x05, OFFSET + 0x20));
    assert_true(calls_lead(&c, OFFSET + 0x05, OFFSET + 0x31));  /* by a tail call */
    assert_false(calls_lead(&c, OFFSET + 0x05, OFFSET + 0x50)); /* elsewhere */
    assert_false(calls_lead(&c, OFFSET + 0x05, CALLS_ELSEWHERE));
    assert_true(calls_lead(&c, OFFSET + 0x15, CALLS_ELSEWHERE)); /* through the stub */
    assert_true(calls_lead(&c, OFFSET + 0x52, OFFSET + 0x31));   /* through a register */
    assert_true(calls_reach(&c, OFFSET + 0x20, OFFSET + 0x31));  /* a call from elsewhere */
    assert_false(calls_reach(&c, OFFSET + 0x20, OFFSET + 0x50));
    assert_false(calls_reach(&c, OFFSET - 1, OFFSET + 0x20));
    assert_false(calls_lead(&c, OFFSET + 0x04, OFFSET + 0x20)); /* no call ends there */
    mem_free(calls);
}

static const uint8_t framed[] = {
    0x55,                         /* 0: push %rbp */
    0x48, 0x89, 0xe5,             /* 1: mov %rsp,%rbp */
    0x53,                         /* 4: push %rbx */
    0x85, 0xff,                   /* 5: test %edi,%edi */
    0x75, 0x05,                   /* 7: jne 14 */
    0xe8, 0,    0,    0,    0x10, /* 9: call elsewhere */
    0x48, 0x8b, 0x5d, 0xf8,       /* 14: mov -8(%rbp),%rbx */
    0xc9, 0xc3,                   /* 18: leave; 19: ret */
};
static const uint8_t frameless[] = {
    0x48, 0x83, 0xec, 0x18, /* 0: sub $24,%rsp */
    0xff, 0xd0,             /* 4: call *%rax */
    0x48, 0x83, 0xc4, 0x10, /* 6: add $16,%rsp */
    0x5d, 0xc3,             /* 10: pop %rbp; 11: ret */
};

static void expect_row_ahead(const uint8_t *code, size_t n, size_t at, unsigned kind, int cfa_offset,
                             int fp_offset)
{
    struct unwind_entry e;

    assert_true(codeahead_entry(code, n, at, &e));
    assert_true(e.flags & UNWIND_ENTRY_DEDUCED && !(e.flags & UNWIND_ENTRY_FP_LOST));
    assert_int_equal(e.kind, kind);
    assert_int_equal(e.cfa_offset, cfa_offset);
    assert_int_equal(e.flags & UNWIND_ENTRY_FP_SAVED ? e.fp_offset : 0, fp_offset);
}

TEST(following_instructions_show_where_the_return_address_is)
{
    expect_row_ahead(framed, sizeof framed, 5, UNWIND_ROW_FP, 16, -16);
    expect_row_ahead(framed, sizeof framed, 14, UNWIND_ROW_FP, 16, -16);
    expect_row_ahead(framed, sizeof framed, 1, UNWIND_ROW_SP, 16, -16);
    expect_row_ahead(framed, sizeof framed, 0, UNWIND_ROW_SP, 8, 0);
    expect_row_ahead(framed, sizeof framed, 19, UNWIND_ROW_SP, 8, 0);
    expect_row_ahead(frameless, sizeof frameless, 6, UNWIND_ROW_SP, 32, -16);
    expect_row_ahead(frameless, sizeof frameless, 10, UNWIND_ROW_SP, 16, -16);
    expect_row_ahead(frameless, sizeof frameless, 11, UNWIND_ROW_SP, 8, 0);
}

TEST(code_without_a_path_to_a_return_gives_no_rows)
{
    static const uint8_t endless[] = { 0x90, 0xeb, 0xfd };    /* nop; jmp 0 */
    static const uint8_t lost[] = { 0x48, 0x8b, 0x27, 0xc3 }; /* mov (%rdi),%rsp; ret */
    static const uint8_t trap[] = { 0x31, 0xc0, 0xcc, 0xc3 }; /* xor %eax,%eax; int3; ret */
    struct unwind_entry e;

    assert_false(codeahead_entry(endless, sizeof endless, 0, &e));
    assert_false(codeahead_entry(lost, sizeof lost, 0, &e));
    assert_false(codeahead_entry(trap, sizeof trap, 0, &e));
    assert_false(codeahead_entry(framed, sizeof framed, sizeof framed, &e));
    assert_false(codeahead_entry(framed, 12, 9, &e)); /* it ends within an instruction */
}

FIXTURE_TEST(rows_of_several_code_ranges_form_one_table)
{
    const struct coderows_input whole[] = { { framed, sizeof framed, OFFSET, NULL, 0 },
                                            { frameless, sizeof frameless, OFFSET + 0x100, NULL, 0 } };
    const struct codeahead_input ahead[] = {
        { framed, sizeof framed, OFFSET, OFFSET + 5, true },
        { frameless, sizeof frameless, OFFSET + 0x100, OFFSET + 0x106, false },
        { frameless, sizeof frameless, OFFSET + 0x200, OFFSET + 0x1ff, true }
    };
    size_t size;

    assert_true(coderows_build(whole, 2, &blob, &size, NULL));
    assert_true(unwind_rows_view(&rows, blob, size, NULL));
    expect_row(1, UNWIND_ROW_SP, 16, 0);
    expect_row(0x50, UNWIND_ROW_NONE, 0, 0);
    expect_row(0x104, UNWIND_ROW_SP, 32, 0);
    mem_free(blob);
    assert_true(coderows_build_ahead(ahead, 3, &blob, &size, NULL));
    assert_true(unwind_rows_view(&rows, blob, size, NULL));
    expect_row(5, UNWIND_ROW_FP, 16, -16);
    expect_row(6, UNWIND_ROW_NONE, 0, 0);
    expect_row(0x106, UNWIND_ROW_SP, 32, -16);
    expect_row(0x1ff, UNWIND_ROW_NONE, 0, 0); /* outside of its bytes */
}

/* clone() of musl: the child pops its argument, which is where the parent has its return address. */
FIXTURE_TEST(a_call_that_cannot_return_is_in_the_outermost_function)
{
    static const uint8_t clone[] = {
        0x0f, 0x05,       /* 0: syscall */
        0x85, 0xc0,       /* 2: test %eax,%eax */
        0x75, 0x08,       /* 4: jne 14 */
        0x31, 0xed,       /* 6: xor %ebp,%ebp */
        0x5f,             /* 8: pop %rdi */
        0x41, 0xff, 0xd1, /* 9: call *%r9 */
        0xf4, 0xf4,       /* 12: hlt */
        0xc3, 0x90,       /* 14: ret */
    };
    const struct coderows_input in = { clone, sizeof clone, OFFSET, NULL, 0 };
    size_t size;

    assert_true(coderows_build(&in, 1, &blob, &size, NULL));
    assert_true(unwind_rows_view(&rows, blob, size, NULL));
    expect_row(0, UNWIND_ROW_SP, 8, 0);
    assert_int_equal(unwind_rows_entry(&rows, OFFSET + 9)->kind, UNWIND_ROW_END);
    assert_int_equal(unwind_rows_entry(&rows, OFFSET + 11)->kind, UNWIND_ROW_END);
    expect_row(12, UNWIND_ROW_NONE, 0, 0);
    expect_row(14, UNWIND_ROW_SP, 8, 0);
}

/* OpenJDK compares strings with rax pushed in the middle of a method. */
TEST(at_the_leaf_a_method_may_have_pushed_more)
{
    static const uint8_t method[] = {
        0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /* 0: mov %eax,-0x14000(%rsp) */
        0x55, 0x48, 0x83, 0xec, 0x10,             /* 7: push %rbp; 8: sub $16,%rsp */
        0x50, 0xff, 0xc2, 0x58,                   /* 12: push %rax; 13: inc %edx; 15: pop %rax */
        0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3,       /* 16: add $16,%rsp; 20: pop %rbp; 21: ret */
    };
    const struct codeahead_input ahead[] = { { method, sizeof method, OFFSET, OFFSET + 13, true },
                                             { method, sizeof method, OFFSET, OFFSET + 16, false } };
    size_t size;

    mem_free(blob);
    assert_true(coderows_build_ahead(ahead, 2, &blob, &size, NULL));
    assert_true(unwind_rows_view(&rows, blob, size, NULL));
    expect_row(13, UNWIND_ROW_SP, 40, -16);
    expect_row(16, UNWIND_ROW_SP, 32, -16);
}

TEST(calls_are_recognized_by_the_bytes_before_a_return_address)
{
    static const struct {
        const char *bytes;
        bool ends;
    } cases[] = {
        { "\x90\x90\x90\xe8\x01\x02\x03\x04", true },  /* call rel32 */
        { "\x90\x90\x90\x90\x90\x90\xff\xd0", true },  /* call *%rax */
        { "\x90\x90\x90\x90\x90\x41\xff\xd2", true },  /* call *%r10 */
        { "\x90\xff\x94\xc8\x80\x00\x00\x00", true },  /* call *128(%rax,%rcx,8) */
        { "\x90\x90\x90\xe9\x01\x02\x03\x04", false }, /* jmp */
        { "\x90\x90\x90\x90\x90\x90\xff\xe0", false }, /* jmp *%rax */
        { "\x90\x90\x90\x90\x90\x90\x90\x90", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(x86_call_ends((const uint8_t *)cases[i].bytes, 8, true), cases[i].ends);
    assert_true(x86_call_ends((const uint8_t *)"\xff\xd0", 2, true));
    assert_false(x86_call_ends((const uint8_t *)"\xd0", 1, true));
}

TEST_MAIN(NULL, NULL)
