// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"
#include "waits_seen.h"

TEST(a_wait_is_split_at_the_wakeup)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_switch_in(&w, at(1, 10 * MS));
    waits_leave(&w, at(1, 20 * MS), THREAD_BLOCKED, 77);
    waits_switch_out(&w, at(1, 20 * MS), false);
    assert_true(waits_may_wake(&w, 1));
    waits_wake(&w, 1, 50 * MS);
    assert_false(waits_may_wake(&w, 1));
    waits_wake(&w, 1, 51 * MS); /* woken already */
    waits_switch_in(&w, at(1, 53 * MS));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.parts[0].state, THREAD_BLOCKED);
    assert_int_equal(s.parts[0].to_ns - s.parts[0].from_ns, 30 * MS);
    assert_int_equal(s.parts[0].stack, 77);
    assert_true(s.parts[0].woken);
    assert_false(s.parts[1].woken);
    assert_true(s.parts[0].ended);
    assert_int_equal(s.parts[0].whole_ns, 30 * MS);
    assert_int_equal(s.parts[1].state, THREAD_RUNNABLE);
    assert_int_equal(s.parts[1].to_ns - s.parts[1].from_ns, 3 * MS);
    assert_true(s.parts[1].ended);
    assert_int_equal(s.parts[1].whole_ns, 3 * MS);
    waits_done(&w);
}

/* Between the tracepoint and the switch, while it is still on its CPU. */
TEST(a_thread_that_is_woken_as_it_leaves_waits_for_a_cpu_only)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_switch_in(&w, at(1, 10 * MS));
    assert_false(waits_may_wake(&w, 1));
    waits_leave(&w, at(1, 20 * MS), THREAD_BLOCKED, 77);
    waits_wake(&w, 1, 20 * MS + 1);
    waits_switch_out(&w, at(1, 20 * MS + 2), false);
    waits_switch_in(&w, at(1, 25 * MS));
    assert_int_equal(s.n, 1);
    assert_int_equal(s.parts[0].state, THREAD_RUNNABLE);
    assert_int_equal(s.parts[0].stack, 77);
    waits_leave(&w, at(1, 30 * MS), THREAD_BLOCKED, 78); /* the next wait is one again */
    waits_switch_out(&w, at(1, 30 * MS), false);
    waits_switch_in(&w, at(1, 31 * MS));
    assert_int_equal(s.parts[1].state, THREAD_BLOCKED);
    waits_done(&w);
}

TEST(a_preempted_thread_waits_for_a_cpu_and_has_no_old_stack)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_leave(&w, at(1, 5 * MS), THREAD_SLEEPING, 77);
    waits_switch_out(&w, at(1, 5 * MS), false);
    waits_switch_in(&w, at(1, 10 * MS));
    waits_switch_out(&w, at(1, 20 * MS), true);
    waits_switch_in(&w, at(1, 25 * MS));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.parts[1].state, THREAD_RUNNABLE);
    assert_true(s.parts[1].stack == WAITS_NO_STACK);
    waits_done(&w);
}

TEST(a_hanging_thread_is_reported_while_it_hangs)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_found(&w, at(1, 0), THREAD_BLOCKED, 5);
    for (uint64_t t = 1; t <= 10; t++)
        waits_report(&w, t * 100 * MS, true);
    assert_int_equal(s.n, 10);
    assert_int_equal(s.sums[1][THREAD_BLOCKED], 1000 * MS);
    assert_int_equal(s.ends[1], 0);
    assert_int_equal(s.parts[9].whole_ns, 1000 * MS);
    waits_switch_in(&w, at(1, 1050 * MS));
    assert_int_equal(s.ends[1], 1);
    assert_int_equal(s.parts[10].to_ns - s.parts[10].from_ns, 50 * MS);
    assert_int_equal(s.parts[10].whole_ns, 1050 * MS);
    waits_done(&w);
}

TEST(a_wait_without_a_seen_end_is_unknown)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_leave(&w, at(1, 0), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 10 * MS), false);
    waits_leave(&w, at(1, 500 * MS), THREAD_BLOCKED, 6);
    waits_switch_out(&w, at(1, 500 * MS), false);
    waits_switch_in(&w, at(1, 600 * MS));
    assert_int_equal(s.sums[1][THREAD_SLEEPING], 0);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 490 * MS);
    assert_int_equal(s.sums[1][THREAD_BLOCKED], 100 * MS);
    waits_done(&w);
}

