// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "profile/pairs.h"
#include "unit_test.h"

static bool begin(struct pairs *p, uint64_t key, uint64_t time_ns, uint64_t name)
{
    return pairs_begin(p, &(struct pairs_operation){ .key = key, .begin_ns = time_ns, .name = name });
}

/* Name of the ended operation; 0: there is none. */
static uint64_t end(struct pairs *p, uint64_t key, uint64_t time_ns, uint64_t *duration_ns)
{
    struct pairs_operation o;
    *duration_ns = 12345;
    return pairs_end(p, key, time_ns, 0, &o, duration_ns) ? o.name : 0;
}

TEST(a_pair_has_what_its_begin_had)
{
    struct pairs p = { 0 };
    struct pairs_operation
        o = { .key = 7, .begin_ns = 1000, .stack = 3, .name = 4, .size = 512, .pid = 10, .tid = 11 },
        got;
    uint64_t ns;
    assert_true(pairs_begin(&p, &o));
    assert_true(begin(&p, 8, 1100, 5));
    assert_int_equal(p.n_open, 2);
    assert_true(pairs_end(&p, 7, 1500, 0, &got, &ns));
    assert_memory_equal(&got, &o, sizeof o);
    assert_int_equal(ns, 500);
    assert_int_equal(end(&p, 8, 1500, &ns), 5);
    assert_int_equal(ns, 400);
    assert_int_equal(p.counts.ended, 2);
    assert_int_equal(p.n_open, 0);
    pairs_done(&p);
}

TEST(an_end_without_a_begin_is_counted)
{
    struct pairs p = { 0 };
    uint64_t ns;
    assert_int_equal(end(&p, 1, 10, &ns), 0);
    begin(&p, 1, 20, 1);
    end(&p, 1, 30, &ns);
    assert_int_equal(end(&p, 1, 40, &ns), 0);
    assert_int_equal(p.counts.unbegun, 2);
    assert_int_equal(p.counts.ended, 1);
    pairs_done(&p);
}

TEST(a_second_begin_replaces_the_first)
{
    struct pairs p = { 0 };
    uint64_t ns;
    begin(&p, 1, 10, 1);
    begin(&p, 1, 50, 2);
    assert_int_equal(p.n_open, 1);
    assert_int_equal(end(&p, 1, 60, &ns), 2);
    assert_int_equal(ns, 10);
    assert_int_equal(p.counts.replaced, 1);
    assert_int_equal(end(&p, 1, 70, &ns), 0);
    pairs_done(&p);
}

/* A mutex tells that a thread waits for it twice: while it spins, and when it sleeps. */
TEST(a_second_begin_may_go_on_with_the_first)
{
    struct pairs p = { .again = PAIRS_GO_ON };
    uint64_t ns;
    begin(&p, 1, 10, 1);
    begin(&p, 1, 50, 2);
    assert_int_equal(end(&p, 1, 60, &ns), 1);
    assert_int_equal(ns, 50);
    assert_int_equal(p.counts.replaced, 0);
    assert_int_equal(end(&p, 1, 70, &ns), 0);
    pairs_done(&p);
}

TEST(nested_operations_end_innermost_first)
{
    struct pairs p = { .again = PAIRS_NEST };
    uint64_t ns;
    for (uint64_t depth = 0; depth < 4; depth++)
        begin(&p, 9, 100 * depth, depth + 1);
    begin(&p, 10, 0, 77);
    for (uint64_t depth = 4; depth-- > 0;) {
        assert_int_equal(end(&p, 9, 1000, &ns), depth + 1);
        assert_int_equal(ns, 1000 - 100 * depth);
    }
    assert_int_equal(end(&p, 9, 1000, &ns), 0);
    assert_int_equal(end(&p, 10, 1000, &ns), 77);
    assert_int_equal(p.counts.replaced, 0);
    pairs_done(&p);
}

TEST(only_the_outermost_operation_may_count)
{
    struct pairs p = { .again = PAIRS_OUTERMOST };
    uint64_t ns;
    assert_true(begin(&p, 1, 10, 100));
    assert_true(begin(&p, 1, 20, 200));
    assert_int_equal(end(&p, 1, 25, &ns), 0);
    assert_true(begin(&p, 1, 30, 300));
    assert_int_equal(end(&p, 1, 35, &ns), 0);
    assert_int_equal(end(&p, 1, 50, &ns), 100);
    assert_int_equal(ns, 40);
    assert_int_equal(p.counts.ended, 1);
    assert_int_equal(p.counts.unbegun, 0);
    assert_int_equal(p.n_open, 0);
    pairs_done(&p);
}

