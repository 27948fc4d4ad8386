// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "base/clock.h"
#include "unit_test.h"

TEST(now_returns_the_monotonic_clock)
{
    struct timespec before, after;
    uint64_t now;

    clock_gettime(CLOCK_MONOTONIC, &before);
    now = clock_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= (uint64_t)before.tv_sec * NS_PER_SEC + (uint64_t)before.tv_nsec);
    assert_true(now <= (uint64_t)after.tv_sec * NS_PER_SEC + (uint64_t)after.tv_nsec);
}

TEST(work_uses_cpu_time)
{
    uint64_t start = clock_self_cpu_ns(), deadline = clock_now_ns() + 60 * NS_PER_SEC;

    while (clock_self_cpu_ns() < start + NS_PER_MS)
        assert_true(clock_now_ns() < deadline);
}

TEST(sleep_uses_no_cpu_time)
{
    struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
    uint64_t cpu = clock_self_cpu_ns(), wall = clock_now_ns();

    nanosleep(&pause, NULL);
    assert_true(clock_now_ns() - wall >= 50 * NS_PER_MS);
    assert_true(clock_self_cpu_ns() - cpu < 50 * NS_PER_MS);
}

TEST_MAIN(NULL, NULL)
