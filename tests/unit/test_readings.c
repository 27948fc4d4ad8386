// SPDX-License-Identifier: GPL-2.0-or-later
/* Made samples: the counts between them, by counter and by task. */

#include <string.h>

#include "perf/readings.h"
#include "unit_test.h"

#define GROUP (PERF_FORMAT_GROUP | PERF_FORMAT_ID)
#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct readings readings;
static struct record_layout layout;
static struct handed {
    uint64_t id, period;
    uint32_t member;
    bool again, partly;
} handed[8];
static uint32_t n_handed;

static int setup(void **state)
{
    layout = (struct record_layout){ .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
                                     .read_format = GROUP,
                                     .scales = true };
    return 0;
}

static int teardown(void **state)
{
    readings_done(&readings);
    readings = (struct readings){ 0 };
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static bool keep_member(void *ctx, struct record *one, uint32_t member)
{
    (void)ctx;
    assert_true(n_handed < 8);
    handed[n_handed++] = (struct handed){ one->id.id, one->sample.period, member, one->again, one->partly };
    return true;
}

static uint32_t take_reading(uint32_t tid, const uint64_t *words, size_t n)
{
    struct record r = { .type = PERF_RECORD_SAMPLE, .id.tid = tid };
    r.sample.read = words;
    r.sample.read_size = (uint32_t)(n * sizeof *words);
    assert_true(readings_in(&r, &layout));
    n_handed = 0;
    assert_true(readings_each(&readings, &r, &layout, keep_member, NULL));
    return n_handed;
}
#define TAKE(tid, ...)                                                                                       \
    take_reading(tid, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

FIXTURE_TEST(each_member_gets_its_count_since_the_previous_sample)
{
    assert_int_equal(TAKE(1, 2, 1000, 7, 50, 8), 2);
    assert_int_equal(handed[0].period, 1000);
    assert_int_equal(handed[0].id, 7);
    assert_int_equal(handed[0].member, 0);
    assert_false(handed[0].again);
    assert_int_equal(handed[1].period, 50);
    assert_int_equal(handed[1].member, 1);
    assert_true(handed[1].again);
    assert_int_equal(TAKE(1, 2, 1800, 7, 52, 8), 2);
    assert_int_equal(handed[0].period, 800);
    assert_int_equal(handed[1].period, 2);
}

FIXTURE_TEST(counters_of_each_cpu_are_kept_apart)
{
    TAKE(1, 2, 1000, 7, 50, 8);
    assert_int_equal(TAKE(1, 2, 300, 17, 5, 18), 2);
    assert_int_equal(handed[0].period, 300);
    assert_int_equal(handed[1].period, 5);
}

FIXTURE_TEST(unchanged_counters_are_left_out)
{
    TAKE(1, 3, 1000, 7, 50, 8, 4, 9);
    assert_int_equal(TAKE(1, 3, 2000, 7, 50, 8, 5, 9), 2);
    assert_int_equal(handed[1].id, 9);
    assert_int_equal(handed[1].member, 2);
    assert_int_equal(TAKE(1, 3, 2000, 7, 51, 8, 5, 9), 1);
    assert_int_equal(handed[0].id, 8);
    assert_false(handed[0].again);
}

/* PERF_SAMPLE_READ of inherited events: the id is the parent's, the value the task's own. */
FIXTURE_TEST(inherited_counters_count_by_task)
{
    layout.per_task = true;
    TAKE(100, 2, 1000, 7, 50, 8);
    assert_int_equal(TAKE(101, 2, 400, 7, 20, 8), 2);
    assert_int_equal(handed[0].period, 400);
    assert_int_equal(TAKE(100, 2, 1100, 7, 55, 8), 2);
    assert_int_equal(handed[0].period, 100);
    assert_int_equal(handed[1].period, 5);
}

FIXTURE_TEST(a_counter_that_decreased_was_reset)
{
    TAKE(1, 2, 1000, 7, 50, 8);
    TAKE(1, 2, 30, 7, 60, 8);
    assert_int_equal(handed[0].period, 30);
    assert_int_equal(handed[1].period, 10);
}

FIXTURE_TEST(a_group_that_was_multiplexed_is_marked)
{
    layout.read_format = GROUP | TIMES;
    TAKE(1, 2, 1000, 1000, 500, 7, 50, 8);
    assert_false(handed[0].partly);
    TAKE(1, 2, 2000, 1500, 600, 7, 60, 8);
    assert_true(handed[0].partly);
    assert_true(handed[1].partly);
    TAKE(1, 2, 3000, 2450, 700, 7, 70, 8);
    assert_false(handed[0].partly);
}

FIXTURE_TEST(counts_of_a_multiplexed_group_are_scaled)
{
    layout.read_format = GROUP | TIMES;
    TAKE(1, 2, 1000, 1000, 500, 7, 50, 8);
    assert_int_equal(handed[0].period, 500);
    TAKE(1, 2, 5000, 2000, 900, 7, 61, 8); /* a quarter of the time */
    assert_int_equal(handed[0].period, 1600);
    assert_int_equal(handed[1].period, 44);
    TAKE(1, 2, 6000, 3000, 1000, 7, 62, 8); /* alone again */
    assert_int_equal(handed[0].period, 100);
    assert_int_equal(handed[1].period, 1);
}

/* Each task has its own times if it has its own counters. */
FIXTURE_TEST(inherited_counters_are_scaled_by_task)
{
    layout.read_format = GROUP | TIMES;
    layout.per_task = true;
    TAKE(100, 1, 1000, 1000, 500, 7);
    TAKE(101, 1, 400, 100, 10, 7);
    assert_int_equal(handed[0].period, 40);
    TAKE(100, 1, 2000, 1500, 600, 7);
    assert_int_equal(handed[0].period, 200);
}

/* The readings of a task that runs on two CPUs in turn. part: of each four slices of time, those in which
 * the counters ran. */
static uint64_t run_on_two_cpus(uint32_t tid, uint32_t slices, uint32_t part, uint64_t *marked)
{
    uint64_t enabled = 0, counted = 0, running[2] = { 0 }, value[2] = { 0 };
    *marked = 0;
    for (uint32_t i = 0; i < slices; i++) {
        uint32_t cpu = i / 3 % 2; /* the task migrates in the middle of a slice's samples */
        enabled += 1000;
        if (i % 4 >= part)
            continue;
        running[cpu] += 1000;
        value[cpu] += 500;
        if (TAKE(tid, 1, enabled, running[cpu], value[cpu], 7 + cpu)) {
            counted += handed[0].period;
            *marked += handed[0].partly;
        }
    }
    return counted;
}

FIXTURE_TEST(the_counters_of_a_task_on_several_cpus_are_scaled_together)
{
    uint64_t marked;
    layout.read_format = GROUP | TIMES;
    layout.scales = false;
    layout.elsewhere = true;
    uint64_t counted = run_on_two_cpus(1, 4000, 1, &marked);
    assert_in_range(counted, 4000 * 500 * 95 / 100, 4000 * 500 * 105 / 100);
    assert_in_range(marked, 900, 1000);
    counted = run_on_two_cpus(2, 4000, 2, &marked); /* each task separately */
    assert_in_range(counted, 4000 * 500 * 95 / 100, 4000 * 500 * 105 / 100);
    assert_in_range(marked, 1900, 2000);
}

FIXTURE_TEST(a_task_counted_wherever_it_ran_is_neither_scaled_nor_marked)
{
    uint64_t marked;
    layout.read_format = GROUP | TIMES;
    layout.scales = false;
    layout.elsewhere = true;
    assert_int_equal(run_on_two_cpus(1, 4000, 4, &marked), 4000 * 500);
    assert_int_equal(marked, 0);
    for (uint32_t tid = 2; tid < 400; tid++) { /* short tasks that migrate */
        assert_int_equal(run_on_two_cpus(tid, 5, 4, &marked), 5 * 500);
        assert_int_equal(marked, 0);
    }
}

/* Its counters were enabled one after the other, and the values restart as another task's. */
FIXTURE_TEST(times_of_a_task_that_decrease_give_no_share)
{
    layout.read_format = GROUP | TIMES;
    layout.scales = false;
    layout.elsewhere = true;
    for (uint64_t i = 1; i < 200; i++) {
        TAKE(1, 1, 1000 * i + (i % 2 ? 0 : 990), 500 * i, 100 * i, 7 + i % 2);
        assert_false(handed[0].partly);
    }
}

FIXTURE_TEST(counts_with_times_of_an_unknown_task_are_only_marked)
{
    layout.read_format = GROUP | TIMES;
    layout.scales = false;
    TAKE(1, 2, 5000, 1000, 500, 7, 50, 8);
    assert_int_equal(handed[0].period, 500);
    assert_true(handed[0].partly);
}

FIXTURE_TEST(impossible_times_scale_nothing)
{
    layout.read_format = GROUP | TIMES;
    TAKE(1, 1, 1000, 0, 500, 7); /* never ran, but counted */
    assert_int_equal(handed[0].period, 500);
    TAKE(1, 1, 2000, 5000, 600, 7); /* ran longer than it was enabled */
    assert_int_equal(handed[0].period, 100);
    TAKE(1, 1, UINT64_MAX, 5001, UINT64_MAX, 7); /* more than the record has */
    assert_int_equal(handed[0].period, UINT64_MAX - 600);
}

FIXTURE_TEST(a_single_counter_is_read_with_its_times)
{
    layout.read_format = PERF_FORMAT_ID | TIMES;
    TAKE(1, 40, 100, 100, 7);
    assert_int_equal(TAKE(1, 45, 200, 120, 7), 1);
    assert_int_equal(handed[0].period, 25);
    assert_true(handed[0].partly);
}

FIXTURE_TEST(counts_of_lost_samples_are_skipped)
{
    layout.read_format = GROUP | PERF_FORMAT_LOST;
    assert_int_equal(TAKE(1, 2, 1000, 7, 3, 50, 8, 0), 2);
    assert_int_equal(handed[1].id, 8);
    assert_int_equal(handed[1].period, 50);
}

FIXTURE_TEST(a_member_count_beyond_the_record_is_rejected)
{
    assert_int_equal(TAKE(1, UINT64_MAX, 1000, 7), 1);
    assert_int_equal(handed[0].period, 1000);
}

FIXTURE_TEST(readings_of_tasks_no_longer_seen_are_dropped)
{
    layout.per_task = true;
    TAKE(7, 1, 1000, 7);
    for (uint32_t tid = 1000; tid < 1000 + 3 * READINGS_MAX; tid++)
        TAKE(tid, 1, 10, 7);
    assert_true(readings.last.n <= READINGS_MAX);
    assert_true(readings.old.n <= READINGS_MAX);
    TAKE(1000 + 3 * READINGS_MAX - 1, 1, 15, 7);
    assert_int_equal(handed[0].period, 5);
}

TEST_MAIN(NULL, NULL)
