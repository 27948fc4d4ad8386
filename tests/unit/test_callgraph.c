// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile_fixture.h"
#include "ui/callgraph.h"
#include "unit_test.h"

/* Function k has the key 100 + k and the name names[k]; group k contains thread k. */
static const char *const names[] = { NULL, "main", "parse", "Render", "malloc", "memcpy" };
#define FUNCS 6
static const char *const labels[] = { "all", "web", "db" };
#define KEY(func) (100u + (func))

struct world {
    struct fixture f;
    struct view view;
    struct view_function funcs[FUNCS];
    struct view_group_info groups[3];
    uint32_t thread_group[3];
    struct callgraph graph;
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(sizeof *w);
    fixture_init(&w->f);
    for (uint32_t i = 0; i < FUNCS; i++)
        w->funcs[i] = (struct view_function){ .name = names[i], .key = i ? KEY(i) : 0 };
    for (uint32_t i = 0; i < 3; i++) {
        w->groups[i] = (struct view_group_info){ .label = labels[i], .key = i };
        w->thread_group[i] = i;
    }
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    callgraph_done(&w->graph);
    mem_free(w->view.frame_func);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void build(struct world *w, enum callgraph_order order, uint64_t focus, bool by_group)
{
    w->f.query.thread_group = w->thread_group;
    w->f.query.n_threads = 3;
    fixture_query(&w->f);
    mem_free(w->view.frame_func);
    w->view = (struct view){ .result = w->f.result, .funcs = w->funcs, .n_funcs = FUNCS };
    w->view.groups = w->groups;
    w->view.n_groups = 3;
    w->view.frame_func = fixture_funcs(&w->f.result, (const uint32_t[]){ 0, 1, 2, 3, 4, 5 });
    w->graph.order = order;
    w->graph.focus = focus;
    w->graph.by_group = by_group;
    callgraph_build(&w->graph, &w->view);
}

/* Returns the node of a path of functions from the top such as "12"; 0: none. */
static uint32_t node_of(const struct world *w, const char *digits)
{
    uint32_t node = 0;
    for (; *digits; digits++) {
        node = callgraph_model.first_child(&w->graph, node);
        while (node && callgraph_node(&w->graph, node)->func != (uint32_t)(*digits - '0'))
            node = callgraph_model.next_sibling(&w->graph, node);
        if (!node)
            return 0;
    }
    return node;
}

static void assert_weights(const struct world *w, const char *digits, uint64_t total, uint64_t self)
{
    uint32_t node = node_of(w, digits);
    assert_int_not_equal(node, 0);
    assert_int_equal(callgraph_node(&w->graph, node)->total_weight, total);
    assert_int_equal(callgraph_self_weight(&w->graph, node), self);
}

FIXTURE_TEST(callees_count_samples_that_end_in_them_as_self)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    fixture_stack(&w->f, "124", 7, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    assert_weights(w, "1", 12, 0);
    assert_weights(w, "12", 12, 5);
    assert_weights(w, "124", 7, 7);
}

FIXTURE_TEST(callers_count_samples_rooted_at_their_path_as_self)
{
    struct world *w = *state;
    fixture_stack(&w->f, "124", 7, 1);
    fixture_stack(&w->f, "134", 2, 1);
    build(w, CALLGRAPH_CALLERS, 0, false);
    assert_weights(w, "4", 9, 9);
    assert_weights(w, "42", 7, 7);
    assert_weights(w, "431", 2, 2);
}

FIXTURE_TEST(a_focus_weighs_callers_by_all_samples_through_the_function)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    fixture_stack(&w->f, "124", 7, 1);
    fixture_stack(&w->f, "1325", 3, 1);
    fixture_stack(&w->f, "13", 100, 1);
    build(w, CALLGRAPH_CALLERS, KEY(2), false);
    assert_weights(w, "2", 15, 5);
    assert_weights(w, "21", 12, 5);
    assert_weights(w, "23", 3, 0);
    assert_weights(w, "231", 3, 0);
    assert_int_equal(node_of(w, "4"), 0);
    assert_int_equal(node_of(w, "3"), 0);
}

FIXTURE_TEST(a_focus_counts_a_recursive_function_once_at_its_innermost_frame)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12324", 6, 1);
    build(w, CALLGRAPH_CALLERS, KEY(2), false);
    assert_weights(w, "2", 6, 0);
    assert_weights(w, "2321", 6, 0);
    assert_int_equal(node_of(w, "21"), 0);
}

