// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/flame.h"
#include "profile_fixture.h"
#include "unit_test.h"

struct world {
    struct fixture f;
    struct calltree tree;
    struct flame flame;
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

    flame_done(&w->flame);
    calltree_done(&w->tree);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

/* Builds the tree. Function numbers equal frame numbers; siblings are in that order. */
static void build(struct world *w)
{
    struct calltree_options o = { 0 };
    uint32_t *funcs;

    fixture_query(&w->f);
    funcs = mem_array(w->f.result.n_frames, sizeof *funcs);
    for (uint32_t i = 1; i < w->f.result.n_frames; i++)
        funcs[i] = fixture_frame(&w->f.result, i);
    o.frame_func = funcs;
    calltree_build(&w->tree, &w->f.result, &o);
    calltree_sort_rank(&w->tree, NULL, NULL);
    mem_free(funcs);
}

static uint32_t node_of(const struct world *w, const char *digits)
{
    const struct calltree_node *nodes = w->tree.nodes;
    uint32_t i = 0;

    for (; *digits; digits++) {
        i = nodes[i].first_child;
        while (i && nodes[i].func != (uint32_t)(*digits - '0'))
            i = nodes[i].next_sibling;
        assert_int_not_equal(i, 0);
    }
    return i;
}

static void assert_box(const struct world *w, const char *digits, uint32_t row, uint32_t x, uint32_t width)
{
    int i = flame_box_of(&w->flame, node_of(w, digits));

    assert_int_not_equal(i, -1);
    assert_int_equal(w->flame.boxes[i].row, row);
    assert_int_equal(w->flame.boxes[i].x, x);
    assert_int_equal(w->flame.boxes[i].width, width);
}

static uint64_t box_weight(const struct world *w, const struct flame_box *b)
{
    return b->rest ? flame_rest_of(&w->tree, b->node).weight : w->tree.nodes[b->node].total_weight;
}

/* Checks that boxes are ordered, do not overlap, are within their parent and are not empty. */
static void assert_consistent(const struct world *w, uint32_t columns)
{
    const struct flame *f = &w->flame;

    for (uint32_t i = 0; i < f->n; i++) {
        const struct flame_box *b = &f->boxes[i];

        assert_true(b->width > 0);
        assert_true(b->x + b->width <= columns);
        assert_true(b->row < f->rows);
        assert_int_equal(b->row, w->tree.nodes[b->node].depth);
        if (i && f->boxes[i - 1].row == b->row)
            assert_true(f->boxes[i - 1].x + f->boxes[i - 1].width <= b->x);
        else if (i)
            assert_int_equal(f->boxes[i - 1].row + 1, b->row);
        if (b->node) {
            int p = flame_box_of(f, w->tree.nodes[b->node].parent);
            assert_true(p >= 0 && (uint32_t)p < i);
            assert_true(f->boxes[p].x <= b->x);
            assert_true(b->x + b->width <= f->boxes[p].x + f->boxes[p].width);
        }
    }
}

FIXTURE_TEST(an_empty_tree_has_no_boxes)
{
    struct world *w = *state;

    flame_layout(&w->flame, &w->tree, 0, 80);
    assert_int_equal(w->flame.n, 0);
    assert_int_equal(w->flame.rows, 0);
    assert_int_equal(flame_box_at(&w->flame, 0, 0), -1);
    build(w); /* no samples: only the root */
    flame_layout(&w->flame, &w->tree, 0, 80);
    assert_int_equal(w->flame.n, 1);
    assert_int_equal(w->flame.rows, 1);
}

FIXTURE_TEST(widths_are_proportional_to_weights)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", 60, 0);
    fixture_stack(&w->f, "13", 20, 0);
    fixture_stack(&w->f, "4", 20, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 100);
    assert_int_equal(w->flame.rows, 3);
    assert_int_equal(w->flame.n, 5);
    assert_box(w, "", 0, 0, 100);
    assert_box(w, "1", 1, 0, 80);
    assert_box(w, "4", 1, 80, 20);
    assert_box(w, "12", 2, 0, 60);
    assert_box(w, "13", 2, 60, 20);
    assert_int_equal(w->flame.hidden_weight, 0);
}

FIXTURE_TEST(self_weight_leaves_space_on_the_right)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1", 50, 0);
    fixture_stack(&w->f, "12", 30, 0);
    fixture_stack(&w->f, "13", 20, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 10);
    assert_box(w, "1", 1, 0, 10);
    assert_box(w, "12", 2, 0, 3);
    assert_box(w, "13", 2, 3, 2);
    assert_int_equal(flame_box_at(&w->flame, 2, 5), -1);
}

FIXTURE_TEST(left_over_cells_go_to_the_largest_remainders)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1", 33, 0); /* 3.3 of 10 */
    fixture_stack(&w->f, "2", 28, 0); /* 2.8 */
    fixture_stack(&w->f, "3", 39, 0); /* 3.9 */
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 10);
    assert_box(w, "1", 1, 0, 3);
    assert_box(w, "2", 1, 3, 3);
    assert_box(w, "3", 1, 6, 4);
}

