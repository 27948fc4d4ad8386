// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "profile/calltree.h"
#include "profile_fixture.h"
#include "unit_test.h"

struct world {
    struct fixture f;
    struct calltree tree;
    struct calltree_options o;
};

static const uint32_t same[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const uint64_t keys[] = { 0, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011 };

static int setup(void **state)
{
    struct world *w = mem_zalloc(sizeof *w);

    fixture_init(&w->f);
    w->o.func_key = keys;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    calltree_done(&w->tree);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void build(struct world *w, const uint32_t *func_of)
{
    uint32_t *funcs;

    fixture_query(&w->f);
    funcs = fixture_funcs(&w->f.result, func_of);
    w->o.frame_func = funcs;
    calltree_build(&w->tree, &w->f.result, &w->o);
    mem_free(funcs);
}

/* Returns a node by path. "12": function 2 below function 1; the prefix "@5": below group node 5. NULL:
 * none. */
static const struct calltree_node *node_at(const struct world *w, const char *path)
{
    const struct calltree_node *nodes = w->tree.nodes;
    uint32_t i = 0;

    while (*path) {
        bool is_group = *path == '@';
        uint32_t number = (uint32_t)(path[is_group] - '0');

        for (i = nodes[i].first_child; i; i = nodes[i].next_sibling)
            if (nodes[i].is_group == is_group && (is_group ? nodes[i].group : nodes[i].func) == number)
                break;
        if (!i)
            return NULL;
        path += 1 + is_group;
    }
    return &nodes[i];
}

static void assert_node(const struct world *w, const char *path, uint64_t self, uint64_t total)
{
    const struct calltree_node *n = node_at(w, path);

    assert_non_null(n);
    assert_int_equal(n->self_weight, self);
    assert_int_equal(n->total_weight, total);
}

FIXTURE_TEST(an_empty_result_builds_only_the_root)
{
    struct world *w = *state;

    build(w, same);
    assert_int_equal(w->tree.n, 1);
    assert_node(w, "", 0, 0);
    assert_int_equal(w->tree.nodes[0].first_child, 0);
}

FIXTURE_TEST(the_top_down_tree_follows_calls)
{
    struct world *w = *state;

    fixture_stack(&w->f, "123", 10, 0);
    fixture_stack(&w->f, "12", 5, 0);
    fixture_stack(&w->f, "14", 1, 0);
    fixture_stack(&w->f, "", 100, 0);
    build(w, same);
    assert_int_equal(w->tree.n, 5);
    assert_node(w, "", 100, 116);
    assert_node(w, "1", 0, 16);
    assert_node(w, "12", 5, 15);
    assert_node(w, "123", 10, 10);
    assert_node(w, "14", 1, 1);
    assert_int_equal(node_at(w, "12")->total_count, 2);
    assert_int_equal(node_at(w, "12")->self_count, 1);
    assert_int_equal(node_at(w, "123")->depth, 3);
    assert_int_equal(fixture_frame(&w->f.result, node_at(w, "14")->frame), 4);
}

FIXTURE_TEST(the_bottom_up_tree_follows_callers)
{
    struct world *w = *state;

    fixture_stack(&w->f, "123", 10, 0);
    fixture_stack(&w->f, "143", 5, 0);
    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "", 100, 0);
    w->o.inverted = true;
    build(w, same);
    assert_node(w, "", 100, 116);
    assert_node(w, "3", 15, 15);
    assert_node(w, "32", 0, 10);
    assert_node(w, "321", 0, 10);
    assert_node(w, "34", 0, 5);
    assert_node(w, "341", 0, 5);
    assert_node(w, "2", 1, 1);
    assert_node(w, "21", 0, 1);
    assert_int_equal(w->tree.n, 8);
    assert_int_equal(node_at(w, "3")->self_count, 2);
}

FIXTURE_TEST(recursion_keeps_its_frames_and_correct_sums)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1222", 10, 0);
    fixture_stack(&w->f, "122", 1, 0);
    build(w, same);
    assert_node(w, "12", 0, 11);
    assert_node(w, "122", 1, 11);
    assert_node(w, "1222", 10, 10);
    w->o.inverted = true;
    build(w, same);
    assert_node(w, "2", 11, 11);
    assert_node(w, "22", 0, 11);
    assert_node(w, "222", 0, 10);
    assert_node(w, "221", 0, 1);
}

