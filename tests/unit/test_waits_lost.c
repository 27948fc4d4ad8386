// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of threads while and after records of a CPU were lost. */
#include "unit_test.h"
#include "waits_seen.h"

#define CPU        0 /* of at() */
#define LOST_STACK 9

static struct waits_loss loss(uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
    return (struct waits_loss){ cpu, from_ns, to_ns };
}

/* Thread 1 sleeps from 10 ms on, then records of a CPU are lost between 100 and 500 ms. */
static struct waits lossy_sleep(struct seen *s, bool wakeups)
{
    struct waits w = { .part = note, .ctx = s, .wakeups = wakeups, .lost_stack = LOST_STACK };
    struct waits_loss l = loss(CPU, 100 * MS, 500 * MS);
    waits_leave(&w, at(1, 10 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 10 * MS), false);
    waits_lost(&w, &l);
    assert_int_equal(s->sums[1][THREAD_SLEEPING], 90 * MS);
    assert_int_equal(s->sums[1][THREAD_UNKNOWN], 400 * MS);
    assert_true(s->parts[s->n - 1].lost);
    assert_int_equal(s->ends[1], 0);
    return w;
}

TEST(a_wait_is_known_until_records_are_lost_and_again_after_them)
{
    struct seen s = { 0 };
    struct waits w = lossy_sleep(&s, false);
    waits_report(&w, 550 * MS, false); /* its next record tells */
    assert_int_equal(s.n, 2);
    waits_switch_in(&w, at(1, 600 * MS));
    assert_int_equal(s.sums[1][THREAD_WAITING], 100 * MS);
    assert_int_equal(s.parts[2].stack, LOST_STACK);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 400 * MS);
    waits_done(&w);
}

TEST(a_wakeup_after_lost_records_ends_a_wait)
{
    struct seen s = { 0 };
    struct waits w = lossy_sleep(&s, true);
    assert_true(waits_may_wake(&w, 1));
    waits_wake(&w, 1, 570 * MS);
    waits_switch_in(&w, at(1, 600 * MS));
    assert_int_equal(s.sums[1][THREAD_WAITING], 70 * MS);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 30 * MS);
    waits_done(&w);
}

/* Else a wakeup after the loss would have been recorded. */
TEST(a_thread_that_comes_without_a_wakeup_was_woken_before)
{
    struct seen s = { 0 };
    struct waits w = lossy_sleep(&s, true);
    waits_switch_in(&w, at(1, 600 * MS));
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 100 * MS);
    waits_done(&w);
}

TEST(a_thread_that_leaves_after_lost_records_ran_since)
{
    struct seen s = { 0 };
    struct waits w = lossy_sleep(&s, true);
    waits_leave(&w, at(1, 600 * MS), THREAD_BLOCKED, 6);
    waits_switch_out(&w, at(1, 600 * MS), false);
    waits_switch_in(&w, at(1, 610 * MS));
    assert_int_equal(waits_thread(&w, 1)->spent_ns[THREAD_RUNNING], 100 * MS);
    assert_int_equal(s.sums[1][THREAD_BLOCKED], 10 * MS);
    assert_int_equal(s.parts[s.n - 1].stack, 6);
    waits_done(&w);
}

TEST(a_thread_found_after_lost_records_waits_since_they_ended)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    struct waits_loss l = loss(WAITS_ANY_CPU, 0, 500 * MS); /* from when on is not known */
    waits_leave(&w, at(1, 10 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 10 * MS), false);
    waits_found(&w, at(1, 400 * MS), THREAD_BLOCKED, 6); /* no effect: nothing was lost */
    waits_lost(&w, &l);
    waits_found(&w, at(1, 550 * MS), THREAD_BLOCKED, 7);
    waits_switch_in(&w, at(1, 600 * MS));
    assert_int_equal(s.sums[1][THREAD_SLEEPING], 0);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 490 * MS);
    assert_int_equal(s.sums[1][THREAD_BLOCKED], 100 * MS);
    assert_int_equal(s.parts[s.n - 1].stack, 7);
    waits_done(&w);
}

TEST(a_thread_on_another_cpu_runs_on)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    struct waits_loss here = loss(CPU, 20 * MS, 30 * MS), elsewhere = loss(CPU + 1, 40 * MS, 50 * MS);
    waits_switch_in(&w, at(1, 10 * MS));
    waits_lost(&w, &here);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 10 * MS);
    assert_int_equal(waits_sampled(&w, at(1, 35 * MS), &(uint64_t *){ NULL }), 15 * MS);
    waits_lost(&w, &elsewhere);
    waits_switch_out(&w, at(1, 60 * MS), true);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 10 * MS);
    assert_int_equal(waits_thread(&w, 1)->spent_ns[THREAD_RUNNING], 40 * MS);
    waits_done(&w);
}

TEST(a_thread_that_leaves_unseen_on_a_cpu_keeps_the_stack_of_its_next_wait)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_leave(&w, at(1, 10 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 10 * MS), false);
    waits_leave(&w, at(1, 50 * MS), THREAD_SLEEPING, 6); /* no record says that it came */
    waits_switch_out(&w, at(1, 50 * MS), false);
    waits_switch_in(&w, at(1, 70 * MS));
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 40 * MS);
    assert_int_equal(s.sums[1][THREAD_SLEEPING], 20 * MS);
    assert_int_equal(s.parts[s.n - 1].stack, 6);
    waits_done(&w);
}

/* What it did between two losses is told by no record. */
TEST(a_second_loss_hides_the_time_between)
{
    struct seen s = { 0 };
    struct waits w = lossy_sleep(&s, true);
    struct waits_loss second = loss(CPU + 1, 700 * MS, 800 * MS);
    waits_lost(&w, &second);
    waits_wake(&w, 1, 850 * MS);
    waits_report(&w, 900 * MS, true);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 700 * MS);
    assert_int_equal(s.sums[1][THREAD_WAITING], 50 * MS);
    waits_done(&w);
}

/* Of a thread without records, whose switches may be hidden. */
TEST(an_unconfirmed_wait_for_a_cpu_is_unknown)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true, .wakeups = true };
    struct waits_loss l = loss(CPU, 200 * MS, 300 * MS);
    waits_found(&w, at(1, 10 * MS), THREAD_SLEEPING, 5);
    waits_wake(&w, 1, 50 * MS);
    waits_lost(&w, &l);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 0);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 250 * MS);
    waits_done(&w);
}

/* A thread ran on a CPU whose records are lost, which is not reported yet, and comes back on another. */
TEST(a_wait_that_ends_while_records_may_be_lost_is_unknown)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_leave(&w, at(1, 10 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 10 * MS), false);
    waits_set_gap(&w, 15 * MS, 20 * MS);
    waits_report(&w, 100 * MS, false); /* as far as it is certain */
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 0);
    waits_switch_in(&w, at(1, 500 * MS));
    waits_leave(&w, at(1, 510 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 510 * MS), false);
    waits_set_gap(&w, 0, 600 * MS);
    waits_switch_in(&w, at(1, 700 * MS));
    assert_int_equal(s.sums[1][THREAD_SLEEPING], 5 * MS);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 575 * MS);
    assert_int_equal(s.sums[1][THREAD_WAITING], 100 * MS);
    assert_int_equal(waits_thread(&w, 1)->spent_ns[THREAD_RUNNING], 10 * MS);
    waits_leave(&w, at(1, 710 * MS), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 710 * MS), false);
    waits_switch_in(&w, at(1, 730 * MS));
    assert_int_equal(s.sums[1][THREAD_SLEEPING], 25 * MS);
    waits_done(&w);
}

TEST_MAIN(NULL, NULL)
