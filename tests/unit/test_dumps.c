// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack dump size that is requested, and the ladder's fallbacks after refusals. No event is opened. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/open.h"
#include "unit_test.h"

#define MASK UINT64_C(0xff0fff)
#define LINK (UINT64_C(1) << 30)
#define DUMP (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static struct live_config cfg;
static struct plan plan;
static struct error error;

static int setup(void **state)
{
    memset(&cfg, 0, sizeof cfg);
    error_clear(&error);
    scope_init(&cfg.scope);
    if (!scope_set_cpus(&cfg.scope, "0", &error))
        return -1;
    cfg.event = (struct event){ .name = "cpu-clock", .kind = EVENT_SOFTWARE };
    cfg.event.attr.type = PERF_TYPE_SOFTWARE;
    cfg.event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
    cfg.freq_hz = 99;
    cfg.callchain = CALLCHAIN_AUTO;
    cfg.regs_user_mask = MASK;
    return 0;
}

static int teardown(void **state)
{
    plan_done(&plan);
    scope_done(&cfg.scope);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

/* Makes the plan for one CPU, without opening events. */
static void make_plan(void)
{
    plan_done(&plan);
    plan_init(&plan, &cfg);
    dumps_start(&plan);
    assert_int_equal(plan.n_cpus, 1);
    assert_true(plan_make_attr(&plan, &error));
}

static bool refuse_and_replan(enum open_stage stage, int sys)
{
    struct open_failure f = { .stage = stage, .sys = sys };
    return ladder_step(&plan, &f, &error) && plan_make_attr(&plan, &error);
}

static const struct live_note *only_note(void)
{
    plan.n_notes = 0;
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 1);
    return &plan.notes[0];
}

static void assert_no_dumps(void)
{
    assert_int_equal(plan.cfg.callchain, CALLCHAIN_FP);
    assert_int_equal(plan.cfg.stack_bytes, 0);
    assert_int_equal(plan.attrs[0].sample_type & DUMP, 0);
    assert_int_equal(plan.attrs[0].sample_type & PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CALLCHAIN);
    assert_int_equal(plan.attrs[0].sample_regs_user, 0);
    assert_int_equal(plan.attrs[0].sample_stack_user, 0);
}

/* Skips a test whose figures assume 4 KiB pages. */
static void need_small_pages(void)
{
    if (sysconf(_SC_PAGESIZE) == 4096)
        return;
    print_message("skipped: the page size is not 4 KiB\n");
    skip();
}

FIXTURE_TEST(auto_samples_registers_24_kib_of_stack_and_the_callchain)
{
    make_plan();
    assert_int_equal(plan.cfg.callchain, CALLCHAIN_DWARF);
    assert_int_equal(plan.attrs[0].sample_type & (DUMP | PERF_SAMPLE_CALLCHAIN),
                     DUMP | PERF_SAMPLE_CALLCHAIN);
    assert_int_equal(plan.attrs[0].sample_regs_user, MASK);
    assert_int_equal(plan.attrs[0].sample_stack_user, 24 * 1024);
    assert_int_equal(plan.attrs[0].exclude_callchain_user, 0);
    assert_int_equal(plan.attrs[0].exclude_callchain_kernel, 0);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
}

FIXTURE_TEST(link_register_machines_need_no_frame_pointers_with_stack_dumps)
{
    cfg.regs_link_mask = LINK;
    make_plan();
    assert_int_equal(plan.attrs[0].sample_type & DUMP, DUMP);
    assert_int_equal(plan.attrs[0].exclude_callchain_user, 1);
}

