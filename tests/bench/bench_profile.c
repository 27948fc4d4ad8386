// SPDX-License-Identifier: GPL-2.0-or-later
/* What a redraw costs: query, functions, call tree and flame over synthetic samples. Not part of make check.
 * Stacks are 45 deep and share a part of their path with an earlier one, as real ones do; each has a leaf
 * address of its own. Prints the best and the median of many runs in microseconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "profile/calltree.h"
#include "profile/flame.h"
#include "profile/functions.h"

#define DEPTH     45
#define FUNCS     2000
#define CALLSITES 5
#define RUNS      41

struct bench {
    struct stacks *stacks;
    struct history *history;
    struct query query;
    struct result result;
    uint32_t *frame_func;
    uint32_t rank[FUNCS + 1];
    uint32_t thread_group[256];
    struct functions functions;
    struct calltree tree;
    struct flame flame;
    bool with_group, inverted;
    uint64_t random;
};

static uint32_t random_below(struct bench *b, uint32_t below)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return (uint32_t)((b->random >> 20) % below);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Offset: function * 4096 + call site; leaves have sites of their own. */
static uint32_t random_stack(struct bench *b, const uint32_t *leaves, uint32_t n_leaves)
{
    uint32_t path[DEPTH], node = 0, depth = 0;

    if (n_leaves) {
        uint32_t at = leaves[random_below(b, n_leaves)];

        for (uint32_t keep = random_below(b, DEPTH - 1); keep < DEPTH; keep++)
            at = stacks_parents(b->stacks)[at];
        for (uint32_t up = at; up; up = stacks_parents(b->stacks)[up])
            depth++;
        node = at;
    }
    for (; depth < DEPTH; depth++) {
        uint64_t func = 1 + random_below(b, FUNCS - 1);
        uint64_t site = depth == DEPTH - 1 ? 100 + n_leaves % 3900 : random_below(b, CALLSITES);

        path[depth] = stacks_frame(b->stacks, 1, func << 12 | site);
        node = stacks_child(b->stacks, node, path[depth]);
    }
    return node;
}

static void fill(struct bench *b, uint32_t n_samples, uint32_t n_stacks)
{
    uint32_t *leaves = mem_array(n_stacks, sizeof *leaves);

    for (uint32_t i = 0; i < n_stacks; i++)
        leaves[i] = random_stack(b, leaves, i);
    for (uint32_t i = 0; i < n_samples; i++) {
        struct sample s = {
            .time_ns = 1000000 + (uint64_t)i * 10000,
            .weight = 10101010,
            .stack = leaves[i < n_stacks ? i : random_below(b, n_stacks)],
            .thread = random_below(b, 256),
            .cpu = (uint16_t)random_below(b, 8),
            .flags = SAMPLE_USER,
        };
        history_append(b->history, &s, NULL, 0);
    }
    mem_free(leaves);
}

/* Another range each time, for the same question again takes in only what is new. */
static void do_query(struct bench *b)
{
    b->query.to_ns = b->query.to_ns == UINT64_MAX / 2 ? UINT64_MAX / 2 - 1 : UINT64_MAX / 2;
    query_run(&b->query, b->history, b->stacks, &b->result);
}

static void do_functions(struct bench *b)
{
    functions_build(&b->functions, &b->result, b->frame_func, FUNCS + 1, b->with_group);
}

static void map_frames(struct bench *b)
{
    mem_free(b->frame_func);
    b->frame_func = mem_array(b->result.n_frames, sizeof *b->frame_func);
    for (uint32_t i = 1; i < b->result.n_frames; i++)
        b->frame_func[i] = (uint32_t)(b->result.frame_offset[i] >> 12);
}

static void do_tree(struct bench *b)
{
    struct calltree_options o = { .inverted = b->inverted,
                                  .by_group = b->with_group,
                                  .frame_func = b->frame_func };

    calltree_build(&b->tree, &b->result, &o);
}

static void do_sort_weight(struct bench *b)
{
    calltree_sort_weight(&b->tree);
}

static void do_sort_rank(struct bench *b)
{
    calltree_sort_rank(&b->tree, b->rank, NULL);
}

static void do_flame(struct bench *b)
{
    flame_layout(&b->flame, &b->tree, 0, 200);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void measure(struct bench *b, const char *name, void (*run)(struct bench *b))
{
    double us[RUNS];

    for (int i = 0; i < RUNS; i++) {
        double start = now_us();

        run(b);
        us[i] = now_us() - start;
    }
    qsort(us, RUNS, sizeof *us, by_value);
    printf("  %-28s best %9.1f us   median %9.1f us\n", name, us[0], us[RUNS / 2]);
}

static void measure_all(struct bench *b)
{
    measure(b, "query", do_query);
    map_frames(b);
    printf("  (%u entries, %u nodes, %u frames)\n", b->result.n_entries, b->result.n_nodes,
           b->result.n_frames);
    measure(b, "functions", do_functions);
    measure(b, "call tree", do_tree);
    printf("  (%u tree nodes)\n", b->tree.n);
    measure(b, "sort by weight", do_sort_weight);
    measure(b, "sort by rank", do_sort_rank);
    measure(b, "flame, 200 columns", do_flame);
    b->inverted = true;
    measure(b, "call tree, bottom-up", do_tree);
    printf("  (%u tree nodes)\n", b->tree.n);
    b->inverted = false;
    b->query.thread_group = b->thread_group;
    b->query.n_threads = 256;
    b->with_group = true;
    measure(b, "query, 16 groups", do_query);
    map_frames(b);
    printf("  (%u entries)\n", b->result.n_entries);
    measure(b, "functions, 16 groups", do_functions);
    measure(b, "call tree, 16 groups", do_tree);
}

static void begin(struct bench *b, uint32_t n_samples, uint32_t n_stacks)
{
    double start = now_us();

    *b = (struct bench){ .stacks = stacks_new(), .history = history_new(), .random = 88172645463325252u };
    b->query.event = QUERY_ANY_EVENT;
    for (uint32_t i = 0; i < 256; i++)
        b->thread_group[i] = i % 16;
    for (uint32_t i = 0; i <= FUNCS; i++)
        b->rank[i] = random_below(b, FUNCS);
    fill(b, n_samples, n_stacks);
    printf("%u samples, %u stacks (filled in %.1f ms)\n", n_samples, n_stacks, (now_us() - start) / 1e3);
}

static void end(struct bench *b)
{
    stacks_free(b->stacks);
    history_free(b->history);
    result_done(&b->result);
    mem_free(b->frame_func);
    functions_done(&b->functions);
    calltree_done(&b->tree);
    flame_done(&b->flame);
}

static void bench(uint32_t n_samples, uint32_t n_stacks)
{
    struct bench b;

    begin(&b, n_samples, n_stacks);
    measure_all(&b);
    end(&b);
}

int main(void)
{
    bench(12000, 3000);
    bench(12000, 10000);
    bench(600000, 3000);
    return 0;
}