TEST(time_that_goes_backwards_is_no_duration)
{
    struct pairs p = { 0 };
    uint64_t ns;
    begin(&p, 1, 1000, 1);
    assert_int_equal(end(&p, 1, 999, &ns), 1);
    assert_int_equal(ns, 0);
    begin(&p, 1, UINT64_MAX, 1);
    assert_int_equal(end(&p, 1, 0, &ns), 1);
    assert_int_equal(ns, 0);
    pairs_done(&p);
}

TEST(lost_records_forget_what_is_open)
{
    struct pairs p = { .again = PAIRS_NEST };
    uint64_t ns;
    for (uint64_t i = 0; i < 20; i++)
        begin(&p, i / 2, i, i + 1);
    end(&p, 3, 30, &ns);
    pairs_forget(&p);
    assert_int_equal(p.counts.lost, 19);
    assert_int_equal(p.n_open, 0);
    assert_int_equal(end(&p, 0, 40, &ns), 0);
    begin(&p, 0, 50, 5);
    assert_int_equal(end(&p, 0, 60, &ns), 5);
    assert_int_equal(ns, 10);
    pairs_done(&p);
}

static bool begin_on(struct pairs *p, uint64_t key, uint64_t time_ns, uint32_t cpu)
{
    return pairs_begin(p,
                       &(struct pairs_operation){ .key = key, .begin_ns = time_ns, .cpu = cpu, .name = 1 });
}

static bool end_on(struct pairs *p, uint64_t key, uint64_t time_ns, uint32_t cpu)
{
    struct pairs_operation o;
    uint64_t ns;
    return pairs_end(p, key, time_ns, cpu, &o, &ns);
}

/* An end that follows may belong to a begin that was lost. */
TEST(a_loss_makes_open_operations_doubtful)
{
    struct pairs p = { 0 };
    begin_on(&p, 1, 10, 0);
    begin_on(&p, 2, 11, 1);
    pairs_lost(&p, 1, false); /* the thread of the first one may have been there, too */
    pairs_lost(&p, 0, false);
    assert_true(p.counts.lost == 2 && p.n_open == 2 && p.n_doubtful == 2);
    begin_on(&p, 2, 20, 1); /* a new operation, which is known */
    assert_true(p.counts.replaced == 0 && p.n_doubtful == 1);
    begin_on(&p, 3, 21, 1);
    assert_false(end_on(&p, 1, 30, 0));
    assert_true(end_on(&p, 2, 31, 1) && end_on(&p, 3, 32, 1));
    assert_true(p.counts.ended == 2 && p.counts.unbegun == 0 && p.counts.lost == 2);
    assert_true(p.n_open == 0 && p.n_doubtful == 0);
    pairs_done(&p);
}

TEST(operations_of_other_cpus_are_sure)
{
    struct pairs p = { 0 };
    begin_on(&p, 1, 10, 0);
    begin_on(&p, 2, 11, 1);
    pairs_lost(&p, 1, true);
    assert_true(end_on(&p, 1, 30, 0));
    assert_false(end_on(&p, 2, 31, 1));
    assert_true(p.counts.ended == 1 && p.counts.lost == 1 && p.counts.unbegun == 0);
    pairs_done(&p);
}

/* The kernel reports a loss with the next record of that CPU: until then it may concern what ends
 * elsewhere. */
TEST(a_loss_that_is_not_reported_yet_concerns_what_began_before)
{
    struct pairs p = { 0 };
    begin_on(&p, 1, 10, 0);
    pairs_set_gap(&p, 20);
    assert_false(end_on(&p, 1, 21, 0));
    begin_on(&p, 1, 22, 0);
    pairs_set_gap(&p, 20);
    assert_true(end_on(&p, 1, 24, 0));
    begin_on(&p, 1, 25, 0);
    assert_false(end_on(&p, 1, 26, 1)); /* it moved: perhaps over the CPU that lost records */
    begin_on(&p, 1, 27, 0);
    pairs_set_gap(&p, 0);
    assert_true(end_on(&p, 1, 31, 1));
    assert_true(p.counts.lost == 2 && p.counts.ended == 2);
    pairs_done(&p);
}

TEST(a_doubtful_operation_goes_with_its_thread)
{
    struct pairs p = { .again = PAIRS_GO_ON };
    begin_on(&p, 1, 10, 0);
    pairs_lost(&p, 0, false);
    pairs_thread_ended(&p, 1);
    assert_true(p.counts.gone == 0 && p.n_open == 0 && p.n_doubtful == 0);
    begin_on(&p, 1, 20, 0);
    pairs_lost(&p, 0, false);
    begin_on(&p, 1, 30, 0); /* which operation goes on is not known: a new one */
    assert_true(end_on(&p, 1, 40, 0) && p.counts.ended == 1);
    begin_on(&p, 1, 50, 0);
    pairs_lost(&p, 0, false);
    pairs_drop(&p, 1);
    assert_true(p.counts.refused == 0 && p.n_doubtful == 0);
    begin_on(&p, 1, 60, 0);
    pairs_drop(&p, 1);
    assert_true(p.counts.refused == 1 && p.n_open == 0);
    pairs_done(&p);
}

