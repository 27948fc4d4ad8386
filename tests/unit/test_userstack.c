// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks from registers and dumps: known at once, known later, and never known. */
#include "collector_fixture.h"
#include "base/clock.h"
#include "session/doctor.h"
#include "unwind/rowformat.h"

#include <sys/mman.h>
#include <unistd.h>

#define KERNEL      UINT64_C(0xffffffff81000000)
#define STACK       UINT64_C(0x7ffc00000000)
#define PERF_X86_BP 6
#define PERF_X86_SP 7
#define PERF_X86_IP 8

static void feed_record(const struct record *r)
{
    collector_record(s, r);
}

static int start(void **state)
{
    struct symbolizer_config cfg = { 0 };
    struct error e = { 0 };

    set_up(state);
    s->unwind.user.arch = UNWIND_ARCH_X86_64;
    s->store.symbolizer = symbolizer_new(&cfg, &e); /* not started: tables never arrive */
    assert_non_null(s->store.symbolizer);
    do_comm(10, "busy", true);
    do_mmap(10, TEXT, 0x10000, "/usr/bin/busy", 1);
    do_mmap(10, JIT, 0x10000, "//anon", 0);
    return 0;
}

static int end(void **state)
{
    aside_done(s);
    userstack_done(s);
    symbolizer_free(s->store.symbolizer);
    return tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, start, end)

static uint64_t regs[64], stack[16];

/* lacking: bytes that were requested but could not be read. */
static void do_dump_without(size_t lacking, uint64_t pc, uint64_t bp, size_t stack_bytes,
                            const uint64_t *chain, uint32_t n)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    uint64_t mask = unwind_arch_regs_mask(UNWIND_ARCH_X86_64);
    unsigned at = 0;

    for (unsigned bit = 0; bit < 64; bit++)
        if (mask & UINT64_C(1) << bit)
            regs[at++] = bit == PERF_X86_BP ? bp : bit == PERF_X86_SP ? STACK : bit == PERF_X86_IP ? pc : 0;
    r.misc = n ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    r.sample.ip = n ? chain[1] : pc;
    r.sample.chain = chain;
    r.sample.chain_n = n;
    r.sample.period = 1;
    r.sample.user_abi = PERF_SAMPLE_REGS_ABI_64;
    r.sample.user_regs = regs;
    r.sample.stack = stack;
    r.id.has = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    r.sample.stack_size = stack_bytes + lacking;
    r.sample.stack_dyn_size = stack_bytes;
    feed_record(&r);
}

static void do_dump(uint64_t pc, uint64_t bp, size_t stack_bytes, const uint64_t *chain, uint32_t n)
{
    do_dump_without(0, pc, bp, stack_bytes, chain, n);
}

static struct sample last;

static void keep_last(void *ctx, struct sample *samples, size_t n)
{
    (void)ctx;
    last = samples[n - 1];
}

/* The last sample's frames, leaf first, as KIND:OFFSET of their modules. */
static const char *stack_text(void)
{
    static const char *const kinds[] = { [MODULE_FILE] = "file",
                                         [MODULE_KERNEL] = "kernel",
                                         [MODULE_JIT] = "jit",
                                         [MODULE_UNKNOWN] = "unknown",
                                         [MODULE_BROKEN] = "cut" };
    static char text[1024];
    size_t n = 0;

    history_scan(s->store.history, 0, 0, keep_last, NULL);
    text[0] = '\0';
    for (uint32_t node = last.stack; node; node = stacks_parents(s->store.stacks)[node]) {
        uint32_t frame = stacks_frames(s->store.stacks)[node];
        const struct module *m = world_module(s->store.world, stacks_frame_modules(s->store.stacks)[frame]);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%llx", n ? " " : "", kinds[m->kind],
                              (unsigned long long)stacks_frame_offsets(s->store.stacks)[frame]);
    }
    return text;
}