TEST(a_reused_number_gets_the_process_of_its_new_thread)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    struct waits_at new = at(1, 20 * MS);
    new.pid = 99;
    waits_switch_in(&w, at(1, 0));
    waits_switch_out(&w, new, true);
    new.time_ns = 30 * MS;
    waits_switch_in(&w, new);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.parts[0].pid, 99);
    waits_done(&w);
}

TEST(a_wait_of_which_nothing_was_said_gets_a_stack_if_it_has_none)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    waits_leave(&w, at(1, 0), THREAD_SLEEPING, 5);
    waits_switch_out(&w, at(1, 0), false);
    waits_untold(&w, 1, 9);
    waits_switch_in(&w, at(1, 10 * MS));
    assert_int_equal(s.parts[0].stack, 5);
    waits_switch_out(&w, at(1, 20 * MS), false);
    waits_untold(&w, 1, 9);
    waits_switch_in(&w, at(1, 50 * MS));
    assert_int_equal(s.parts[1].stack, 9);
    assert_int_equal(s.sums[1][THREAD_WAITING], 30 * MS);
    waits_switch_out(&w, at(1, 60 * MS), true);
    waits_untold(&w, 1, 9);
    waits_switch_in(&w, at(1, 70 * MS));
    assert_true(s.parts[2].stack == WAITS_NO_STACK);
    waits_untold(&w, 1, 9); /* it runs */
    waits_untold(&w, 2, 9); /* no such thread */
    assert_null(waits_thread(&w, 2));
    waits_done(&w);
}

static void leave_untold(struct waits *w, uint32_t tid, uint64_t time_ns)
{
    waits_switch_in(w, at(tid, time_ns - MS));
    waits_switch_out(w, at(tid, time_ns), false);
    waits_untold(w, tid, 9);
}

TEST(the_longest_waits_without_a_stack_are_told_later)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    struct waits_open open[2];
    leave_untold(&w, 1, 30 * MS);
    leave_untold(&w, 2, 10 * MS);
    leave_untold(&w, 3, 20 * MS);
    leave_untold(&w, 4, 60 * MS);
    waits_leave(&w, at(5, 4 * MS), THREAD_BLOCKED, 77);
    waits_switch_out(&w, at(5, 5 * MS), false); /* it has a stack */
    assert_int_equal(waits_untold_longest(&w, 9, 50 * MS, open, 2), 2);
    assert_true(open[0].tid == 2 && open[1].tid == 3);
    assert_int_equal(waits_untold_longest(&w, 9, 15 * MS, open, 2), 1);
    assert_int_equal(waits_untold_longest(&w, 9, 50 * MS, open, 2), 2);
    waits_report(&w, 70 * MS, true);
    waits_tell(&w, &open[0], THREAD_BLOCKED, 8);
    waits_switch_in(&w, at(3, 80 * MS)); /* and waits again: for something else */
    waits_switch_out(&w, at(3, 81 * MS), false);
    waits_tell(&w, &open[1], THREAD_BLOCKED, 8);
    assert_int_equal(waits_untold_longest(&w, 9, 50 * MS, open, 2), 1);
    assert_int_equal(open[0].tid, 1);
    waits_switch_in(&w, at(2, 90 * MS));
    assert_int_equal(s.sums[2][THREAD_WAITING], 60 * MS);
    assert_int_equal(s.sums[2][THREAD_BLOCKED], 20 * MS);
    assert_int_equal(s.sums[3][THREAD_BLOCKED], 0);
    assert_int_equal(s.ends[2], 1);
    waits_done(&w);
}

