// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_maker.h"
#include "unit_test.h"
#include "unwind/otherstack.h"
#include "unwind/rowformat.h"

#define THREAD UINT64_C(0x7f0000000000) /* the current stack, and its dump */
#define GO     UINT64_C(0xc000010000)   /* the goroutine's stack */
#define WORDS  64
#define ROOM   16

enum {                 /* functions in the code. With a frame: CFA = rsp + 0x20, rbp at CFA - 16 */
       RUN = 0x100,    /* without a frame: runs on the thread's stack */
       CALLED = 0x140, /* with a frame: the called function */
       SYSTEM = 0x200, /* without a frame: switches the stack */
       CLOCK = 0x300,  /* with a frame: switches the stack */
       INNER = 0x400,  /* calls SYSTEM */
       OUTER = 0x500,  /* calls INNER */
       GOEXIT = 0x600,
       BACK = 0x700,  /* runtime.cgocallback */
       CROSS = 0x800, /* calls BACK */
       MSTART = 0x900,
       END = 0xa00
};

#define FRAME                                                                                                \
    {                                                                                                        \
        { 0, 4 },                                                                                            \
        {                                                                                                    \
            0x18, 0x3c                                                                                       \
        }                                                                                                    \
    }
#define SAVES 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10 /* sub rsp, 0x18; mov [rsp + 0x10], rbp */
#define IN    0x20 /* a return address in a function, from its beginning */

static const struct go_spec specs[] = {
    { "runtime.run", RUN, { { 0, 0x3c } }, 0, { 0 } },
    { "runtime.called", CALLED, FRAME, 0, { SAVES } },
    { "runtime.systemstack", SYSTEM, { { 0, 0x3c } }, GOTABLE_SP_WRITE, { [0x10] = 0x48, 0x89, 0xdc } },
    { "runtime.nanotime1", CLOCK, FRAME, GOTABLE_SP_WRITE, { SAVES, 0x48, 0x89, 0xdc } },
    { "main.inner", INNER, FRAME, 0, { SAVES } },
    { "main.outer", OUTER, FRAME, 0, { SAVES } },
    { "runtime.goexit", GOEXIT, { { 0, 8 } }, GOTABLE_TOP, { 0x90 } },
    { "runtime.cgocallback", BACK, FRAME, 0, { SAVES } },
    { "crosscall2", CROSS, FRAME, 0, { SAVES } },
    { "runtime.mstart", MSTART, { { 0, 0x20 } }, GOTABLE_TOP, { 0x90 } },
};

struct fixture {
    struct go_maker m;
    uint64_t dump[WORDS], memory[WORDS], chain[ROOM];
    uint32_t n_chain;
    struct unwind_frame frames[ROOM];
    enum unwind_end end;
    uint32_t n;
    enum unwind_call other; /* the result for memory */
    bool believe, again;
    uint64_t no_call; /* an address that no call returns to */
};

static bool find_rows(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct fixture *f = ctx;

    *out = (struct unwind_location){ .offset = addr - GO_TEXT + GO_OFFSET,
                                     .rows = &f->m.rows,
                                     .frame = (uint32_t)addr };
    return addr >= GO_TEXT && addr < GO_TEXT + GO_SIZE;
}

static uint64_t function_of(uint64_t addr)
{
    uint64_t best = 0;

    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++)
        if (addr >= GO_TEXT + specs[i].at)
            best = specs[i].at;
    return best;
}

/* The function that each calls at IN. */
static const uint64_t calls[][2] = { { SYSTEM, CALLED }, { CALLED, RUN }, { INNER, SYSTEM }, { OUTER, INNER },
                                     { BACK, CALLED },   { CROSS, BACK }, { CLOCK, CALLED } };

static uint64_t called_by(uint64_t function)
{
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i][0] == function)
            return calls[i][1];
    return 0;
}

static enum unwind_call check_call(void *ctx, uint64_t back, uint64_t callee)
{
    const struct fixture *f = ctx;
    uint64_t caller = function_of(back - 1);

    if (back != GO_TEXT + caller + IN || back == f->no_call)
        return UNWIND_CALL_REFUTED;
    /* INNER and OUTER may call others through a register, too */
    return called_by(caller) == function_of(callee) || function_of(callee) == CLOCK ||
                   function_of(callee) == BACK
               ? UNWIND_CALL_PROVEN
               : UNWIND_CALL_REFUTED;
}

static enum unwind_call find_between(void *ctx, uint64_t back, uint64_t callee, uint64_t *out)
{
    uint64_t function = called_by(function_of(back - 1));