/* Two frames of JIT code, and the end of the frame pointers. */
static void make_jit_frames(uint64_t last_fp)
{
    memset(stack, 0, sizeof stack);
    stack[2] = STACK + 48; /* bp of the leaf is STACK + 16 */
    stack[3] = JIT + 0x200;
    stack[6] = last_fp;
    stack[7] = JIT + 0x300;
}

FIXTURE_TEST(jit_code_is_unwound_by_frame_pointers)
{
    make_jit_frames(0);
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "jit:7f0000000100 jit:7f00000001ff jit:7f00000002ff cut:a");
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
    assert_int_equal(s->unwind.user.aside.n, 0);
}

FIXTURE_TEST(kernel_frames_come_from_the_chain_and_user_frames_are_unwound)
{
    const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x10, KERNEL + 0x20, PERF_CONTEXT_USER, 0x1234 };

    make_jit_frames(0);
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, chain, 5);
    assert_string_equal(stack_text(), "kernel:ffffffff81000010 kernel:ffffffff8100001f jit:7f0000000100 "
                                      "jit:7f00000001ff jit:7f00000002ff cut:a");
    assert_int_equal(last.flags, SAMPLE_KERNEL | SAMPLE_BROKEN);
}

FIXTURE_TEST(a_dump_that_is_too_small_is_reported)
{
    char want[128];

    make_jit_frames(STACK + 4096);
    do_dump(JIT + 0x100, STACK + 16, 32, NULL, 0);
    snprintf(want, sizeof want, "jit:7f0000000100 jit:7f00000001ff cut:%x", BROKEN_DUMP);
    assert_string_equal(stack_text(), want);
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

/* As in the middle of an exec: a larger copy would not help. */
FIXTURE_TEST(an_unreadable_stack_is_reported)
{
    char want[128];

    make_jit_frames(STACK + 4096);
    do_dump_without(4096, JIT + 0x100, STACK + 16, 0, NULL, 0);
    snprintf(want, sizeof want, "jit:7f0000000100 cut:%x", BROKEN_UNREAD);
    assert_string_equal(stack_text(), want);
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

/* The stack above a JIT frame, reached by the leaf's frame pointer, is missing in each of these. */
static void do_short_dump(size_t bytes)
{
    make_jit_frames(STACK + 4096);
    do_dump_without(8192, JIT + 0x100, STACK + 16, bytes, NULL, 0);
}

FIXTURE_TEST(a_stack_not_in_memory_is_touched_once)
{
    do_short_dump(32);
    assert_int_equal(s->unwind.touches.n_wanted, 1);
    assert_int_equal(s->unwind.touches.wanted[0].pid, 10);
    assert_true(s->unwind.touches.wanted[0].sp == STACK);
    do_short_dump(32);
    do_short_dump(0);
    assert_int_equal(s->unwind.touches.n_wanted, 1);
    s->unwind.touches.touched.items[0].low += 64; /* as if the stack pointer had been higher by then */
    do_short_dump(32);
    assert_int_equal(s->unwind.touches.n_wanted, 2);
    assert_true(s->unwind.touches.touched.items[0].low == STACK);
    do_short_dump(32);
    assert_int_equal(s->unwind.touches.n_wanted, 2);
    do_comm(10, "other", true); /* an exec: another stack */
    do_mmap(10, JIT, 0x10000, "//anon", 0);
    do_short_dump(32);
    assert_int_equal(s->unwind.touches.n_wanted, 3);
}

FIXTURE_TEST(complete_and_recorded_stacks_are_not_touched)
{
    make_jit_frames(0);
    do_dump_without(8192, JIT + 0x100, STACK + 16, sizeof stack, NULL, 0); /* it ends before */
    do_dump(JIT + 0x100, STACK + 16, 32, NULL, 0);                         /* no more was requested */
    s->load.file = (struct perfdata *)(uintptr_t)1;
    stacktouch_want(s, last.thread, 1, STACK, 32);
    s->load.file = NULL;
    assert_int_equal(s->unwind.touches.n_wanted, 0);
}

/* A page of this process instead of a stack. */
FIXTURE_TEST(touched_stacks_are_in_memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char in[4] = { 0 };
    uint32_t thread =
        world_thread_of(s->store.world, (uint32_t)getpid(), (uint32_t)getpid(), clock_now_ns(), 0);
    char *memory = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED && !mincore(memory, 4 * page, in));
    assert_false(in[0] & 1);
    stacktouch_want(s, thread, clock_now_ns(), (uintptr_t)memory + page, 0);
    stacktouch_read(s);
    assert_int_equal(s->unwind.touches.n_wanted, 0);
    assert_int_equal(mincore(memory, 4 * page, in), 0);
    assert_false(in[0] & 1);
    assert_true(in[1] & in[2] & in[3] & 1);
    assert_true(s->unwind.touches.next_ns > clock_now_ns()); /* further requests wait */
    munmap(memory, 4 * page);
}

FIXTURE_TEST(truncated_stacks_are_counted)
{
    make_jit_frames(STACK + 4096);
    do_dump(JIT + 0x100, STACK + 16, 32, NULL, 0);
    assert_int_equal(s->source.deep.cut, 1);
    do_short_dump(32); /* more was requested: a still larger request would not help */
    make_jit_frames(0);
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, NULL, 0);
    assert_int_equal(s->source.deep.cut, 1);
    assert_int_equal(s->source.deep.dumped, 3);
}

