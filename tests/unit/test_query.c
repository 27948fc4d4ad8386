// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile_fixture.h"
#include "unit_test.h"

static int setup(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);

    fixture_init(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_done(*state);
    mem_free(*state);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

FIXTURE_TEST(an_empty_history_gives_an_empty_result)
{
    struct fixture *f = *state;

    fixture_query(f);
    assert_int_equal(f->result.n_entries, 0);
    assert_int_equal(f->result.samples, 0);
    assert_int_equal(f->result.n_nodes, 1);
    assert_int_equal(f->result.parent[0], 0);
    assert_int_equal(f->result.first_ns, 0);
    assert_int_equal(f->result.last_ns, 0);
}

/* Reallocated arrays may reuse earlier addresses. */
FIXTURE_TEST(a_result_can_be_reused_for_another_history)
{
    struct fixture *f = *state;

    for (unsigned round = 0; round < 100; round++) {
        history_free(f->history);
        stacks_free(f->stacks);
        f->stacks = stacks_new();
        f->history = history_new();
        f->n = 0;
        fixture_stack(f, round % 2 ? "34" : "12", 10, 0);
        fixture_query(f);
        assert_int_equal(f->result.n_entries, 1);
        assert_int_equal(fixture_frame(&f->result, f->result.frame[f->result.entries[0].node]),
                         round % 2 ? 4 : 2);
        assert_int_equal(f->result.n_frames_before, 1);
    }
}

FIXTURE_TEST(equal_stacks_become_one_entry)
{
    struct fixture *f = *state;
    const struct result *r = &f->result;

    fixture_stack(f, "12", 10, 0);
    fixture_stack(f, "13", 20, 0);
    fixture_stack(f, "12", 30, 5);
    fixture_query(f);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(r->entries[0].weight, 40);
    assert_int_equal(r->entries[0].count, 2);
    assert_int_equal(r->entries[1].weight, 20);
    assert_int_equal(r->samples, 3);
    assert_int_equal(r->weight, 60);
    assert_int_equal(r->n_nodes, 4);
    assert_int_equal(r->n_frames, 4);
    assert_int_equal(r->parent[r->entries[0].node], r->parent[r->entries[1].node]);
    assert_int_equal(fixture_frame(r, r->frame[r->entries[1].node]), 3);
    assert_int_equal(r->first_ns, 1);
    assert_int_equal(r->last_ns, 3);
}

FIXTURE_TEST(only_used_stacks_are_copied)
{
    struct fixture *f = *state;

    fixture_stack(f, "1234", 1, 0);
    fixture_stack(f, "567", 1, 1);
    fixture_stack(f, "1289", 1, 1);
    f->query.n_threads = 2;
    f->query.thread_pass = (const uint8_t[]){ 0, 1 };
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 2);
    assert_int_equal(f->result.n_nodes, 1 + 3 + 4);
    assert_int_equal(f->result.n_frames, 1 + 3 + 4);
}

FIXTURE_TEST(the_empty_stack_is_node_zero)
{
    struct fixture *f = *state;

    fixture_stack(f, "", 5, 0);
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 1);
    assert_int_equal(f->result.entries[0].node, 0);
    assert_int_equal(f->result.weight, 5);
}

FIXTURE_TEST(idle_and_others_are_different_entries)
{
    struct fixture *f = *state;
    struct sample s = { .time_ns = 1, .weight = 1, .flags = SAMPLE_IDLE | SAMPLE_KERNEL };

    fixture_stack(f, "1", 1, 0);
    fixture_add(f, &s, (const uint32_t[]){ 1 }, 1);
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 2);
    assert_int_equal(f->result.entries[0].idle, 0);
    assert_int_equal(f->result.entries[1].idle, 1);
    assert_int_equal(f->result.entries[0].node, f->result.entries[1].node);
}

