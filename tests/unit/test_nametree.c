// SPDX-License-Identifier: GPL-2.0-or-later
/* Call trees by names, of profiles written as lines "comm;function;function@module 12". */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/compare.h"
#include "unit_test.h"

#define MAX 32

/* A made view. A name has another number in each view. */
struct fake {
    struct view v;
    struct view_function funcs[MAX];
    struct view_group_info groups[MAX];
    uint32_t parent[MAX], frame[MAX], frame_func[MAX];
    struct result_entry entries[MAX];
    char names[MAX][2][32];
};

static uint32_t group_at(struct fake *f, const char *label)
{
    for (uint32_t i = 1; i < f->v.n_groups; i++)
        if (!strcmp(f->groups[i].label, label))
            return i;
    uint32_t i = f->v.n_groups++;
    f->groups[i].label = f->groups[i].full = strcpy(f->names[MAX - i][0], label);
    return i;
}

static uint32_t function_at(struct fake *f, const char *name, const char *module)
{
    for (uint32_t i = 1; i < f->v.n_funcs; i++)
        if (!strcmp(f->funcs[i].name, name) && !strcmp(f->funcs[i].module, module))
            return i;
    uint32_t i = f->v.n_funcs++;
    f->funcs[i].name = strcpy(f->names[i][0], name);
    f->funcs[i].module = strcpy(f->names[i][1], module);
    f->frame_func[i] = i; /* a frame for each function */
    f->v.result.n_frames = i + 1;
    return i;
}

static uint32_t node_at(struct fake *f, uint32_t parent, uint32_t frame)
{
    for (uint32_t i = 1; i < f->v.result.n_nodes; i++)
        if (f->parent[i] == parent && f->frame[i] == frame)
            return i;
    uint32_t i = f->v.result.n_nodes++;
    f->parent[i] = parent;
    f->frame[i] = frame;
    return i;
}

static void add_line(struct fake *f, const char *line)
{
    char copy[128], *save;
    unsigned count = (unsigned)atoi(strrchr(line, ' ') + 1);
    snprintf(copy, sizeof copy, "%.*s", (int)(strrchr(line, ' ') - line), line);
    uint32_t group = group_at(f, strtok_r(copy, ";", &save)), node = 0;
    for (char *name; (name = strtok_r(NULL, ";", &save));) {
        char *at = strchr(name, '@');
        if (at)
            *at = '\0';
        node = node_at(f, node, function_at(f, name, at ? at + 1 : "prog"));
    }
    f->entries[f->v.result.n_entries++] =
        (struct result_entry){ .weight = count * 1000, .group = group, .node = node, .count = count };
}

static struct fake *make_view(const char *const *lines)
{
    struct fake *f = mem_zalloc(sizeof *f);
    f->v = (struct view){
        .frame_func = f->frame_func, .funcs = f->funcs, .n_funcs = 1, .groups = f->groups, .n_groups = 1
    };
    f->v.result = (struct result){
        .parent = f->parent, .frame = f->frame, .n_nodes = 1, .n_frames = 1, .entries = f->entries
    };
    f->groups[0].label = "all";
    for (; *lines; lines++)
        add_line(f, *lines);
    return f;
}

static struct nametree tree;

static void add_lines(enum nametree_side side, bool by_weight, const char *const *lines)
{
    struct fake *f = make_view(lines);
    nametree_add(&tree, &f->v, side, by_weight);
    mem_free(f);
}

static int set_up(void **state)
{
    nametree_init(&tree);
    return 0;
}