    if (check_call(ctx, back, GO_TEXT + function) != UNWIND_CALL_PROVEN ||
        called_by(function) != function_of(callee))
        return UNWIND_CALL_REFUTED;
    *out = GO_TEXT + function + IN;
    return UNWIND_CALL_PROVEN;
}

static enum unwind_call read_other_stack(void *ctx, uint64_t at, struct unwind_memory *out)
{
    struct fixture *f = ctx;

    assert_true(at >= GO && at < GO + sizeof f->memory);
    *out =
        (struct unwind_memory){ .bytes = (const uint8_t *)f->memory, .size = sizeof f->memory, .base = GO };
    return f->other;
}

static bool is_again(void *ctx, uint64_t at)
{
    const struct fixture *f = ctx;

    assert_int_equal(at, GO + 0x80);
    return f->again;
}

static bool accept_frames(void *ctx, uint64_t fp, uint64_t function, const struct unwind_frame *frames,
                          uint32_t n)
{
    const struct fixture *f = ctx;

    assert_int_equal(function, GO_TEXT + CALLED);
    assert_true(fp >= GO && n > 1 && frames[0].addr == GO_TEXT + SYSTEM + IN - 1);
    return f->believe;
}

/* rbp: of the leaf, RUN. */
static void unwind_from(struct fixture *f, uint64_t rbp)
{
    const struct unwind_source source = { .ctx = f,
                                          .find = find_rows,
                                          .called = check_call,
                                          .between = find_between,
                                          .other = read_other_stack,
                                          .again = is_again,
                                          .believe = accept_frames };
    struct unwind_input in = {
        .arch = UNWIND_ARCH_X86_64,
        .regs = { .pc = GO_TEXT + RUN, .sp = THREAD, .fp = rbp, .known = 1u << 7 | 1u << 6 },
        .stack = (const uint8_t *)f->dump,
        .stack_bytes = sizeof f->dump,
        .chain = f->chain,
        .n_chain = f->n_chain
    };

    in.regs.r[7] = THREAD;
    in.regs.r[6] = rbp;
    f->n = unwind_stack(&in, &source, f->frames, ROOM, &f->end);
}

static void expect_frames(const struct fixture *f, enum unwind_end end, unsigned n, const uint64_t *functions)
{
    assert_int_equal(f->end, end);
    assert_int_equal(f->n, n);
    for (unsigned i = 1; i < n; i++)
        assert_int_equal(f->frames[i].addr,
                         GO_TEXT + functions[i] +
                             (functions[i] == GOEXIT || functions[i] == MSTART ? 0 : IN - 1));
}
#define EXPECT(f, end, ...)                                                                                  \
    do {                                                                                                     \
        static const uint64_t functions[] = { RUN, __VA_ARGS__ };                                            \
        expect_frames(f, end, (unsigned)(sizeof functions / sizeof *functions), functions);                  \
    } while (0)

/* A frame at a word: the saved rbp is there, followed by the return address. */
static void put_frame(uint64_t *stack, unsigned at, uint64_t rbp, uint64_t back)
{
    stack[at] = rbp;
    stack[at + 1] = GO_TEXT + back;
}

static void put_chain(struct fixture *f, unsigned n, const uint64_t *backs)
{
    f->chain[0] = GO_TEXT + RUN;
    for (unsigned i = 0; i < n; i++)
        f->chain[i + 1] = GO_TEXT + backs[i];
    f->n_chain = n + 1;
}
#define PUT_CHAIN(f, ...)                                                                                    \
    do {                                                                                                     \
        static const uint64_t backs[] = { __VA_ARGS__ };                                                     \
        put_chain(f, (unsigned)(sizeof backs / sizeof *backs), backs);                                       \
    } while (0)

/* RUN, called by CALLED, by SYSTEM, called by INNER on the goroutine's stack, by OUTER, the goroutine's
 * first function. */
