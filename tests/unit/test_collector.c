// SPDX-License-Identifier: GPL-2.0-or-later
/* Turning a record into a sample: its thread, stack and time. */
#include "collector_fixture.h"
#include "session/collect/offcpu_parts.h"

#define KERNEL UINT64_C(0xffffffff81000000)

static void feed_record(const struct record *r)
{
    collector_record(s, r);
}

static int start(void **state)
{
    set_up(state);
    do_comm(10, "busy", true);
    do_mmap(10, TEXT, 0x10000, "/usr/bin/busy", 1);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, start, tear_down)

static struct sample last;

static void keep_last(void *ctx, struct sample *samples, size_t n)
{
    (void)ctx;
    last = samples[n - 1];
}

static void do_sample(struct record *r, const uint64_t *chain, uint32_t n)
{
    r->sample.chain = chain;
    r->sample.chain_n = n;
    r->sample.period = 7;
    feed_record(r);
    history_scan(s->store.history, 0, 0, keep_last, NULL);
}

/* Returns the last sample's frames as module:offset, leaf first: "3:ffffffff81000000 …". */
static const char *stack_text(void)
{
    static char text[1024];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t node = last.stack; node; node = stacks_parents(s->store.stacks)[node]) {
        uint32_t frame = stacks_frames(s->store.stacks)[node];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u:%llx", n ? " " : "",
                              stacks_frame_modules(s->store.stacks)[frame],
                              (unsigned long long)stacks_frame_offsets(s->store.stacks)[frame]);
    }
    return text;
}

FIXTURE_TEST(callers_are_resolved_one_byte_before_the_return_address)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    r.misc = PERF_RECORD_MISC_KERNEL;
    do_sample(&r,
              (const uint64_t[]){ PERF_CONTEXT_KERNEL, KERNEL + 0x10, KERNEL + 0x20, PERF_CONTEXT_USER,
                                  TEXT + 0x10, TEXT + 0x20 },
              6);
    assert_string_equal(stack_text(), "3:ffffffff81000010 3:ffffffff8100001f 16:10 16:1f");
    assert_int_equal(last.flags, SAMPLE_KERNEL);
    assert_int_equal(last.weight, 7);
}

FIXTURE_TEST(without_a_callchain_the_ip_is_the_stack)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    r.sample.ip = TEXT + 0x44;
    do_sample(&r, NULL, 0);
    assert_string_equal(stack_text(), "16:44");
    assert_int_equal(last.flags, SAMPLE_USER);
}

FIXTURE_TEST(branch_records_of_calls_replace_the_user_callers)
{
    const struct perf_branch_entry calls[] = { { .from = TEXT + 0x20, .to = TEXT + 0x10 },
                                               { .from = TEXT + 0x30, .to = TEXT + 0x18 } };
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x10, PERF_CONTEXT_USER, TEXT + 0x14, 0x1234 };
    r.misc = PERF_RECORD_MISC_KERNEL;
    r.sample.branch = calls;
    r.sample.branch_n = 2;
    s->store.events[0].attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
    do_sample(&r, chain, 5);
    assert_string_equal(stack_text(), "3:ffffffff81000010 16:14 16:20 16:30");
    /* branch records that are not a call stack are ignored */
    s->store.events[0].attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER;
    do_sample(&r, chain, 4);
    assert_string_equal(stack_text(), "3:ffffffff81000010 16:14 2:9");
}

FIXTURE_TEST(callchains_are_truncated_at_addresses_without_code)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, 0x1234, TEXT + 0x20 }, 4);
    assert_string_equal(stack_text(), "16:10 2:0");
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

/* In user space, only the first function of a thread has no caller. */
FIXTURE_TEST(a_callchain_with_only_a_leaf_counts_as_truncated)
{
    static const uint64_t in_kernel[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x10, KERNEL + 0x21,
                                          PERF_CONTEXT_USER, TEXT + 0x14 };
    const uint64_t *in_user = in_kernel + 3;
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, in_user, 2);
    assert_string_equal(stack_text(), "16:14 2:9");
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
    r.misc = PERF_RECORD_MISC_KERNEL;
    do_sample(&r, in_kernel, 5);
    assert_string_equal(stack_text(), "3:ffffffff81000010 3:ffffffff81000020 16:14 2:9");
    assert_int_equal(last.flags, SAMPLE_KERNEL | SAMPLE_BROKEN);
    do_sample(&r, in_kernel, 3); /* a kernel thread */
    assert_string_equal(stack_text(), "3:ffffffff81000010 3:ffffffff81000020");
    assert_int_equal(last.flags, SAMPLE_KERNEL);
    do_sample(&r,
              (const uint64_t[]){ PERF_CONTEXT_KERNEL, KERNEL + 0x10, KERNEL + 0x21, PERF_CONTEXT_USER,
                                  TEXT + 0x14, BROKEN_NO_POINTER },
              6); /* garbage that looks like the reason */
    assert_string_equal(stack_text(), "3:ffffffff81000010 3:ffffffff81000020 16:14 2:0");
    s->cfg.whole_chains = true;
    do_sample(&r, in_kernel, 5);
    assert_string_equal(stack_text(), "3:ffffffff81000010 3:ffffffff81000020 16:14");
}