FIXTURE_TEST(larger_stack_copies_are_used_while_affordable)
{
    struct deep_seen seen = { .bytes = 32768,
                              .budget_percent = RATE_BUDGET_PERCENT,
                              .smaller = 24576,
                              .larger = 49152,
                              .n_cpus = 2,
                              .dumped = 100,
                              .cut = 50,
                              .time_ns = NS_PER_SEC,
                              .cpu_share = 0.02 };

    assert_int_equal(deepstacks_choose(&seen), 49152);
    seen.cut = 2;
    assert_int_equal(deepstacks_choose(&seen), 32768);
    seen.cut = 50;
    seen.cpu_share = 0.08; /* of 0.1: larger copies would be too expensive */
    assert_int_equal(deepstacks_choose(&seen), 32768);
    seen.cpu_share = 0.11; /* the first second is not conclusive */
    assert_int_equal(deepstacks_choose(&seen), 32768);
    seen.time_ns = 3 * NS_PER_SEC;
    assert_int_equal(deepstacks_choose(&seen), 24576);
    seen.bytes = LIVE_STACK_BYTES; /* never below the default */
    assert_int_equal(deepstacks_choose(&seen), LIVE_STACK_BYTES);
    seen.larger = 0;
    seen.cpu_share = 0;
    assert_int_equal(deepstacks_choose(&seen), LIVE_STACK_BYTES);
}

FIXTURE_TEST(an_unmapped_address_is_the_only_frame)
{
    make_jit_frames(0);
    do_dump(0x1234, STACK + 16, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "unknown:1234");
}

FIXTURE_TEST(a_sample_without_its_table_is_pending_but_in_the_history)
{
    char want[64];

    make_jit_frames(0);
    do_dump(TEXT + 0x10, STACK + 16, sizeof stack, NULL, 0);
    snprintf(want, sizeof want, "file:10 cut:%x", BROKEN_PENDING);
    assert_string_equal(stack_text(), want);
    assert_int_equal(s->unwind.user.aside.n, 1);
    assert_int_equal(s->store.samples, 1);
}