static int set_up(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    struct error e = { 0 };

    f->m.version = GO_118;
    f->m.text = GO_TEXT;
    go_make_table(&f->m, specs, sizeof specs / sizeof *specs, END);
    if (!go_make_rows(&f->m, &e))
        return -1;
    f->dump[0] = GO_TEXT + CALLED + IN;
    put_frame(f->dump, 3, GO + 0x80, SYSTEM + IN); /* CALLED's frame is 3 words, from 1 on */
    f->memory[13] = GO_TEXT + INNER + IN;          /* SYSTEM returns there: INNER's frame is words 14 to 16 */
    put_frame(f->memory, 16, GO + 0xa0, OUTER + IN);
    put_frame(f->memory, 20, 0, GOEXIT + 1);
    f->other = UNWIND_CALL_REFUTED;
    f->believe = true;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    mem_free(f->m.blob);
    mem_free(f);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(without_chain_and_memory_the_stack_ends_at_the_switch)
{
    struct fixture *f = *state;

    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
}

FIXTURE_TEST(the_kernels_chain_continues_and_a_call_in_it_reveals_the_hidden_caller)
{
    struct fixture *f = *state;

    PUT_CHAIN(f, SYSTEM + IN, OUTER + IN, GOEXIT + 1);
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ROOT, CALLED, SYSTEM, INNER, OUTER, GOEXIT);
}

FIXTURE_TEST(a_function_with_a_frame_hides_no_caller)
{
    struct fixture *f = *state;

    put_frame(f->dump, 3, GO + 0x80, CLOCK + IN);
    PUT_CHAIN(f, CLOCK + IN, OUTER + IN, GOEXIT + 1);
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ROOT, CALLED, CLOCK, OUTER, GOEXIT);
}

FIXTURE_TEST(a_chain_counts_only_with_all_its_calls_proven)
{
    struct fixture *f = *state;

    PUT_CHAIN(f, SYSTEM + IN, OUTER + IN, OUTER + IN, GOEXIT + 1);
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
    PUT_CHAIN(f, SYSTEM + IN, OUTER + IN); /* where the kernel's chain ends */
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
}

FIXTURE_TEST(a_chain_from_another_frame_pointer_is_not_followed)
{
    struct fixture *f = *state;

    PUT_CHAIN(f, OUTER + IN, GOEXIT + 1);
    unwind_from(f, THREAD + 0x100); /* used as a plain register */
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
}

FIXTURE_TEST(unwinding_waits_for_memory_and_continues_in_it)
{
    struct fixture *f = *state;

    f->memory[14] = GO_TEXT + CALLED; /* SYSTEM's argument */
    f->other = UNWIND_CALL_PENDING;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_PENDING, CALLED, SYSTEM);
    f->other = UNWIND_CALL_PROVEN;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_ROOT, CALLED, SYSTEM, INNER, OUTER, GOEXIT);
}

FIXTURE_TEST(memory_from_another_time_is_not_used)
{
    struct fixture *f = *state;

    f->other = UNWIND_CALL_PROVEN;
    f->memory[14] = GO_TEXT + OUTER; /* another function had been called by then */
    unwind_from(f, 0);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
    f->again = true;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_PENDING, CALLED, SYSTEM);
    f->again = false;
    f->memory[14] = GO_TEXT + CALLED;
    f->no_call = GO_TEXT + OUTER + IN;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
    f->no_call = 0;
    f->believe = false;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
    f->believe = true;
    f->memory[13] = 0;
    unwind_from(f, 0);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
}

FIXTURE_TEST(the_chain_and_the_memory_must_agree)
{
    struct fixture *f = *state;

    f->other = UNWIND_CALL_PROVEN;
    PUT_CHAIN(f, SYSTEM + IN,
              OUTER + IN); /* shorter than the stack: memory gives the rest, without an argument */
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ROOT, CALLED, SYSTEM, INNER, OUTER, GOEXIT);
    PUT_CHAIN(f, SYSTEM + IN, CROSS + IN);
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, SYSTEM);
}

/* The thread's stack: RUN … SYSTEM, and above that CROSS, which called back; the goroutine's: CLOCK's
 * caller is BACK. */
FIXTURE_TEST(a_callback_from_c_returns_to_the_current_stack)
{
    struct fixture *f = *state;

    put_frame(f->dump, 3, GO + 0x80, CLOCK + IN);
    put_frame(f->dump, 20, 0x1234, CROSS + IN); /* BACK's frame */
    put_frame(f->dump, 24, 0, MSTART + 1);
    PUT_CHAIN(f, CLOCK + IN, BACK + IN, CROSS + IN, 0);
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ROOT, CALLED, CLOCK, BACK, CROSS, MSTART);
    PUT_CHAIN(f, CLOCK + IN, OUTER + IN, CROSS + IN, 0); /* OUTER changes no stack */
    unwind_from(f, THREAD + 24);
    EXPECT(f, UNWIND_ELSEWHERE, CALLED, CLOCK);
}

TEST_MAIN(NULL, NULL)
