// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ui/table_rows.h"
#include "unit_test.h"

#define GROUPS 6
static const char *const labels[GROUPS + 1] = { "all", "a", "b", "c", "d", "e", "f" };

/* Rows of whole groups: group k has the weight and the sample count weights[k - 1], out of `all`. */
struct world {
    struct table_rows t;
    struct view view;
    struct view_group_info groups[GROUPS + 1];
    struct result_entry entries[GROUPS];
    uint64_t now_ns;
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(sizeof *w);
    for (uint32_t i = 0; i <= GROUPS; i++)
        w->groups[i] = (struct view_group_info){ .label = labels[i], .key = 100 + i };
    w->t.sort[0] = COLUMN_SELF;
    w->t.n_sort = 1;
    w->view.result.from_ns = 1000;
    w->view.result.to_ns = 1799;
    w->now_ns = 1330;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    table_rows_done(&w->t);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void build_rows(struct world *w, const uint32_t weights[GROUPS], uint64_t all, bool afresh)
{
    struct view *v = &w->view;
    v->groups = w->groups;
    v->n_groups = GROUPS + 1;
    v->result.entries = w->entries;
    v->result.n_entries = 0;
    v->result.weight = all;
    for (uint32_t i = 0; i < GROUPS; i++) {
        struct result_entry *e = &w->entries[v->result.n_entries];
        if (!weights[i])
            continue;
        *e = (struct result_entry){ .group = i + 1, .weight = weights[i], .count = weights[i] };
        e->trend[3] = weights[i];
        v->result.n_entries++;
    }
    table_rows_build(&w->t, v, VIEW_GROUP_COMM, w->now_ns, afresh);
}

static void assert_order(const struct world *w, const char *expected)
{
    char order[GROUPS + 1] = "";
    assert_int_equal(w->t.n, strlen(expected));
    for (size_t i = 0; i < w->t.n; i++)
        order[i] = table_row_name(&w->t, w->t.rows[i])[0];
    assert_string_equal(order, expected);
}

FIXTURE_TEST(the_largest_rows_are_first)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 10, 30, 20, 0, 60, 50 }, 1000, true);
    assert_order(w, "efbca");
    assert_int_equal(w->t.rows[0]->self_tenths, 60);
}

FIXTURE_TEST(rows_that_look_equal_keep_their_order)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 549, 545, 540, 530, 520, 513 }, 100000, true);
    assert_order(w, "abcdef");
    build_rows(w, (const uint32_t[]){ 513, 520, 530, 540, 545, 549 }, 100000, false);
    assert_order(w, "abcdef");
}

/* As for tracepoints, whose self share is 0.0 everywhere. */
FIXTURE_TEST(rows_with_the_same_share_are_sorted_by_samples_then_name)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 3, 40, 3, 41, 3, 90 }, 1000000, true);
    assert_order(w, "fdbace");
    for (int i = 0; i < 3; i++) { /* whatever the keys are */
        uint64_t key = w->groups[1].key;
        w->groups[1].key = w->groups[3].key;
        w->groups[3].key = w->groups[5].key;
        w->groups[5].key = key;
        build_rows(w, (const uint32_t[]){ 3, 40, 3, 41, 3, 90 }, 1000000, true);
        assert_order(w, "fdbace");
    }
}

FIXTURE_TEST(rows_with_the_same_share_move_when_the_magnitude_of_samples_changes)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 60, 50, 40, 3, 2, 1 }, 10000000, true);
    assert_order(w, "abcdef");
    build_rows(w, (const uint32_t[]){ 60, 61, 40, 3, 2, 200 }, 10000000, false);
    assert_order(w, "fbcaed");
}

FIXTURE_TEST(a_row_that_grows_moves_up_and_displaces_only_one)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 640, 540, 530, 525, 520, 515 }, 100000, true);
    assert_order(w, "abcdef");
    build_rows(w, (const uint32_t[]){ 640, 540, 530, 525, 560, 515 }, 100000, false);
    assert_order(w, "aecdbf");
}