FIXTURE_TEST(a_focus_on_a_function_without_samples_is_empty)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    build(w, CALLGRAPH_CALLERS, KEY(5), false);
    assert_int_equal(callgraph_model.first_child(&w->graph, 0), 0);
    assert_int_equal(callgraph_find(&w->graph, KEY(5), 0), 0);
    build(w, CALLGRAPH_CALLERS, 9999, false);
    assert_int_equal(callgraph_model.first_child(&w->graph, 0), 0);
}

FIXTURE_TEST(a_focus_does_not_change_callees)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    fixture_stack(&w->f, "13", 4, 1);
    build(w, CALLGRAPH_CALLEES, KEY(2), false);
    assert_weights(w, "1", 9, 0);
}

FIXTURE_TEST(paths_keep_their_keys_with_and_without_a_focus)
{
    struct world *w = *state;
    fixture_stack(&w->f, "132", 5, 1);
    fixture_stack(&w->f, "1324", 5, 1);
    build(w, CALLGRAPH_CALLERS, 0, false);
    uint64_t key = callgraph_node(&w->graph, node_of(w, "23"))->key;
    build(w, CALLGRAPH_CALLERS, KEY(2), false);
    assert_int_equal(callgraph_node(&w->graph, node_of(w, "23"))->key, key);
}

FIXTURE_TEST(siblings_are_ordered_by_weight)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    fixture_stack(&w->f, "13", 9, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    uint32_t first = callgraph_model.first_child(&w->graph, node_of(w, "1"));
    assert_string_equal(callgraph_name(&w->graph, first), "Render");
}

FIXTURE_TEST(group_nodes_have_a_label_and_no_function)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 2);
    build(w, CALLGRAPH_CALLEES, 0, true);
    uint32_t group = callgraph_model.first_child(&w->graph, 0);
    assert_string_equal(callgraph_name(&w->graph, group), "db");
    assert_null(callgraph_function(&w->graph, group));
    uint32_t below = callgraph_model.first_child(&w->graph, group);
    assert_int_equal(callgraph_function(&w->graph, below)->key, KEY(1));
}

FIXTURE_TEST(find_selects_the_heaviest_node_of_a_function)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 5, 1);
    fixture_stack(&w->f, "132", 9, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    assert_int_equal(callgraph_find(&w->graph, KEY(2), 0), node_of(w, "132"));
    assert_int_equal(callgraph_find(&w->graph, KEY(4), 0), 0);
}

FIXTURE_TEST(find_searches_the_requested_group)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 50, 1);
    fixture_stack(&w->f, "12", 5, 2);
    fixture_stack(&w->f, "132", 3, 2);
    build(w, CALLGRAPH_CALLEES, 0, true);
    uint32_t node = callgraph_find(&w->graph, KEY(2), 2);
    assert_int_equal(callgraph_node(&w->graph, node)->group, 2);
    assert_int_equal(callgraph_node(&w->graph, node)->total_weight, 5);
    node = callgraph_find(&w->graph, KEY(2), 0);
    assert_int_equal(callgraph_node(&w->graph, node)->group, 1);
}

FIXTURE_TEST(find_in_the_caller_tree_matches_top_nodes_only)
{
    struct world *w = *state;
    fixture_stack(&w->f, "124", 5, 1);
    build(w, CALLGRAPH_CALLERS, 0, false);
    assert_int_equal(callgraph_find(&w->graph, KEY(4), 0), node_of(w, "4"));
    assert_int_equal(callgraph_find(&w->graph, KEY(2), 0), 0);
    build(w, CALLGRAPH_CALLERS, 0, true);
    assert_int_not_equal(callgraph_find(&w->graph, KEY(4), 0), 0);
    assert_int_equal(callgraph_find(&w->graph, KEY(2), 0), 0);
}

FIXTURE_TEST(the_hot_path_ends_before_nodes_below_half_a_percent)
{
    struct world *w = *state;
    fixture_stack(&w->f, "12", 990, 1);
    fixture_stack(&w->f, "124", 6, 1);
    fixture_stack(&w->f, "1245", 4, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    uint32_t top = node_of(w, "1");
    assert_int_equal(callgraph_hot_child(&w->graph, top, top), node_of(w, "12"));
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "12"), top), 0); /* most samples end there */
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "124"), top), 0);
    fixture_stack(&w->f, "13", 900, 1);
    fixture_stack(&w->f, "134", 9, 1);
    fixture_stack(&w->f, "1", 8, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "13"), node_of(w, "1")), 0);
}