/* Threads with known schedules, reported at any time: the parts add up to the truth. */
TEST(running_runnable_and_waiting_are_the_lifetime)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    struct {
        enum thread_state state;
        uint64_t since, sums[THREAD_STATES];
    } truth[8] = { 0 };
    uint64_t now = 0;
    srand(1);
    for (uint32_t i = 0; i < 8; i++)
        waits_switch_in(&w, at(i, 0));
    for (int step = 0; step < 20000; step++) {
        uint32_t tid = (uint32_t)rand() % 8;
        now += (uint64_t)(rand() % 1000);
        enum thread_state from = truth[tid].state, to = from;
        if (from == THREAD_RUNNING && rand() % 3) {
            to = rand() % 2 ? THREAD_SLEEPING : THREAD_BLOCKED;
            waits_leave(&w, at(tid, now), to, tid);
            waits_switch_out(&w, at(tid, now), false);
        } else if (from == THREAD_RUNNING) {
            waits_switch_out(&w, at(tid, now), true);
            to = THREAD_RUNNABLE;
        } else if (from == THREAD_RUNNABLE) {
            waits_switch_in(&w, at(tid, now));
            to = THREAD_RUNNING;
        } else {
            waits_wake(&w, tid, now);
            to = THREAD_RUNNABLE;
        }
        truth[tid].sums[from] += now - truth[tid].since;
        truth[tid].since = now;
        truth[tid].state = to;
        if (!(rand() % 50))
            waits_report(&w, now, true);
    }
    waits_report(&w, now, true);
    for (uint32_t tid = 0; tid < 8; tid++) {
        const struct waits_thread *t = waits_thread(&w, tid);
        uint64_t all = 0;
        truth[tid].sums[truth[tid].state] += now - truth[tid].since;
        for (int i = 0; i < THREAD_STATES; i++) {
            all += t->spent_ns[i];
            assert_int_equal(t->spent_ns[i], truth[tid].sums[i]);
            if (i != THREAD_RUNNING)
                assert_int_equal(s.sums[tid][i], truth[tid].sums[i]);
        }
        assert_int_equal(all, now);
    }
    waits_done(&w);
}

TEST(ended_threads_are_forgotten)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s };
    for (uint32_t i = 0; i < 100; i++)
        waits_switch_in(&w, at(i, i));
    for (uint32_t i = 0; i < 100; i += 2)
        waits_exit(&w, i, 1000);
    assert_int_equal(w.threads.n, 50);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(!waits_thread(&w, i) == !(i % 2));
    assert_int_equal(waits_thread(&w, 51)->tid, 51);
    waits_done(&w);
}

static void note_rest(void *ctx, const struct waits_part *p)
{
    assert_int_equal(p->state, THREAD_RUNNING);
    note(ctx, p);
}

/* The time of a thread on a CPU that a sample at this time gets. */
static uint64_t sampled(struct waits *w, uint32_t tid, uint64_t time_ns, uint64_t number)
{
    uint64_t *sample, ran_ns = waits_sampled(w, at(tid, time_ns), &sample);
    *sample = number;
    return ran_ns;
}

TEST(samples_share_the_time_that_a_thread_ran)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .rest = note_rest, .ctx = &s };
    waits_switch_in(&w, at(1, 10 * MS));
    assert_int_equal(sampled(&w, 1, 13 * MS, 5), 3 * MS);
    assert_int_equal(sampled(&w, 1, 13 * MS, 6), 0);
    waits_leave(&w, at(1, 20 * MS), THREAD_BLOCKED, 77);
    waits_switch_out(&w, at(1, 20 * MS), false);
    waits_switch_in(&w, at(1, 50 * MS));
    assert_int_equal(sampled(&w, 1, 51 * MS, 7), 7 * MS + 1 * MS);
    waits_switch_out(&w, at(1, 55 * MS), true);
    assert_int_equal(s.n, 1); /* what follows the last sample is told at the end */
    waits_exit(&w, 1, 60 * MS);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.parts[2].to_ns - s.parts[2].from_ns, 4 * MS);
    assert_int_equal(s.parts[2].stack, 7);
    waits_switch_in(&w, at(2, 10 * MS)); /* a thread without a sample */
    waits_switch_out(&w, at(2, 12 * MS), true);
    waits_report(&w, 20 * MS, false);
    assert_int_equal(s.sums[2][THREAD_RUNNING], 0);
    waits_report(&w, 30 * MS, true);
    assert_int_equal(s.sums[2][THREAD_RUNNING], 2 * MS);
    assert_int_equal(s.parts[s.n - 1].stack, WAITS_NO_STACK);
    waits_report(&w, 40 * MS, true); /* it is told once */
    assert_int_equal(s.sums[2][THREAD_RUNNING], 2 * MS);
    waits_done(&w);
}