FIXTURE_TEST(pending_samples_are_finally_unwound_from_their_copy)
{
    char want[64];

    make_jit_frames(0);
    stack[3] = TEXT + 0x11;
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, NULL, 0);
    uint64_t changes = history_changes(s->store.history);
    memset(stack, 0xff, sizeof stack);
    memset(regs, 0xff, sizeof regs);
    aside_retry(s, true);
    assert_int_equal(s->unwind.user.aside.n, 0);
    assert_int_equal(s->unwind.user.aside_bytes, 0);
    assert_int_equal(history_changes(s->store.history), changes);
    snprintf(want, sizeof want, "jit:7f0000000100 file:10 cut:%x", BROKEN_PENDING);
    assert_string_equal(stack_text(), want);
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

FIXTURE_TEST(a_late_table_is_distinguished_from_none)
{
    char want[64];

    make_jit_frames(0);
    do_dump(TEXT + 0x10, 5, sizeof stack, NULL, 0); /* no frame pointer */
    aside_retry(s, true);
    assert_int_equal(s->unwind.user.aside.n, 0);
    snprintf(want, sizeof want, "file:10 cut:%x", BROKEN_PENDING);
    assert_string_equal(stack_text(), want);
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

/* At first, most stacks of a profile wait: that is no fault. */
FIXTURE_TEST(a_stack_waiting_for_its_table_is_not_truncated)
{
    struct session_status status;
    struct view_query q = { 0 };
    struct doctor d = { 0 };

    make_jit_frames(0);
    do_dump(TEXT + 0x10, 5, sizeof stack, NULL, 0);
    session_get_status(s, &status);
    assert_int_equal(status.stacks_waiting, 1);
    session_examine(s, &q, &d);
    assert_int_equal(d.samples, 1);
    assert_int_equal(d.waiting, 1);
    assert_int_equal(d.cut, 0);
    assert_string_equal(d.rows.items[0].cause, "its unwind table is being read: these stacks wait for it");
    aside_retry(s, true);
    session_get_status(s, &status);
    assert_int_equal(status.stacks_waiting, 0);
    session_examine(s, &q, &d);
    assert_int_equal(d.waiting, 0);
    assert_int_equal(d.cut, 1);
    assert_string_equal(d.rows.items[0].cause, "its unwind table was not there in time");
    doctor_done(&d);
}

FIXTURE_TEST(pending_samples_are_bounded)
{
    make_jit_frames(0);
    for (unsigned i = 0; i < 200000; i++) {
        do_dump(TEXT + 0x10, STACK + 16, sizeof stack, NULL, 0);
        if (i % 1000 == 0)
            aside_retry(s, false);
    }
    assert_true(s->unwind.user.aside_bytes < 20 * MB);
    assert_true(s->unwind.user.aside.n > 0);
}

FIXTURE_TEST(a_sample_dropped_from_the_history_is_not_unwound)
{
    make_jit_frames(0);
    do_dump(TEXT + 0x10, STACK + 16, sizeof stack, NULL, 0);
    history_clear(s->store.history);
    aside_retry(s, true);
    assert_int_equal(s->unwind.user.aside.n, 0);
}

static void do_dump_32(uint64_t bp)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    uint64_t mask = unwind_arch_regs_mask(UNWIND_ARCH_X86_64);
    unsigned at = 0;

    for (unsigned bit = 0; bit < 64; bit++)
        if (mask & UINT64_C(1) << bit)
            regs[at++] = bit == PERF_X86_BP   ? bp
                         : bit == PERF_X86_SP ? 0xffff0000
                         : bit == PERF_X86_IP ? TEXT + 0x44
                                              : 0;
    r.sample.ip = TEXT + 0x44;
    r.sample.user_abi = PERF_SAMPLE_REGS_ABI_32;
    r.sample.user_regs = regs;
    r.sample.stack = stack;
    r.id.has = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    r.sample.stack_size = r.sample.stack_dyn_size = sizeof stack;
    feed_record(&r);
}