static int tear_down(void **state)
{
    nametree_done(&tree);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* "name shown/baseline(self shown/baseline)" of all nodes in preorder, '>' for each level. */
static const char *drawn(const struct nametree *t)
{
    static char text[2048];
    size_t n = 0;
    for (uint32_t i = 0;;) {
        const struct nametree_node *at = &t->nodes[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s%s %u/%u(%u/%u)\n", (int)at->depth, ">>>>>>>>",
                              t->funcs[at->func].name, (unsigned)at->total[0], (unsigned)at->total[1],
                              (unsigned)at->self[0], (unsigned)at->self[1]);
        if (!(i = nametree_next(t, i, false)))
            return text;
    }
}

FIXTURE_TEST(profile_and_baseline_are_matched_by_names)
{
    add_lines(NAMETREE_SHOWN, false, LINES("web;main;a 3", "web;main 1", "web;main;b;a 2"));
    add_lines(NAMETREE_BASELINE, false, LINES("db;main 5", "web;main;b 4", "web;main;a 1"));
    nametree_sort(&tree);
    assert_string_equal(drawn(&tree),
                        "all 6/10(0/0)\n"
                        ">db 0/5(0/0)\n>>main 0/5(0/5)\n"
                        ">web 6/5(0/0)\n>>main 6/5(1/0)\n>>>a 3/1(3/1)\n>>>b 2/4(0/4)\n>>>>a 2/0(2/0)\n");
}

FIXTURE_TEST(weights_can_be_compared_instead_of_samples)
{
    add_lines(NAMETREE_SHOWN, true, LINES("web;main 2"));
    nametree_sort(&tree);
    assert_string_equal(drawn(&tree), "all 2000/0(0/0)\n>web 2000/0(0/0)\n>>main 2000/0(2000/0)\n");
}

FIXTURE_TEST(a_comm_and_a_function_with_the_same_name_stay_separate)
{
    add_lines(NAMETREE_SHOWN, false, LINES("main;main;main 1", "all;all 2", "all 1"));
    nametree_sort(&tree);
    assert_string_equal(drawn(&tree),
                        "all 4/0(0/0)\n>all 3/0(1/0)\n>>all 2/0(2/0)\n>main 1/0(0/0)\n>>main 1/0(0/0)\n"
                        ">>>main 1/0(1/0)\n");
}

FIXTURE_TEST(library_versions_are_matched_with_each_other)
{
    add_lines(NAMETREE_SHOWN, false,
              LINES("web;f@libc-2.36.so 1", "web;g@libz.so.1.2.13 1", "web;h@lib7.so 1", "web;i@app-2 1"));
    add_lines(NAMETREE_BASELINE, false,
              LINES("web;f@libc-2.31.so 1", "web;g@libz.so.1 1", "web;h@lib8.so 1", "web;i@app-1 1"));
    nametree_sort(&tree);
    assert_string_equal(strchr(drawn(&tree), '>'),
                        ">web 4/4(0/0)\n>>f 1/1(1/1)\n>>g 1/1(1/1)\n>>h 1/0(1/0)\n>>h 0/1(0/1)\n"
                        ">>i 0/1(0/1)\n>>i 1/0(1/0)\n");
}

FIXTURE_TEST(an_inverted_tree_begins_with_the_leaf_functions)
{
    struct nametree turned = { 0 };
    add_lines(NAMETREE_SHOWN, false, LINES("web;main;a 3", "web;main 1", "db;a 2"));
    add_lines(NAMETREE_BASELINE, false, LINES("web;main;a 1"));
    nametree_init(&turned);
    nametree_add_reversed(&turned, &tree);
    nametree_sort(&turned);
    assert_string_equal(drawn(&turned),
                        "all 6/1(0/0)\n>a 5/1(0/0)\n>>db 2/0(2/0)\n>>main 3/1(0/0)\n>>>web 3/1(3/1)\n"
                        ">main 1/0(0/0)\n>>web 1/0(1/0)\n");
    nametree_done(&turned);
}

FIXTURE_TEST(the_subtree_of_a_node_can_be_skipped)
{
    add_lines(NAMETREE_SHOWN, false, LINES("web;a;b 1", "web;c 1"));
    nametree_sort(&tree);
    uint32_t web = nametree_next(&tree, 0, false), a = nametree_next(&tree, web, false);
    uint32_t c = nametree_next(&tree, a, true);
    assert_string_equal(tree.funcs[tree.nodes[c].func].name, "c");
    assert_int_equal(nametree_next(&tree, c, false), 0);
}

FIXTURE_TEST(rows_compare_shares_and_count_recursion_once)
{
    uint32_t n;
    add_lines(NAMETREE_SHOWN, false, LINES("web;main;a;a;a 30", "web;main;b 10"));
    add_lines(NAMETREE_BASELINE, false, LINES("web;main;a 5", "web;main;b 5", "web;main;c 10"));
    nametree_sort(&tree);
    struct compare_row *rows = compare_rows(&tree, &n);
    assert_int_equal(n, 4);
    const char *order[] = { "a", /* b and c differ equally */
                            "c", "b", "main" };
    double self[][2] = { { 75, 25 }, { 0, 50 }, { 25, 25 }, { 0, 0 } },
           total[][2] = { { 75, 25 }, { 0, 50 }, { 25, 25 }, { 100, 100 } };
    for (uint32_t i = 0; i < n; i++) {
        assert_string_equal(tree.funcs[rows[i].func].name, order[i]);
        for (int side = 0; side < 2; side++) {
            assert_float_equal(rows[i].self[side], self[i][side], 1e-9);
            assert_float_equal(rows[i].total[side], total[i][side], 1e-9);
        }
    }
    mem_free(rows);
}

FIXTURE_TEST(an_empty_profile_cannot_be_compared)
{
    uint32_t n;
    add_lines(NAMETREE_SHOWN, false, LINES("web;main 4"));
    nametree_sort(&tree);
    struct compare_row *rows = compare_rows(&tree, &n);
    assert_int_equal(n, 1);
    assert_float_equal(rows[0].self[NAMETREE_SHOWN], 100, 1e-9);
    assert_float_equal(rows[0].self[NAMETREE_BASELINE], 0, 1e-9);
    mem_free(rows);
}

TEST_MAIN(NULL, NULL)