/* The tracepoint belongs to the switch that follows, whatever comes between them. */
TEST(a_sample_or_report_as_a_thread_leaves_keeps_its_wait)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .rest = note_rest, .ctx = &s };
    waits_switch_in(&w, at(1, 10 * MS));
    waits_leave(&w, at(1, 20 * MS), THREAD_BLOCKED, 77);
    assert_int_equal(sampled(&w, 1, 21 * MS, 5), 0);
    waits_report(&w, 22 * MS, false);
    waits_switch_out(&w, at(1, 23 * MS), false);
    waits_switch_in(&w, at(1, 40 * MS));
    assert_int_equal(s.sums[1][THREAD_BLOCKED], 17 * MS);
    assert_int_equal(s.parts[0].stack, 77);
    assert_int_equal(sampled(&w, 1, 41 * MS, 6), 13 * MS + 1 * MS);
    waits_done(&w);
}

/* A wait for a CPU that began with a wakeup at 50 ms. */
static void wait_for_cpu(struct waits *w, uint32_t tid)
{
    waits_found(w, at(tid, 10 * MS), THREAD_SLEEPING, 5);
    waits_wake(w, tid, 50 * MS);
}

/* Checks all threads that need it. Returns their number. */
static size_t check(struct waits *w, uint64_t time_ns, uint64_t progress, enum waits_finding finding)
{
    struct waits_open open[16];
    size_t n = waits_unsure(w, time_ns, open, 16);
    for (size_t i = 0; i < n; i++)
        waits_checked(w, &open[i], time_ns, progress, finding);
    return n;
}

TEST(a_wait_for_a_cpu_is_reported_as_far_as_it_was_confirmed)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    wait_for_cpu(&w, 1);
    assert_int_equal(check(&w, 149 * MS, 0, WAITS_RAN), 0); /* too short */
    assert_int_equal(check(&w, 300 * MS, 7, WAITS_READY), 1);
    waits_report(&w, 500 * MS, false);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 0);
    assert_int_equal(check(&w, 600 * MS, 7, WAITS_QUEUED), 1);
    waits_report(&w, 700 * MS, true);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 550 * MS);
    struct waits_open open[2];
    assert_int_equal(waits_unsure(&w, 800 * MS, open, 2), 1);
    assert_true(open[0].checked && open[0].progress == 7 && open[0].tid == 1);
    waits_switch_in(&w, at(1, 5050 * MS)); /* its end is seen: it was that long */
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 5000 * MS);
    assert_int_equal(w.n_unseen, 0);
    waits_done(&w);
}

TEST(a_freeze_trusts_the_records_of_a_thread_that_has_some)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    wait_for_cpu(&w, 1);
    waits_switch_in(&w, at(2, 10 * MS));
    waits_switch_out(&w, at(2, 50 * MS), true);
    waits_report(&w, 450 * MS, false);
    assert_int_equal(s.sums[2][THREAD_RUNNABLE], 0);
    waits_report(&w, 450 * MS, true);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 0);
    assert_int_equal(s.sums[2][THREAD_RUNNABLE], 400 * MS);
    check(&w, 500 * MS, 7, WAITS_READY);
    check(&w, 1000 * MS, 8, WAITS_RAN);
    waits_report(&w, 1100 * MS, false); /* it had records, but runs without them now */
    waits_found(&w, at(2, 1200 * MS), THREAD_RUNNABLE, WAITS_NO_STACK);
    waits_report(&w, 1400 * MS, true);
    assert_int_equal(s.sums[2][THREAD_RUNNABLE], 400 * MS);
    waits_done(&w);
}

TEST(a_thread_that_ran_without_a_switch_does_not_wait_for_a_cpu)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    wait_for_cpu(&w, 1);
    assert_int_equal(check(&w, 600 * MS, 7, WAITS_RAN), 1);
    waits_report(&w, 590 * MS, true); /* a record of this time may still come */
    assert_int_equal(w.n_unseen, 0);
    waits_report(&w, 1000 * MS, false);
    assert_int_equal(w.n_unseen, 1);
    waits_wake(&w, 1, 1100 * MS);
    waits_report(&w, 2000 * MS, true);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 0);
    assert_int_equal(s.sums[1][THREAD_UNKNOWN], 1950 * MS);
    waits_switch_in(&w, at(1, 2100 * MS)); /* from here on its switches are seen */
    assert_int_equal(w.n_unseen, 0);
    waits_switch_out(&w, at(1, 2200 * MS), true);
    waits_switch_in(&w, at(1, 2300 * MS));
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 100 * MS);
    waits_done(&w);
}

