// SPDX-License-Identifier: GPL-2.0-or-later
/* One operation in N: the filters that select them, and when N changes. */
#include <stdio.h>
#include <string.h>

#include "perf/open.h"
#include "session/collect/sample_source.h"
#include "unit_test.h"

static struct event end_of(const char *key, uint8_t shift)
{
    struct event ev = { .of_pair = true, .ends = true, .key_shift = shift };
    snprintf(ev.key, sizeof ev.key, "%s", key);
    return ev;
}

TEST(a_filter_selects_bits_of_the_key)
{
    struct event thread = end_of("common_pid", 0), sector = end_of("sector", 3);
    struct live_selection s = { .one_in = 8, .rest = 5 };
    char filter[SELECT_FILTER_MAX];
    assert_true(select_filter(&thread, &s, 0, filter));
    assert_string_equal(filter, "((common_pid & 1) && !(common_pid & 2) && (common_pid & 4))");
    s = (struct live_selection){ .one_in = 2, .rest = 0, .n_followed = 2, .followed = { 77, UINT64_MAX } };
    assert_true(select_filter(&sector, &s, 0, filter));
    assert_string_equal(filter, "(!(sector & 8)) || (sector == 77) || (sector == 18446744073709551615)");
    sector.ends = false;
    assert_true(select_filter(&sector, &s, 0, filter)); /* new operations are not followed */
    assert_string_equal(filter, "(!(sector & 8))");
    strcpy(sector.filter, "(new == 2 || new == 3)");
    assert_true(select_filter(&sector, &s, 0, filter));
    assert_string_equal(filter, "((new == 2 || new == 3)) && ((!(sector & 8)))");
}

TEST(the_longest_filter_fits_the_kernels_limit)
{
    struct event thread = end_of("common_pid", 0), socket = end_of("skaddr", 3);
    struct live_selection s = { .one_in = 1024, .rest = 1, .n_followed = LIVE_FOLLOWED_MAX };
    char filter[SELECT_FILTER_MAX];
    for (int i = 0; i < LIVE_FOLLOWED_MAX; i++)
        s.followed[i] = 4194304;
    assert_true(select_filter(&thread, &s, 0, filter));
    assert_true(strlen(filter) < 4096 && filter[strlen(filter) - 1] == ')');
    for (int i = 0; i < LIVE_FOLLOWED_MAX; i++)
        s.followed[i] = UINT64_MAX;
    for (size_t n = 1; n < sizeof socket.filter; n++) { /* a long filter of the event's own is left out */
        memset(socket.filter, 'x', n);
        assert_true(select_filter(&socket, &s, 0, filter));
        assert_true(strlen(filter) < 4096 && filter[strlen(filter) - 1] == ')');
    }
    assert_true(filter[1] != 'x');
}

TEST(operations_of_a_cpu_are_selected_by_opening)
{
    struct event ev = end_of(EVENT_KEY_CPU, 0);
    struct live_selection s = { .one_in = 2, .rest = 1 };
    char filter[SELECT_FILTER_MAX];
    assert_false(select_filter(&ev, &s, 0, filter));
    assert_true(select_filter(&ev, &s, 3, filter));
    assert_string_equal(filter, "");
}

static uint32_t chosen(double per_second, uint32_t one_in, uint32_t most, bool lost)
{
    uint32_t out[1];
    struct selection_seen seen = { .rows = { { per_second, 0, most } },
                                   .n = 1,
                                   .mode = CALLCHAIN_NONE,
                                   .n_cpus = 2,
                                   .one_in = { one_in },
                                   .budget_percent = 5,
                                   .lost = lost };
    selection_choose(&seen, out);
    return out[0];
}

TEST(fewer_are_sampled_at_once_and_more_with_a_margin)
{
    assert_int_equal(chosen(1000, 0, 64, false), 1);
    uint32_t n = chosen(500000, 1, 64, false);
    assert_true(n > 4 && n < 64 && !(n & (n - 1)));
    assert_int_equal(chosen(500000, n, 64, false), n);
    assert_int_equal(chosen(450000, n, 64, false), n);
    assert_int_equal(chosen(1000, n, 64, false), 1);
    assert_int_equal(chosen(1e9, 1, 64, false), 64);
    assert_int_equal(chosen(1e9, 1, 1, false), 1); /* it cannot be selected */
    assert_int_equal(chosen(1000, 4, 64, true), 8);
    assert_int_equal(chosen(1000, 64, 64, true), 64);
}

TEST(rare_operations_are_all_sampled)
{
    struct rate_operations rows[] = { { 2000000, 0, 64 }, { 100, 1, 64 }, { 300, 2, 64 }, { 300, 2, 64 } };
    uint32_t n[4];
    rate_operations_fit(rows, 4, CALLCHAIN_FP, 2, 5, n);
    assert_int_equal(n[0], 64);
    assert_true(n[1] == 1 || rate_operations_cost(rows, 4, CALLCHAIN_FP, n) > 0.1);
    rows[0].per_second = 100000;
    rate_operations_fit(rows, 4, CALLCHAIN_FP, 2, 5, n);
    assert_true(n[0] > 1 && n[1] == 1 && n[2] == 1 && n[3] == 1);
    assert_true(rate_operations_cost(rows, 4, CALLCHAIN_FP, n) <= 0.1);
    rows[2].per_second = 1e6;
    rate_operations_fit(rows, 4, CALLCHAIN_FP, 2, 5, n);
    assert_true(n[2] > 1 && n[2] == n[3]); /* they share an event */
    rows[3].most = 1;
    rate_operations_fit(rows, 4, CALLCHAIN_FP, 2, 5, n);
    assert_true(n[2] == 1 && n[3] == 1);
}

TEST(the_calm_before_more_is_sampled)
{
    struct thin_calm c = { 0 };
    uint64_t s = UINT64_C(1000000000);
    assert_false(thin_is_calm(&c, true, false, 100 * s));
    assert_false(thin_is_calm(&c, true, false, 102 * s));
    assert_true(thin_is_calm(&c, true, false, 103 * s));
    assert_false(thin_is_calm(&c, false, false, 104 * s)); /* the rate is high again */
    assert_false(thin_is_calm(&c, true, false, 105 * s));
    assert_false(thin_is_calm(&c, true, true, 109 * s)); /* records were lost */
    assert_false(thin_is_calm(&c, true, false, 130 * s));
    assert_true(thin_is_calm(&c, true, false, 139 * s));
}

TEST_MAIN(NULL, NULL)
