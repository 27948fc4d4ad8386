// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/estimates.h"
#include "unit_test.h"

struct added {
    uint64_t number, n;
    unsigned calls;
};

static void add(void *ctx, uint64_t number, uint64_t n)
{
    struct added *a = ctx;
    *a = (struct added){ number, a->n + n, a->calls + 1 };
}

TEST(sampled_operations_represent_all_that_were_counted)
{
    struct estimates e = { 0 };
    struct added rest = { 0 };
    uint64_t stand_for = 0, counted = 0;
    for (uint32_t turn = 0; turn < 50; turn++) {
        estimates_count(&e, 7, 61 * (turn + 1));
        counted += 61 * (turn + 1);
        for (uint64_t i = 0; i < 200 && turn % 4 == 0; i++) {
            stand_for += estimates_take(&e, 7, turn);
            estimates_note(&e, 7, turn * 1000 + i);
        }
    }
    assert_true(stand_for < counted);
    estimates_settle(&e, 51, add, &rest);
    assert_int_equal(rest.calls, ESTIMATE_LAST);
    assert_in_range(rest.number, 48200 - ESTIMATE_LAST, 48199);
    assert_int_equal(stand_for + rest.n, counted);
    estimates_settle(&e, 51, add, &rest); /* nothing is left */
    assert_int_equal(rest.calls, ESTIMATE_LAST);
    estimates_done(&e);
}

TEST(names_are_apart)
{
    struct estimates e = { 0 };
    struct added rest = { 0 };
    estimates_count(&e, 1, 1000000);
    assert_int_equal(estimates_take(&e, 2, 0), 1);
    estimates_note(&e, 2, 5);
    estimates_settle(&e, 9, add, &rest); /* of the first name no operation was sampled */
    assert_int_equal(rest.calls, 0);
    estimates_done(&e);
}

/* The first operations of a selection are slower: none of them represents most of the others. */
TEST(the_rest_is_spread_over_a_selection)
{
    struct estimates e = { 0 };
    uint64_t most = 0, all = 0;
    for (uint32_t turn = 0; turn < 64; turn++) {
        estimates_count(&e, 1, 640000);
        for (int i = 0; i < 10000 && turn % 32 == 31; i++) {
            uint64_t n = estimates_take(&e, 1, turn);
            most = turn > 32 && n > most ? n : most;
            all += turn > 32 ? n : 0;
        }
    }
    assert_true(most > 0 && all > 0 && most * 1000 < all);
    estimates_done(&e);
}

TEST(lost_operations_had_the_names_of_the_others)
{
    struct estimates e = { 0 };
    struct added rest = { 0 };
    estimates_count_lost(&e, 100); /* nothing is known */
    estimates_count(&e, 1, 3000);
    estimates_count(&e, 2, 1000);
    estimates_count_lost(&e, 400);
    uint64_t first = estimates_take(&e, 1, 0), second = estimates_take(&e, 2, 0);
    estimates_note(&e, 1, 1);
    estimates_settle(&e, 1, add, &rest);
    assert_int_equal(first + rest.n, 3300);
    rest = (struct added){ 0 };
    estimates_note(&e, 2, 2);
    estimates_settle(&e, 1, add, &rest);
    assert_int_equal(second + rest.n, 1100);
    estimates_done(&e);
}

TEST(a_name_that_goes_on_is_not_settled)
{
    struct estimates e = { 0 };
    struct added rest = { 0 };
    estimates_count(&e, 1, 5000);
    estimates_take(&e, 1, 10);
    estimates_note(&e, 1, 3);
    estimates_settle(&e, 10, add, &rest);
    assert_int_equal(rest.calls, 0);
    estimates_forget_samples(&e); /* the sample is no longer there */
    estimates_settle(&e, 11, add, &rest);
    assert_int_equal(rest.calls, 0);
    estimates_done(&e);
}

TEST_MAIN(NULL, NULL)