FIXTURE_TEST(equal_remainders_are_served_from_left_to_right)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1", 1, 0);
    fixture_stack(&w->f, "2", 1, 0);
    fixture_stack(&w->f, "3", 1, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 5);
    assert_box(w, "1", 1, 0, 2);
    assert_box(w, "2", 1, 2, 2);
    assert_box(w, "3", 1, 4, 1);
}

FIXTURE_TEST(boxes_without_a_cell_are_hidden_with_their_children)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1", 1000, 0);
    fixture_stack(&w->f, "23", 1, 0);
    fixture_stack(&w->f, "24", 2, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 80);
    assert_int_equal(w->flame.n, 2);
    assert_box(w, "1", 1, 0, 80);
    assert_int_equal(flame_box_of(&w->flame, node_of(w, "2")), -1);
    assert_int_equal(flame_box_of(&w->flame, node_of(w, "23")), -1);
    assert_int_equal(w->flame.hidden_weight, 3);
}

FIXTURE_TEST(boxes_without_a_cell_share_one_box_on_the_right)
{
    struct world *w = *state;

    fixture_stack(&w->f, "91", 2, 0);
    fixture_stack(&w->f, "92", 50, 0);
    fixture_stack(&w->f, "938", 3, 0);
    fixture_stack(&w->f, "94", 4, 0);
    fixture_stack(&w->f, "95", 41, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 10);
    assert_box(w, "92", 2, 0, 5);
    assert_box(w, "95", 2, 5, 4);
    assert_box(w, "94", 2, 9, 1); /* the heaviest of three */
    assert_int_equal(w->flame.boxes[flame_box_of(&w->flame, node_of(w, "94"))].rest, 1);
    assert_int_equal(w->flame.boxes[flame_box_of(&w->flame, node_of(w, "95"))].rest, 0);
    assert_int_equal(flame_box_of(&w->flame, node_of(w, "938")), -1);
    assert_int_equal(w->flame.rest_weight, 9);
    assert_int_equal(w->flame.hidden_weight, 0);
    struct flame_rest rest = flame_rest_of(&w->tree, node_of(w, "94"));
    assert_int_equal(rest.weight, 9);
    assert_int_equal(rest.count, 3);
    assert_int_equal(rest.nodes, 3);
    assert_consistent(w, 10);
}

FIXTURE_TEST(one_column_boxes_are_shared_unless_one_child_dominates)
{
    struct world *w = *state;

    fixture_stack(&w->f, "125", 60, 0);
    fixture_stack(&w->f, "13", 40, 0);
    fixture_stack(&w->f, "425", 97, 0);
    fixture_stack(&w->f, "43", 3, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 2);
    assert_box(w, "12", 2, 0, 1);
    assert_int_equal(w->flame.boxes[flame_box_of(&w->flame, node_of(w, "12"))].rest, 1);
    assert_int_equal(flame_box_of(&w->flame, node_of(w, "125")), -1);
    assert_box(w, "42", 2, 1, 1);
    assert_box(w, "425", 3, 1, 1);
    assert_int_equal(w->flame.rest_weight, 100);
    assert_int_equal(w->flame.hidden_weight, 3);
    assert_consistent(w, 2);
}

FIXTURE_TEST(many_equal_boxes_share_their_total_width)
{
    struct world *w = *state;
    char path[3] = "11";

    for (int i = 0; i < 9; i++, path[1]++)
        fixture_stack(&w->f, path, 1, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 5);
    assert_int_equal(w->flame.hidden_weight, 0);
    uint32_t width = 0;
    uint64_t weight = 0;
    for (uint32_t i = 2; i < w->flame.n; i++) {
        const struct flame_box *b = &w->flame.boxes[i];
        width += b->width;
        weight += box_weight(w, b);
    }
    assert_int_equal(width, 5);
    assert_int_equal(weight, 9);
}

FIXTURE_TEST(only_fractions_of_cells_are_hidden)
{
    struct world *w = *state;
    const struct flame *f = &w->flame;

    fixture_fill(&w->f, 3000);
    build(w);
    uint64_t all = w->tree.nodes[0].total_weight;
    for (uint32_t columns = 40; columns <= 200; columns += 40) {
        flame_layout(&w->flame, &w->tree, 0, columns);
        assert_consistent(w, columns);
        assert_true(f->hidden_weight < all / 20);
        for (uint32_t i = 0; i < f->n; i++) {
            uint64_t seen = 0, parent = w->tree.nodes[f->boxes[i].node].total_weight;
            uint32_t c = w->tree.nodes[f->boxes[i].node].first_child;
            for (; c; c = w->tree.nodes[c].next_sibling) {
                int at = flame_box_of(f, c);
                if (at >= 0)
                    seen += box_weight(w, &f->boxes[at]);
            }
            assert_true(seen <= parent);
        }
    }
}

