// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/functions.h"
#include "profile_fixture.h"
#include "unit_test.h"

struct world {
    struct fixture f;
    struct functions functions;
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(sizeof *w);

    fixture_init(&w->f);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    functions_done(&w->functions);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

/* In most tests frame number k is function k. */
static const uint32_t same[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

static void build(struct world *w, const uint32_t *func_of, bool with_group)
{
    uint32_t *funcs;

    fixture_query(&w->f);
    funcs = fixture_funcs(&w->f.result, func_of);
    w->f.result.since = 0; /* because func_of may have changed */
    functions_build(&w->functions, &w->f.result, funcs, 10, with_group);
    mem_free(funcs);
}

static const struct function_row *row_of(const struct world *w, uint32_t func, uint32_t group)
{
    const struct function_row *found = NULL;

    for (uint32_t i = 0; i < w->functions.n; i++) {
        const struct function_row *row = &w->functions.rows[i];

        if (row->func != func || row->group != group)
            continue;
        assert_null(found); /* one row each */
        found = row;
    }
    return found;
}

static void assert_row(const struct world *w, uint32_t func, uint32_t group, uint64_t self, uint64_t total)
{
    const struct function_row *row = row_of(w, func, group);

    assert_non_null(row);
    assert_int_equal(row->self_weight, self);
    assert_int_equal(row->total_weight, total);
}

FIXTURE_TEST(an_empty_result_has_no_rows)
{
    struct world *w = *state;

    build(w, same, false);
    assert_int_equal(w->functions.n, 0);
}

FIXTURE_TEST(self_counts_leaves_and_total_counts_whole_stacks)
{
    struct world *w = *state;

    fixture_stack(&w->f, "123", 10, 0);
    fixture_stack(&w->f, "12", 5, 0);
    fixture_stack(&w->f, "14", 1, 0);
    build(w, same, false);
    assert_int_equal(w->functions.n, 4);
    assert_row(w, 1, 0, 0, 16);
    assert_row(w, 2, 0, 5, 15);
    assert_row(w, 3, 0, 10, 10);
    assert_row(w, 4, 0, 1, 1);
    assert_int_equal(row_of(w, 1, 0)->total_count, 3);
    assert_int_equal(row_of(w, 1, 0)->self_count, 0);
    assert_int_equal(row_of(w, 2, 0)->self_count, 1);
}

FIXTURE_TEST(a_recursive_function_counts_once_per_sample)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1222", 10, 0);
    fixture_stack(&w->f, "12321", 100, 0);
    build(w, same, false);
    assert_row(w, 1, 0, 100, 110);
    assert_row(w, 2, 0, 10, 110);
    assert_row(w, 3, 0, 0, 100);
    assert_int_equal(row_of(w, 2, 0)->total_count, 2);
}

FIXTURE_TEST(frames_of_one_function_at_two_addresses_share_a_row)
{
    static const uint32_t func_of[] = { 0, 1, 2, 2, 2 };
    struct world *w = *state;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "13", 10, 0);
    fixture_stack(&w->f, "134", 100, 0);
    build(w, func_of, false);
    assert_int_equal(w->functions.n, 2);
    assert_row(w, 1, 0, 0, 111);
    assert_row(w, 2, 0, 111, 111);
}

FIXTURE_TEST(an_omitted_frame_gives_its_self_weight_to_its_caller)
{
    static const uint32_t func_of[] = { 0, 1, 0, 3, 0 };
    struct world *w = *state;

    fixture_stack(&w->f, "124", 1, 0);
    fixture_stack(&w->f, "1234", 10, 0);
    fixture_stack(&w->f, "24", 100, 0);
    build(w, func_of, false);
    assert_int_equal(w->functions.n, 2);
    assert_row(w, 1, 0, 1, 11);
    assert_row(w, 3, 0, 10, 10);
}

