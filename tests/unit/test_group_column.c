// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of the other events of a group, from synthetic samples to the values of a table. */
#include <stdio.h>
#include <stdlib.h>

#include "profile/calltree.h"
#include "profile/functions.h"
#include "profile_fixture.h"
#include "session/session_state.h"
#include "unit_test.h"

#define CYCLES       0
#define INSTRUCTIONS 1
#define MISSES       2

struct world {
    struct fixture f;
    struct functions functions;
    struct calltree tree;
    struct session *session;
    struct view_group_column numbers[GROUP_COLUMN_KINDS];
    uint64_t *sums;
    size_t sums_cap;
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(sizeof *w);
    fixture_init(&w->f);
    w->session = mem_zalloc(sizeof *w->session);
    w->f.query.event = CYCLES;
    w->f.query.n_group_sums = 2;
    w->f.query.group_sums[0] = INSTRUCTIONS;
    w->f.query.group_sums[1] = MISSES;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    functions_done(&w->functions);
    calltree_done(&w->tree);
    fixture_done(&w->f);
    mem_free(w->session->store.events);
    mem_free(w->session);
    mem_free(w->sums);
    mem_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void add_sample(struct world *w, const char *stack, uint8_t event, uint64_t weight, uint8_t flags)
{
    struct sample s = { .time_ns = w->f.n + 1, .weight = weight, .event = event, .flags = flags };
    uint32_t frames[FIXTURE_DEPTH], n = 0;
    for (; stack[n]; n++)
        frames[n] = (uint32_t)(stack[n] - '0');
    fixture_add(&w->f, &s, frames, n);
}

static void add_group_sample(struct world *w, const char *stack, uint64_t cycles, uint64_t instructions,
                             uint64_t misses)
{
    add_sample(w, stack, CYCLES, cycles, 0);
    add_sample(w, stack, INSTRUCTIONS, instructions, 0);
    add_sample(w, stack, MISSES, misses, 0);
}

static uint64_t entry_sum(const struct world *w, uint32_t entry, uint32_t which)
{
    return w->f.result.group_sums[entry * w->f.result.group_events + which];
}

static void add_running(struct world *w, const char *stack, uint64_t weight, uint32_t running)
{
    struct sample s = { .time_ns = w->f.n + 1, .weight = weight, .event = CYCLES };
    uint32_t frame = (uint32_t)(stack[0] - '0');
    s.running = running & (SAMPLE_RUNNING - 1);
    fixture_add(&w->f, &s, &frame, 1);
}

static double shown_value(const struct world *w, enum group_column_kind kind, uint32_t entry)
{
    const struct result *r = &w->f.result;
    double value = -1;
    group_column_value(&w->numbers[kind], r->group_sums + (size_t)entry * r->group_events,
                       r->entries[entry].weight, r->entries[entry].count, &value);
    return value;
}

/* 900 samples of 1 in one thread, then 200 in two threads: 900 moments, and 100. */
FIXTURE_TEST(latency_counts_a_moment_once)
{
    struct world *w = *state;
    struct session_event event = { .left_out = false };
    w->session->store.events = mem_alloc(sizeof event);
    w->session->store.events[0] = event;
    w->session->store.n_events = 1;
    w->f.query.n_group_sums = 0;
    for (uint32_t i = 0; i < 900; i++)
        add_running(w, "1", 1, 1);
    for (uint32_t i = 0; i < 200; i++)
        add_running(w, "2", 1, 2);
    group_column_choose(w->session, &w->f.query, w->numbers);
    assert_false(w->f.query.latency); /* not measured */
    assert_string_equal(w->numbers[GROUP_COLUMN_LATENCY].title, "");
    w->session->cfg.latency = true;
    group_column_choose(w->session, &w->f.query, w->numbers);
    fixture_query(&w->f);
    group_column_total(w->numbers, &w->f.result);
    assert_float_equal(shown_value(w, GROUP_COLUMN_LATENCY, 0), 90, 1e-9);
    assert_float_equal(shown_value(w, GROUP_COLUMN_LATENCY, 1), 10, 1e-9);
    assert_float_equal(shown_value(w, GROUP_COLUMN_PARALLELISM, 0), 1, 1e-9);
    assert_float_equal(shown_value(w, GROUP_COLUMN_PARALLELISM, 1), 2, 1e-9);
    /* samples from before latencies were measured change neither */
    for (uint32_t i = 0; i < 100; i++)
        add_running(w, "2", 1000, 0);
    fixture_query(&w->f);
    group_column_choose(w->session, &w->f.query, w->numbers);
    group_column_total(w->numbers, &w->f.result);
    assert_float_equal(shown_value(w, GROUP_COLUMN_LATENCY, 1), 10, 1e-9);
    assert_float_equal(shown_value(w, GROUP_COLUMN_PARALLELISM, 1), 2, 1e-9);
    w->session->store.events[0].event.off_cpu = true;
    group_column_choose(w->session, &w->f.query, w->numbers);
    assert_false(w->f.query.latency); /* nothing runs in a wait */
}

FIXTURE_TEST(a_query_may_want_one_parallelism)
{
    struct world *w = *state;
    w->f.query.n_group_sums = 0;
    for (uint32_t running = 0; running < 5; running++)
        add_running(w, "1", 1, running);
    fixture_query(&w->f);
    assert_int_equal(w->f.result.samples, 5);
    w->f.query.running_from = w->f.query.running_to = 1;
    fixture_query(&w->f);
    assert_int_equal(w->f.result.samples, 1);
    w->f.query.running_to = 3;
    fixture_query(&w->f);
    assert_int_equal(w->f.result.samples, 3);
}

FIXTURE_TEST(samples_of_other_events_are_summed_separately)
{
    struct world *w = *state;
    const struct result *r = &w->f.result;
    add_group_sample(w, "12", 1000, 2000, 3);
    add_group_sample(w, "12", 1000, 1500, 0);
    add_group_sample(w, "13", 500, 100, 40);
    fixture_query(&w->f);
    assert_int_equal(r->group_events, 3);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(r->samples, 3); /* without samples of the other events */
    assert_int_equal(r->weight, 2500);
    assert_int_equal(entry_sum(w, 0, 0), 3500);
    assert_int_equal(entry_sum(w, 0, 1), 3);
    assert_int_equal(entry_sum(w, 1, 0), 100);
    assert_int_equal(entry_sum(w, 1, 1), 40);
}

FIXTURE_TEST(no_sums_are_kept_without_other_events)
{
    struct world *w = *state;
    w->f.query.n_group_sums = 0;
    add_group_sample(w, "12", 1000, 2000, 3);
    fixture_query(&w->f);
    assert_int_equal(w->f.result.group_events, 0);
    assert_int_equal(w->f.result.n_entries, 1);
}

FIXTURE_TEST(weights_of_samples_from_a_multiplexed_pmu_are_summed)
{
    struct world *w = *state;
    add_sample(w, "12", CYCLES, 10, SAMPLE_PARTLY);
    add_sample(w, "12", INSTRUCTIONS, 10, SAMPLE_PARTLY);
    add_sample(w, "12", CYCLES, 10, 0);
    fixture_query(&w->f);
    assert_int_equal(entry_sum(w, 0, 2), 10);
}

FIXTURE_TEST(the_query_filters_samples_of_other_events_as_well)
{
    struct world *w = *state;
    add_group_sample(w, "12", 1000, 2000, 3);
    w->f.query.need_flags = SAMPLE_KERNEL;
    add_sample(w, "12", CYCLES, 10, SAMPLE_KERNEL);
    add_sample(w, "12", INSTRUCTIONS, 7, SAMPLE_KERNEL);
    fixture_query(&w->f);
    assert_int_equal(w->f.result.weight, 10);
    assert_int_equal(entry_sum(w, 0, 0), 7);
}

/* Random samples, incremental queries, and filters that reorder entries. */
FIXTURE_TEST(sums_stay_with_their_entries)
{
    struct world *w = *state;
    struct result *r = &w->f.result;
    w->f.query.from_ns = 1; /* a fixed range keeps the query the same */
    w->f.query.to_ns = 1000000;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 200; i++) {
            char stack[3] = { (char)('1' + fixture_random(&w->f, 4)), (char)('1' + fixture_random(&w->f, 4)),
                              '\0' };
            add_sample(w, stack, (uint8_t)fixture_random(&w->f, 4), fixture_random(&w->f, 100), 0);
        }
        fixture_query(&w->f);
        uint8_t drop[64] = { 0 };
        assert_true(r->n_entries <= 64);
        for (uint32_t i = 0; i < r->n_entries; i++)
            drop[i] = fixture_random(&w->f, 2) != 0;
        result_filter(r, drop);
        for (uint32_t i = 0; i < r->n_entries; i++) {
            uint64_t want[4] = { 0 };
            uint32_t node = r->entries[i].node;
            for (uint32_t k = 0; k < w->f.n; k++)
                if (result_node(r, w->f.samples[k].s.stack) == node)
                    want[w->f.samples[k].s.event] += w->f.samples[k].s.weight;
            assert_int_equal(r->entries[i].weight, want[CYCLES]);
            assert_int_equal(entry_sum(w, i, 0), want[INSTRUCTIONS]);
            assert_int_equal(entry_sum(w, i, 1), want[MISSES]);
        }
    }
}