FIXTURE_TEST(the_hot_path_of_a_cold_row_uses_its_own_weight_as_threshold)
{
    struct world *w = *state;
    fixture_stack(&w->f, "13", 10000, 1);
    fixture_stack(&w->f, "1245", 4, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    uint32_t cold = node_of(w, "12");
    assert_int_equal(callgraph_hot_child(&w->graph, cold, cold), node_of(w, "124"));
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "124"), cold), node_of(w, "1245"));
    assert_int_equal(callgraph_hot_child(&w->graph, cold, node_of(w, "1")), 0);
}

/* If the weight halved at each fork, the path would end in a leaf of one sample. */
FIXTURE_TEST(the_hot_path_ends_where_no_child_has_half_the_weight)
{
    struct world *w = *state;
    fixture_stack(&w->f, "124", 40, 1);
    fixture_stack(&w->f, "125", 30, 1);
    fixture_stack(&w->f, "123", 30, 1);
    fixture_stack(&w->f, "1", 20, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    uint32_t top = node_of(w, "1");
    assert_int_equal(callgraph_hot_child(&w->graph, top, top), node_of(w, "12"));
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "12"), top), 0);
    assert_int_equal(callgraph_hot_child(&w->graph, node_of(w, "12"), node_of(w, "12")), 0);
}

FIXTURE_TEST(search_visits_matches_in_tree_order_and_wraps_at_the_end)
{
    struct world *w = *state;
    bool round;
    fixture_stack(&w->f, "12", 9, 1);
    fixture_stack(&w->f, "134", 5, 1);
    fixture_stack(&w->f, "15", 2, 1);
    build(w, CALLGRAPH_CALLEES, 0, false);
    callgraph_match(&w->graph, "M");
    uint32_t top = node_of(w, "1"), malloc_node = node_of(w, "134"), memcpy_node = node_of(w, "15");
    assert_int_equal(callgraph_next_match(&w->graph, top, 1, "M", &round), malloc_node);
    assert_false(round);
    assert_int_equal(callgraph_next_match(&w->graph, malloc_node, 1, "M", &round), memcpy_node);
    assert_int_equal(callgraph_next_match(&w->graph, memcpy_node, 1, "M", &round), top);
    assert_true(round);
    assert_int_equal(callgraph_next_match(&w->graph, top, -1, "M", &round), memcpy_node);
    assert_true(round);
    assert_int_equal(callgraph_next_match(&w->graph, node_of(w, "12"), -1, "M", &round), top);
    assert_int_equal(callgraph_next_match(&w->graph, node_of(w, "12"), 0, "M", &round), malloc_node);
}

FIXTURE_TEST(search_without_a_match_fails_and_a_single_match_finds_itself)
{
    struct world *w = *state;
    bool round;
    fixture_stack(&w->f, "12", 9, 1);
    build(w, CALLGRAPH_CALLEES, 0, true);
    callgraph_match(&w->graph, "nowhere");
    assert_int_equal(callgraph_next_match(&w->graph, 1, 1, "nowhere", &round), 0);
    callgraph_match(&w->graph, "parse");
    uint32_t only = callgraph_find(&w->graph, KEY(2), 0);
    assert_int_equal(callgraph_next_match(&w->graph, only, 1, "parse", &round), only);
    assert_int_equal(callgraph_next_match(&w->graph, only, -1, "parse", &round), only);
    callgraph_match(&w->graph, "WEB");
    uint32_t group = callgraph_model.first_child(&w->graph, 0);
    assert_int_equal(callgraph_next_match(&w->graph, only, 1, "WEB", &round), group);
}

FIXTURE_TEST(a_tree_without_samples_is_empty)
{
    struct world *w = *state;
    bool round;
    assert_int_equal(callgraph_model.first_child(&w->graph, 0), 0);
    build(w, CALLGRAPH_CALLEES, 0, true);
    assert_int_equal(callgraph_model.first_child(&w->graph, 0), 0);
    callgraph_match(&w->graph, "x");
    assert_int_equal(callgraph_next_match(&w->graph, 0, 1, "x", &round), 0);
}

TEST_MAIN(NULL, NULL)