FIXTURE_TEST(a_rate_covers_only_the_time_the_event_was_sampled)
{
    struct world *w = *state;
    w->view.span_ns = 4 * NS_PER_SEC;
    build_rows(w, (const uint32_t[GROUPS]){ 1000, 10 }, 1010, true);
    assert_true(table_row_rate(&w->t, w->t.rows[0]) == 250); /* events per second */
    w->view.weight_is_time = true;
    assert_true(table_row_rate(&w->t, w->t.rows[0]) == 1000.0 / (4.0 * NS_PER_SEC)); /* CPUs */
    w->view.span_ns = NS_PER_SEC / 10;
    assert_true(isnan(table_row_rate(&w->t, w->t.rows[0]))); /* too short */
    w->view.weight_is_time = false;
}

FIXTURE_TEST(shown_values_are_always_in_order)
{
    struct world *w = *state;
    uint32_t weights[GROUPS], random = 12345;
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < GROUPS; i++) {
            random = random * 1103515245 + 12345;
            weights[i] = (random >> 16) % 400;
        }
        build_rows(w, weights, 100000, false);
        unsigned seen = 0;
        for (size_t i = 0; i < w->t.n; i++) {
            assert_true(i == 0 || w->t.rows[i - 1]->self_tenths >= w->t.rows[i]->self_tenths);
            assert_int_equal(w->t.rows[i]->self, weights[w->t.rows[i]->group - 1]);
            seen |= 1u << w->t.rows[i]->group;
        }
        for (int i = 0; i < GROUPS; i++)
            assert_int_equal((seen >> (i + 1)) & 1, weights[i] != 0);
    }
}

FIXTURE_TEST(rows_sort_by_counts_of_other_events_and_rows_without_are_last)
{
    struct world *w = *state;
    uint64_t group_sums[GROUPS * 2] = { 0 };
    const uint64_t instructions[GROUPS] = { 100, 800, 20, 300, 50, 2 };
    for (int i = 0; i < GROUPS; i++)
        group_sums[i * 2] = instructions[i];
    w->view.result.group_sums = group_sums;
    w->view.result.group_events = 2;
    w->view.group_sums[GROUP_COLUMN_IPC] =
        (struct view_group_column){ "IPC", GROUP_COLUMN_RATE, 0, GROUP_COLUMN_ITSELF, 0 };
    w->t.sort[0] = COLUMN_IPC;
    build_rows(w, (const uint32_t[]){ 100, 200, 200, 100, 100, 4 }, 1000, true);
    assert_order(w, "bdaecf"); /* 4, 3, 1, 0.5, 0.1, and one with too few samples */
    assert_true(table_row_group_sums(&w->t, w->t.rows[0], GROUP_COLUMN_IPC) == 4);
    table_rows_sort(&w->t, COLUMN_IPC, true);
    assert_order(w, "ceadbf");
}

/* weights[f][k]: function f + 1 in cgroup k + 1. */
static void build_rows_by_cgroup(struct world *w, const uint32_t weights[2][3], uint32_t chosen, bool afresh)
{
    static uint32_t parent[3], frame[3] = { 0, 1, 2 }, frame_func[3] = { 0, 1, 2 };
    static struct view_function funcs[3] = { { .name = "" },
                                             { .name = "x", .key = 1 },
                                             { .name = "y", .key = 2 } };
    struct view *v = &w->view;
    v->result = (struct result){ .parent = parent,
                                 .frame = frame,
                                 .n_nodes = 3,
                                 .n_frames = 3,
                                 .entries = w->entries,
                                 .weight = 1000,
                                 .from_ns = 1000,
                                 .to_ns = 1799 };
    v->frame_func = frame_func;
    v->funcs = funcs;
    v->n_funcs = 3;
    v->groups = w->groups;
    v->n_groups = 4;
    v->n_chosen = chosen;
    for (uint32_t f = 0; f < 2; f++)
        for (uint32_t k = 0; k < 3; k++)
            if (weights[f][k])
                w->entries[v->result.n_entries++] = (struct result_entry){
                    .group = k + 1, .node = f + 1, .weight = weights[f][k], .count = weights[f][k]
                };
    table_rows_build(&w->t, v, VIEW_GROUP_CGROUP_SYMBOL, w->now_ns, afresh);
}

static void assert_parts(const struct world *w, const char *expected)
{
    char parts[TABLE_PARTS + 1] = "";
    for (uint32_t i = 0; i < w->t.n_parts; i++)
        parts[i] = w->groups[w->t.parts[i].group].label[0];
    assert_string_equal(parts, expected);
}