FIXTURE_TEST(single_frame_callchains_in_own_recordings_count_as_complete)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    s->load.cuts = true;
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x14 }, 2);
    assert_string_equal(stack_text(), "16:14");
    assert_int_equal(last.flags, SAMPLE_USER);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x14, BROKEN_NO_POINTER }, 3);
    assert_string_equal(stack_text(), "16:14 2:9");
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

FIXTURE_TEST(unknown_context_markers_truncate_the_callchain)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, (uint64_t)-100, TEXT + 0x20 }, 4);
    assert_string_equal(stack_text(), "16:10 2:0");
    assert_int_equal(last.flags, SAMPLE_USER | SAMPLE_BROKEN);
}

FIXTURE_TEST(whole_chains_keep_addresses_without_code)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    s->cfg.whole_chains = true;
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, 0x1234, TEXT + 0x20 }, 4);
    assert_string_equal(stack_text(), "16:10 1:1233 16:1f");
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, 0x5000, 0x6000 }, 3);
    assert_string_equal(stack_text(), "1:5000 1:5fff");
}

FIXTURE_TEST(a_leaf_without_a_mapping_is_unknown_and_not_broken)
{
    struct record r = record(PERF_RECORD_SAMPLE, 77);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, 0x5000, 0x6000 }, 3);
    assert_string_equal(stack_text(), "1:5000");
    assert_int_equal(last.flags, SAMPLE_USER);
}

/* The kernel reports the exec, then the new program's mappings; only then does the thread enter the new
 * program. */
FIXTURE_TEST(kernel_samples_during_exec_keep_the_old_user_frames)
{
    struct world_address addr;
    do_comm(10, "next", true);
    do_mmap(10, TEXT + 0x100000, 0x10000, "/usr/bin/next", 2);
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    const uint64_t on_its_way[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x10, PERF_CONTEXT_USER, TEXT + 0x14 };
    r.misc = PERF_RECORD_MISC_KERNEL;
    do_sample(&r, on_its_way, 4);
    assert_string_equal(stack_text(), "3:ffffffff81000010 16:14");
    const struct world_thread *t = world_thread(s->store.world, last.thread);
    assert_string_equal(t->comm, "next");
    /* the address can still be exported */
    assert_true(world_address(s->store.world, t->image, 16, 0x14, UINT64_MAX, &addr));
    assert_int_equal(addr.address, TEXT + 0x14);
    r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x100010 }, 2);
    assert_string_equal(stack_text(), "17:10 2:9");
    /* from now on the new program enters the kernel */
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_KERNEL, KERNEL + 0x10, PERF_CONTEXT_USER, TEXT + 0x18 },
              4);
    assert_string_equal(stack_text(), "3:ffffffff81000010 1:400018");
}

FIXTURE_TEST(perf_rules_resolve_callers_at_the_return_address)
{
    s->cfg.whole_chains = s->cfg.as_perf = true;
    world_set_as_perf(s->store.world);
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, 0x1234, TEXT + 0x20 }, 4);
    assert_string_equal(stack_text(), "16:10 1:1234 16:20");
    /* an unknown context marker drops the whole stack */
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, (uint64_t)-100, TEXT + 0x20 }, 4);
    assert_string_equal(stack_text(), "");
    /* and so does a context without addresses */
    s->store.events[0].attr.sample_type = PERF_SAMPLE_CALLCHAIN;
    r.sample.ip = TEXT + 0x10;
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER }, 1);
    assert_string_equal(stack_text(), "");
    /* mappings survive an exec */
    do_comm(10, "next", true);
    do_mmap(10, TEXT + 0x100000, 0x10000, "/usr/bin/next", 2);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x100010, TEXT + 0x20 }, 3);
    assert_string_equal(stack_text(), "17:10 16:20");
    /* if the program is mapped twice, the newer mapping applies */
    do_mmap(10, TEXT - 0x100000, 0x10000, "/usr/bin/busy", 1);
    struct world_address addr;
    assert_true(world_address(s->store.world, world_thread(s->store.world, last.thread)->image, 16, 0x20,
                              UINT64_MAX, &addr));
    assert_int_equal(addr.address, TEXT - 0x100000 + 0x20);
}

