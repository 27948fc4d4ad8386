// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/rate.h"
#include "perf_fixture.h"
#include "unit_test.h"

#define MOMENT_NS (50 * NS_PER_MS)

static struct scope scope;

static int setup(void **state)
{
    scope_init(&scope);
    return 0;
}

static int teardown(void **state)
{
    scope_done(&scope);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static struct event named(const char *name)
{
    struct event ev;
    struct error e = { 0 };
    if (!event_parse(name, &ev, &e))
        fail_msg("%s", e.text);
    return ev;
}

static void skip_if_refused(const struct rate *r)
{
    if (r->counted)
        return;
    assert_int_not_equal(r->why.class, ERROR_NONE);
    if (r->why.class != ERROR_PERMISSION && r->why.class != ERROR_UNSUPPORTED)
        fail_msg("%s", r->why.text);
    print_message("skipped: %s\n", r->why.text);
    skip();
}

/* The clock of a CPU counts all time, however busy the machine is. */
FIXTURE_TEST(a_clock_counts_at_most_the_time_of_all_cpus)
{
    struct event ev = named("cpu-clock");
    struct rate r;
    rate_count(&ev, 1, &scope, MOMENT_NS, NULL, &r);
    skip_if_refused(&r);
    assert_true(r.per_second > 0);
    assert_true(r.per_second <= 1.01 * NS_PER_SEC * (double)sysconf(_SC_NPROCESSORS_CONF));
}

FIXTURE_TEST(several_events_are_counted_and_an_unknown_one_says_why)
{
    struct event events[3] = { named("task-clock"), named("page-faults"), named("context-switches") };
    struct rate r[3];
    events[1].attr.type = 0xfffffff0;
    scope_to_myself(&scope);
    rate_count(events, 3, &scope, MOMENT_NS, NULL, r);
    skip_if_refused(&r[0]);
    assert_true(r[2].counted || r[2].why.class == ERROR_PERMISSION);
    assert_false(r[1].counted);
    assert_string_not_equal(r[1].why.text, "");
}

FIXTURE_TEST(a_stop_ends_counting_early)
{
    struct event ev = named("cpu-clock");
    atomic_bool stop = true;
    struct rate r;
    rate_count(&ev, 1, &scope, 3600 * NS_PER_SEC, &stop, &r);
    assert_false(r.counted);
}

FIXTURE_TEST(an_idle_scope_is_reported)
{
    struct event ev = named("cpu-clock");
    struct rate r;
    static bool none[1];
    scope.cpus = none;
    scope.n_cpus = 1;
    rate_count(&ev, 1, &scope, MOMENT_NS, NULL, &r);
    scope.cpus = NULL;
    assert_false(r.counted);
    assert_non_null(strstr(r.why.text, "CPU"));
}

TEST(the_proposed_period_is_the_smallest_round_one_within_the_budget)
{
    assert_int_equal(rate_period_for(0, rate_budget(CALLCHAIN_NONE, 1, RATE_BUDGET_PERCENT)), 1);
    for (int mode = CALLCHAIN_NONE; mode <= CALLCHAIN_LBR; mode++) {
        double most = NS_PER_SEC * RATE_BUDGET_PERCENT / 100.0 / (double)rate_sample_cost_ns(mode),
               budget = rate_budget(mode, 1, RATE_BUDGET_PERCENT);
        assert_true(0.99 * most <= budget && budget < 1.01 * most);
        assert_true(1.99 * most <= rate_budget(mode, 2, RATE_BUDGET_PERCENT));
        assert_int_equal(rate_period_for(0.99 * most, budget), 1);
        assert_int_equal(rate_period_for(1.9 * most, budget), 2);
        assert_int_equal(rate_period_for(4.9 * most, budget), 5);
        assert_int_equal(rate_period_for(9.9 * most, budget), 10);
        assert_int_equal(rate_period_for(19 * most, budget), 20);
        assert_int_equal(rate_period_for(49000 * most, budget), 50000);
    }
}

/* Of machines with few and many CPUs, from quiet to hopeless: the cost is within the budget, and twice as
 * many stacks would exceed it. */
TEST(stacks_of_waits_fit_the_budget)
{
    for (uint32_t cpus = 1; cpus <= 512; cpus *= 8)
        for (double switches = 10; switches < 1e8; switches *= 1.7) {
            struct rate_waits r = { .switches = 2 * switches, .stacks = { switches, switches } };
            uint32_t n[2], half[2], wide[2], dwarf[2];
            double budget = cpus * RATE_BUDGET_PERCENT / 100;
            rate_waits_fit(&r, CALLCHAIN_FP, cpus, RATE_BUDGET_PERCENT, n);
            rate_waits_fit(&r, CALLCHAIN_FP, cpus, 2 * RATE_BUDGET_PERCENT, wide);
            rate_waits_fit(&r, CALLCHAIN_DWARF, cpus, RATE_BUDGET_PERCENT, dwarf);
            assert_true(n[0] == n[1] && wide[0] <= n[0] && dwarf[0] >= n[0]);
            double both = rate_waits_cost(&r, CALLCHAIN_DWARF, (uint32_t[]){ 1, 1 });
            r.wakers_by_fp = true;
            assert_true(rate_waits_cost(&r, CALLCHAIN_DWARF, (uint32_t[]){ 1, 1 }) < both);
            r.wakers_by_fp = false;
            half[0] = half[1] = n[0] == LIVE_NO_STACKS ? 1000 : n[0] / 2;
            if (n[0] != LIVE_NO_STACKS)
                assert_true(rate_waits_cost(&r, CALLCHAIN_FP, n) <= budget);
            assert_true(n[0] == 1 || rate_waits_cost(&r, CALLCHAIN_FP, half) > budget);
        }
}

/* The wakeups of all threads are seen, although only a few are in the scope. */
TEST(many_wakeups_take_no_stacks_from_few_waits)
{
    struct rate_waits r = { .switches = 400, .stacks = { 200, 500000 } };
    uint32_t n[2];
    rate_waits_fit(&r, CALLCHAIN_FP, 2, RATE_BUDGET_PERCENT, n);
    assert_true(n[0] == 1 && n[1] > 1);
    assert_true(rate_waits_cost(&r, CALLCHAIN_FP, n) <= 2 * RATE_BUDGET_PERCENT / 100);
}

TEST(each_step_takes_fewer_stacks_down_to_none)
{
    uint32_t n = 1, steps = 0;
    for (uint32_t next; n != LIVE_NO_STACKS; n = next, steps++) {
        next = rate_waits_fewer(n);
        assert_true(next > n && (next == LIVE_NO_STACKS || next <= 3 * n));
    }
    assert_in_range(steps, 5, 20);
    assert_true(rate_waits_fewer(LIVE_NO_STACKS) == LIVE_NO_STACKS);
}

TEST_MAIN(NULL, NULL)