FIXTURE_TEST(frame_pointer_mode_samples_the_link_register_where_it_exists)
{
    cfg.callchain = CALLCHAIN_FP;
    cfg.regs_link_mask = LINK;
    make_plan();
    assert_int_equal(plan.attrs[0].sample_type & DUMP, PERF_SAMPLE_REGS_USER);
    assert_int_equal(plan.attrs[0].sample_regs_user, LINK);
    assert_int_equal(plan.attrs[0].sample_stack_user, 0);
    assert_int_equal(plan.attrs[0].exclude_callchain_user, 0);
    assert_true(dumps_step_refused(&plan));
    assert_true(plan_make_attr(&plan, &error));
    assert_no_dumps();
    assert_false(dumps_step_refused(&plan));
    cfg.scope.no_user = true;
    make_plan();
    assert_no_dumps();
}

FIXTURE_TEST(rings_hold_at_least_half_a_second_of_dumps)
{
    static const uint64_t rates[] = { 99, 499, 997, 1999, 4999 };
    static const enum callchain_mode modes[] = { CALLCHAIN_AUTO, CALLCHAIN_DWARF };
    for (size_t i = 0; i < 10; i++) {
        cfg.freq_hz = rates[i / 2];
        cfg.callchain = modes[i % 2];
        make_plan();
        assert_true(plan.ring_bytes >= cfg.freq_hz * plan.cfg.stack_bytes / 2);
        assert_true(plan.ring_bytes >= 512 * 1024);
        assert_int_equal(plan.ring_bytes & (plan.ring_bytes - 1), 0);
        uint32_t left = plan.ring_bytes - plan.attrs[0].wakeup_watermark;
        uint64_t late = cfg.freq_hz * plan.cfg.stack_bytes * 2 / 5; /* 0.4 s of dumps */
        assert_true(left >= (late && late < plan.ring_bytes / 4 * 3 ? late : plan.ring_bytes / 4 * 3));
        assert_true(left <= plan.ring_bytes / 4 * 3);
        if (modes[i % 2] == CALLCHAIN_AUTO)
            assert_true(plan.ring_bytes <= 8 << 20);
    }
    cfg.freq_hz = 99;
    make_plan();
    assert_int_equal(plan.ring_bytes, 4 << 20);
    assert_true(plan.attrs[0].wakeup_watermark >= 99 * 24 * 1024); /* one second of dumps */
    assert_in_range(dumps_bytes_in(&plan, NS_PER_SEC), 99 * 24 * 1024, 3 << 20);
    assert_true(dumps_bytes_in(&plan, 1400 * NS_PER_MS) <= plan.ring_bytes);
    assert_true(dumps_bytes_in(&plan, 2 * NS_PER_SEC) > plan.ring_bytes);
    cfg.callchain = CALLCHAIN_FP;
    make_plan();
    assert_int_equal(plan.ring_bytes, 512 * 1024);
    assert_int_equal(plan.attrs[0].wakeup_watermark, 128 * 1024);
}

/* The rate of a period is known only once it runs: until then the rings hold what the budget allows. */
FIXTURE_TEST(rings_with_a_fixed_period_hold_half_a_second_of_the_budget)
{
    cfg.freq_hz = 0;
    cfg.period = 1;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, 24 * 1024);
    assert_int_equal(plan.ring_bytes, 8 << 20);
    assert_true(dumps_bytes_in(&plan, 1) == UINT64_MAX);
    cfg.seen_hz = 99; /* reopened with the measured rate */
    make_plan();
    assert_int_equal(plan.ring_bytes, 4 << 20);
    cfg.seen_hz = 0; /* when locked memory is short, these rings shrink too */
    make_plan();
    while (plan.ring_bytes > 512 * 1024)
        assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(plan.cfg.stack_bytes, 24 * 1024);
}

