// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile_fixture.h"

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

static void an_empty_history_gives_an_empty_result(void **state)
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

static void equal_stacks_become_one_entry(void **state)
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

static void only_used_stacks_are_copied(void **state)
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

static void the_empty_stack_is_node_zero(void **state)
{
    struct fixture *f = *state;

    fixture_stack(f, "", 5, 0);
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 1);
    assert_int_equal(f->result.entries[0].node, 0);
    assert_int_equal(f->result.weight, 5);
}

static void idle_and_others_are_different_entries(void **state)
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

static void a_range_is_inclusive(void **state)
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

static void a_range_that_ends_before_it_begins_is_empty(void **state)
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

static void a_trend_divides_the_range_in_eight(void **state)
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

static void by_cpu_the_group_is_the_cpu(void **state)
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
        assert_int_equal(f->result.entries[i].group, i);
        assert_int_equal(f->result.entries[i].count, 2);
        assert_int_equal(f->result.entries[i].node, 2);
    }
}

static void threads_beyond_the_tables_pass_with_group_zero(void **state)
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

static void a_stack_that_is_not_there_counts_as_empty(void **state)
{
    struct fixture *f = *state;
    struct sample s = { .time_ns = 5, .weight = 3, .stack = 4000000000u };

    history_append(f->history, &s, NULL, 0);
    fixture_query(f);
    assert_int_equal(f->result.n_entries, 1);
    assert_int_equal(f->result.entries[0].node, 0);
}

static void a_filter_drops_entries_and_updates_the_sums(void **state)
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

static void a_result_is_reused_while_stacks_grow_and_are_compacted(void **state)
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
           (!q->thread_pass || s->thread >= q->n_threads || q->thread_pass[s->thread]) &&
           (!q->only_cpu || s->cpu == q->only_cpu - 1) &&
           (q->only_cpu || !q->cpu_pass || (s->cpu < q->n_cpu_pass && q->cpu_pass[s->cpu]));
}

static uint32_t oracle_group(const struct query *q, const struct sample *s)
{
    if (q->by_cpu)
        return s->cpu;
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

/* Every sample is taken off the one entry that it belongs to; in the end nothing may be left. */
static void take_off(const struct query *q, struct result *r, const struct fixture_sample *s)
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
        e->trend[(s->s.time_ns - r->from_ns) / ((r->to_ns - r->from_ns) / QUERY_TREND + 1)]--;
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
        take_off(&f->query, r, s);
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
}

static void random_queries_agree_with_counting_one_by_one(void **state)
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
        compare_with_oracle(f);
    }
}

static void many_groups_and_stacks_agree_with_counting_one_by_one(void **state)
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
    compare_with_oracle(f);
    assert_int_equal(f->result.n_entries, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_history_gives_an_empty_result, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_stacks_become_one_entry, setup, teardown),
        cmocka_unit_test_setup_teardown(only_used_stacks_are_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(the_empty_stack_is_node_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_and_others_are_different_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_is_inclusive, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_that_ends_before_it_begins_is_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(a_trend_divides_the_range_in_eight, setup, teardown),
        cmocka_unit_test_setup_teardown(by_cpu_the_group_is_the_cpu, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_beyond_the_tables_pass_with_group_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stack_that_is_not_there_counts_as_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(a_filter_drops_entries_and_updates_the_sums, setup, teardown),
        cmocka_unit_test_setup_teardown(a_result_is_reused_while_stacks_grow_and_are_compacted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(random_queries_agree_with_counting_one_by_one, setup, teardown),
        cmocka_unit_test_setup_teardown(many_groups_and_stacks_agree_with_counting_one_by_one, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
