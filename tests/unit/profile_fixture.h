// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples for the tests of the profile layer, stored twice: as plain frame lists for oracles that count
 * them one by one, and as stacks and history. Frame number k is module k % 3, offset k * 16. */
#ifndef FLAMETOP_TESTS_PROFILE_FIXTURE_H
#define FLAMETOP_TESTS_PROFILE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "profile/query.h"

#define FIXTURE_DEPTH 24

struct fixture_sample {
    struct sample s;
    uint32_t frames[FIXTURE_DEPTH]; /* the thread's root function first */
    uint32_t depth;
};

struct fixture {
    struct stacks *stacks;
    struct history *history;
    struct fixture_sample *samples;
    uint32_t n;
    size_t cap;
    struct query query;
    struct result result;
    uint64_t random;
};

static inline void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->stacks = stacks_new();
    f->history = history_new();
    f->query.event = QUERY_ANY_EVENT;
    f->random = 88172645463325252u;
}

static inline void fixture_done(struct fixture *f)
{
    stacks_free(f->stacks);
    history_free(f->history);
    mem_free(f->samples);
    result_done(&f->result);
}

static inline void fixture_add(struct fixture *f, const struct sample *s, const uint32_t *frames,
                               uint32_t depth)
{
    struct fixture_sample *to;
    uint32_t node = 0;

    for (uint32_t i = 0; i < depth; i++)
        node = stacks_child(f->stacks, node, stacks_frame(f->stacks, frames[i] % 3, frames[i] * 16u));
    MEM_GROW(f->samples, f->cap, (size_t)f->n + 1);
    to = &f->samples[f->n++];
    memset(to, 0, sizeof *to);
    to->s = *s;
    to->s.stack = node;
    if (depth)
        memcpy(to->frames, frames, depth * sizeof *frames);
    to->depth = depth;
    history_append(f->history, &to->s, NULL, 0);
}

/* Adds a sample at the next time (1, 2, 3, …). Frames are digits: in "123", 1 called 2, which called 3. */
static inline void fixture_stack(struct fixture *f, const char *digits, uint64_t weight, uint32_t thread)
{
    struct sample s = { .time_ns = f->n + 1, .weight = weight, .thread = thread };
    uint32_t frames[FIXTURE_DEPTH], n = 0;

    for (; digits[n]; n++)
        frames[n] = (uint32_t)(digits[n] - '0');
    fixture_add(f, &s, frames, n);
}

static inline uint32_t fixture_random(struct fixture *f, uint32_t below)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return (uint32_t)((f->random >> 16) % below);
}

/* Adds n random samples over few frames, so that paths are shared and functions recurse. */
static inline void fixture_fill(struct fixture *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sample s = {
            .time_ns = 1000 + i * 10 + fixture_random(f, 25), /* slightly out of order */
            .weight = 1 + fixture_random(f, 1000),
            .thread = fixture_random(f, 9),
            .cpu = (uint16_t)fixture_random(f, 4),
            .event = (uint8_t)fixture_random(f, 2),
            .flags = (uint8_t)fixture_random(f, 16),
        };
        uint32_t frames[FIXTURE_DEPTH], depth = fixture_random(f, 8);

        for (uint32_t d = 0; d < depth; d++)
            frames[d] = 1 + fixture_random(f, d < 3 ? 3 : 11);
        fixture_add(f, &s, frames, depth);
    }
}

static inline void fixture_query(struct fixture *f)
{
    query_run(&f->query, f->history, f->stacks, &f->result);
}

/* Returns the frame number of a frame index of the result. */
static inline uint32_t fixture_frame(const struct result *r, uint32_t frame)
{
    return (uint32_t)(r->frame_offset[frame] / 16);
}

/* Returns frame_func for the result, where frame number k is function func_of[k]. The caller frees it. */
static inline uint32_t *fixture_funcs(const struct result *r, const uint32_t *func_of)
{
    uint32_t *funcs = mem_array(r->n_frames, sizeof *funcs);

    for (uint32_t i = 1; i < r->n_frames; i++)
        funcs[i] = func_of[fixture_frame(r, i)];
    return funcs;
}

#endif
