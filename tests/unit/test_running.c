// SPDX-License-Identifier: GPL-2.0-or-later
/* How many threads run: the count of profile/running.c. */

#include "profile/running.h"
#include "unit_test.h"

static struct running_at on(uint32_t cpu, uint32_t tid)
{
    return (struct running_at){ tid, cpu, true };
}

/* In files whose records have no CPU. */
static struct running_at of(uint32_t tid)
{
    return (struct running_at){ .tid = tid };
}

TEST(threads_are_counted_while_they_run)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    running_switch_in(&r, on(1, 12));
    assert_int_equal(running_sample(&r, on(0, 11)), 2);
    running_switch_out(&r, on(1, 12));
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    running_switch_out(&r, on(0, 11));
    assert_int_equal(r.n, 0);
    running_done(&r);
}

TEST(a_preempted_thread_does_not_run)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    running_switch_out(&r, on(0, 11));
    running_switch_in(&r, on(0, 12));
    assert_int_equal(running_sample(&r, on(0, 12)), 1);
    running_switch_in(&r, on(1, 11)); /* it goes on elsewhere */
    assert_int_equal(running_sample(&r, on(0, 12)), 2);
    running_done(&r);
}

TEST(a_thread_that_ran_before_is_counted_from_its_first_sample)
{
    struct running r = { .n = 0 };
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    assert_int_equal(running_sample(&r, on(1, 12)), 2);
    assert_int_equal(running_sample(&r, on(0, 11)), 2);
    running_switch_out(&r, on(0, 11));
    assert_int_equal(running_sample(&r, on(1, 12)), 1);
    running_done(&r);
}

/* Without that, it would run until the CPU's next switch, which may be hours later. */
TEST(a_sample_in_the_switch_itself_does_not_make_a_thread_run_on)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    running_switch_in(&r, on(1, 12));
    running_switch_out(&r, on(0, 11));
    assert_int_equal(running_sample(&r, on(0, 11)), 2); /* it runs at that moment */
    assert_int_equal(running_sample(&r, on(1, 12)), 1);
    running_done(&r);
}

TEST(the_idle_task_is_no_thread)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    running_switch_in(&r, on(1, 0));
    assert_int_equal(running_sample(&r, on(1, 0)), 0);
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    running_switch_in(&r, on(0, 0)); /* its switch-out was not seen */
    assert_int_equal(r.n, 0);
    running_done(&r);
}

TEST(lost_records_end_what_is_known_of_their_cpu)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    running_switch_in(&r, on(1, 12));
    running_lost(&r, on(1, 0)); /* perhaps 12 left, or another came */
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    assert_int_equal(running_sample(&r, on(1, 13)), 2);
    running_lost(&r, on(7, 0));
    assert_int_equal(r.n, 2);
    running_done(&r);
}

TEST(a_cpu_runs_one_thread)
{
    struct running r = { .n = 0 };
    for (uint32_t tid = 1; tid <= 100; tid++) { /* no switch-out is seen */
        running_switch_in(&r, on(tid % 2, tid));
        assert_true(running_sample(&r, on(tid % 2, tid)) <= 2);
    }
    assert_int_equal(r.n, 2);
    running_done(&r);
}

TEST(an_ended_thread_does_not_run)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, on(0, 11));
    running_switch_in(&r, on(1, 12));
    running_exit(&r, on(1, 12));
    assert_int_equal(running_sample(&r, on(0, 11)), 1);
    running_exit(&r, on(0, 99)); /* another thread */
    assert_int_equal(r.n, 1);
    running_forget(&r);
    assert_int_equal(r.n, 0);
    running_done(&r);
}

TEST(records_without_a_cpu_are_counted_by_thread)
{
    struct running r = { .n = 0 };
    running_switch_in(&r, of(11));
    assert_int_equal(running_sample(&r, of(12)), 2);
    running_switch_out(&r, of(12));
    assert_int_equal(running_sample(&r, of(11)), 1);
    running_switch_in(&r, of(12));
    running_exit(&r, of(12));
    running_exit(&r, of(13));
    assert_int_equal(running_sample(&r, of(11)), 1);
    running_switch_in(&r, of(12));
    running_lost(&r, of(0));
    assert_int_equal(running_sample(&r, of(11)), 1);
    running_done(&r);
}

TEST_MAIN(NULL, NULL)