FIXTURE_TEST(a_range_is_inclusive)
{
    struct fixture *f = *state;

    for (int i = 0; i < 10; i++)
        fixture_stack(f, "1", 1, 0); /* times 1 … 10 */
    f->query.from_ns = 3;
    f->query.to_ns = 7;
    fixture_query(f);
    assert_int_equal(f->result.samples, 5);
    assert_int_equal(f->result.first_ns, 3);
    assert_int_equal(f->result.last_ns, 7);
    f->query.to_ns = 0;
    fixture_query(f);
    assert_int_equal(f->result.samples, 8);
}

FIXTURE_TEST(a_range_of_weights_is_inclusive)
{
    struct fixture *f = *state;

    for (uint64_t weight = 1; weight <= 5; weight++)
        fixture_stack(f, "12", weight, 0);
    f->query.weight_from = 2;
    f->query.weight_to = 4;
    fixture_query(f);
    assert_int_equal(f->result.samples, 3);
    assert_int_equal(f->result.weight, 2 + 3 + 4);
    fixture_stack(f, "12", 5, 0);
    fixture_stack(f, "12", 4, 0);
    fixture_query(f);
    assert_int_equal(f->result.weight, 2 + 3 + 4 + 4);
    f->query.weight_to = 0; /* any */
    fixture_query(f);
    assert_int_equal(f->result.weight, 1 + 2 + 3 + 4 + 5 + 5 + 4);
}

FIXTURE_TEST(a_range_that_ends_before_it_begins_is_empty)
{
    struct fixture *f = *state;

    fixture_stack(f, "1", 1, 0);
    f->query.from_ns = 50;
    fixture_query(f);
    assert_int_equal(f->result.samples, 0);
    f->query.to_ns = 40;
    fixture_query(f);
    assert_int_equal(f->result.samples, 0);
    assert_true(f->result.from_ns <= f->result.to_ns);
}

FIXTURE_TEST(a_trend_divides_the_range_into_eighths)
{
    struct fixture *f = *state;

    for (int i = 0; i < 80; i++)
        fixture_stack(f, "1", 1, 0);
    fixture_query(f);
    for (int i = 0; i < QUERY_TREND; i++)
        assert_int_equal(f->result.entries[0].trend[i], 10);
    f->query.from_ns = 1;
    f->query.to_ns = 160;
    fixture_query(f);
    for (int i = 0; i < QUERY_TREND; i++)
        assert_int_equal(f->result.entries[0].trend[i], i < 4 ? 20 : 0);
}

FIXTURE_TEST(grouping_by_cpu_numbers_groups_from_one)
{
    struct fixture *f = *state;

    for (uint16_t i = 0; i < 6; i++) {
        struct sample s = { .time_ns = 1, .weight = 1, .cpu = i % 3 };
        fixture_add(f, &s, (const uint32_t[]){ 1, 2 }, 2);
    }
    f->query.by_cpu = true;
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(f->result.entries[i].group, i + 1);
        assert_int_equal(f->result.entries[i].count, 2);
        assert_int_equal(f->result.entries[i].node, 2);
    }
}

FIXTURE_TEST(threads_beyond_the_tables_pass_in_group_zero)
{
    struct fixture *f = *state;

    fixture_stack(f, "1", 1, 0);
    fixture_stack(f, "1", 1, 1);
    fixture_stack(f, "1", 1, 2);
    f->query.n_threads = 2;
    f->query.thread_group = (const uint32_t[]){ 7, 8 };
    f->query.thread_pass = (const uint8_t[]){ 0, 1 };
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 2);
    assert_int_equal(f->result.entries[0].group, 8);
    assert_int_equal(f->result.entries[1].group, 0);
}

FIXTURE_TEST(a_missing_stack_counts_as_empty)
{
    struct fixture *f = *state;
    struct sample s = { .time_ns = 5, .weight = 3, .stack = 4000000000u };

    history_append(f->history, &s, NULL, 0);
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 1);
    assert_int_equal(f->result.entries[0].node, 0);
}

