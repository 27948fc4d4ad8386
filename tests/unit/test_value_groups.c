// SPDX-License-Identifier: GPL-2.0-or-later
/* Values in groups: counts, sums, maxima and histograms against values computed by hand. */

#include <stdio.h>

#include "base/buf.h"
#include "profile/value_groups.h"
#include "unit_test.h"

static void add(struct value_groups *g, const char *key, int64_t number)
{
    value_groups_add(g, key, &(struct value_number){ (uint64_t)number, number < 0 });
}

static const struct value_group *find(const struct value_groups *g, const char *key)
{
    for (size_t i = 0; i < g->groups.n; i++)
        if (!strcmp(g->groups.items[i].key, key))
            return &g->groups.items[i];
    fail_msg("there is no group %s", key);
    return NULL;
}

static void assert_sum(const struct value_group *g, const char *sum, const char *max)
{
    struct buf text = { 0 };
    value_group_put_sum(g, &text);
    assert_string_equal(buf_str(&text), sum);
    text.len = 0;
    value_number_put(&g->max, &text);
    assert_string_equal(buf_str(&text), max);
    buf_done(&text);
}

TEST(groups_have_counts_sums_and_maxima)
{
    struct value_groups g = { 0 };
    value_groups_clear(&g);
    add(&g, "read", 100);
    add(&g, "write", 7);
    add(&g, "read", 4096);
    add(&g, "read", 0);
    value_groups_add(&g, "read", NULL);
    assert_int_equal(g.groups.n, 2);
    const struct value_group *read = find(&g, "read");
    assert_int_equal(read->count, 4);
    assert_int_equal(read->numbers, 3);
    assert_sum(read, "4196", "4096");
    assert_sum(find(&g, "write"), "7", "7");
    assert_sum(&g.all, "4203", "4096");
    assert_int_equal(g.all.count, 5);
    assert_int_equal(g.other.count, 0);
    value_groups_clear(&g);
    assert_int_equal(g.groups.n + g.all.count, 0);
    add(&g, "read", 1);
    assert_sum(find(&g, "read"), "1", "1");
    value_groups_done(&g);
}

TEST(negative_numbers_are_summed_with_their_sign)
{
    struct value_groups g = { 0 };
    uint64_t number = 1;
    value_groups_clear(&g);
    add(&g, "ret", -2);
    add(&g, "ret", -11);
    assert_sum(find(&g, "ret"), "-13", "-2");
    assert_null(find(&g, "ret")->sizes);
    assert_false(value_group_percentile(find(&g, "ret"), 0.5, &number));
    add(&g, "ret", 5);
    add(&g, "ret", 5);
    add(&g, "ret", 5);
    assert_sum(find(&g, "ret"), "2", "5");
    assert_int_equal(find(&g, "ret")->below, 2);
    assert_true(value_group_sum(find(&g, "ret")) == 2);
    assert_false(value_group_percentile(find(&g, "ret"), 0.4, &number));
    assert_true(value_group_percentile(find(&g, "ret"), 0.5, &number));
    assert_int_equal(number, 5);
    value_groups_done(&g);
}

TEST(large_sums_stay_at_their_limit)
{
    struct value_groups g = { 0 };
    value_groups_clear(&g);
    for (int i = 0; i < 3; i++)
        value_groups_add(&g, "address", &(struct value_number){ UINT64_MAX - 1, false });
    assert_sum(&g.all, ">18446744073709551615", "18446744073709551614");
    value_groups_done(&g);
}

TEST(histograms_have_a_bucket_per_power_of_two)
{
    static const struct {
        uint64_t number;
        uint32_t power;
    } cases[] = {
        { 0, 0 },     { 1, 1 },     { 2, 2 },     { 3, 2 },
        { 4, 3 },     { 7, 3 },     { 8, 4 },     { 15, 4 },
        { 16, 5 },    { 31, 5 },    { 32, 6 },    { 4095, 12 },
        { 4096, 13 }, { 8191, 13 }, { 8192, 14 }, { (UINT64_C(1) << 46) - 1, 46 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value_groups g = { 0 };
        value_groups_clear(&g);
        value_groups_add(&g, "", &(struct value_number){ cases[i].number, false });
        for (uint32_t power = 0; power < DURATION_POWERS; power++)
            assert_int_equal(durations_power(g.all.sizes, power), power == cases[i].power);
        value_groups_done(&g);
    }
}

TEST(the_last_bucket_has_all_larger_numbers)
{
    struct durations d = { 0 };
    durations_add(&d, duration_bucket(UINT64_C(1) << 46), 1);
    durations_add(&d, duration_bucket(UINT64_C(1) << 50), 1);
    durations_add(&d, duration_bucket(UINT64_MAX), 1);
    assert_int_equal(durations_power(&d, DURATION_POWERS - 1), 3);
    assert_int_equal(durations_power(&d, DURATION_POWERS - 2), 0);
}

TEST(further_keys_are_counted_together)
{
    struct value_groups g = { 0 };
    value_groups_clear(&g);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100000; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            add(&g, key, 1);
        }
    assert_int_equal(g.groups.n, VALUE_GROUPS_MAX);
    assert_int_equal(find(&g, "key 9999")->count, 2);
    assert_int_equal(g.other.count, 2 * (100000 - VALUE_GROUPS_MAX));
    assert_int_equal(g.all.count, 200000);
    assert_sum(&g.other, "180000", "1");
    value_groups_done(&g);
}

TEST_MAIN(NULL, NULL)
