// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/perf_event.h>

#include "base/clock.h"
#include "perf/open.h"
#include "unit_test.h"

#define DRAWS 20000

TEST(shares_are_bounded_and_cancel_in_pairs)
{
    double sum = 0, low = 1, high = 0;
    unsigned positive_first = 0;
    for (uint64_t i = 0; i < DRAWS; i += 2) {
        double a = vary_share(7, i), b = vary_share(7, i + 1), size = a < 0 ? -a : a;
        assert_true(a + b == 0);
        low = size < low ? size : low;
        high = size > high ? size : high;
        sum += size;
        positive_first += a > 0;
    }
    assert_true(low >= 0.02 && low < 0.021 && high <= 0.06 && high > 0.059);
    assert_true(sum / (DRAWS / 2) > 0.039 && sum / (DRAWS / 2) < 0.041);
    assert_in_range(positive_first, DRAWS / 4 - 500, DRAWS / 4 + 500);
    assert_true(vary_share(7, 0) != vary_share(8, 0));
}

/* Each period is kept for a second; the kernel drops the part after the last sample. */
TEST(cpus_are_sampled_at_the_frequency)
{
    static const uint64_t rates[] = { 50, 99, 997, 4999 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        uint64_t samples = 0, wanted = rates[i] * DRAWS;
        for (uint64_t k = 0; k < DRAWS; k++)
            samples += NS_PER_SEC / vary_cpu_period(rates[i], NS_PER_SEC, 3, k);
        assert_in_range(samples, wanted - wanted / 500, wanted + wanted / 500);
    }
}

TEST(tasks_have_periods_around_the_frequency)
{
    for (uint64_t k = 0; k < 100; k++) {
        double share = 1e7 / (double)vary_task_period(100, 5, k) - 1;
        assert_true((share > 0.0199 && share < 0.0601) || (share < -0.0199 && share > -0.0601));
    }
}

static struct plan plan_of(uint32_t type, uint64_t config, uint64_t freq_hz, uint64_t period)
{
    struct plan p = { .cfg = { .freq_hz = freq_hz, .period = period }, .limit_hz = 50000 };
    p.cfg.event.attr.type = type;
    p.cfg.event.attr.config = config;
    return p;
}

TEST(only_clocks_with_a_frequency_are_varied)
{
    struct plan clock = plan_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 99, 0);
    struct plan task = plan_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 99, 0);
    struct plan exact = plan_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 1000000);
    struct plan cycles = plan_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 99, 0);
    struct plan faults = plan_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 99, 0);
    struct plan fast = plan_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 49000, 0);
    assert_true(vary_may(&clock, 0) && vary_may(&task, 0));
    assert_false(vary_may(&exact, 0)); /* the user chose it */
    assert_false(vary_may(&cycles, 0) || vary_may(&faults, 0));
    assert_false(vary_may(&fast, 0)); /* the kernel would throttle it */
}

TEST_MAIN(NULL, NULL)