FIXTURE_TEST(a_filter_drops_entries_and_updates_the_sums)
{
    struct fixture *f = *state;
    struct sample s = { .time_ns = 9, .weight = 100, .flags = SAMPLE_BROKEN };

    fixture_stack(f, "1", 10, 0);
    fixture_stack(f, "2", 20, 0);
    fixture_add(f, &s, (const uint32_t[]){ 3 }, 1);
    fixture_query(f);
    assert_int_equal(f->result.broken_samples, 1);
    result_filter(&f->result, (const uint8_t[]){ 0, 1, 0 });
    assert_int_equal(f->result.n_entries, 2);
    assert_int_equal(f->result.entries[0].weight, 10);
    assert_int_equal(f->result.entries[1].weight, 100);
    assert_int_equal(f->result.samples, 2);
    assert_int_equal(f->result.weight, 110);
    result_filter(&f->result, (const uint8_t[]){ 0, 1 });
    assert_int_equal(f->result.broken_samples, 0);
    assert_int_equal(f->result.samples, 1);
}

FIXTURE_TEST(a_result_is_reused_while_stacks_grow_and_are_compacted)
{
    struct fixture *f = *state;
    uint8_t *keep;
    uint32_t *to;

    for (int round = 0; round < 5; round++) {
        fixture_fill(f, 2000);
        fixture_query(f);
        assert_int_equal(f->result.samples, f->n);
    }
    keep = mem_array(stacks_node_count(f->stacks), 1);
    to = stacks_compact(f->stacks, keep);
    history_clear(f->history);
    fixture_stack(f, "999", 1, 0);
    fixture_query(f);
    assert_int_equal(f->result.samples, 1);
    assert_int_equal(f->result.n_nodes, 4);
    assert_int_equal(fixture_frame(&f->result, f->result.frame[3]), 9);
    mem_free(to);
    mem_free(keep);
}

static bool oracle_passes(const struct query *q, const struct sample *s)
{
    return s->time_ns >= q->from_ns && (!q->to_ns || s->time_ns <= q->to_ns) &&
           (q->event == QUERY_ANY_EVENT || s->event == q->event) &&
           (!q->need_flags || (s->flags & q->need_flags)) &&
           (!q->weight_to || (s->weight >= q->weight_from && s->weight <= q->weight_to)) &&
           (!q->thread_pass || s->thread >= q->n_threads || q->thread_pass[s->thread]) &&
           (!q->only_cpu || s->cpu == q->only_cpu - 1) &&
           (q->only_cpu || !q->cpu_pass || (s->cpu < q->n_cpu_pass && q->cpu_pass[s->cpu]));
}

static uint32_t oracle_group(const struct query *q, const struct sample *s)
{
    if (q->by_cpu)
        return s->cpu + 1;
    return q->thread_group && s->thread < q->n_threads ? q->thread_group[s->thread] : 0;
}

static bool has_frames(const struct result *r, uint32_t node, const struct fixture_sample *s)
{
    uint32_t i = s->depth;

    for (; node && i; node = r->parent[node])
        if (fixture_frame(r, r->frame[node]) != s->frames[--i] ||
            r->frame_module[r->frame[node]] != s->frames[i] % 3)
            return false;
    return !node && !i;
}

/* Removes every sample from the one entry it belongs to (of a result that is not used again); at the end
 * nothing may be left. */
static void remove_sample(const struct query *q, struct result *r, const struct fixture_sample *s)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < r->n_entries; i++) {
        struct result_entry *e = &r->entries[i];

        if (e->group != oracle_group(q, &s->s) || e->idle != ((s->s.flags & SAMPLE_IDLE) != 0) ||
            !has_frames(r, e->node, s))
            continue;
        found++;
        assert_true(e->count > 0);
        e->count--;
        e->weight -= s->s.weight;
        e->broken -= (s->s.flags & SAMPLE_BROKEN) != 0;
        e->trend[(s->s.time_ns - r->from_ns) / ((r->to_ns - r->from_ns) / QUERY_TREND + 1)] -= s->s.weight;
    }
    assert_int_equal(found, 1);
}