FIXTURE_TEST(rows_can_be_grouped)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "12", 10, 1);
    fixture_stack(&w->f, "1", 100, 1);
    fixture_stack(&w->f, "13", 1000, 0);
    w->f.query.n_threads = 2;
    w->f.query.thread_group = (const uint32_t[]){ 5, 4000000000u };
    build(w, same, true);
    assert_int_equal(w->functions.n, 5);
    assert_row(w, 1, 5, 0, 1001);
    assert_row(w, 2, 5, 1, 1);
    assert_row(w, 3, 5, 1000, 1000);
    assert_row(w, 1, 4000000000u, 100, 110);
    assert_row(w, 2, 4000000000u, 10, 10);
    build(w, same, false); /* the same result without groups */
    assert_int_equal(w->functions.n, 3);
    assert_row(w, 1, 0, 100, 1111);
    assert_row(w, 2, 0, 11, 11);
}

FIXTURE_TEST(many_groups_keep_every_sample)
{
    enum { GROUPS = 5000 };
    struct world *w = *state;
    uint32_t *groups = mem_array(GROUPS, sizeof *groups);

    for (uint32_t i = 0; i < GROUPS; i++) {
        groups[i] = i;
        fixture_stack(&w->f, "12", 1, i);
    }
    w->f.query.n_threads = GROUPS;
    w->f.query.thread_group = groups;
    build(w, same, true);
    assert_int_equal(w->functions.n, 2 * GROUPS);
    for (uint32_t i = 0; i < w->functions.n; i++) {
        assert_int_equal(w->functions.rows[i].total_weight, 1);
        assert_int_equal(w->functions.rows[i].self_weight, w->functions.rows[i].func == 2);
    }
    mem_free(groups);
}

FIXTURE_TEST(one_function_for_all_frames_counts_each_sample_once)
{
    uint32_t *funcs;
    struct world *w = *state;
    uint64_t total = 0, self = 0;

    fixture_fill(&w->f, 500);
    w->f.query.by_cpu = true;
    fixture_query(&w->f);
    funcs = mem_array(w->f.result.n_frames, sizeof *funcs);
    for (uint32_t i = 0; i < w->f.result.n_frames; i++)
        funcs[i] = 1; /* number 0 too: samples without a stack belong to a group */
    functions_build(&w->functions, &w->f.result, funcs, 2, true);
    for (uint32_t i = 0; i < w->functions.n; i++) {
        assert_int_equal(w->functions.rows[i].self_count, w->functions.rows[i].total_count);
        total += w->functions.rows[i].total_weight;
        self += w->functions.rows[i].self_weight;
    }
    assert_int_equal(w->functions.n, 4);
    assert_int_equal(total, w->f.result.weight);
    assert_int_equal(self, w->f.result.weight);
    mem_free(funcs);
}

FIXTURE_TEST(samples_without_a_stack_have_a_row_only_on_request)
{
    struct world *w = *state;
    uint32_t funcs[] = { 0, 1 };

    fixture_stack(&w->f, "1", 1, 0);
    fixture_stack(&w->f, "", 10, 0);
    fixture_query(&w->f);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    assert_int_equal(w->functions.n, 1);
    assert_row(w, 1, 0, 1, 1);
    funcs[0] = 9;
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    assert_int_equal(w->functions.n, 2);
    assert_row(w, 1, 0, 1, 1);
    assert_row(w, 9, 0, 10, 10);
}

FIXTURE_TEST(filtered_entries_create_no_rows)
{
    struct world *w = *state;
    uint32_t *funcs;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "13", 10, 0);
    fixture_query(&w->f);
    result_filter(&w->f.result, (const uint8_t[]){ 1, 0 });
    funcs = fixture_funcs(&w->f.result, same);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    mem_free(funcs);
    assert_int_equal(w->functions.n, 2);
    assert_row(w, 1, 0, 0, 10);
}