static const uint32_t same[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

FIXTURE_TEST(each_function_has_the_counts_of_its_own_code)
{
    struct world *w = *state;
    add_group_sample(w, "12", 1000, 2000, 3);
    add_group_sample(w, "132", 1000, 4000, 4);
    add_group_sample(w, "13", 500, 100, 40);
    fixture_query(&w->f);
    uint32_t *funcs = fixture_funcs(&w->f.result, same);
    functions_build(&w->functions, &w->f.result, funcs, 10, false);
    functions_group_sums(&w->functions, &w->f.result, funcs, false, &w->sums, &w->sums_cap);
    mem_free(funcs);
    for (uint32_t i = 0; i < w->functions.n; i++) {
        uint32_t func = w->functions.rows[i].func;
        assert_int_equal(w->sums[i * 3], func == 2 ? 6000 : func == 3 ? 100 : 0);
        assert_int_equal(w->sums[i * 3 + 1], func == 2 ? 7 : func == 3 ? 40 : 0);
    }
}

FIXTURE_TEST(a_node_has_the_counts_of_itself_and_its_children)
{
    struct world *w = *state;
    struct calltree_options o = { 0 };
    add_group_sample(w, "12", 1000, 2000, 3);
    add_group_sample(w, "132", 1000, 4000, 4);
    add_group_sample(w, "13", 500, 100, 40);
    add_group_sample(w, "1", 1, 1, 1);
    fixture_query(&w->f);
    uint32_t *funcs = fixture_funcs(&w->f.result, same);
    o.frame_func = funcs;
    calltree_build(&w->tree, &w->f.result, &o);
    mem_free(funcs);
    assert_int_equal(w->tree.group_events, 3);
    assert_int_equal(w->tree.group_sums[0], 6101);
    assert_int_equal(w->tree.group_sums[1], 48);
    for (uint32_t i = 1; i < w->tree.n; i++) {
        const struct calltree_node *n = &w->tree.nodes[i];
        uint64_t want = n->func == 1 ? 6101 : n->func == 3 ? 4100 : n->depth == 2 ? 2000 : 4000;
        assert_int_equal(w->tree.group_sums[i * 3], want);
    }
    o.inverted = true;
    funcs = fixture_funcs(&w->f.result, same);
    o.frame_func = funcs;
    calltree_build(&w->tree, &w->f.result, &o);
    mem_free(funcs);
    assert_int_equal(w->tree.group_events, 0);
}

/* ---- columns ---- */

static void add_event(struct world *w, const char *name, uint32_t type, uint64_t config, uint32_t leader)
{
    struct session *s = w->session;
    struct session_event *ev = session_add_event(s);
    snprintf(ev->event.name, sizeof ev->event.name, "%s", name);
    ev->attr.type = type;
    ev->attr.config = config;
    ev->leader = leader;
}

static const struct query *choose_columns(struct world *w, uint32_t shown)
{
    static struct query q;
    q = (struct query){ 0 };
    w->session->store.current_event = shown;
    group_column_choose(w->session, &q, w->numbers);
    return &q;
}

static double value_of(const struct view_group_column *b, const uint64_t *sums, uint64_t weight)
{
    double value = -1;
    assert_true(group_column_value(b, sums, weight, 100, &value));
    return value;
}

FIXTURE_TEST(cycles_and_instructions_give_ipc_for_either_shown_event)
{
    struct world *w = *state;
    add_event(w, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
    add_event(w, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0);
    assert_int_equal(choose_columns(w, 0)->n_group_sums, 1);
    const struct view_group_column *ipc = &w->numbers[GROUP_COLUMN_IPC];
    assert_string_equal(ipc->title, "IPC");
    assert_true(value_of(ipc, (uint64_t[]){ 1500, 0 }, 1000) == 1.5);
    choose_columns(w, 1);
    assert_true(value_of(ipc, (uint64_t[]){ 1000, 0 }, 1500) == 1.5);
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_1].title, ""); /* no separate column */
}

