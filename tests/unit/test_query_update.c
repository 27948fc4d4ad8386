// SPDX-License-Identifier: GPL-2.0-or-later
/* A result that goes on from the previous one, and the tables built from it, equal new ones. */

#include "profile/expand_inlines.h"
#include "profile/functions.h"
#include "profile_fixture.h"
#include "unit_test.h"

#define BUCKET 100
#define WINDOW (QUERY_TREND * BUCKET)
#define FUNCS  64

struct world {
    struct fixture f;
    struct expanded x;
    struct functions functions, inlined; /* without inlined functions and with them */
    bool with_group;
    uint32_t leaf; /* entries whose leaf is such a frame are dropped */
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
    functions_done(&w->functions);
    functions_done(&w->inlined);
    fixture_done(&w->f);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

/* ---- a few samples ---- */

static void add_sample_at(struct fixture *f, uint64_t time_ns, uint32_t frame, uint64_t weight)
{
    struct sample s = { .time_ns = time_ns, .weight = weight, .flags = SAMPLE_BROKEN };

    fixture_add(f, &s, (const uint32_t[]){ 1, frame }, 2);
}

static void query_window(struct fixture *f, uint64_t from_ns)
{
    f->query.from_ns = from_ns;
    f->query.to_ns = from_ns + WINDOW - 1;
    fixture_query(f);
}

FIXTURE_TEST(a_stack_known_later_is_moved)
{
    struct world *w = *state;
    struct fixture *f = &w->f;
    const struct result *r = &f->result;
    uint32_t known, unknown;
    uint64_t version;

    add_sample_at(f, 1000, 2, 10);
    add_sample_at(f, 1110, 3, 7);
    add_sample_at(f, 1120, 3, 5);
    add_sample_at(f, 1900, 3, 1); /* after the range's end */
    query_window(f, 1000);
    version = r->version;
    known = history_sample(f->history, 0)->stack;
    unknown = history_sample(f->history, 1)->stack;
    history_set_stack(f->history, 1, known, 0);
    add_sample_at(f, 1200, 3, 100);
    history_set_stack(f->history, 4, known, 0); /* before the first query */
    fixture_query(f);
    assert_int_equal(r->since, version);
    assert_true(r->some_left);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(r->entries[0].weight, 117);
    assert_int_equal(r->entries[0].broken, 1);
    assert_int_equal(r->entries[0].trend[1], 7);
    assert_int_equal(r->entries[1].weight, 5);
    assert_int_equal(r->broken_samples, 2);
    history_set_stack(f->history, 2, known, 0);
    fixture_query(f);
    assert_int_equal(r->n_entries, 1); /* no sample is left there */
    assert_int_equal(r->samples, 4);
    history_set_stack(f->history, 3, known, 0);
    history_set_stack(f->history, 0, unknown, SAMPLE_BROKEN);
    fixture_query(f);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(r->entries[1].weight, 10);
    assert_int_equal(r->weight, 122);
}

FIXTURE_TEST(a_function_without_remaining_stacks_has_no_row)
{
    static const uint32_t funcs[] = { 0, 1, 2, 3 };
    struct world *w = *state;
    struct fixture *f = &w->f;

    add_sample_at(f, 1000, 2, 10);
    add_sample_at(f, 1110, 3, 7);
    query_window(f, 1000);
    functions_build(&w->functions, &f->result, funcs, 4, false);
    assert_int_equal(w->functions.n, 3);
    history_set_stack(f->history, 1, history_sample(f->history, 0)->stack, 0);
    fixture_query(f);
    functions_build(&w->functions, &f->result, funcs, 4, false);
    assert_int_equal(w->functions.n, 2);
    assert_int_equal(w->functions.rows[0].total_weight, 17);
}

FIXTURE_TEST(too_many_changes_or_changes_of_the_filter_start_over)
{
    struct world *w = *state;
    struct fixture *f = &w->f;

    add_sample_at(f, 1000, 2, 10);
    f->query.need_flags = SAMPLE_BROKEN;
    query_window(f, 1000);
    history_set_stack(f->history, 0, 0, 0);
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
    assert_int_equal(f->result.samples, 0);
    f->query.need_flags = 0;
    fixture_query(f);
    for (uint32_t i = 0; i <= HISTORY_CHANGES; i++)
        history_set_stack(f->history, 0, (i + 1) % 2, 0);
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
    assert_int_equal(f->result.weight, 10);
}

FIXTURE_TEST(another_range_starts_over)
{
    struct world *w = *state;
    struct fixture *f = &w->f;

    add_sample_at(f, 1000, 2, 10);
    query_window(f, 1000);
    query_window(f, 1100);
    assert_int_equal(f->result.since, 0);
    f->query.to_ns++;
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
}

FIXTURE_TEST(nodes_and_frames_keep_their_numbers)
{
    struct world *w = *state;
    struct fixture *f = &w->f;
    const struct result *r = &f->result;
    uint32_t node;
    uint64_t version;

    add_sample_at(f, 1000, 2, 5);
    add_sample_at(f, 1700, 3, 7);
    query_window(f, 1000);
    node = r->entries[1].node;
    version = r->version;
    add_sample_at(f, 1850, 4, 11);
    for (uint64_t from_ns = 1100; from_ns <= 1600; from_ns += 500, version = r->version) {
        query_window(f, from_ns);
        assert_int_equal(r->goes_on_from, version);
        assert_int_equal(r->n_frames_before, from_ns == 1100 ? 4 : 5);
        assert_int_equal(r->entries[0].node, node);
        assert_int_equal(r->weight, 18);
    }
}

/* ---- many samples ---- */

/* Slightly out of order, and some before the range or after it. Latencies add up to more than 2^64. */
static void fill(struct world *w, uint64_t now_ns, uint32_t n)
{
    struct fixture *f = &w->f;

    while (n-- > 0) {
        struct sample s = {
            .time_ns = now_ns - 3 * BUCKET + fixture_random(f, 5 * BUCKET),
            .weight = (uint64_t)fixture_random(f, UINT32_MAX) << 32 | (1 + fixture_random(f, 1000)),
            .running = fixture_random(f, 5),
            .thread = fixture_random(f, 9),
            .cpu = (uint16_t)fixture_random(f, 4),
            .event = (uint8_t)fixture_random(f, 3),
            .flags = (uint8_t)fixture_random(f, 64),
        };
        uint32_t frames[FIXTURE_DEPTH], depth = fixture_random(f, 7);

        for (uint32_t d = 0; d < depth; d++)
            frames[d] = 1 + fixture_random(f, d < 3 ? 2 : 6);
        fixture_add(f, &s, frames, depth);
    }
}

/* Some twice, some without a change, and some not yet queried. */
static void change_stacks(struct fixture *f, uint32_t n)
{
    uint64_t next = history_next(f->history);

    while (n-- > 0) {
        uint64_t back = 1 + fixture_random(f, 60);
        const struct sample *s = history_sample(f->history, next - back);

        if (s)
            history_set_stack(f->history, next - back, fixture_random(f, stacks_node_count(f->stacks)),
                              s->flags ^ (fixture_random(f, 2) ? SAMPLE_BROKEN : 0));
    }
}

static void compact_stacks(struct fixture *f)
{
    uint8_t *keep = mem_array(stacks_node_count(f->stacks), 1);

    memset(keep, 1, stacks_node_count(f->stacks));
    mem_free(stacks_compact(f->stacks, keep));
    mem_free(keep);
}

static void change_something(struct world *w)
{
    static const uint32_t groups[][9] = { { 3, 1, 1, 0, 9, 3, 2, 1, 1 }, { 3, 1, 1, 0, 9, 3, 2, 4, 4 } };
    static const uint8_t passes[][9] = { { 1, 0, 1, 1, 1, 1, 1, 1, 1 }, { 1, 0, 1, 1, 1, 0, 1, 1, 0 } };
    struct fixture *f = &w->f;
    struct query *q = &f->query;

    switch (fixture_random(f, 84)) {
    case 0:
        q->by_cpu = !q->by_cpu;
        break;
    case 1:
        q->thread_group = fixture_random(f, 2) ? NULL : groups[fixture_random(f, 2)];
        break;
    case 2:
        q->thread_pass = fixture_random(f, 3) ? passes[fixture_random(f, 2)] : NULL;
        break;
    case 3:
        q->n_threads = 7 + fixture_random(f, 3);
        break;
    case 4:
        q->event = fixture_random(f, 2) ? QUERY_ANY_EVENT : (uint8_t)fixture_random(f, 3);
        break;
    case 5:
        q->n_group_sums = q->event < 2 ? (uint8_t)fixture_random(f, 2) : 0;
        q->group_sums[0] = q->n_group_sums ? 2 : 0;
        break;
    case 6:
        q->need_flags = fixture_random(f, 3) ? 0 : SAMPLE_USER;
        break;
    case 7:
        q->only_cpu = fixture_random(f, 3) ? 0 : 2;
        break;
    case 8:
        w->leaf = fixture_random(f, 5);
        break;
    case 9:
        history_shrink(f->history, history_bytes(f->history) / 2);
        break;
    case 10:
        compact_stacks(f);
        break;
    case 11:
        w->with_group = !w->with_group;
        break;
    case 12:
        q->latency = !q->latency;
        break;
    case 13:
        q->running_to = fixture_random(f, 3);
        q->running_from = fixture_random(f, 2) ? 1 : q->running_to;
        break;
    case 14:
        q->weight_from = fixture_random(f, 300);
        q->weight_to = fixture_random(f, 2) ? 0 : q->weight_from + fixture_random(f, 700);
        break;
    }
}

/* As in views: samples without the event are left out, too. */
static void filter_result(struct result *r, uint32_t leaf)
{
    uint8_t *drop = mem_array(r->n_entries + 1, 1);

    for (uint32_t i = 0; i < r->n_entries; i++)
        drop[i] = fixture_frame(r, r->frame[r->entries[i].node]) % 4 == leaf || !r->entries[i].count;
    result_filter(r, drop);
    mem_free(drop);
}

static uint32_t inlined_in(void *ctx, uint32_t frame)
{
    return fixture_frame(ctx, frame) % 3;
}

/* Frames 6 and 7 belong to one function, 5 is left out. */
static uint32_t func_of(uint32_t frame, uint32_t inlined)
{
    return frame == 5 ? 0 : (frame < 7 ? frame : 6) + 16 * inlined;
}

static void build_functions(const struct world *w, struct functions *f, const struct result *r,
                            const struct expanded *x)
{
    uint32_t *funcs = mem_array(r->n_frames, sizeof *funcs);

    for (uint32_t i = 1; i < r->n_frames; i++)
        funcs[i] = func_of(fixture_frame(r, i), x ? x->inlined.items[i] : 0);
    functions_build(f, r, funcs, FUNCS, w->with_group);
    mem_free(funcs);
}

/* Everything built from a query. */
static void make_functions(const struct world *w, struct result *r, struct expanded *x, struct functions *f,
                           struct functions *inlined)
{
    expand_trie(x, r, inlined_in, r);
    filter_result(r, w->leaf);
    expand_entries(x, r);
    build_functions(w, f, r, NULL);
    build_functions(w, inlined, &x->result, x);
}

static bool is_same_stack(const struct result *r, uint32_t a, const struct result *other, uint32_t b)
{
    for (; a && b && r->frame_offset[r->frame[a]] == other->frame_offset[other->frame[b]];
         b = other->parent[b])
        a = r->parent[a];
    return !a && !b;
}

static void assert_same_entry(const struct result *r, const struct result *want, uint32_t i)
{
    const struct result_entry *w = &want->entries[i], *e = r->entries;
    const struct result_entry *end = e + r->n_entries;

    while (e < end &&
           !(e->group == w->group && e->idle == w->idle && is_same_stack(r, e->node, want, w->node)))
        e++;
    assert_true(e < end);
    assert_int_equal(e->weight, w->weight);
    assert_int_equal(e->count, w->count);
    assert_int_equal(e->broken, w->broken);
    assert_memory_equal(e->trend, w->trend, sizeof w->trend);
    if (r->group_events)
        assert_memory_equal(r->group_sums + (size_t)(e - r->entries) * r->group_events,
                            want->group_sums + (size_t)i * r->group_events,
                            r->group_events * sizeof *r->group_sums);
}

static void assert_same_results(const struct result *r, const struct result *want)
{
    assert_int_equal(r->samples, want->samples);
    assert_int_equal(r->weight, want->weight);
    assert_int_equal(r->broken_samples, want->broken_samples);
    assert_int_equal(r->first_ns, want->first_ns);
    assert_int_equal(r->last_ns, want->last_ns);
    assert_int_equal(r->group_events, want->group_events);
    assert_int_equal(r->n_entries, want->n_entries);
    for (uint32_t i = 0; i < want->n_entries; i++)
        assert_same_entry(r, want, i);
}

static void assert_same_rows(const struct functions *f, const struct functions *want)
{
    assert_int_equal(f->n, want->n);
    for (uint32_t i = 0; i < want->n; i++) {
        uint32_t k = 0;

        while (k < f->n && (f->rows[k].func != want->rows[i].func || f->rows[k].group != want->rows[i].group))
            k++;
        assert_true(k < f->n);
        assert_memory_equal(&f->rows[k], &want->rows[i], sizeof f->rows[k]);
    }
}

static void assert_as_new(struct world *w)
{
    struct result r = { 0 };
    struct expanded x = { 0 };
    struct functions f = { 0 }, inlined = { 0 };

    query_run(&w->f.query, w->f.history, w->f.stacks, &r);
    make_functions(w, &r, &x, &f, &inlined);
    assert_same_results(&w->f.result, &r);
    assert_same_results(&w->x.result, &x.result);
    assert_same_rows(&w->functions, &f);
    assert_same_rows(&w->inlined, &inlined);
    result_done(&r);
    expanded_done(&x);
    functions_done(&f);
    functions_done(&inlined);
}

FIXTURE_TEST(an_updated_result_equals_a_new_one)
{
    struct world *w = *state;
    struct fixture *f = &w->f;
    uint32_t gone_on = 0, changed = 0, grouped = 0, group_sums = 0;
    uint64_t end_ns = 2000, changes;

    f->query.n_threads = 9;
    w->leaf = 4;
    for (int round = 0; round < 2000; round++) {
        const struct result *r = &f->result;

        end_ns += fixture_random(f, 6) ? 0 : BUCKET * (uint64_t)fixture_random(f, 12);
        fill(w, end_ns - BUCKET, fixture_random(f, 30));
        changes = history_changes(f->history);
        change_stacks(f, fixture_random(f, 4) ? 0 : fixture_random(f, 10));
        changes = history_changes(f->history) - changes;
        change_something(w);
        f->query.from_ns = end_ns - WINDOW;
        f->query.to_ns = end_ns - 1;
        fixture_query(f);
        make_functions(w, &f->result, &w->x, &w->functions, &w->inlined);
        assert_as_new(w);
        if (!r->since)
            continue;
        gone_on++;
        changed += changes && r->some_left;
        grouped += w->with_group && (f->query.by_cpu || f->query.thread_group);
        group_sums += r->group_events > 0;
    }
    assert_true(gone_on > 500 && changed > 100 && grouped > 50 && group_sums > 10);
}

TEST_MAIN(NULL, NULL)