FIXTURE_TEST(a_zoomed_box_has_the_full_width_below_its_ancestors)
{
    struct world *w = *state;

    fixture_stack(&w->f, "123", 10, 0);
    fixture_stack(&w->f, "124", 10, 0);
    fixture_stack(&w->f, "15", 80, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, node_of(w, "12"), 50);
    assert_int_equal(w->flame.n, 5);
    assert_int_equal(w->flame.rows, 4);
    assert_box(w, "", 0, 0, 50);
    assert_box(w, "1", 1, 0, 50);
    assert_box(w, "12", 2, 0, 50);
    assert_box(w, "123", 3, 0, 25);
    assert_box(w, "124", 3, 25, 25);
    assert_int_equal(w->flame.boxes[0].ancestor, 1);
    assert_int_equal(w->flame.boxes[1].ancestor, 1);
    assert_int_equal(w->flame.boxes[2].ancestor, 0);
    assert_consistent(w, 50);
    flame_layout(&w->flame, &w->tree, 12345, 50); /* no such node: everything is shown */
    assert_box(w, "15", 2, 10, 40);
}

FIXTURE_TEST(boxes_are_found_by_their_cells)
{
    struct world *w = *state;
    const struct flame *f = &w->flame;

    fixture_fill(&w->f, 400);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 90);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct flame_box *b = &f->boxes[i];

        assert_int_equal(flame_box_at(f, b->row, b->x), i);
        assert_int_equal(flame_box_at(f, b->row, b->x + b->width - 1), i);
        assert_int_not_equal(flame_box_at(f, b->row, b->x + b->width), i);
        assert_int_equal(flame_box_of(f, b->node), i);
    }
    assert_int_equal(flame_box_at(f, f->rows, 0), -1);
    assert_int_equal(flame_box_at(f, 0, 90), -1);
}

FIXTURE_TEST(random_layouts_are_consistent_and_near_the_exact_widths)
{
    struct world *w = *state;
    const struct flame *f = &w->flame;

    for (uint32_t columns = 1; columns < 300; columns += 1 + columns / 3) {
        fixture_fill(&w->f, 100);
        build(w);
        flame_layout(&w->flame, &w->tree, 0, columns);
        assert_consistent(w, columns);
        for (uint32_t i = 1; i < f->n; i++) {
            const struct calltree_node *n = &w->tree.nodes[f->boxes[i].node], *p = &w->tree.nodes[n->parent];
            uint32_t parent_width = f->boxes[flame_box_of(f, n->parent)].width;
            double share = (double)box_weight(w, &f->boxes[i]) / (double)p->total_weight * parent_width;

            assert_true(f->boxes[i].width > share - 1.001 && f->boxes[i].width < share + 1.001);
        }
    }
}

FIXTURE_TEST(a_layout_of_zero_columns_is_empty)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", 60, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 0);
    assert_int_equal(w->flame.n, 0);
    assert_int_equal(w->flame.hidden_weight, 60);
}

FIXTURE_TEST(huge_weights_do_not_overflow)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1", UINT64_MAX / 4, 0);
    fixture_stack(&w->f, "2", UINT64_MAX / 4, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 60000);
    assert_box(w, "1", 1, 0, 30000);
    assert_box(w, "2", 1, 30000, 30000);
}

FIXTURE_TEST(overflowed_sums_still_give_a_consistent_layout)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", UINT64_MAX, 0);
    fixture_stack(&w->f, "13", UINT64_MAX - 5, 0);
    fixture_stack(&w->f, "14", 7, 0);
    fixture_stack(&w->f, "25", 0, 0);
    build(w);
    for (uint32_t columns = 1; columns < 200; columns++) {
        flame_layout(&w->flame, &w->tree, 0, columns);
        assert_consistent(w, columns);
    }
}

FIXTURE_TEST(zero_weights_show_only_the_root)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", 0, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 10);
    assert_int_equal(w->flame.n, 1);
}

FIXTURE_TEST(deep_stacks_are_drawn_down_to_the_last_row)
{
    struct world *w = *state;
    struct sample s = { .time_ns = 1, .weight = 3 };

    for (uint32_t i = 0; i < 512; i++)
        s.stack = stacks_child(w->f.stacks, s.stack, stacks_frame(w->f.stacks, 0, 16 * (1 + i % 4)));
    history_append(w->f.history, &s, NULL, 0);
    build(w);
    flame_layout(&w->flame, &w->tree, 0, 7);
    assert_int_equal(w->flame.rows, 513);
    assert_int_equal(w->flame.n, 513);
    for (uint32_t i = 0; i < w->flame.n; i++)
        assert_int_equal(w->flame.boxes[i].width, 7);
}

TEST_MAIN(NULL, NULL)