/* The check sees the thread at a later moment than the last record. */
TEST(a_wait_that_ends_after_the_check_counts_in_full)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    wait_for_cpu(&w, 1);
    assert_int_equal(check(&w, 600 * MS, 7, WAITS_RAN), 1);
    waits_switch_in(&w, at(1, 595 * MS));
    waits_leave(&w, at(1, 598 * MS), THREAD_SLEEPING, 6);
    waits_switch_out(&w, at(1, 598 * MS), false);
    waits_report(&w, 1000 * MS, true);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 545 * MS);
    assert_int_equal(w.n_unseen, 0);
    wait_for_cpu(&w, 2);
    assert_int_equal(check(&w, 600 * MS, 7, WAITS_RAN), 1);
    struct waits_loss loss = { WAITS_ANY_CPU, 0, 700 * MS }; /* this hides the switch now */
    waits_lost(&w, &loss);
    waits_report(&w, 1000 * MS, true);
    assert_int_equal(w.n_unseen, 0);
    waits_done(&w);
}

TEST(an_unseen_thread_is_forgotten_at_its_end)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    for (uint32_t tid = 0; tid < 8; tid++)
        wait_for_cpu(&w, tid);
    assert_int_equal(check(&w, 600 * MS, 7, WAITS_RAN), 8);
    waits_report(&w, 700 * MS, false);
    assert_int_equal(w.n_unseen, 8);
    assert_int_equal(check(&w, 800 * MS, 9, WAITS_RAN), 8); /* as always */
    waits_report(&w, 900 * MS, false);
    assert_int_equal(w.n_unseen, 8);
    assert_int_equal(check(&w, 1000 * MS, 0, WAITS_GONE), 8);
    waits_report(&w, 1100 * MS, false);
    assert_int_equal(w.n_unseen, 0);
    assert_int_equal(w.threads.n, 0);
    wait_for_cpu(&w, 1); /* one that ends before it was ever checked */
    assert_int_equal(check(&w, 1200 * MS, 0, WAITS_GONE), 1);
    waits_report(&w, 1300 * MS, true);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE] + w.threads.n + w.n_unseen, 0);
    waits_done(&w);
}

/* Found by the scan: only a check tells whether it runs or waits. */
TEST(a_thread_found_ready_waits_if_that_is_confirmed)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    waits_found_ready(&w, at(1, 10 * MS));
    waits_found_ready(&w, at(2, 10 * MS));
    waits_report(&w, 50 * MS, true);
    assert_int_equal(s.n, 0);
    struct waits_open open[2];
    assert_int_equal(waits_unsure(&w, 500 * MS, open, 2), 2);
    for (int i = 0; i < 2; i++)
        waits_checked(&w, &open[i], 500 * MS, 3, open[i].tid == 1 ? WAITS_RAN : WAITS_QUEUED);
    waits_report(&w, 600 * MS, false);
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 0);
    assert_int_equal(s.sums[2][THREAD_RUNNABLE], 490 * MS);
    assert_int_equal(w.n_unseen, 0); /* it runs, as far as anyone knows */
    waits_switch_out(&w, at(1, 700 * MS), true);
    waits_switch_in(&w, at(1, 800 * MS));
    assert_int_equal(s.sums[1][THREAD_RUNNABLE], 100 * MS);
    waits_done(&w);
}

TEST(all_open_waits_are_checked_in_turn)
{
    struct seen s = { 0 };
    struct waits w = { .part = note, .ctx = &s, .checks = true };
    struct waits_open open[30];
    bool checked[100] = { false };
    for (uint32_t tid = 0; tid < 100; tid++)
        wait_for_cpu(&w, tid);
    for (int i = 0; i < 4; i++)
        for (size_t n = waits_unsure(&w, 500 * MS, open, 30); n-- > 0;)
            checked[open[n].tid] = true;
    for (uint32_t tid = 0; tid < 100; tid++)
        assert_true(checked[tid]);
    waits_done(&w);
}

TEST_MAIN(NULL, NULL)