FIXTURE_TEST(events_of_other_groups_are_not_used)
{
    struct world *w = *state;
    add_event(w, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
    add_event(w, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1);
    assert_int_equal(choose_columns(w, 0)->n_group_sums, 0);
    assert_string_equal(w->numbers[GROUP_COLUMN_IPC].title, "");
}

FIXTURE_TEST(event_pairs_give_rates_and_other_events_give_counts)
{
    struct world *w = *state;
    uint64_t loads = PERF_COUNT_HW_CACHE_LL, misses = loads | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
    add_event(w, "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
    add_event(w, "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0);
    add_event(w, "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0);
    add_event(w, "LLC-load-misses", PERF_TYPE_HW_CACHE, misses, 0);
    add_event(w, "LLC-loads", PERF_TYPE_HW_CACHE, loads, 0);
    add_event(w, "context-switches:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
    assert_int_equal(choose_columns(w, 0)->n_group_sums, 5);
    uint64_t sums[] = { 5, 7, 30, 60, 12, 0 }; /* branch-misses, cache-misses, LLC-load-misses, … */
    assert_true(value_of(&w->numbers[GROUP_COLUMN_BRANCH_MISS], sums, 100) == 5);
    assert_string_equal(w->numbers[GROUP_COLUMN_CACHE_MISS].title, ""); /* cache-references is not counted */
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_1].title, "LLC-MISS%");
    assert_true(value_of(&w->numbers[GROUP_COLUMN_OTHER_1], sums, 100) == 50);
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_2].title, "CACHE-MISSES");
    assert_true(value_of(&w->numbers[GROUP_COLUMN_OTHER_2], sums, 100) == 7);
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_3].title, "SWITCHES");
    assert_true(value_of(&w->numbers[GROUP_COLUMN_OTHER_3], sums, 100) == 12);
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_4].title, "");
}