FIXTURE_TEST(chosen_cgroups_have_columns_in_the_chosen_order)
{
    struct world *w = *state;
    build_rows_by_cgroup(w, (const uint32_t[2][3]){ { 100, 0, 300 }, { 200, 0, 0 } }, 3, true);
    assert_parts(w, "abc");
    assert_order(w, "xy");
    assert_int_equal(w->t.rows[0]->self_tenths, 400);
    assert_int_equal(table_row_part(&w->t, w->t.rows[0], 0), 100);
    assert_int_equal(table_row_part(&w->t, w->t.rows[0], 1), 0);
    assert_int_equal(table_row_part(&w->t, w->t.rows[0], 2), 300);
    assert_int_equal(table_row_part(&w->t, w->t.rows[1], 0), 200);
    table_rows_sort(&w->t, COLUMN_CGROUP_1, false);
    assert_order(w, "yx");
}

FIXTURE_TEST(the_heaviest_cgroups_get_columns_and_keep_them)
{
    struct world *w = *state;
    build_rows_by_cgroup(w, (const uint32_t[2][3]){ { 100, 0, 300 }, { 50, 0, 0 } }, 0, true);
    assert_parts(w, "ca");
    build_rows_by_cgroup(w, (const uint32_t[2][3]){ { 100, 500, 300 }, { 400, 0, 0 } }, 0, false);
    assert_parts(w, "cab");
    assert_int_equal(table_row_part(&w->t, w->t.rows[0], 0), 300);
    build_rows_by_cgroup(w, (const uint32_t[2][3]){ { 0, 500, 300 }, { 0, 0, 0 } }, 0, false);
    assert_parts(w, "cb");
    build_rows_by_cgroup(w, (const uint32_t[2][3]){ { 0, 500, 300 }, { 0, 0, 0 } }, 0, true);
    assert_parts(w, "bc");
}

#define MANY 400

static uint32_t weights_of_many[MANY];

static int compare_many(const void *px, const void *py)
{
    uint32_t x = *(const uint32_t *)px, y = *(const uint32_t *)py;
    if (weights_of_many[x] != weights_of_many[y])
        return weights_of_many[x] < weights_of_many[y] ? 1 : -1;
    return x < y ? 1 : -1; /* keys grow with the number */
}

/* The share, and the magnitude of the samples. */
static uint32_t shown_value(uint32_t i)
{
    uint32_t bits = 0;
    while (weights_of_many[i] >> bits)
        bits++;
    return (uint32_t)(weights_of_many[i] / 100.0 + 0.5) * 64 + bits;
}

/* The specified order: sorted, except that a row that looks equal to those at its old position stays
 * there. */
static void order_many(uint32_t *order, uint32_t n, const uint32_t *old, uint32_t n_old)
{
    uint32_t sorted[MANY];
    memcpy(sorted, order, n * sizeof *order);
    qsort(sorted, n, sizeof *sorted, compare_many);
    for (uint32_t i = 0; i < n; i++)
        order[i] = MANY;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t place = 0; place < n_old && place < n; place++)
            if (old[place] == sorted[i] && shown_value(sorted[place]) == shown_value(sorted[i]))
                order[place] = sorted[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0;
        for (uint32_t place = 0; place < n; place++)
            at = order[place] == sorted[i] ? MANY : at;
        for (; at < n && (order[at] != MANY || shown_value(sorted[at]) != shown_value(sorted[i])); at++)
            ;
        if (at < n)
            order[at] = sorted[i];
    }
}

