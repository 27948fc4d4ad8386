// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/tree.h"
#include "unit_test.h"

/* A model of bare numbers: node i has a parent and a key; children in the order of their numbers. */
struct nodes {
    uint32_t n; /* with the root, 0 */
    uint32_t parent[16];
    uint64_t key[16];
    uint32_t hidden;
};

static uint32_t child_after(const struct nodes *t, uint32_t parent, uint32_t after)
{
    for (uint32_t i = after + 1; i < t->n; i++)
        if (t->parent[i] == parent)
            return i;
    return 0;
}

static uint32_t first_child(const void *ctx, uint32_t node)
{
    return child_after(ctx, node, 0);
}

static uint32_t next_sibling(const void *ctx, uint32_t node)
{
    return child_after(ctx, ((const struct nodes *)ctx)->parent[node], node);
}

static uint32_t parent_of(const void *ctx, uint32_t node)
{
    return ((const struct nodes *)ctx)->parent[node];
}

static uint64_t key_of(const void *ctx, uint32_t node)
{
    return ((const struct nodes *)ctx)->key[node];
}

static bool is_hidden(const void *ctx, uint32_t node)
{
    return ((const struct nodes *)ctx)->hidden == node;
}

static uint32_t hot_unless_3(const void *ctx, uint32_t node, uint32_t start)
{
    uint32_t child = first_child(ctx, node);
    (void)start;
    return child == 3 ? 0 : child;
}

static const struct tree_model model = {
    .first_child = first_child, .next_sibling = next_sibling, .parent = parent_of, .key = key_of
};
static const struct tree_model model_with_hot = { .first_child = first_child,
                                                  .next_sibling = next_sibling,
                                                  .parent = parent_of,
                                                  .key = key_of,
                                                  .hot_child = hot_unless_3 };
static const struct tree_model model_with_hidden = { .first_child = first_child,
                                                     .next_sibling = next_sibling,
                                                     .parent = parent_of,
                                                     .key = key_of,
                                                     .hidden = is_hidden };

static bool is_always_chained(const void *ctx, uint32_t node, uint32_t child)
{
    (void)ctx;
    (void)node;
    (void)child;
    return true;
}

static const struct tree_model model_with_chains = { .first_child = first_child,
                                                     .next_sibling = next_sibling,
                                                     .parent = parent_of,
                                                     .key = key_of,
                                                     .chained = is_always_chained };

/* Nodes from `hidden` on, because of their weight. */
static bool is_small(const void *ctx, uint32_t node)
{
    return node >= ((const struct nodes *)ctx)->hidden;
}

static const struct tree_model model_with_small = { .first_child = first_child,
                                                    .next_sibling = next_sibling,
                                                    .parent = parent_of,
                                                    .key = key_of,
                                                    .small = is_small };

/* 1 { 2 { 3 4 } 5 } 6 { 7 } */
static const struct nodes sample = { 8, { 0, 0, 1, 2, 2, 1, 0, 6 }, { 0, 10, 20, 30, 40, 50, 60, 70 }, 0 };