FIXTURE_TEST(addresses_of_one_function_share_a_node)
{
    static const uint32_t func_of[] = { 0, 1, 2, 2, 4 };
    struct world *w = *state;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "13", 10, 0);
    fixture_stack(&w->f, "134", 100, 0);
    build(w, func_of);
    assert_int_equal(w->tree.n, 4);
    assert_node(w, "12", 11, 111);
    assert_node(w, "124", 100, 100);
}

FIXTURE_TEST(omitting_a_frame_moves_its_children_up)
{
    static const uint32_t func_of[] = { 0, 1, 0, 3, 4 };
    struct world *w = *state;

    fixture_stack(&w->f, "123", 1, 0);
    fixture_stack(&w->f, "12", 10, 0);
    fixture_stack(&w->f, "24", 100, 0);
    build(w, func_of);
    assert_int_equal(w->tree.n, 4);
    assert_node(w, "1", 10, 11);
    assert_node(w, "13", 1, 1);
    assert_node(w, "4", 100, 100);
    w->o.inverted = true;
    build(w, func_of);
    assert_int_equal(w->tree.n, 5);
    assert_node(w, "31", 0, 1);
    assert_node(w, "1", 10, 10);
    assert_null(node_at(w, "13"));
}

FIXTURE_TEST(groups_are_at_level_one)
{
    struct world *w = *state;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "12", 10, 1);
    fixture_stack(&w->f, "13", 100, 0);
    fixture_stack(&w->f, "", 1000, 1);
    w->f.query.n_threads = 2;
    w->f.query.thread_group = (const uint32_t[]){ 5, 6 };
    w->o.by_group = true;
    build(w, same);
    assert_node(w, "", 0, 1111);
    assert_node(w, "@5", 0, 101);
    assert_node(w, "@51", 0, 101);
    assert_node(w, "@512", 1, 1);
    assert_node(w, "@6", 1000, 1010);
    assert_node(w, "@612", 10, 10);
    assert_int_equal(node_at(w, "@6")->is_group, 1);
    assert_int_equal(node_at(w, "@6")->func, 0);
    w->o.inverted = true;
    build(w, same);
    assert_node(w, "@5", 0, 101);
    assert_node(w, "@52", 1, 1);
    assert_node(w, "@521", 0, 1);
    assert_node(w, "@6", 1000, 1010);
    assert_node(w, "@62", 10, 10);
    w->o.by_group = w->o.inverted = false;
    build(w, same);
    assert_node(w, "12", 11, 11);
}

FIXTURE_TEST(samples_below_the_depth_limit_count_at_the_deepest_node)
{
    struct world *w = *state;

    fixture_stack(&w->f, "1234", 1, 0);
    fixture_stack(&w->f, "1254", 10, 0);
    w->o.max_depth = 2;
    build(w, same);
    assert_int_equal(w->tree.n, 3);
    assert_node(w, "12", 11, 11);
    w->o.inverted = true;
    build(w, same);
    assert_int_equal(w->tree.n, 4);
    assert_node(w, "4", 11, 11);
    assert_node(w, "43", 0, 1);
    assert_node(w, "45", 0, 10);
}

FIXTURE_TEST(filtered_entries_create_no_nodes)
{
    struct world *w = *state;
    uint32_t *funcs;

    fixture_stack(&w->f, "12", 1, 0);
    fixture_stack(&w->f, "13", 10, 0);
    fixture_query(&w->f);
    result_filter(&w->f.result, (const uint8_t[]){ 1, 0 });
    funcs = fixture_funcs(&w->f.result, same);
    w->o.frame_func = funcs;
    calltree_build(&w->tree, &w->f.result, &w->o);
    assert_int_equal(w->tree.n, 3);
    assert_node(w, "13", 10, 10);
    mem_free(funcs);
}