FIXTURE_TEST(very_deep_stacks_need_no_deep_recursion)
{
    struct world *w = *state;
    struct sample s = { .time_ns = 1, .weight = 3 };
    uint32_t *funcs;

    for (uint32_t i = 0; i < 300000; i++)
        s.stack = stacks_child(w->f.stacks, s.stack, stacks_frame(w->f.stacks, 0, 16 * (1 + i % 4)));
    history_append(w->f.history, &s, NULL, 0);
    fixture_query(&w->f);
    funcs = fixture_funcs(&w->f.result, same);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    assert_int_equal(w->functions.n, 4);
    assert_row(w, 4, 0, 3, 3);
    assert_row(w, 1, 0, 0, 3);
    mem_free(funcs);
}

/* Returns the functions of a sample, the leaf last; n is 0 if all frames are omitted. */
static uint32_t oracle_path(const struct fixture_sample *s, const uint32_t *func_of, uint32_t *path)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->depth; i++)
        if (func_of[s->frames[i]])
            path[n++] = func_of[s->frames[i]];
    return n;
}

static bool contains(const uint32_t *path, uint32_t n, uint32_t func)
{
    while (n-- > 0)
        if (path[n] == func)
            return true;
    return false;
}

static void compare_row(const struct world *w, const uint32_t *func_of, uint32_t func, uint32_t group,
                        bool with_group)
{
    const struct result *r = &w->f.result;
    struct function_row want = { 0 };
    const struct function_row *row = row_of(w, func, group);
    uint64_t eighth = (r->to_ns - r->from_ns) / QUERY_TREND + 1;

    for (uint32_t i = 0; i < w->f.n; i++) {
        const struct fixture_sample *s = &w->f.samples[i];
        uint32_t path[FIXTURE_DEPTH], n = oracle_path(s, func_of, path);
        bool is_self = n && path[n - 1] == func;

        if (with_group && w->f.query.thread_group[s->s.thread] != group)
            continue;
        if (is_self) {
            want.self_weight += s->s.weight;
            want.self_count++;
        }
        if (contains(path, n, func)) {
            want.total_weight += s->s.weight;
            want.total_count++;
            want.trend[(s->s.time_ns - r->from_ns) / eighth] += s->s.weight;
        }
    }
    if (!want.total_count) {
        assert_null(row);
        return;
    }
    assert_non_null(row);
    assert_int_equal(row->self_weight, want.self_weight);
    assert_int_equal(row->self_count, want.self_count);
    assert_int_equal(row->total_weight, want.total_weight);
    assert_int_equal(row->total_count, want.total_count);
    assert_memory_equal(row->trend, want.trend, sizeof want.trend);
}

FIXTURE_TEST(random_tables_match_a_per_sample_oracle)
{
    static const uint32_t group[] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 };
    struct world *w = *state;

    w->f.query.n_threads = 9;
    w->f.query.thread_group = group;
    for (int round = 0; round < 16; round++) {
        bool with_group = round & 1;
        uint32_t func_of[12] = { 0 };

        for (uint32_t i = 1; i < 12; i++)
            func_of[i] = fixture_random(&w->f, 7);
        fixture_fill(&w->f, 100);
        build(w, func_of, with_group);
        for (uint32_t func = 1; func < 7; func++)
            for (uint32_t g = 0; g < (with_group ? 3 : 1); g++)
                compare_row(w, func_of, func, g, with_group);
    }
}

static void assert_same_rows(const struct world *w, const struct functions *want)
{
    assert_int_equal(w->functions.n, want->n);
    for (uint32_t i = 0; i < want->n; i++) {
        const struct function_row *row = row_of(w, want->rows[i].func, want->rows[i].group);

        assert_non_null(row);
        assert_memory_equal(row, &want->rows[i], sizeof *row);
    }
}