TEST(there_is_a_limit)
{
    struct pairs p = { .most = 10 };
    uint64_t ns;
    for (uint64_t i = 0; i < 25; i++)
        assert_int_equal(begin(&p, i, i, i + 1), i < 10);
    assert_int_equal(p.counts.refused, 15);
    assert_true(begin(&p, 3, 100, 9)); /* a known key needs no more room */
    assert_int_equal(end(&p, 3, 101, &ns), 9);
    assert_true(begin(&p, 30, 102, 1));
    assert_false(begin(&p, 31, 103, 1));
    pairs_done(&p);
}

TEST(a_hundred_thousand_keys_stay_within_the_limit)
{
    struct pairs p = { 0 };
    for (uint64_t i = 0; i < 100000; i++)
        begin(&p, pairs_key(0, i), i, 1);
    assert_int_equal(p.n_open, PAIRS_MOST);
    assert_int_equal(p.counts.refused, 100000 - PAIRS_MOST);
    pairs_done(&p);
}

TEST(a_thread_that_ends_leaves_nothing)
{
    struct pairs p = { .again = PAIRS_NEST };
    uint64_t ns;
    begin(&p, 1, 10, 1);
    begin(&p, 1, 20, 2);
    begin(&p, 2, 30, 3);
    pairs_thread_ended(&p, 1);
    pairs_thread_ended(&p, 55);
    assert_int_equal(p.counts.gone, 2);
    assert_int_equal(p.n_open, 1);
    assert_int_equal(end(&p, 1, 40, &ns), 0);
    assert_int_equal(end(&p, 2, 40, &ns), 3);
    pairs_done(&p);
}

TEST(own_operations_are_paired_and_not_counted)
{
    struct pairs p = { 0 };
    struct pairs_operation o = { .key = 1, .own = true };
    uint64_t ns;
    pairs_begin(&p, &o);
    assert_true(pairs_end(&p, 1, 5, 0, &o, &ns));
    assert_true(o.own);
    assert_int_equal(p.counts.ended + p.counts.unbegun, 0);
    pairs_done(&p);
}

TEST(open_operations_are_found_and_counted)
{
    struct pairs p = { .again = PAIRS_NEST };
    uint64_t ns;
    assert_null(pairs_find(&p, 1));
    begin(&p, 1, 10, 1);
    begin(&p, 1, 20, 2);
    assert_int_equal(pairs_find(&p, 1)->name, 2); /* the innermost */
    pairs_find(&p, 1)->unknown = true;
    pairs_begin(&p, &(struct pairs_operation){ .key = 2, .own = true });
    assert_int_equal(pairs_count_open(&p, true), 2);
    assert_int_equal(pairs_count_open(&p, false), 1);
    end(&p, 1, 30, &ns);
    assert_int_equal(pairs_find(&p, 1)->name, 1);
    pairs_lost(&p, 0, false);
    assert_int_equal(pairs_count_open(&p, true), 0); /* their ends may be lost */
    pairs_done(&p);
}

TEST(keys_of_numbers_differ_by_order)
{
    assert_true(pairs_key(pairs_key(0, 1), 2) != pairs_key(pairs_key(0, 2), 1));
    assert_true(pairs_key(pairs_key(0, 1), 2) != pairs_key(0, 1));
}

static void add_one(void *ctx, struct pairs_operation *o)
{
    *(unsigned *)ctx += 1;
    o->stack++;
}

/* Compares with the obvious: an array per key. */
TEST(random_sequences_equal_a_plain_stack)
{
    enum { KEYS = 8, DEPTH = 64 };
    struct pairs p = { .again = PAIRS_NEST };
    uint64_t times[KEYS][DEPTH], unbegun = 0, ns;
    unsigned depth[KEYS] = { 0 }, open = 0, seen;
    srand(7);
    for (uint64_t now = 1; now < 20000; now++) {
        unsigned key = (unsigned)rand() % KEYS;
        if (rand() % 2 && depth[key] < DEPTH) {
            times[key][depth[key]++] = now;
            assert_true(begin(&p, key, now, now));
            open++;
        } else if (depth[key]) {
            uint64_t from = times[key][--depth[key]];
            assert_int_equal(end(&p, key, now, &ns), from);
            assert_int_equal(ns, now - from);
            open--;
        } else {
            assert_int_equal(end(&p, key, now, &ns), 0);
            unbegun++;
        }
    }
    seen = 0;
    pairs_each(&p, add_one, &seen);
    assert_int_equal(seen, open);
    assert_int_equal(p.n_open, open);
    assert_int_equal(p.counts.unbegun, unbegun);
    pairs_done(&p);
}

TEST_MAIN(NULL, NULL)