FIXTURE_TEST(a_path_has_the_same_key_in_every_result)
{
    static const uint32_t renumbered[] = { 0, 3, 1, 2, 4 };
    static const uint64_t renumbered_keys[] = { 0, 1002, 1003, 1001, 1004 };
    struct world *w = *state;
    uint64_t key, other;

    fixture_stack(&w->f, "123", 1, 0);
    fixture_stack(&w->f, "132", 1, 0);
    build(w, same);
    key = node_at(w, "123")->key;
    other = node_at(w, "132")->key;
    assert_int_not_equal(key, other);
    fixture_stack(&w->f, "4", 1, 0);
    w->o.func_key = renumbered_keys;
    build(w, renumbered);
    assert_int_equal(node_at(w, "312")->key, key);
    assert_int_equal(node_at(w, "321")->key, other);
}

FIXTURE_TEST(a_node_is_found_by_its_key)
{
    struct world *w = *state;
    uint64_t key;

    assert_int_equal(calltree_find(&w->tree, 1), 0);
    fixture_fill(&w->f, 500);
    build(w, same);
    for (uint32_t i = 0; i < w->tree.n; i++)
        assert_int_equal(calltree_find(&w->tree, w->tree.nodes[i].key), i);
    key = w->tree.nodes[w->tree.n - 1].key;
    w->o.inverted = true;
    build(w, same);
    assert_int_equal(calltree_find(&w->tree, key), 0); /* inverted, every path differs */
}

FIXTURE_TEST(siblings_sort_by_weight_then_key)
{
    struct world *w = *state;
    const struct calltree_node *nodes;

    fixture_fill(&w->f, 800);
    for (uint32_t i = 0; i < 4; i++)
        fixture_stack(&w->f, (const char *[]){ "1116", "1117", "1118", "1119" }[i], 1, 0);
    build(w, same);
    calltree_sort_weight(&w->tree);
    nodes = w->tree.nodes;
    for (uint32_t i = 1; i < w->tree.n; i++) {
        const struct calltree_node *n = &nodes[i], *next = &nodes[n->next_sibling];

        if (n->next_sibling)
            assert_true(n->total_weight > next->total_weight ||
                        (n->total_weight == next->total_weight && n->key < next->key));
    }
}

FIXTURE_TEST(sorting_keeps_every_node)
{
    struct world *w = *state;
    uint32_t reached = 0;

    fixture_fill(&w->f, 500);
    build(w, same);
    calltree_sort_weight(&w->tree);
    for (uint32_t i = 0; i < w->tree.n; i++)
        for (uint32_t c = w->tree.nodes[i].first_child; c; c = w->tree.nodes[c].next_sibling) {
            assert_int_equal(w->tree.nodes[c].parent, i);
            reached++;
        }
    assert_int_equal(reached, w->tree.n - 1);
}

FIXTURE_TEST(siblings_sort_by_rank)
{
    static const uint32_t func_rank[] = { 0, 9, 3, 1, 2 };
    static const uint32_t group_rank[] = { 0, 0, 8, 7 };
    struct world *w = *state;
    const struct calltree_node *n;

    fixture_stack(&w->f, "12", 100, 0);
    fixture_stack(&w->f, "13", 1, 0);
    fixture_stack(&w->f, "14", 10, 1);
    build(w, same);
    calltree_sort_rank(&w->tree, func_rank, NULL);
    n = &w->tree.nodes[node_at(w, "1")->first_child];
    assert_int_equal(n->func, 3);
    n = &w->tree.nodes[n->next_sibling];
    assert_int_equal(n->func, 4);
    n = &w->tree.nodes[n->next_sibling];
    assert_int_equal(n->func, 2);
    assert_int_equal(n->next_sibling, 0);
    w->f.query.n_threads = 2;
    w->f.query.thread_group = (const uint32_t[]){ 2, 3 };
    w->o.by_group = true;
    build(w, same);
    calltree_sort_rank(&w->tree, func_rank, group_rank);
    assert_int_equal(w->tree.nodes[w->tree.nodes[0].first_child].group, 3);
    calltree_sort_rank(&w->tree, NULL, NULL);
    assert_int_equal(w->tree.nodes[w->tree.nodes[0].first_child].group, 2);
}