static void compare_with_oracle(struct fixture *f)
{
    struct result *r = &f->result;
    uint64_t samples = 0, weight = 0, broken = 0;

    fixture_query(f);
    for (uint32_t i = 1; i < r->n_nodes; i++)
        assert_true(r->parent[i] < i);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct fixture_sample *s = &f->samples[i];

        if (!oracle_passes(&f->query, &s->s))
            continue;
        samples++;
        weight += s->s.weight;
        broken += (s->s.flags & SAMPLE_BROKEN) != 0;
        assert_true(r->first_ns <= s->s.time_ns && r->last_ns >= s->s.time_ns);
        remove_sample(&f->query, r, s);
    }
    assert_int_equal(r->samples, samples);
    assert_int_equal(r->weight, weight);
    assert_int_equal(r->broken_samples, broken);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint64_t left = e->weight | e->count | e->broken;

        for (int b = 0; b < QUERY_TREND; b++)
            left |= e->trend[b];
        assert_int_equal(left, 0);
    }
    result_done(r);
}

FIXTURE_TEST(random_queries_agree_with_counting_one_by_one)
{
    static const uint32_t group[] = { 3, 1, 1, 0, 9, 3, 2 };
    static const uint8_t pass[] = { 1, 0, 1, 1, 0, 1, 1 };
    static const bool cpus[] = { true, false, true };
    struct fixture *f = *state;

    fixture_fill(f, 1500);
    for (int round = 0; round < 40; round++) {
        struct query *q = &f->query;

        *q =
            (struct query){ .event = fixture_random(f, 2) ? QUERY_ANY_EVENT : (uint8_t)fixture_random(f, 2) };
        q->from_ns = fixture_random(f, 2) ? 0 : 1000 + fixture_random(f, 8000);
        q->to_ns = fixture_random(f, 2) ? 0 : q->from_ns + 1000 + fixture_random(f, 9000);
        q->need_flags = (uint8_t)fixture_random(f, 4);
        q->by_cpu = fixture_random(f, 4) == 0;
        q->n_threads = 7;
        q->thread_group = fixture_random(f, 2) ? group : NULL;
        q->thread_pass = fixture_random(f, 2) ? pass : NULL;
        q->cpu_pass = fixture_random(f, 3) ? NULL : cpus;
        q->n_cpu_pass = 3;
        q->only_cpu = fixture_random(f, 4) ? 0 : 1 + fixture_random(f, 5);
        q->weight_from = fixture_random(f, 500);
        q->weight_to = fixture_random(f, 2) ? 0 : q->weight_from + fixture_random(f, 500);
        compare_with_oracle(f);
    }
}

FIXTURE_TEST(many_groups_and_stacks_agree_with_counting_one_by_one)
{
    struct fixture *f = *state;
    uint32_t group[3000];

    for (uint32_t i = 0; i < 3000; i++) {
        struct sample s = { .time_ns = 1 + i, .weight = i, .thread = i };
        uint32_t frames[] = { 1, i % 7, i % 5 };

        group[i] = i / 2;
        fixture_add(f, &s, frames, 3);
    }
    f->query.thread_group = group;
    f->query.n_threads = 3000;
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 3000);
    compare_with_oracle(f);
}

/* ---- the same query again ---- */