/* Two processes whose image numbers and caller addresses differ in the same bits. */
FIXTURE_TEST(callers_of_two_processes_are_not_confused)
{
    s->cfg.whole_chains = true;
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, 0x1235 }, 3);
    const uint32_t image = world_thread(s->store.world, last.thread)->image;
    const uint64_t owner = (uint64_t)image << 32 | world_image_version(s->store.world, image);
    do_comm(11, "other", true);
    do_mmap(11, TEXT, 0x10000, "/usr/bin/busy", 1);
    r = record(PERF_RECORD_SAMPLE, 11);
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10 }, 2);
    const uint32_t second = world_thread(s->store.world, last.thread)->image;
    const uint64_t differ = owner ^ ((uint64_t)second << 32 | world_image_version(s->store.world, second));
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, 0x1235 ^ differ }, 3);
    uint32_t caller = stacks_frames(s->store.stacks)[stacks_parents(s->store.stacks)[last.stack]];
    assert_int_equal(stacks_frame_offsets(s->store.stacks)[caller], (0x1235 ^ differ) - 1);
}

/* A second marker of the same context precedes the address a signal interrupted, which is not a return
 * address. */
FIXTURE_TEST(the_address_after_each_context_marker_is_exact)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r,
              (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, TEXT + 0x20, PERF_CONTEXT_USER, TEXT + 0x30,
                                  TEXT + 0x40 },
              6);
    static const uint64_t offsets[] = { 0x10, 0x1f, 0x30, 0x3f };
    uint32_t node = last.stack;
    for (unsigned i = 0; i < 4; i++, node = stacks_parents(s->store.stacks)[node]) {
        uint32_t frame = stacks_frames(s->store.stacks)[node];
        assert_int_equal(stacks_frame_offsets(s->store.stacks)[frame], offsets[i]);
        assert_int_equal(stacks_frame_interrupts(s->store.stacks)[frame], i == 2);
    }
    assert_int_equal(node, 0);
}

/* Uses far more paths than the cache keeps. */
FIXTURE_TEST(paths_evicted_from_the_path_cache_keep_their_stacks)
{
    enum { N = 200 };
    uint32_t *stacks = mem_array((size_t)N * N, sizeof *stacks);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N * N; i++) {
            uint64_t caller = TEXT + 0x1001 + i % N * 8, root = TEXT + 0x4001 + i / N * 8;
            struct record r = record(PERF_RECORD_SAMPLE, 10);
            do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_USER, TEXT + 0x10, caller, root }, 4);
            uint32_t parent = stacks_parents(s->store.stacks)[last.stack],
                     frame = stacks_frames(s->store.stacks)[parent];
            assert_int_equal(stacks_frame_offsets(s->store.stacks)[frame], caller - TEXT - 1);
            frame = stacks_frames(s->store.stacks)[stacks_parents(s->store.stacks)[parent]];
            assert_int_equal(stacks_frame_offsets(s->store.stacks)[frame], root - TEXT - 1);
            assert_true(!round || stacks[i] == last.stack);
            stacks[i] = last.stack;
        }
    assert_int_equal(stacks_node_count(s->store.stacks), 1 + N + 2 * N * N);
    mem_free(stacks);
}

FIXTURE_TEST(samples_of_a_task_without_a_pid_are_kept)
{
    struct record r = record(PERF_RECORD_SAMPLE, UINT32_MAX);
    r.misc = PERF_RECORD_MISC_KERNEL;
    r.sample.ip = KERNEL;
    do_sample(&r, NULL, 0);
    assert_string_equal(stack_text(), "3:ffffffff81000000");
    assert_string_equal(world_thread(s->store.world, last.thread)->comm, ":-1");
}

FIXTURE_TEST(the_idle_task_is_marked)
{
    struct record r = record(PERF_RECORD_SAMPLE, 0);
    r.misc = PERF_RECORD_MISC_KERNEL;
    r.sample.ip = KERNEL;
    do_sample(&r, NULL, 0);
    assert_int_equal(last.flags, SAMPLE_KERNEL | SAMPLE_IDLE);
}