/* A storm is noticed, and its dumps are left out, before such rings are full. */
FIXTURE_TEST(rings_hold_the_begin_of_a_storm_of_dumps)
{
    cfg.freq_hz = 0;
    cfg.period = 1;
    cfg.event.of_pair = true;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    assert_int_equal(plan.ring_bytes, 8 << 20); /* the rate was counted before */
    assert_int_equal(plan.attrs[0].wakeup_watermark, 1 << 20);
    cfg.event.of_pair = false;
    cfg.event.attr.type = PERF_TYPE_TRACEPOINT;
    cfg.enable_on_exec = true;
    make_plan();
    assert_in_range(plan.ring_bytes, 8 << 20, 64 << 20);
    assert_int_equal(plan.attrs[0].wakeup_watermark, 1 << 20);
    while (plan.ring_bytes > 512 * 1024) /* when locked memory is short */
        assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    assert_int_equal(plan.attrs[0].wakeup_watermark, 128 * 1024);
    cfg.seen_hz = 100000; /* the storm, reopened */
    make_plan();
    assert_no_dumps();
    assert_int_equal(plan.ring_bytes, 4 << 20);
    cfg.seen_hz = 0;
    cfg.period = 1000; /* chosen for the rate */
    make_plan();
    assert_int_equal(plan.ring_bytes, 8 << 20);
}

FIXTURE_TEST(auto_shrinks_the_stack_size_stepwise_with_the_rate)
{
    static const struct {
        uint64_t rate;
        uint32_t bytes;
        const char *says;
    } rows[] = {
        { 682, 24 * 1024, NULL },
        { 999, 16 * 1024, "999 Hz: stacks of 16 KB at most, full dumps would be 24 MB/s" },
        { 1999, 8 * 1024, "1,999 Hz: stacks of 8 KB at most, full dumps would be 49 MB/s" },
        { 4999, 0, "4,999 Hz: stacks by frame pointers, dumps would be 122 MB/s" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cfg.freq_hz = rows[i].rate;
        make_plan();
        assert_int_equal(plan.cfg.stack_bytes, rows[i].bytes);
        assert_int_equal(plan.attrs[0].sample_stack_user, rows[i].bytes);
        assert_true(rows[i].rate * plan.cfg.stack_bytes <= dumps_budget(1));
        if (!rows[i].bytes)
            assert_no_dumps();
        if (!rows[i].says)
            continue;
        assert_string_equal(only_note()->what, rows[i].says);
        assert_string_equal(only_note()->fix, "m, dwarf to force them; or -F 682 (f)");
    }
}

/* As when many stacks were truncated at 24 KB. */
FIXTURE_TEST(auto_enlarges_dumps_for_deep_stacks_within_the_budget)
{
    static const uint32_t sizes[] = { 32 * 1024, 48 * 1024, LIVE_STACK_BYTES_MAX, 0 };
    for (size_t i = 0; i < 4; i++) {
        make_plan();
        assert_int_equal(dumps_larger(&plan, 0), sizes[i]);
        cfg.stack_bytes = sizes[i];
        if (!sizes[i])
            break;
        make_plan();
        assert_int_equal(plan.attrs[0].sample_stack_user, sizes[i]);
        assert_int_equal(plan.ring_bytes, 4 << 20); /* as with 24 KB dumps */
        dumps_note(&plan);
        assert_int_equal(plan.n_notes, 0);
    }
    cfg.freq_hz = 499;
    make_plan();
    assert_int_equal(dumps_larger(&plan, 0), 32 * 1024);
    cfg.freq_hz = 599;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    assert_int_equal(dumps_larger(&plan, 0), 0);
    assert_int_equal(live_smaller_dumps(LIVE_STACK_BYTES_MAX), 48 * 1024);
    assert_int_equal(live_smaller_dumps(8 * 1024), 0);
}

/* The frequency was raised after the dumps were enlarged. */
FIXTURE_TEST(auto_shrinks_enlarged_dumps_to_24_kib_without_a_note)
{
    cfg.stack_bytes = LIVE_STACK_BYTES_MAX;
    cfg.freq_hz = 300;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, 48 * 1024);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
    cfg.freq_hz = 599;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
    cfg.freq_hz = 999;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, 16 * 1024);
    assert_string_equal(only_note()->what, "999 Hz: stacks of 16 KB at most, full dumps would be 24 MB/s");
    cfg.freq_hz = 99;
    cfg.stack_bytes = 48 * 1024;
    make_plan();
    while (plan.ring_bytes > 512 * 1024)
        assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
}