FIXTURE_TEST(very_deep_stacks_are_truncated_at_512_frames)
{
    struct world *w = *state;
    struct sample s = { .time_ns = 1, .weight = 3 };

    for (uint32_t i = 0; i < 200000; i++)
        s.stack = stacks_child(w->f.stacks, s.stack, stacks_frame(w->f.stacks, 0, 16 * (1 + i % 4)));
    history_append(w->f.history, &s, NULL, 0);
    build(w, same);
    assert_int_equal(w->tree.n, 513);
    assert_int_equal(w->tree.nodes[512].self_weight, 3);
    assert_int_equal(w->tree.nodes[0].total_weight, 3);
    w->o.inverted = true;
    build(w, same);
    assert_int_equal(w->tree.n, 513);
    assert_int_equal(w->tree.nodes[1].self_weight, 3);
}

static void add_path(struct world *w, const uint64_t *offsets, uint32_t n, uint64_t weight)
{
    struct sample s = { .time_ns = 1, .weight = weight };

    for (uint32_t i = 0; i < n; i++)
        s.stack = stacks_child(w->f.stacks, s.stack, stacks_frame(w->f.stacks, 9, offsets[i]));
    history_append(w->f.history, &s, NULL, 0);
}

FIXTURE_TEST(trees_over_the_node_limit_are_truncated_and_keep_their_sums)
{
    struct world *w = *state;
    struct stacks *s = w->f.stacks;
    const uint32_t n = CALLTREE_MAX_NODES / 3 + 1000;
    uint32_t *funcs, *rank, z;

    add_path(w, (const uint64_t[]){ 901, 903 }, 2, 1);
    for (uint32_t i = 0; i < n; i++) { /* wide: many children of the root with two levels below each */
        struct sample sample = { .time_ns = 1 + i, .weight = 1 };
        uint32_t frame = stacks_frame(s, 0, i);

        sample.stack = stacks_child(s, stacks_child(s, stacks_child(s, 0, frame), frame), frame);
        history_append(w->f.history, &sample, NULL, 0);
    }
    add_path(w, (const uint64_t[]){ 901, 902, 903 }, 3, 70); /* differs from 901 calling 903 */
    fixture_query(&w->f);
    funcs = mem_array(w->f.result.n_frames, sizeof *funcs);
    rank = mem_array(w->f.result.n_frames, sizeof *rank);
    for (uint32_t i = 1; i < w->f.result.n_frames; i++)
        funcs[i] = i;
    w->o.frame_func = funcs;
    w->o.func_key = NULL;
    calltree_build(&w->tree, &w->f.result, &w->o);
    assert_int_equal(w->tree.n, CALLTREE_MAX_NODES);
    assert_int_equal(w->tree.nodes[0].total_weight, n + 71);
    z = w->tree.nodes[1].first_child;
    assert_int_equal(w->tree.nodes[z].next_sibling, 0);
    assert_int_equal(w->tree.nodes[z].total_weight, 1);
    assert_int_equal(w->tree.nodes[1].self_weight, 70);
    assert_true(w->tree.nodes[0].self_weight >= 990);
    calltree_sort_rank(&w->tree, rank, NULL);
    mem_free(funcs);
    mem_free(rank);
}

/* The oracle: paths as text, summed sample by sample. */
struct oracle_node {
    char path[128];
    uint64_t self, total;
    uint32_t self_count, total_count;
};
struct oracle {
    struct oracle_node *nodes;
    uint32_t n;
    size_t cap;
};