FIXTURE_TEST(appended_samples_are_added_to_the_previous_result)
{
    struct fixture *f = *state;

    f->query.from_ns = 1;
    f->query.to_ns = 100;
    fixture_stack(f, "12", 5, 0);
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
    uint64_t version = f->result.version;
    fixture_stack(f, "12", 7, 0);
    fixture_stack(f, "13", 1, 0);
    fixture_query(f);
    assert_int_equal(f->result.since, version);
    assert_int_not_equal(f->result.version, version);
    assert_int_equal(f->result.n_frames_before, 3);
    assert_int_equal(f->result.n_entries, 2);
    assert_int_equal(f->result.entries[0].weight, 12);
    assert_int_equal(f->result.n_added, 2);
    assert_int_equal(f->result.added[0].weight, 7);
    assert_int_equal(f->result.added[0].node, f->result.entries[0].node);
    assert_int_equal(f->result.added[1].weight, 1);
    fixture_query(f);
    assert_int_equal(f->result.n_added, 0);
    assert_int_equal(f->result.samples, 3);
}

FIXTURE_TEST(another_query_starts_over)
{
    struct fixture *f = *state;
    static const uint8_t all[] = { 1, 1 }, one[] = { 1, 0 };

    f->query = (struct query){ .from_ns = 1, .to_ns = 100, .thread_pass = all, .n_threads = 2 };
    fixture_stack(f, "12", 5, 0);
    fixture_stack(f, "13", 7, 1);
    fixture_query(f);
    f->query.thread_pass = one;
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
    assert_false(f->result.is_same_query);
    assert_int_equal(f->result.weight, 5);
    assert_int_equal(f->result.n_entries, 1);
    f->query.to_ns = 0; /* the end of the stored samples moves */
    fixture_query(f);
    fixture_stack(f, "12", 1, 0);
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
}

FIXTURE_TEST(nodes_that_no_range_needs_are_dropped)
{
    struct fixture *f = *state;
    uint32_t most = 0;

    for (uint32_t i = 0; i < 200; i++) {
        char digits[] = { (char)('1' + i % 8), (char)('1' + i / 8 % 8), (char)('1' + i / 64), 0 };

        fixture_stack(f, digits, 1, 0);
    }
    for (uint64_t at = 1; at <= 200; at++) {
        f->query = (struct query){ .from_ns = at, .to_ns = at + 3 };
        fixture_query(f);
        most = f->result.n_nodes > most ? f->result.n_nodes : most;
    }
    assert_true(most <= 40);
}

FIXTURE_TEST(thread_tables_may_grow_between_equal_queries)
{
    struct fixture *f = *state;
    static const uint8_t pass[] = { 1, 0, 1 };

    f->query = (struct query){ .from_ns = 1, .to_ns = 100, .thread_pass = pass, .n_threads = 2 };
    fixture_stack(f, "12", 5, 0);
    fixture_query(f);
    f->query.n_threads = 3;
    fixture_stack(f, "12", 7, 2);
    fixture_query(f);
    assert_int_not_equal(f->result.since, 0);
    assert_int_equal(f->result.weight, 12);
    f->query.n_threads = 1; /* thread 2 is beyond the tables now, and was counted with them before */
    fixture_query(f);
    assert_int_equal(f->result.since, 0);
    fixture_stack(f, "12", 100, 1);
    f->query.n_threads = 2;
    fixture_query(f);
    assert_int_equal(f->result.weight, 12);
}

FIXTURE_TEST(another_filter_starts_a_new_series_of_results)
{
    struct fixture *f = *state;

    f->query.from_ns = 1;
    f->query.to_ns = 100;
    fixture_stack(f, "12", 5, 0);
    fixture_stack(f, "13", 7, 0);
    fixture_stack(f, "14", 11, 0);
    fixture_query(f);
    result_filter(&f->result, (const uint8_t[]){ 0, 1, 0 });
    assert_int_equal(f->result.weight, 16);
    assert_int_equal(f->result.n_left_out, 1);
    fixture_stack(f, "13", 1, 0);
    fixture_stack(f, "14", 1, 0);
    fixture_query(f); /* all samples again: those kept first */
    assert_int_equal(f->result.since, 0);
    assert_int_equal(f->result.weight, 25);
    result_filter(&f->result, (const uint8_t[]){ 0, 0, 1 });
    assert_int_not_equal(f->result.since, 0);
    assert_int_equal(f->result.weight, 17);
    assert_int_equal(f->result.n_added, 1);
    fixture_query(f);
    result_filter(&f->result, (const uint8_t[]){ 1, 0, 0 });
    assert_int_equal(f->result.since, 0);
    assert_int_equal(f->result.weight, 20);
}