FIXTURE_TEST(many_rows_move_as_specified)
{
    struct world *w = *state;
    static struct view_group_info groups[MANY + 1];
    static struct result_entry entries[MANY];
    uint32_t order[MANY], old[MANY], n_old = 0, random = 1;
    for (uint32_t i = 0; i <= MANY; i++)
        groups[i] = (struct view_group_info){ .label = "x", .key = 1000 + i };
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t n = 0, changes = round % 7 == 6 ? MANY : 20;
        for (uint32_t i = 0; i < changes; i++) {
            random = random * 1103515245 + 12345;
            weights_of_many[random >> 8 & 255] = (random >> 16) % 3000;
        }
        w->view.groups = groups;
        w->view.n_groups = MANY + 1;
        w->view.result.entries = entries;
        w->view.result.weight = 100000;
        for (uint32_t i = 0; i < MANY; i++)
            if (weights_of_many[i]) {
                entries[n] = (struct result_entry){ .group = i + 1,
                                                    .weight = weights_of_many[i],
                                                    .count = weights_of_many[i] };
                order[n++] = i;
            }
        w->view.result.n_entries = n;
        table_rows_build(&w->t, &w->view, VIEW_GROUP_COMM, w->now_ns, round == 0);
        order_many(order, n, old, n_old);
        assert_int_equal(w->t.n, n);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(w->t.rows[i]->group, order[i] + 1);
        memcpy(old, order, n * sizeof *order);
        n_old = n;
    }
}

FIXTURE_TEST(a_new_query_is_sorted_by_its_own_values)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 540, 530, 520, 510, 505, 500 }, 100000, true);
    build_rows(w, (const uint32_t[]){ 501, 502, 503, 504, 505, 549 }, 100000, true);
    assert_order(w, "fedcba");
}

FIXTURE_TEST(a_new_sort_column_is_sorted_by_its_own_values)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 540, 530, 520, 510, 505, 500 }, 100000, true);
    build_rows(w, (const uint32_t[]){ 501, 502, 503, 504, 505, 549 }, 100000, false);
    table_rows_sort(&w->t, COLUMN_SAMPLES, false);
    assert_order(w, "fedcba");
    table_rows_sort(&w->t, COLUMN_SAMPLES, true);
    assert_order(w, "abcdef");
    table_rows_sort(&w->t, COLUMN_FUNCTION, false);
    assert_order(w, "abcdef");
}

FIXTURE_TEST(rows_with_the_same_key_are_all_kept)
{
    struct world *w = *state;
    w->groups[2].key = w->groups[3].key = w->groups[1].key;
    for (int i = 0; i < 3; i++) {
        build_rows(w, (const uint32_t[]){ 503, 502, 501, 0, 0, 0 }, 100000, false);
        assert_int_equal(w->t.n, 3);
        assert_int_equal(w->t.rows[0]->self + w->t.rows[1]->self + w->t.rows[2]->self, 1506);
    }
}

static uint64_t trend_of(struct world *w, uint32_t row, uint32_t eighth)
{
    uint64_t trend[QUERY_TREND];
    table_row_trend(&w->t, w->t.rows[row], trend);
    return trend[eighth];
}

FIXTURE_TEST(a_trend_keeps_its_bars_until_the_next_beat)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[]){ 30, 0, 0, 0, 0, 0 }, 1000, true);
    assert_int_equal(trend_of(w, 0, 3), 100);
    w->now_ns = 1340;
    build_rows(w, (const uint32_t[]){ 32, 0, 0, 0, 0, 0 }, 1000, false);
    assert_int_equal(trend_of(w, 0, 3), 100);
    assert_int_equal(table_row_newest(&w->t, w->t.rows[0]), 32);
    w->now_ns = 1380;
    build_rows(w, (const uint32_t[]){ 40, 0, 0, 0, 0, 0 }, 1000, false);
    assert_int_equal(trend_of(w, 0, 3), 50);
    build_rows(w, (const uint32_t[]){ 80, 0, 0, 0, 0, 0 }, 1000, true);
    assert_int_equal(trend_of(w, 0, 3), 100);
}

FIXTURE_TEST(trend_sorts_by_the_current_eighth)
{
    struct world *w = *state;
    w->t.sort[0] = COLUMN_TREND;
    build_rows(w, (const uint32_t[]){ 1, 2, 3, 0, 0, 0 }, 1000, true);
    assert_order(w, "cba");
}

FIXTURE_TEST(an_empty_result_has_no_rows)
{
    struct world *w = *state;
    build_rows(w, (const uint32_t[GROUPS]){ 0 }, 0, false);
    assert_int_equal(w->t.n, 0);
    table_rows_sort(&w->t, COLUMN_TOTAL, true);
    assert_int_equal(w->t.n, 0);
}

TEST_MAIN(NULL, NULL)