FIXTURE_TEST(dumps_are_not_enlarged_beyond_what_rings_and_modes_allow)
{
    make_plan();
    while (plan.ring_bytes > 512 * 1024)
        assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(dumps_larger(&plan, 0), 0); /* locked memory is short */
    cfg.callchain = CALLCHAIN_DWARF;
    make_plan();
    assert_int_equal(dumps_larger(&plan, 0), 0);
    cfg.callchain = CALLCHAIN_AUTO;
    cfg.freq_hz = 0;
    cfg.period = 1000;
    make_plan();
    assert_int_equal(dumps_larger(&plan, 99), 32 * 1024);
    assert_int_equal(dumps_larger(&plan, 400), 0);
}

FIXTURE_TEST(a_few_truncated_stacks_do_not_enlarge_dumps)
{
    assert_false(dumps_are_short(0, 0));
    assert_false(dumps_are_short(19, 19));
    assert_true(dumps_are_short(20, 20));
    assert_false(dumps_are_short(1000, 50));
    assert_true(dumps_are_short(1000, 51));
}

FIXTURE_TEST(a_flooding_period_is_detected_by_the_bytes_written)
{
    struct dumps_look last = { 0 }, now = { .time_ns = NS_PER_SEC / 2 };
    make_plan();
    now.bytes = 100 << 20;
    assert_int_equal(dumps_over_budget(&plan, &last, &now), 0); /* the frequency is known */
    cfg.freq_hz = 0;
    cfg.period = 1;
    make_plan();
    assert_in_range(dumps_over_budget(&plan, &last, &now), 2 * (100 << 20) / LIVE_STACK_BYTES,
                    2 * (100 << 20) / LIVE_STACK_BYTES + 1);
    assert_true(last.bytes == now.bytes);
    now.bytes += 1 << 20;
    now.time_ns += NS_PER_SEC;
    assert_int_equal(dumps_over_budget(&plan, &last, &now), 0);
    now.lost += 1000; /* these had dumps too */
    now.time_ns += NS_PER_SEC;
    assert_in_range(dumps_over_budget(&plan, &last, &now), 1000, 1001);
}

FIXTURE_TEST(the_budget_grows_with_the_cpus_up_to_the_system_limit)
{
    assert_int_equal(dumps_budget(2), 2 * dumps_budget(1));
    assert_int_equal(dumps_budget(1000), dumps_budget(100000));
    assert_true(dumps_budget(128) >= (uint64_t)128 * 99 * LIVE_STACK_BYTES); /* the default rate fits */
}

FIXTURE_TEST(the_largest_size_that_fits_a_rate_is_chosen)
{
    assert_int_equal(dumps_fit(2 * 682, 2), LIVE_STACK_BYTES);
    assert_int_equal(dumps_fit(2 * 683, 2), 16 * 1024);
    assert_int_equal(dumps_fit(64 * 2048, 64), 0); /* the limit of a large machine */
}

FIXTURE_TEST(a_burst_before_the_start_does_not_exclude_dumps)
{
    assert_int_equal(dumps_first_hz(2 * 682, 2), 0); /* unknown: full dumps */
    assert_int_equal(dumps_first_hz(2 * 1500, 2), 1500);
    assert_int_equal(dumps_first_hz(2 * 8000, 2), 2048);
    assert_int_equal(dumps_first_hz(2 * 9000, 2), 9000);
    assert_int_equal(dumps_fit(128.0 * (double)dumps_first_hz(128 * 1000, 128), 128), 8 * 1024);
}

FIXTURE_TEST(an_explicit_dwarf_mode_keeps_the_requested_size)
{
    cfg.callchain = CALLCHAIN_DWARF;
    cfg.freq_hz = 4999;
    cfg.stack_bytes = LIVE_STACK_BYTES_MAX;
    make_plan();
    assert_int_equal(plan.attrs[0].sample_stack_user, LIVE_STACK_BYTES_MAX);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
}

