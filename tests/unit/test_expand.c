// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/expand_inlines.h"
#include "profile/functions.h"
#include "profile_fixture.h"
#include "unit_test.h"

struct world {
    struct fixture f;
    struct expanded x;
    uint32_t inlined[16]; /* by frame number */
    uint32_t asked, last_asked;
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

    expanded_done(&w->x);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static uint32_t count_inlined(void *ctx, uint32_t frame)
{
    struct world *w = ctx;

    assert_true(frame > w->last_asked);
    w->last_asked = frame;
    w->asked++;
    return w->inlined[fixture_frame(&w->f.result, frame)];
}

static bool expand(struct world *w)
{
    fixture_query(&w->f);
    w->asked = w->last_asked = 0;
    expand_anew(&w->x);
    expand_trie(&w->x, &w->f.result, count_inlined, w);
    expand_entries(&w->x, &w->f.result);
    return w->x.any;
}

/* Frames from the root: a digit for a real frame, "a" for the first inlined one below it, "b" for the
 * next. */
static void stack_text(const struct expanded *x, uint32_t node, char *text)
{
    char reversed[256];
    size_t n = 0, i;

    for (; node; node = x->result.parent[node]) {
        uint32_t frame = x->result.frame[node];
        assert_true(x->result.parent[node] < node);
        assert_true(frame && frame < x->result.n_frames && n < sizeof reversed);
        reversed[n++] = (char)(x->inlined.items[frame] ? 'a' + x->inlined.items[frame] - 1
                                                       : '0' + fixture_frame(&x->result, frame));
    }
    for (i = 0; i < n; i++)
        text[i] = reversed[n - 1 - i];
    text[n] = '\0';
}

static void assert_stack(const struct world *w, uint32_t entry, const char *expected, uint64_t weight)
{
    char text[256];

    assert_true(entry < w->x.result.n_entries);
    stack_text(&w->x, w->x.result.entries[entry].node, text);
    assert_string_equal(text, expected);
    assert_int_equal(w->x.result.entries[entry].weight, weight);
}

FIXTURE_TEST(inlined_functions_become_frames_below_their_containing_frame)
{
    struct world *w = *state;

    w->inlined[2] = 2;
    fixture_stack(&w->f, "123", 5, 0);
    fixture_stack(&w->f, "12", 7, 0);
    assert_true(expand(w));
    assert_int_equal(w->x.result.n_entries, 2);
    assert_stack(w, 0, "12ab3", 5);
    assert_stack(w, 1, "12ab", 7);
}

FIXTURE_TEST(recursion_is_expanded_at_each_level)
{
    struct world *w = *state;

    w->inlined[1] = 1;
    fixture_stack(&w->f, "111", 1, 0);
    assert_true(expand(w));
    assert_stack(w, 0, "1a1a1a", 1);
}

FIXTURE_TEST(a_result_without_inlined_functions_is_copied_unchanged)
{
    struct world *w = *state;
    const struct result *r = &w->f.result;

    fixture_stack(&w->f, "123", 5, 0);
    fixture_stack(&w->f, "14", 7, 0);
    fixture_stack(&w->f, "", 9, 0);
    assert_false(expand(w));
    assert_int_equal(w->x.result.n_nodes, r->n_nodes);
    assert_int_equal(w->x.result.n_frames, r->n_frames);
    assert_memory_equal(w->x.result.parent, r->parent, r->n_nodes * sizeof *r->parent);
    assert_memory_equal(w->x.result.frame + 1, r->frame + 1, (r->n_nodes - 1) * sizeof *r->frame);
    assert_memory_equal(w->x.result.entries, r->entries, r->n_entries * sizeof *r->entries);
    assert_stack(w, 2, "", 9);
}

FIXTURE_TEST(virtual_frames_refer_to_their_real_frame)
{
    struct world *w = *state;
    const struct expanded *x = &w->x;
    uint32_t i;

    w->inlined[3] = 3;
    w->inlined[1] = 1;
    fixture_stack(&w->f, "123", 5, 0);
    assert_true(expand(w));
    assert_int_equal(x->result.n_frames, w->f.result.n_frames + 4);
    for (i = 1; i < x->result.n_frames; i++) {
        uint32_t real = x->real.items[i];
        assert_true(real && real < w->f.result.n_frames);
        assert_int_equal(x->result.frame_module[i], w->f.result.frame_module[real]);
        assert_int_equal(x->result.frame_offset[i], w->f.result.frame_offset[real]);
        assert_in_range(x->inlined.items[i], 0, w->inlined[fixture_frame(&w->f.result, real)]);
    }
    assert_int_equal(w->asked, w->f.result.n_frames - 1);
}

FIXTURE_TEST(an_empty_result_needs_no_inline_lookups)
{
    struct world *w = *state;

    assert_false(expand(w));
    assert_int_equal(w->asked, 0);
    assert_int_equal(w->x.result.n_entries, 0);
}

FIXTURE_TEST(frames_beyond_the_limit_are_not_expanded)
{
    struct world *w = *state;

    w->inlined[1] = EXPAND_NODES_MAX;
    w->inlined[2] = 1;
    fixture_stack(&w->f, "12", 3, 0);
    assert_true(expand(w));
    assert_stack(w, 0, "12a", 3);
}

/* A leaf's weight goes to its innermost inlined function; totals of containing functions do not change. */
FIXTURE_TEST(sums_match_a_per_sample_oracle)
{
    struct world *w = *state;
    struct functions before = { 0 }, after = { 0 };
    uint64_t total[16] = { 0 }, self[16] = { 0 }, inlined_self = 0, expected = 0;
    uint32_t *funcs, *baseline_funcs, i;

    for (i = 1; i < 12; i++)
        w->inlined[i] = i % 3;
    fixture_fill(&w->f, 3000);
    assert_true(expand(w));
    funcs = mem_array(w->x.result.n_frames, sizeof *funcs);
    for (i = 1; i < w->x.result.n_frames; i++)
        funcs[i] = w->x.inlined.items[i] ? 12 : fixture_frame(&w->f.result, w->x.real.items[i]);
    baseline_funcs = mem_array(w->f.result.n_frames, sizeof *baseline_funcs);
    for (i = 1; i < w->f.result.n_frames; i++)
        baseline_funcs[i] = fixture_frame(&w->f.result, i);
    functions_build(&before, &w->f.result, baseline_funcs, 13, false);
    functions_build(&after, &w->x.result, funcs, 13, false);
    for (i = 0; i < before.n; i++) {
        total[before.rows[i].func] = before.rows[i].total_weight;
        self[before.rows[i].func] = before.rows[i].self_weight;
        expected += w->inlined[before.rows[i].func] ? before.rows[i].self_weight : 0;
    }
    for (i = 0; i < after.n; i++) {
        const struct function_row *row = &after.rows[i];
        if (row->func == 12) {
            inlined_self = row->self_weight;
            continue;
        }
        assert_int_equal(row->total_weight, total[row->func]);
        assert_int_equal(row->self_weight, w->inlined[row->func] ? 0 : self[row->func]);
    }
    assert_true(expected > 0);
    assert_int_equal(inlined_self, expected);
    assert_int_equal(w->x.result.weight, w->f.result.weight);
    assert_int_equal(w->x.result.samples, w->f.result.samples);
    functions_done(&before);
    functions_done(&after);
    mem_free(funcs);
    mem_free(baseline_funcs);
}

static void build(const struct expanded *x, struct functions *f)
{
    uint32_t *funcs = mem_array(x->result.n_frames, sizeof *funcs), i;

    for (i = 1; i < x->result.n_frames; i++)
        funcs[i] = fixture_frame(&x->result, i) + 16 * x->inlined.items[i];
    functions_build(f, &x->result, funcs, 64, false);
    mem_free(funcs);
}

static void assert_same_functions(const struct functions *a, const struct functions *b)
{
    uint32_t i, k;

    assert_int_equal(a->n, b->n);
    for (i = 0; i < a->n; i++) {
        for (k = 0; k < b->n && b->rows[k].func != a->rows[i].func; k++)
            ;
        assert_true(k < b->n);
        assert_memory_equal(&a->rows[i], &b->rows[k], sizeof a->rows[i]);
    }
}

/* Compares an expansion and a function table that grow with the profile with ones built at once, while
 * frames are omitted. */
FIXTURE_TEST(incremental_expansion_equals_a_full_expansion)
{
    struct world *w = *state;
    struct functions grown = { 0 };
    uint8_t *drop = mem_array(100000, 1);
    unsigned round, went_on = 0;
    uint32_t i;

    for (i = 1; i < 12; i++)
        w->inlined[i] = i % 3;
    for (round = 0; round < 40; round++) {
        struct expanded whole = { 0 };
        struct functions all = { 0 };
        char text[256], expected[256];
        uint32_t nodes = w->x.result.n_nodes, frames = w->x.result.n_frames;

        fixture_fill(&w->f, 60);
        w->f.query.to_ns = round == 20 ? 100 : 0; /* occasionally another query */
        fixture_query(&w->f);
        w->last_asked = 0;
        expand_trie(&w->x, &w->f.result, count_inlined, w);
        for (i = 0; i < w->f.result.n_entries; i++)
            drop[i] = round > 30 && w->f.result.entries[i].node % 3 == 1;
        result_filter(&w->f.result, drop);
        expand_entries(&w->x, &w->f.result);
        went_on += w->x.result.since != 0;
        if (w->x.result.since) {
            assert_true(w->x.result.n_frames_before == frames && w->x.result.n_nodes >= nodes);
            assert_true(w->x.result.since == grown.version);
        }
        w->last_asked = 0;
        expand_trie(&whole, &w->f.result, count_inlined, w);
        expand_entries(&whole, &w->f.result);
        assert_int_equal(whole.result.n_entries, w->x.result.n_entries);
        for (i = 0; i < whole.result.n_entries; i++) {
            stack_text(&w->x, w->x.result.entries[i].node, text);
            stack_text(&whole, whole.result.entries[i].node, expected);
            assert_string_equal(text, expected);
            assert_int_equal(w->x.result.entries[i].weight, whole.result.entries[i].weight);
        }
        build(&w->x, &grown);
        build(&whole, &all);
        assert_same_functions(&grown, &all);
        functions_done(&all);
        expanded_done(&whole);
    }
    assert_true(went_on > 10 && went_on < 40);
    functions_done(&grown);
    mem_free(drop);
}

FIXTURE_TEST(expansion_reuses_its_memory)
{
    struct world *w = *state;

    w->inlined[2] = 2;
    fixture_fill(&w->f, 500);
    assert_true(expand(w));
    w->inlined[2] = 0;
    assert_false(expand(w));
    w->inlined[2] = 1;
    fixture_stack(&w->f, "52", 1, 0);
    assert_true(expand(w));
    assert_stack(w, w->x.result.n_entries - 1, "52a", 1);
}

TEST_MAIN(NULL, NULL)