/* Neither a table nor a call proves it. */
FIXTURE_TEST(a_32_bit_stack_is_truncated_at_unproven_frame_pointers)
{
    const uint32_t words[] = { 0, 0, 0xffff0018, TEXT + 0x50, 0, 0, 0, TEXT + 0x60 };
    char want[64];

    memcpy(stack, words, sizeof words);
    do_dump_32(0xffff0008);
    userstack_give_up(s, stacks_frame_modules(s->store.stacks)[1]); /* it has no table */
    aside_retry(s, true);
    snprintf(want, sizeof want, "file:44 cut:%x", BROKEN_UNPROVEN);
    assert_string_equal(stack_text(), want);
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

/* ---- frame pointers on arm64: a leaf's caller is in its link register ---- */

static void do_chain(uint64_t link, const uint64_t *chain, uint32_t n)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);

    r.misc = chain[0] == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    r.id.has = PERF_SAMPLE_REGS_USER;
    regs[0] = link;
    r.sample.ip = chain[1];
    r.sample.chain = chain;
    r.sample.chain_n = n;
    r.sample.user_abi = PERF_SAMPLE_REGS_ABI_64;
    r.sample.user_regs = regs;
    feed_record(&r);
}

static const uint64_t leaf_chain[] = { PERF_CONTEXT_USER, TEXT + 0x10, TEXT + 0x200 };

static struct location_slot *location_slot_of(uint32_t pid, uint64_t addr)
{
    uint32_t thread = world_thread_of(s->store.world, pid, pid, ++now_ns, 0),
             image = world_thread(s->store.world, thread)->image;
    struct frame_owner owner = { .thread = thread,
                                 .image = image,
                                 .version = world_image_version(s->store.world, image) };
    struct location_slot *slot = locate_address(s, &owner, addr, false);
    assert_non_null(slot);
    return slot;
}

/* The table's row for TEXT + 0x10 is this entry. */
static void start_arm64(const struct unwind_entry *entry)
{
    s->unwind.user.arch = UNWIND_ARCH_ARM64;
    struct location_slot *slot = location_slot_of(10, TEXT + 0x10);
    slot->entry = entry;
    slot->has_row = true;
}

static const struct unwind_entry leaf = { .kind = UNWIND_ROW_SP,
                                          .flags = UNWIND_ENTRY_RA_IN_REGISTER,
                                          .ra_register = 30 };
static const struct unwind_entry no_leaf = { .kind = UNWIND_ROW_FP,
                                             .flags = UNWIND_ENTRY_FP_SAVED,
                                             .cfa_offset = 16 };

/* The file's table has this row for the code before TEXT + offset. */
static void put_entry(uint64_t offset, const struct unwind_entry *entry)
{
    struct location_slot *slot = location_slot_of(10, TEXT + offset - 1);
    slot->entry = entry;
    slot->has_row = true;
}

static const struct unwind_entry by_sp = { .kind = UNWIND_ROW_SP, .cfa_offset = 8, .ra_offset = -8 };
static const struct unwind_entry outermost = { .kind = UNWIND_ROW_END };

static void start_unwinds(void)
{
    static const struct unwind_entry *const entries[] = { &by_sp, &by_sp, &by_sp, &by_sp, &outermost };
    for (unsigned i = 0; i < 5; i++) {
        put_entry(0x100 + 0x100 * i, entries[i]);
        if (i)
            stack[i - 1] = TEXT + 0x100 + 0x100 * i;
    }
    put_entry(0x80, &by_sp);
}

FIXTURE_TEST(a_child_shares_its_parents_cached_code_until_their_maps_differ)
{
    put_entry(0x100, &outermost);
    do_fork(11, 10);
    assert_true(location_slot_of(11, TEXT + 0xff)->has_row);
    do_mmap(11, TEXT, 0x1000, "/usr/bin/another", 2);
    assert_false(location_slot_of(11, TEXT + 0xff)->has_row);
    assert_true(location_slot_of(10, TEXT + 0xff)->has_row);
}