FIXTURE_TEST(kernel_only_sampling_has_no_dumps)
{
    static const enum callchain_mode modes[] = { CALLCHAIN_AUTO, CALLCHAIN_DWARF, CALLCHAIN_LBR };
    for (size_t i = 0; i < 6; i++) {
        cfg.callchain = modes[i / 2];
        cfg.scope.no_user = i % 2;
        cfg.event.attr.exclude_user = !(i % 2);
        make_plan();
        assert_no_dumps();
        assert_int_equal(plan.attrs[0].sample_type & PERF_SAMPLE_BRANCH_STACK, 0);
        dumps_note(&plan);
        assert_int_equal(plan.n_notes, 0);
    }
}

FIXTURE_TEST(architectures_without_unwinder_use_frame_pointers)
{
    cfg.regs_user_mask = 0;
    make_plan();
    assert_no_dumps();
    assert_non_null(strstr(only_note()->what, "not sampled on this machine"));
}

FIXTURE_TEST(a_fixed_period_uses_full_dumps_until_its_rate_is_known)
{
    cfg.freq_hz = 0;
    cfg.period = 1;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    cfg.seen_hz = 1500;
    make_plan();
    assert_int_equal(plan.cfg.stack_bytes, 8 * 1024);
    cfg.seen_hz = 1000000;
    make_plan();
    assert_no_dumps();
    assert_non_null(strstr(only_note()->what, "1,000,000 samples/s per CPU: stacks by frame pointers"));
}

FIXTURE_TEST(auto_shrinks_dumps_when_locked_memory_is_short)
{
    uint32_t before = UINT32_MAX;
    need_small_pages();
    make_plan();
    while (refuse_and_replan(OPEN_RING, EPERM)) {
        assert_true(plan.ring_bytes >= 8 * 4096);
        assert_true(plan.cfg.stack_bytes <= before);
        before = plan.cfg.stack_bytes;
        if (before)
            assert_true(plan.ring_bytes >= 99 * before / 5); /* two drains, one of them late */
        assert_int_equal(plan.attrs[0].sample_stack_user, before);
        if (plan.ring_bytes == 512 * 1024)
            assert_int_equal(before, 24 * 1024);
        if (plan.ring_bytes == 256 * 1024)
            assert_int_equal(before, 8 * 1024);
    }
    assert_no_dumps();
    assert_int_equal(error.class, ERROR_LIMIT);
    assert_non_null(strstr(error.text, "RLIMIT_MEMLOCK"));
    assert_string_equal(only_note()->what, "locked memory is short: stacks by frame pointers");
}