FIXTURE_TEST(arm_pmu_events_are_recognized_by_name)
{
    struct world *w = *state;
    add_event(w, "armv8_pmuv3_0/cpu_cycles/", 8, 0x11, 0);
    add_event(w, "armv8_pmuv3_0/inst_retired/u", 8, 0x08, 0);
    choose_columns(w, 0);
    assert_string_equal(w->numbers[GROUP_COLUMN_IPC].title, "IPC");
}

FIXTURE_TEST(events_with_different_privilege_filters_give_no_ratio)
{
    struct world *w = *state;
    add_event(w, "cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
    add_event(w, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0);
    w->session->store.events[0].attr.exclude_kernel = 1;
    choose_columns(w, 0);
    assert_string_equal(w->numbers[GROUP_COLUMN_IPC].title, "");
    assert_string_equal(w->numbers[GROUP_COLUMN_OTHER_1].title, "INSTRUCTIONS");
}

FIXTURE_TEST(too_few_samples_give_no_ratio)
{
    double value;
    struct view_group_column ipc = {
        .title = "IPC", .unit = GROUP_COLUMN_RATE, .over = 0, .under = GROUP_COLUMN_ITSELF
    };
    struct view_group_column sum = { .title = "FAULTS", .unit = GROUP_COLUMN_SUM, .over = 0 };
    uint64_t sums[] = { 50, 6 };
    assert_false(group_column_value(&ipc, sums, 100, GROUP_COLUMN_LEAST - 1, &value));
    assert_true(group_column_value(&ipc, sums, 100, GROUP_COLUMN_LEAST, &value));
    assert_false(group_column_value(&ipc, sums, 0, 100, &value));
    assert_true(group_column_value(&sum, sums, 100, 1, &value));
    assert_false(group_column_value(&sum, sums, 0, 0, &value));
}

FIXTURE_TEST(values_mostly_from_a_multiplexed_pmu_are_marked)
{
    uint64_t sums[] = { 50, 6 };
    assert_true(group_column_is_partial(sums, 2, 11));
    assert_false(group_column_is_partial(sums, 2, 12));
    assert_false(group_column_is_partial(NULL, 0, 12));
}

TEST_MAIN(NULL, NULL)