static void expect_rows(const struct tree *t, uint32_t n, const uint32_t *nodes)
{
    assert_int_equal(t->n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(t->rows[i].node, nodes[i]);
}
#define EXPECT_ROWS(t, ...)                                                                                  \
    do {                                                                                                     \
        const uint32_t expected_[] = { __VA_ARGS__ };                                                        \
        expect_rows(t, sizeof expected_ / sizeof *expected_, expected_);                                     \
    } while (0)

TEST(a_new_tree_shows_its_top_level)
{
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    EXPECT_ROWS(&t, 1, 6);
    assert_false(t.rows[0].open);
    assert_false(t.rows[0].leaf);
    tree_done(&t);
}

TEST(opening_shows_children_one_level_deep)
{
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    assert_true(tree_act(&t, ACTION_EXPAND, &model, &sample));
    EXPECT_ROWS(&t, 1, 2, 5, 6);
    assert_int_equal(t.rows[1].depth, 1);
    assert_true(t.rows[2].leaf);
    tree_act(&t, ACTION_COLLAPSE, &model, &sample);
    EXPECT_ROWS(&t, 1, 6);
    tree_done(&t);
}

TEST(the_hot_path_opens_down_to_the_leaf)
{
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    tree_act(&t, ACTION_EXPAND_HOT, &model, &sample);
    EXPECT_ROWS(&t, 1, 2, 3, 4, 5, 6);
    tree_done(&t);
}

TEST(the_model_says_where_the_hot_path_ends)
{
    struct tree t = { 0 };
    tree_update(&t, &model_with_hot, &sample);
    tree_act(&t, ACTION_EXPAND_HOT, &model_with_hot, &sample);
    EXPECT_ROWS(&t, 1, 2, 5, 6);
    tree_done(&t);
}

TEST(opening_and_closing_all_reaches_every_level)
{
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    tree_act(&t, ACTION_EXPAND_ALL, &model, &sample);
    tree_act(&t, ACTION_END, &model, &sample);
    tree_act(&t, ACTION_EXPAND_ALL, &model, &sample);
    EXPECT_ROWS(&t, 1, 2, 3, 4, 5, 6, 7);
    tree_act(&t, ACTION_END, &model, &sample);
    tree_act(&t, ACTION_COLLAPSE_ALL, &model, &sample);
    EXPECT_ROWS(&t, 1, 6);
    assert_int_equal(tree_cursor(&t)->node, 6); /* the branch the cursor was in */
    tree_done(&t);
}

TEST(expansion_and_cursor_survive_a_rebuilt_and_resorted_model)
{
    /* The same paths, other numbers, 6 now before 1: 1 { 2 } 3 { 4 { 5 6 } 7 } */
    const struct nodes later = { 8, { 0, 0, 1, 0, 3, 4, 4, 3 }, { 0, 60, 70, 10, 20, 40, 30, 50 }, 0 };
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    tree_act(&t, ACTION_EXPAND_HOT, &model, &sample);
    tree_act(&t, ACTION_DOWN, &model, &sample);
    tree_act(&t, ACTION_DOWN, &model, &sample);
    assert_int_equal(tree_cursor(&t)->node, 3);
    tree_update(&t, &model, &later);
    EXPECT_ROWS(&t, 1, 3, 4, 5, 6, 7);
    assert_int_equal(tree_cursor(&t)->node, 6); /* key 30 */
    tree_done(&t);
}

TEST(left_closes_then_goes_to_the_parent)
{
    struct tree t = { 0 };
    tree_update(&t, &model, &sample);
    tree_act(&t, ACTION_EXPAND_HOT, &model, &sample);
    tree_reveal(&t, 3, &model, &sample);
    tree_act(&t, ACTION_LEFT, &model, &sample);
    assert_int_equal(tree_cursor(&t)->node, 2);
    tree_act(&t, ACTION_LEFT, &model, &sample);
    EXPECT_ROWS(&t, 1, 2, 5, 6);
    tree_act(&t, ACTION_RIGHT, &model, &sample);
    EXPECT_ROWS(&t, 1, 2, 3, 4, 5, 6);
    tree_act(&t, ACTION_RIGHT, &model, &sample);
    assert_int_equal(tree_cursor(&t)->node, 3);
    tree_done(&t);
}

TEST(reveal_opens_the_ancestors)
{
    struct tree t = { 0 };
    tree_reveal(&t, 7, &model, &sample);
    EXPECT_ROWS(&t, 1, 6, 7);
    assert_int_equal(tree_cursor(&t)->node, 7);
    tree_done(&t);
}

TEST(nodes_closed_by_the_user_stay_closed_despite_default_depth)
{
    struct tree t = { .open_depth = 9 };
    tree_update(&t, &model, &sample);
    EXPECT_ROWS(&t, 1, 2, 3, 4, 5, 6, 7);
    tree_act(&t, ACTION_COLLAPSE, &model, &sample);
    tree_update(&t, &model, &sample);
    EXPECT_ROWS(&t, 1, 6, 7);
    tree_done(&t);
}

TEST(a_hidden_node_hides_its_subtree)
{
    struct nodes n = sample;
    struct tree t = { .open_depth = 9 };
    n.hidden = 2;
    tree_update(&t, &model_with_hidden, &n);
    EXPECT_ROWS(&t, 1, 5, 6, 7);
    n.hidden = 7;
    tree_update(&t, &model_with_hidden, &n);
    EXPECT_ROWS(&t, 1, 2, 3, 4, 5, 6);
    assert_true(t.rows[5].leaf); /* nothing below 6 is left to open */
    tree_done(&t);
}

TEST(an_empty_tree_has_no_cursor)
{
    const struct nodes none = { .n = 1 };
    struct tree t = { 0 };
    tree_update(&t, &model, &none);
    assert_null(tree_cursor(&t));
    assert_false(tree_act(&t, ACTION_EXPAND, &model, &none));
    tree_done(&t);
}

/* 1 { 2 { 3 { 4 5 } } } 6 { 7 } */
static const struct nodes chain = { 8, { 0, 0, 1, 2, 3, 3, 0, 6 }, { 0, 10, 20, 30, 40, 50, 60, 70 }, 0 };

TEST(only_children_share_the_row_of_their_parent)
{
    struct tree t = { 0 };
    tree_update(&t, &model_with_chains, &chain);
    expect_rows(&t, 2, (const uint32_t[]){ 3, 7 });
    assert_int_equal(t.rows[0].first, 1);
    assert_int_equal(t.rows[1].first, 6);
    assert_true(t.rows[1].leaf);
    assert_true(tree_act(&t, ACTION_RIGHT, &model_with_chains, &chain));
    expect_rows(&t, 4, (const uint32_t[]){ 3, 4, 5, 7 });
    assert_int_equal(t.rows[1].depth, 1);
    assert_int_equal(t.rows[0].more, 1);
    assert_int_equal(t.rows[1].more, 3); /* node 5 is folded into it, and the row of 7 into their parent's */
    assert_int_equal(t.rows[2].more, 1);
    assert_int_equal(t.rows[3].more, 0);
    assert_true(tree_act(&t, ACTION_DOWN, &model_with_chains, &chain));
    assert_true(tree_act(&t, ACTION_DOWN, &model_with_chains, &chain));
    assert_true(tree_act(&t, ACTION_LEFT, &model_with_chains, &chain));
    assert_int_equal(tree_cursor(&t)->node, 3);
    tree_done(&t);
}

TEST(a_revealed_node_ends_its_row)
{
    struct tree t = { 0 };
    tree_update(&t, &model_with_chains, &chain);
    tree_reveal(&t, 2, &model_with_chains, &chain);
    expect_rows(&t, 2, (const uint32_t[]){ 2, 7 });
    assert_int_equal(tree_cursor(&t)->node, 2);
    assert_true(tree_act(&t, ACTION_RIGHT, &model_with_chains, &chain));
    expect_rows(&t, 3, (const uint32_t[]){ 2, 3, 7 });
    assert_int_equal(t.rows[1].depth, 1);
    tree_reveal(&t, 7, &model_with_chains, &chain);
    expect_rows(&t, 2, (const uint32_t[]){ 3, 7 }); /* it was not opened behind 2 */
    tree_done(&t);
}

TEST(small_nodes_are_folded_into_one_row)
{
    /* 1 { 2 3 4 } 5 { 6 }: small from 3 on */
    static const struct nodes small = { 7, { 0, 0, 1, 1, 1, 0, 5 }, { 0, 10, 20, 30, 40, 50, 60 }, 3 };
    struct tree t = { 0 };
    tree_update(&t, &model_with_small, &small);
    expect_rows(&t, 2, (const uint32_t[]){ 1, 5 }); /* 5 alone is not folded */
    tree_set_open(&t, 10, true);
    tree_update(&t, &model_with_small, &small);
    expect_rows(&t, 4, (const uint32_t[]){ 1, 2, 3, 5 });
    assert_true(t.rows[2].rest);
    assert_false(t.rows[2].open);
    assert_true(tree_act(&t, ACTION_DOWN, &model_with_small, &small));
    assert_true(tree_act(&t, ACTION_DOWN, &model_with_small, &small));
    assert_true(tree_act(&t, ACTION_TOGGLE, &model_with_small, &small));
    expect_rows(&t, 6, (const uint32_t[]){ 1, 2, 3, 3, 4, 5 });
    assert_true(t.rows[2].open);
    assert_int_equal(t.rows[3].depth, 2);
    assert_false(t.rows[3].rest);
    assert_true(tree_act(&t, ACTION_DOWN, &model_with_small, &small));
    assert_true(tree_act(&t, ACTION_LEFT, &model_with_small, &small));
    assert_true(tree_cursor(&t)->rest);
    assert_true(tree_act(&t, ACTION_LEFT, &model_with_small, &small));
    expect_rows(&t, 4, (const uint32_t[]){ 1, 2, 3, 5 });
    tree_reveal(&t, 4, &model_with_small, &small);
    expect_rows(&t, 6, (const uint32_t[]){ 1, 2, 3, 3, 4, 5 });
    assert_int_equal(tree_cursor(&t)->node, 4);
    tree_done(&t);
}

TEST_MAIN(NULL, NULL)