static void filter_by_leaf(struct result *r, uint32_t leaf)
{
    uint8_t *drop = mem_array(r->n_entries + 1, 1);

    for (uint32_t i = 0; i < r->n_entries; i++)
        drop[i] = fixture_frame(r, r->frame[r->entries[i].node]) % 4 == leaf;
    result_filter(r, drop);
    mem_free(drop);
}

FIXTURE_TEST(an_incrementally_updated_table_equals_a_rebuilt_one)
{
    static const uint32_t group[] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 };
    struct world *w = *state;
    struct result *r = &w->f.result;
    uint32_t func_of[12] = { 0 }, leaf = 0, gone_on = 0;
    bool with_group = false;

    w->f.query = (struct query){ .from_ns = 1000, .to_ns = 3000, .event = QUERY_ANY_EVENT };
    w->f.query.n_threads = 9;
    w->f.query.thread_group = group;
    for (int round = 0; round < 200; round++) {
        struct functions fresh = { 0 };
        uint32_t *funcs, what = fixture_random(&w->f, 20);

        fixture_fill(&w->f, fixture_random(&w->f, 30));
        fixture_query(&w->f);
        with_group ^= what == 0;
        leaf = what == 2 ? fixture_random(&w->f, 5) : leaf;
        filter_by_leaf(r, leaf);
        for (uint32_t i = 1; i < 12 && (what == 3 || !round); i++)
            func_of[i] = fixture_random(&w->f, 12);
        r->since = what == 3 ? 0 : r->since;
        gone_on += r->since != 0;
        funcs = fixture_funcs(r, func_of);
        functions_build(&w->functions, r, funcs, 12, with_group);
        functions_build(&fresh, r, funcs, 12, with_group);
        assert_same_rows(w, &fresh);
        functions_done(&fresh);
        mem_free(funcs);
    }
    assert_true(gone_on > 100);
}

FIXTURE_TEST(a_table_that_missed_a_result_is_rebuilt)
{
    struct world *w = *state;

    w->f.query = (struct query){ .from_ns = 1, .to_ns = 100 };
    fixture_stack(&w->f, "12", 1, 0);
    build(w, same, false);
    fixture_stack(&w->f, "12", 10, 0);
    fixture_query(&w->f);
    fixture_stack(&w->f, "13", 100, 0);
    fixture_query(&w->f);
    uint32_t *funcs = fixture_funcs(&w->f.result, same);
    assert_int_not_equal(w->f.result.since, 0);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    assert_row(w, 1, 0, 0, 111);
    functions_build(&w->functions, &w->f.result, funcs, 10, false); /* and nothing is added twice */
    assert_row(w, 1, 0, 0, 111);
    mem_free(funcs);
}

static void query_and_update(struct world *w)
{
    fixture_query(&w->f);
    uint32_t *funcs = fixture_funcs(&w->f.result, same);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    mem_free(funcs);
}

/* The first samples arrive after an empty query, with a trie that replaced a larger one. */
FIXTURE_TEST(an_empty_table_can_be_updated_after_its_trie_was_replaced)
{
    static const char *const others[] = { "34", "56", "78", "7654" };
    struct world *w = *state;

    w->f.query = (struct query){ .from_ns = 1, .to_ns = 100 };
    fixture_stack(&w->f, "12", 1, 0);
    query_and_update(w);
    for (size_t i = 0; i < 4; i++) {
        fixture_stack(&w->f, others[i], 1, 0);
        query_and_update(w);
    }
    w->f.query = (struct query){ .from_ns = 1000, .to_ns = 2000 };
    query_and_update(w);
    assert_int_equal(w->functions.n, 0);
    fixture_add(&w->f, &(struct sample){ .time_ns = 1500, .weight = 5 }, (const uint32_t[]){ 9, 8 }, 2);
    query_and_update(w);
    assert_int_not_equal(w->f.result.since, 0);
    assert_int_equal(w->functions.n, 2);
    assert_row(w, 9, 0, 0, 5);
    assert_row(w, 8, 0, 5, 5);
}

TEST_MAIN(NULL, NULL)