FIXTURE_TEST(a_guest_sample_has_only_its_address)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    r.misc = PERF_RECORD_MISC_GUEST_KERNEL;
    r.sample.ip = KERNEL;
    do_sample(&r, (const uint64_t[]){ PERF_CONTEXT_GUEST, KERNEL, KERNEL }, 3);
    assert_string_equal(stack_text(), "4:ffffffff81000000");
    assert_int_equal(last.flags, SAMPLE_GUEST);
}

FIXTURE_TEST(a_new_mapping_changes_how_addresses_resolve)
{
    static const uint64_t chain[] = { PERF_CONTEXT_USER, TEXT + 0x10, TEXT + 0x2001 };
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, chain, 3);
    assert_string_equal(stack_text(), "16:10 16:2000");
    do_mmap(10, TEXT, 0x1000, "/usr/lib/other.so", 2);
    r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, chain, 3);
    assert_string_equal(stack_text(), "17:10 16:2000");
}

FIXTURE_TEST(a_new_kernel_module_changes_how_addresses_resolve)
{
    static const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL + 0x40000010 };
    struct record r = record(PERF_RECORD_SAMPLE, 10), map = record(PERF_RECORD_MMAP, UINT32_MAX);
    r.misc = PERF_RECORD_MISC_KERNEL;
    do_sample(&r, chain, 2);
    assert_string_equal(stack_text(), "3:ffffffffc1000010");
    map.misc = PERF_RECORD_MISC_KERNEL;
    map.mmap.pid = map.mmap.tid = UINT32_MAX;
    map.mmap.addr = KERNEL + 0x40000000;
    map.mmap.len = 0x1000;
    map.mmap.prot = PROT_EXEC;
    map.mmap.path = "[xfs]";
    feed_record(&map);
    do_sample(&r, chain, 2);
    assert_string_equal(stack_text(), "17:ffffffffc1000010");
}

/* The callchain is longer than any kernel records: a file may contain anything. */
FIXTURE_TEST(endless_callchains_are_truncated)
{
    static uint64_t chain[8000];
    for (size_t i = 0; i < 8000; i++)
        chain[i] = TEXT + i % 256;
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    do_sample(&r, chain, 8000);
    uint32_t depth = 0;
    for (uint32_t node = last.stack; node; node = stacks_parents(s->store.stacks)[node])
        depth++;
    assert_true(depth >= 127 && depth <= 1024);
}

FIXTURE_TEST(samples_without_timestamps_keep_their_order)
{
    s->load.file = (struct perfdata *)s; /* only NULL or not matters here */
    for (int i = 0; i < 3; i++) {
        struct record r = record(PERF_RECORD_SAMPLE, 10);
        r.id.time_ns = 0;
        r.sample.ip = TEXT;
        do_sample(&r, NULL, 0);
        assert_int_equal(last.time_ns, i + 1);
    }
    s->load.file = NULL;
    assert_int_equal(s->load.first_ns, 1);
    assert_int_equal(s->load.last_ns, 3);
}

FIXTURE_TEST(freezing_at_the_first_samples_keeps_them)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    uint64_t chain = TEXT + 0x10;
    do_sample(&r, &chain, 1);
    s->store.drained_ns = r.id.time_ns - 1;
    session_freeze(s, true);
    assert_int_equal(s->store.frozen_ns, r.id.time_ns);
    s->store.drained_ns = r.id.time_ns + 5;
    session_freeze(s, true);
    assert_int_equal(s->store.frozen_ns, r.id.time_ns + 5);
}

FIXTURE_TEST(samples_in_flight_during_a_clear_are_not_counted)
{
    struct record r = record(PERF_RECORD_SAMPLE, 10);
    uint64_t chain = TEXT + 0x10;
    do_sample(&r, &chain, 1);
    session_clear(s);
    assert_int_equal(s->store.samples - s->store.forgotten, 0);
    r.id.time_ns = s->store.clear_ns - 1;
    do_sample(&r, &chain, 1);
    assert_int_equal(s->store.samples - s->store.forgotten, 0);
    r.id.time_ns = s->store.clear_ns;
    do_sample(&r, &chain, 1);
    assert_int_equal(s->store.samples - s->store.forgotten, 1);
}

/* The frame right above a wait that a thread of pid 10 ended. */
static void assert_waker(const char *name, uint32_t stack)
{
    struct offcpu_waker waker = { true, WAKER_UNKNOWN, world_thread_of(s->store.world, 10, 10, ++now_ns, 0),
                                  stack };
    enum waker kind;
    uint32_t node = wakers_stack(s, &waker, 0, &kind);
    while (stacks_parents(s->store.stacks)[node])
        node = stacks_parents(s->store.stacks)[node];
    uint32_t frame = stacks_frames(s->store.stacks)[node];
    assert_int_equal(stacks_frame_modules(s->store.stacks)[frame], MODULE_ID_WAIT);
    assert_int_equal(stacks_frame_offsets(s->store.stacks)[frame],
                     symbolizer_script(s->store.symbolizer, name));
}