FIXTURE_TEST(shrinking_rings_to_a_fifth_of_a_second_adds_no_note)
{
    need_small_pages();
    make_plan();
    assert_true(refuse_and_replan(OPEN_RING, EPERM) && refuse_and_replan(OPEN_RING, EPERM) &&
                refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(plan.ring_bytes, 512 * 1024);
    dumps_note(&plan);
    assert_int_equal(plan.n_notes, 0);
    assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_string_equal(only_note()->what, "locked memory is short: stacks of 8 KB at most instead of 24");
}

FIXTURE_TEST(dwarf_mode_keeps_its_size_while_four_dumps_fit_in_a_ring)
{
    need_small_pages();
    cfg.callchain = CALLCHAIN_DWARF;
    make_plan();
    while (plan.ring_bytes > 128 * 1024) {
        assert_true(refuse_and_replan(OPEN_RING, EPERM));
        assert_int_equal(plan.cfg.stack_bytes, LIVE_STACK_BYTES);
    }
    assert_string_equal(only_note()->what, "locked memory is short: rings of 128 KiB instead of 4096");
    assert_true(refuse_and_replan(OPEN_RING, EPERM));
    assert_int_equal(plan.cfg.stack_bytes, 16 * 1024);
}

FIXTURE_TEST(kernels_without_stack_dumps_fall_back_to_frame_pointers)
{
    make_plan();
    assert_true(refuse_and_replan(OPEN_EVENT, ENOSYS));
    assert_no_dumps();
    assert_non_null(strstr(only_note()->what, "stacks by frame pointers"));
    assert_false(refuse_and_replan(OPEN_EVENT, ENOSYS));
}

/* An older kernel lacks newer features before it lacks dumps, and a hardware event may be at fault itself. */
FIXTURE_TEST(newer_kernel_features_are_dropped_before_stack_dumps)
{
    int steps = 0;
    cfg.event = (struct event){ .name = "cycles", .kind = EVENT_HARDWARE };
    cfg.event.attr.type = PERF_TYPE_HARDWARE;
    make_plan();
    while (plan.attrs[0].type == PERF_TYPE_HARDWARE && dumps_run(&plan)) {
        assert_true(refuse_and_replan(OPEN_EVENT, EINVAL));
        steps++;
    }
    assert_true(steps > 5);
    assert_no_dumps();
    assert_true(refuse_and_replan(OPEN_EVENT, EINVAL));
    assert_int_equal(plan.attrs[0].type, PERF_TYPE_SOFTWARE);
    assert_true(dumps_run(&plan));
    assert_int_equal(plan.attrs[0].sample_stack_user, LIVE_STACK_BYTES);
}

FIXTURE_TEST(branch_records_cover_user_space_calls)
{
    cfg.callchain = CALLCHAIN_LBR;
    make_plan();
    assert_int_equal(plan.attrs[0].sample_type & (DUMP | PERF_SAMPLE_BRANCH_STACK), PERF_SAMPLE_BRANCH_STACK);
    assert_int_equal(plan.attrs[0].branch_sample_type &
                         (PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER),
                     PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
    assert_int_equal(plan.attrs[0].exclude_callchain_user, 1);
}

FIXTURE_TEST(branch_records_never_replace_cycles_by_cpu_clock)
{
    static const int answers[] = { ENOENT, EOPNOTSUPP, ENODEV };
    cfg.callchain = CALLCHAIN_LBR;
    cfg.event = (struct event){ .name = "cycles", .kind = EVENT_HARDWARE };
    cfg.event.attr.type = PERF_TYPE_HARDWARE;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        make_plan();
        assert_false(refuse_and_replan(OPEN_EVENT, answers[i]));
        assert_int_equal(plan.attrs[0].type, PERF_TYPE_HARDWARE);
        assert_int_equal(error.class, ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "cycles: stacks from the CPU's branch records"));
    }
}

FIXTURE_TEST(frame_pointer_mode_and_none_use_no_dumps)
{
    cfg.callchain = CALLCHAIN_FP;
    make_plan();
    assert_no_dumps();
    assert_int_equal(plan.attrs[0].exclude_callchain_user, 0);
    cfg.callchain = CALLCHAIN_NONE;
    make_plan();
    assert_int_equal(plan.attrs[0].sample_type & (DUMP | PERF_SAMPLE_CALLCHAIN), 0);
}

/* The source before is closed first only if there was no memory for both. */
FIXTURE_TEST(rings_that_need_less_are_not_short)
{
    struct plan large = { .ring_bytes = 8 << 20, .ring_bytes_asked = 8 << 20 },
                small = { .ring_bytes = 1 << 20, .ring_bytes_asked = 1 << 20 },
                cut = { .ring_bytes = 1 << 20, .ring_bytes_asked = 4 << 20 };
    assert_false(dumps_rings_are_short(&small, &large)); /* frame pointers after stack dumps */
    assert_true(dumps_rings_are_short(&cut, &large));
    assert_false(dumps_rings_are_short(&cut, &small)); /* no smaller than before */
}

TEST_MAIN(NULL, NULL)