FIXTURE_TEST(unwound_callers_are_found_again_by_the_words_read)
{
    memset(stack, 0, sizeof stack);
    start_unwinds();
    do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "file:ff file:1ff file:2ff file:3ff file:4ff");
    put_entry(0x400, &outermost); /* seen only if the stack is unwound */
    stack[10]++;
    do_dump(TEXT + 0xff, 7, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "file:ff file:1ff file:2ff file:3ff file:4ff");
    do_dump(TEXT + 0x7f, 7, sizeof stack, NULL, 0); /* another leaf */
    assert_string_equal(stack_text(), "file:7f file:1ff file:2ff file:3ff file:4ff");
    stack[2] = TEXT + 0x500;
    do_dump(TEXT + 0xff, 7, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "file:ff file:1ff file:2ff file:4ff");
}

FIXTURE_TEST(different_callers_of_one_location_are_cached_side_by_side)
{
    static const char *const texts[] = { "file:ff file:1ff file:2ff file:3ff file:4ff",
                                         "file:ff file:1ff file:2ff file:4ff",
                                         "file:ff file:1ff file:2ff file:2ff file:4ff" };
    static const uint64_t turns[][3] = { { 0x400, 0x500, 0 }, { 0x500, 0, 0 }, { 0x300, 0x500, 0 } };
    start_unwinds();
    for (unsigned round = 0; round < 6; round++) {
        unsigned way = round % 3;
        memset(stack, 0, sizeof stack);
        stack[0] = TEXT + 0x200;
        stack[1] = TEXT + 0x300;
        for (unsigned i = 0; turns[way][i]; i++)
            stack[2 + i] = TEXT + turns[way][i];
        if (round == 3)
            put_entry(0x300, &outermost); /* seen only if the stack is unwound */
        do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
        assert_string_equal(stack_text(), texts[way]);
    }
}

FIXTURE_TEST(partly_cached_stacks_equal_the_sampled_ones)
{
    unsigned random = 1;

    start_unwinds();
    for (unsigned round = 0; round < 5000; round++) {
        char want[256];
        int n = snprintf(want, sizeof want, "file:ff");
        memset(stack, 0, sizeof stack);
        for (unsigned i = 0, depth = (random >> 16) % 9; i <= depth; i++) {
            random = random * 1103515245 + 12345; /* POSIX, rand() */
            stack[i] = TEXT + (i == depth ? 0x500 : 0x100 + 0x100 * (random >> 16) % 0x400);
            n += snprintf(want + n, sizeof want - (size_t)n, " file:%llx",
                          (unsigned long long)(stack[i] - TEXT - 1));
        }
        do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
        assert_string_equal(stack_text(), want);
    }
}

FIXTURE_TEST(callers_are_unwound_again_when_less_of_the_stack_was_copied)
{
    char want[128];

    memset(stack, 0, sizeof stack);
    start_unwinds();
    do_dump(TEXT + 0xff, 0, 4 * 8, NULL, 0);
    do_dump(TEXT + 0xff, 0, 3 * 8, NULL, 0);
    snprintf(want, sizeof want, "file:ff file:1ff file:2ff file:3ff cut:%x", BROKEN_DUMP);
    assert_string_equal(stack_text(), want);
}

FIXTURE_TEST(cached_callers_are_dropped_with_the_map_and_the_frames)
{
    memset(stack, 0, sizeof stack);
    start_unwinds();
    do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
    do_mmap(10, TEXT + 0x100000, 0x1000, "/usr/lib/other.so", 2);
    start_unwinds();
    put_entry(0x400, &outermost);
    do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "file:ff file:1ff file:2ff file:3ff");
    locate_forget(s);
    start_unwinds();
    do_dump(TEXT + 0xff, 0, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "file:ff file:1ff file:2ff file:3ff file:4ff");
}