static struct oracle_node *oracle_at(struct oracle *o, const char *path)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (!strcmp(o->nodes[i].path, path))
            return &o->nodes[i];
    MEM_GROW(o->nodes, o->cap, (size_t)o->n + 1);
    memset(&o->nodes[o->n], 0, sizeof *o->nodes);
    snprintf(o->nodes[o->n].path, sizeof o->nodes[o->n].path, "%s", path);
    return &o->nodes[o->n++];
}

static void oracle_total(struct oracle *o, const char *path, const struct sample *s)
{
    struct oracle_node *n = oracle_at(o, path);

    n->total += s->weight;
    n->total_count++;
}

static void oracle_add(struct oracle *o, const struct world *w, const struct fixture_sample *s,
                       const uint32_t *func_of)
{
    uint32_t funcs[FIXTURE_DEPTH], n = 0, group = w->f.query.thread_group[s->s.thread];
    char path[128] = "", self[128];
    int len = 0;
    struct oracle_node *node;

    for (uint32_t i = 0; i < s->depth; i++)
        if (func_of[s->frames[i]])
            funcs[n++] = func_of[s->frames[i]];
    oracle_total(o, path, &s->s);
    if (w->o.by_group) {
        len = snprintf(path, sizeof path, "@%u", group);
        oracle_total(o, path, &s->s);
    }
    strcpy(self, path);
    for (uint32_t i = 0; i < n; i++) {
        len += snprintf(path + len, sizeof path - (size_t)len, "/%u", funcs[w->o.inverted ? n - 1 - i : i]);
        oracle_total(o, path, &s->s);
        if (!w->o.inverted || i == 0)
            strcpy(self, path);
    }
    node = oracle_at(o, self);
    node->self += s->s.weight;
    node->self_count++;
}

static void path_text(const struct calltree *t, uint32_t node, char *path)
{
    char rest[128] = "", piece[128];

    for (; node; node = t->nodes[node].parent) {
        const struct calltree_node *n = &t->nodes[node];

        snprintf(piece, sizeof piece, n->is_group ? "@%u" : "/%u", n->is_group ? n->group : n->func);
        memmove(rest + strlen(piece), rest, strlen(rest) + 1);
        memcpy(rest, piece, strlen(piece));
    }
    strcpy(path, rest);
}

static void compare_with_oracle(struct world *w, const uint32_t *func_of)
{
    struct oracle o = { 0 };

    build(w, func_of);
    for (uint32_t i = 0; i < w->f.n; i++)
        oracle_add(&o, w, &w->f.samples[i], func_of);
    assert_int_equal(w->tree.n, o.n);
    for (uint32_t i = 0; i < w->tree.n; i++) {
        const struct calltree_node *n = &w->tree.nodes[i];
        const struct oracle_node *want;
        char path[128];

        path_text(&w->tree, i, path);
        want = oracle_at(&o, path);
        assert_int_equal(n->total_weight, want->total);
        assert_int_equal(n->self_weight, want->self);
        assert_int_equal(n->total_count, want->total_count);
        assert_int_equal(n->self_count, want->self_count);
        assert_true(i == 0 || n->parent < i);
        assert_int_equal(n->depth, i ? w->tree.nodes[n->parent].depth + 1 : 0);
        if (n->func)
            assert_int_equal(func_of[fixture_frame(&w->f.result, n->frame)], n->func);
    }
    assert_int_equal(w->tree.n, o.n); /* all paths were found */
    mem_free(o.nodes);
}

FIXTURE_TEST(random_trees_match_a_per_sample_oracle)
{
    static const uint32_t group[] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 };
    struct world *w = *state;

    w->f.query.n_threads = 9;
    w->f.query.thread_group = group;
    for (int round = 0; round < 12; round++) {
        uint32_t func_of[12] = { 0 };

        for (uint32_t i = 1; i < 12; i++)
            func_of[i] = fixture_random(&w->f, 7);
        w->o.inverted = round & 1;
        w->o.by_group = round & 2;
        fixture_fill(&w->f, 60);
        compare_with_oracle(w, func_of);
    }
}

TEST_MAIN(NULL, NULL)