FIXTURE_TEST(a_waker_is_not_named_while_it_may_be_an_interrupt)
{
    uint32_t frame = stacks_frame(s->store.stacks, MODULE_ID_KERNEL, KERNEL);
    struct error e;
    /* without its thread, no name is ever known */
    s->store.symbolizer = symbolizer_new(&(struct symbolizer_config){ .live = true }, &e);
    assert_non_null(s->store.symbolizer);
    assert_waker("[woken]", stacks_child(s->store.stacks, 0, frame));
    assert_waker("[woken by busy]", 0); /* a stack without kernel functions has no interrupt */
    symbolizer_free(s->store.symbolizer);
    map_done(&s->collect.offcpu.interrupts);
}

/* As when the budget changes how stacks are copied, while the kernel's names are still being read. */
FIXTURE_TEST(parts_wait_for_their_reasons_across_sources)
{
    struct session_offcpu *o = &s->collect.offcpu;
    struct error e;
    uint32_t frame = stacks_frame(s->store.stacks, MODULE_ID_KERNEL, KERNEL);
    struct waits_part part = { .from_ns = 1,
                               .to_ns = 2,
                               .pid = 10,
                               .tid = 10,
                               .state = THREAD_SLEEPING,
                               .stack = stacks_child(s->store.stacks, 0, frame) };
    s->store.symbolizer = symbolizer_new(&(struct symbolizer_config){ .live = true }, &e);
    s->store.events[0].event.off_cpu = true;
    o->runs = true;
    offcpu_on_part(s, &part);
    assert_int_equal(o->parts.n, 1);
    offcpu_adopt(s);
    assert_int_equal(o->parts.n, 1);
    s->store.events[0].event.off_cpu = false; /* another event */
    offcpu_adopt(s);
    assert_int_equal(o->parts.n, 0);
    symbolizer_free(s->store.symbolizer);
    offcpu_done(s);
}

/* A thread leaves its CPU for the last time after its EXIT record. */
FIXTURE_TEST(threads_that_have_ended_do_not_wait)
{
    struct session_offcpu *o = &s->collect.offcpu;
    offcpu_restart(s);
    o->runs = true;
    for (uint32_t pid = 100; pid < 200; pid++) {
        struct record in = record(PERF_RECORD_SWITCH_CPU_WIDE, pid);
        do_fork(pid, 1);
        feed_record(&in);
        struct record ended = record(PERF_RECORD_EXIT, pid);
        ended.task.pid = ended.task.tid = pid;
        ended.task.time_ns = ended.id.time_ns;
        feed_record(&ended);
        struct record out = record(PERF_RECORD_SWITCH_CPU_WIDE, pid);
        out.misc |= PERF_RECORD_MISC_SWITCH_OUT;
        feed_record(&out);
        out.id.pid = out.id.tid = UINT32_MAX; /* its parent has waited for it already */
        feed_record(&out);
    }
    assert_int_equal(o->waits.threads.n, 0);
    offcpu_done(s);
}

/* As when flametop is late: when it applies what it read from /proc, there are later records. */
FIXTURE_TEST(waits_that_proc_told_are_applied_in_the_order_of_time)
{
    struct session_offcpu *o = &s->collect.offcpu;
    offcpu_restart(s);
    o->runs = true;
    for (uint32_t pid = 100; pid < 103; pid++) {
        struct offcpu_found sleeps = { { pid, pid, 0, ++now_ns }, THREAD_SLEEPING, WAIT_UNKNOWN };
        *VEC_PUSH(&o->found) = sleeps;
    }
    struct record in = record(PERF_RECORD_SWITCH_CPU_WIDE, 100);
    feed_record(&in);
    struct record ended = record(PERF_RECORD_EXIT, 101);
    ended.task.pid = ended.task.tid = 101;
    ended.task.time_ns = ended.id.time_ns;
    feed_record(&ended);
    offcpu_apply_found(s, now_ns);
    assert_false(waits_may_wake(&o->waits, 100)); /* it runs */
    assert_false(waits_may_wake(&o->waits, 101)); /* it has ended */
    assert_true(waits_may_wake(&o->waits, 102));
    assert_int_equal(o->waits.threads.n, 2);
    assert_int_equal(o->found.n, 0);
    offcpu_done(s);
}

TEST_MAIN(NULL, NULL)