static const struct result_entry *entry_like(const struct result *r, const struct result *other,
                                             const struct result_entry *as)
{
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint32_t a = e->node, b = as->node;

        for (; a && b && r->frame_offset[r->frame[a]] == other->frame_offset[other->frame[b]];
             b = other->parent[b])
            a = r->parent[a];
        if (!a && !b && e->group == as->group && e->idle == as->idle)
            return e;
    }
    return NULL;
}

static void assert_same_results(const struct result *r, const struct result *want)
{
    assert_int_equal(r->n_entries, want->n_entries);
    assert_int_equal(r->samples, want->samples);
    assert_int_equal(r->weight, want->weight);
    assert_int_equal(r->broken_samples, want->broken_samples);
    assert_int_equal(r->first_ns, want->first_ns);
    assert_int_equal(r->last_ns, want->last_ns);
    assert_true(r->n_nodes >= want->n_nodes && r->n_frames >= want->n_frames);
    for (uint32_t i = 0; i < want->n_entries; i++) {
        const struct result_entry *w = &want->entries[i], *e = entry_like(r, want, w);

        assert_non_null(e);
        assert_int_equal(e->weight, w->weight);
        assert_int_equal(e->count, w->count);
        assert_int_equal(e->broken, w->broken);
        assert_memory_equal(e->trend, w->trend, sizeof w->trend);
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

static void change_something(struct fixture *f, uint32_t *leaf)
{
    static const uint32_t group[] = { 3, 1, 1, 0, 9, 3, 2, 1, 1 };
    struct query *q = &f->query;

    switch (fixture_random(f, 12)) {
    case 0:
        q->by_cpu = !q->by_cpu;
        break;
    case 1:
        q->thread_group = q->thread_group ? NULL : group;
        q->n_threads = 9;
        break;
    case 2:
        q->from_ns = 1 + fixture_random(f, 1500);
        break;
    case 3:
        *leaf = fixture_random(f, 5);
        break;
    case 4: {
        uint8_t *keep = mem_array(stacks_node_count(f->stacks), 1);
        memset(keep, 1, stacks_node_count(f->stacks));
        mem_free(stacks_compact(f->stacks, keep));
        mem_free(keep);
        break;
    }
    case 5:
        history_shrink(f->history, history_bytes(f->history) / 2);
        break;
    }
}

FIXTURE_TEST(an_updated_result_equals_a_new_one)
{
    struct fixture *f = *state;
    uint32_t leaf = 0, gone_on = 0;

    f->query = (struct query){ .from_ns = 1000, .to_ns = 1900, .event = QUERY_ANY_EVENT };
    for (int round = 0; round < 120; round++) {
        struct result fresh = { 0 };
        uint64_t weight = f->result.weight, version = f->result.version, added = 0;

        fixture_fill(f, fixture_random(f, 50));
        change_something(f, &leaf);
        fixture_query(f);
        filter_by_leaf(&f->result, leaf);
        query_run(&f->query, f->history, f->stacks, &fresh);
        filter_by_leaf(&fresh, leaf);
        assert_same_results(&f->result, &fresh);
        result_done(&fresh);
        if (!f->result.since)
            continue;
        for (uint32_t i = 0; i < f->result.n_added; i++)
            added += f->result.added[i].weight;
        assert_int_equal(f->result.since, version);
        assert_int_equal(weight + added, f->result.weight);
        gone_on++;
    }
    assert_true(gone_on > 30);
}

TEST_MAIN(NULL, NULL)