FIXTURE_TEST(the_caller_of_a_leaf_is_in_its_link_register)
{
    start_arm64(&leaf);
    do_chain(TEXT + 0x104, leaf_chain, 3);
    assert_string_equal(stack_text(), "file:10 file:103 file:1ff");
    do_chain((TEXT + 0x104) | UINT64_C(0x2b) << 48, leaf_chain, 3); /* signed */
    assert_string_equal(stack_text(), "file:10 file:103 file:1ff");
    do_chain(TEXT + 0x104, leaf_chain, 2);
    assert_string_equal(stack_text(), "file:10 file:103");
}

FIXTURE_TEST(a_leaf_in_a_system_call_has_its_caller)
{
    const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x10, KERNEL + 0x20,
                               PERF_CONTEXT_USER,   TEXT + 0x10,   TEXT + 0x200 };

    start_arm64(&leaf);
    do_chain(TEXT + 0x104, chain, 6);
    assert_string_equal(stack_text(),
                        "kernel:ffffffff81000010 kernel:ffffffff8100001f file:10 file:103 file:1ff");
}

FIXTURE_TEST(a_function_that_saved_its_return_address_is_no_leaf)
{
    start_arm64(&no_leaf);
    do_chain(TEXT + 0x104, leaf_chain, 3);
    assert_string_equal(stack_text(), "file:10 file:1ff");
}

FIXTURE_TEST(a_caller_found_by_frame_pointers_is_not_repeated)
{
    start_arm64(&leaf);
    do_chain(TEXT + 0x200, leaf_chain, 3);
    assert_string_equal(stack_text(), "file:10 file:1ff");
}

FIXTURE_TEST(a_chain_waits_for_the_table_of_its_leaf)
{
    s->unwind.user.arch = UNWIND_ARCH_ARM64;
    do_chain(TEXT + 0x104, leaf_chain, 3);
    assert_string_equal(stack_text(), "file:10 file:1ff");
    assert_int_equal(s->unwind.user.aside.n, 1);
    aside_retry(s, true);
    assert_int_equal(s->unwind.user.aside.n, 0);
    assert_string_equal(stack_text(), "file:10 file:1ff");
}

/* perf record --call-graph fp --user-regs: there is no memory to unwind. */
FIXTURE_TEST(registers_without_memory_leave_the_chain_unchanged)
{
    do_chain(TEXT + 0x104, leaf_chain, 3);
    aside_retry(s, true);
    assert_string_equal(stack_text(), "file:10 file:1ff");
    assert_int_equal(last.flags, SAMPLE_USER);
}

/* ---- methods of a Java VM, in this process's memory ---- */

static const uint8_t method[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48,
                                  0x83, 0xec, 0x10, 0xe8, 0,    0,    0,    0 };
#define METHOD ((uint64_t)(uintptr_t)method)

/* As if the symbolizer had reported where the code of this address begins. */
static void add_code(const struct module *m, uint64_t addr, uint64_t start, int kind)
{
    struct jit_frames *f = &s->unwind.jit_frames;

    map_put(&f->by_frame, stacks_frame(s->store.stacks, m->id, addr), f->codes.n);
    *VEC_PUSH(&f->codes) = (struct jit_code){
        .start = start, .size = sizeof method, .module = m->id, .pid = (uint32_t)getpid(), .kind = kind
    };
}

static struct module *start_java(bool with_library)
{
    struct location place;

    if (with_library)
        do_mmap(10, 0x600000, 0x1000, "/usr/lib/jvm/lib/server/libjvm.so", 2);
    do_mmap(10, METHOD & ~UINT64_C(0xfff), 0x2000, "//anon", 0);
    uint32_t thread = world_thread_of(s->store.world, 10, 10, ++now_ns, 0);
    assert_true(world_resolve(s->store.world, thread, METHOD, false, &place));
    struct module *m = world_module(s->store.world, place.module);
    m->live = true;
    return m;
}

