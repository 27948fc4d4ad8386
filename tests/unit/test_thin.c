// SPDX-License-Identifier: GPL-2.0-or-later
/* One stack in N of waits: its periods, and when N changes. */
#include <math.h>

#include "base/clock.h"
#include "perf/open.h"
#include "session/collect/sample_source.h"
#include "unit_test.h"

#define DRAWS 500

TEST(each_wait_or_none)
{
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(thin_period(0, 7, i) == 1 && thin_period(1, 7, i) == 1);
        assert_true(thin_period(LIVE_NO_STACKS, 7, i) > UINT64_C(1) << 60);
        assert_true(thin_period(LIVE_NO_STACKS, 7, i) >> 63 == 0); /* the kernel refuses more */
    }
}

/* A period that shares a divisor with the length of a pattern would sample only a part of the pattern. */
TEST(periods_are_odd_primes_near_the_step)
{
    static const uint32_t steps[] = { 3, 7, 15, 31, 63, 125, 251, 501, 999 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (uint64_t k = 0; k < DRAWS; k++) {
            uint64_t period = thin_period(steps[i], 3, k);
            for (uint64_t d = 2; d * d <= period; d++)
                assert_true(period % d);
            assert_true(period > 2 && 4 * period >= 3 * (uint64_t)steps[i] &&
                        4 * period <= 5 * (uint64_t)steps[i] + 4);
        }
}

TEST(cpus_have_different_periods)
{
    bool differ = false;
    for (uint64_t k = 0; k < 50; k++)
        differ |= thin_period(63, 3, k) != thin_period(63, 3, k + 1);
    assert_true(differ);
}

static uint32_t chosen(double switches, uint32_t one_in, bool lost)
{
    uint32_t out[2];
    struct thin_seen seen = { .rates = { .switches = 2 * switches, .stacks = { switches, switches } },
                              .mode = CALLCHAIN_FP,
                              .n_cpus = 2,
                              .one_in = { one_in, one_in },
                              .budget_percent = 5,
                              .lost = lost };
    thin_choose(&seen, out);
    assert_int_equal(out[0], out[1]);
    return out[0];
}

TEST(fewer_stacks_are_sampled_at_once_and_more_with_a_margin)
{
    assert_int_equal(chosen(100, 0, false), 1);
    uint32_t n = chosen(40000, 1, false);
    assert_true(n > 1 && n < 100);
    assert_true(chosen(1e7, 1, false) == LIVE_NO_STACKS);
    assert_int_equal(chosen(40000, n, false), n);
    assert_int_equal(chosen(39000, n, false), n);
    assert_int_equal(chosen(1000, n, false), 1);
    assert_int_equal(chosen(1000, LIVE_NO_STACKS, false), 1);
}

TEST(lost_records_make_it_one_step_more)
{
    uint32_t n = 1, steps = 0;
    for (uint32_t next; n != LIVE_NO_STACKS; n = next, steps++) {
        next = chosen(100, n, true);
        assert_true(next > n);
    }
    assert_in_range(steps, 5, 20);
    assert_true(chosen(100, LIVE_NO_STACKS, true) == LIVE_NO_STACKS);
}

#define TRUE_HZ 1000 /* switches per second, each a wait of which one in 4 has a stack */

/* Adds `ns` of records to what is counted so far; then the look. */
static struct thin_counts counts_after(const struct thin_counts *last, uint64_t ns, uint64_t lost)
{
    struct thin_counts now = *last;
    double s = (double)ns / NS_PER_SEC;
    now.time_ns += ns;
    now.switches += (uint64_t)(2 * TRUE_HZ * s);
    now.stacks[0] += (uint64_t)(TRUE_HZ / 4 * s);
    now.stacks[1] += (uint64_t)(TRUE_HZ / 4 * s);
    now.lost += lost;
    thin_count_waits(&now, last, (uint32_t[2]){ 4, LIVE_NO_STACKS });
    return now;
}

static void assert_rates(const struct rate_waits *r, double hz)
{
    assert_true(fabs(r->switches - 2 * hz) <= 0.01 * hz);
    assert_true(fabs(r->stacks[0] - hz) <= 0.01 * hz);
    assert_true(fabs(r->stacks[1] - hz) <= 0.01 * hz);
}

TEST(rates_count_the_waits_without_stacks_too)
{
    struct thin_counts none = { .time_ns = 1 }, last = counts_after(&none, 500 * NS_PER_MS, 0),
                       now = counts_after(&last, 500 * NS_PER_MS, 0);
    struct rate_waits r = thin_rates(&none, &last, &now);
    assert_rates(&r, TRUE_HZ);
}

/* The collector was late by 2 s: half of the records of that time were lost. It looked, and the first record
 * of the next 20 ms reported the loss. */
TEST(a_loss_is_not_that_of_the_short_time_before_its_report)
{
    struct thin_counts before = { .time_ns = 1 }, last = counts_after(&before, 2 * NS_PER_SEC, 0), now;
    now = counts_after(&last, 20 * NS_PER_MS, 2 * (2 * TRUE_HZ + TRUE_HZ / 4));
    struct rate_waits r = thin_rates(&before, &last, &now);
    assert_true(r.switches > 1.8 * 2 * TRUE_HZ && r.switches < 2.2 * 2 * TRUE_HZ);
    assert_true(r.stacks[0] > 1.8 * TRUE_HZ && r.stacks[0] < 2.2 * TRUE_HZ);
}

TEST_MAIN(NULL, NULL)