/* Two methods, and the outermost function, which is recognized by its name. */
static void make_methods(const struct module *m)
{
    memset(stack, 0, sizeof stack);
    stack[2] = STACK + 64; /* rbp of the first one's caller */
    stack[3] = METHOD + 17;
    stack[6] = STACK + 64;
    stack[7] = JIT + 0x300;
    add_code(m, METHOD + 12, METHOD, JIT_CODE_NONE);
    add_code(m, METHOD + 16, METHOD, JIT_CODE_NONE);
    add_code(m, JIT + 0x2ff, JIT + 0x200, JIT_CODE_INTERPRETER);
}

FIXTURE_TEST(a_java_method_waits_until_its_code_is_read)
{
    char want[128];

    make_methods(start_java(true));
    do_dump(METHOD + 12, 5, sizeof stack, NULL, 0);
    snprintf(want, sizeof want, "jit:%llx cut:%x", (unsigned long long)METHOD + 12, BROKEN_PENDING);
    assert_string_equal(stack_text(), want);
    assert_int_equal(s->unwind.user.aside.n, 1);
    assert_true(jitframe_waits(s));
    jitframe_read(s);
    assert_false(jitframe_waits(s));
    for (int calls = 0; calls < 3 && s->unwind.user.aside.n;
         calls++) { /* each step needs the call that proves it */
        aside_retry(s, false);
        jitframe_read(s);
    }
    assert_int_equal(s->unwind.user.aside.n, 0);
    snprintf(want, sizeof want, "jit:%llx jit:%llx jit:7f00000002ff cut:a", (unsigned long long)METHOD + 12,
             (unsigned long long)METHOD + 16);
    assert_string_equal(stack_text(), want);
}

FIXTURE_TEST(code_not_made_by_hotspot_waits_for_its_rows)
{
    struct module *m = start_java(true);

    memset(stack, 0, sizeof stack);
    add_code(m, JIT + 0x100, 0x10, JIT_CODE_NONE);
    jitframe_read(s);
    assert_false(jitframe_waits(s));
    do_dump(JIT + 0x100, 5, sizeof stack, NULL, 0);
    assert_int_equal(s->unwind.user.aside.n, 1);
    aside_retry(s, true); /* in vain */
    assert_int_equal(s->unwind.user.aside.n, 0);
}

FIXTURE_TEST(jit_code_at_the_leaf_waits_for_its_rows)
{
    struct module *m = start_java(false);
    char want[64];

    add_code(m, JIT + 0x100, METHOD, JIT_CODE_OTHER);
    make_jit_frames(0);
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, NULL, 0);
    snprintf(want, sizeof want, "jit:7f0000000100 cut:%x", BROKEN_PENDING);
    assert_string_equal(stack_text(), want);
    assert_int_equal(s->unwind.user.aside.n, 1);
    aside_retry(s, true);
    assert_string_equal(stack_text(),
                        "jit:7f0000000100 jit:7f00000001ff jit:7f00000002ff cut:3"); /* their names, too */
}

FIXTURE_TEST(code_of_an_ended_process_is_unwound_by_frame_pointers)
{
    struct module *m = start_java(false);

    m->live = false;
    make_jit_frames(0);
    do_dump(JIT + 0x100, STACK + 16, sizeof stack, NULL, 0);
    assert_string_equal(stack_text(), "jit:7f0000000100 jit:7f00000001ff jit:7f00000002ff cut:a");
    assert_int_equal(s->unwind.user.aside.n, 0);
}

FIXTURE_TEST(dropped_code_is_not_read)
{
    make_methods(start_java(true));
    userstack_forget(s);
    assert_false(jitframe_waits(s));
    jitframe_read(s);
    assert_int_equal(s->unwind.jit_frames.n_read, 0);
    do_dump(METHOD + 12, 5, sizeof stack, NULL, 0); /* the name is unknown */
    assert_int_equal(s->unwind.jit_frames.codes.n, 0);
}

TEST_MAIN(NULL, NULL)
