// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/stack_subset.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Reserves generously, so that it does not grow each second. */
static void numbers_reserve(struct stack_subset_numbers *m, size_t n)
{
    size_t words = n / 64 + 1, old = m->words_cap;

    if (words <= old)
        return;
    m->words_cap = words + words / 2;
    m->bits = mem_resize(m->bits, m->words_cap, sizeof *m->bits);
    m->place = mem_resize(m->place, m->words_cap * 64, sizeof *m->place);
    memset(m->bits + old, 0, (m->words_cap - old) * sizeof *m->bits);
}

static void numbers_done(struct stack_subset_numbers *m)
{
    mem_free(m->bits);
    mem_free(m->place);
    *m = (struct stack_subset_numbers){ 0 };
}

/* Releases memory that is far too large. */
static void numbers_reset(struct stack_subset_numbers *m, size_t n)
{
    if (n / 64 + 1 < m->words_cap / 16)
        numbers_done(m);
    if (m->bits)
        memset(m->bits, 0, m->words_cap * sizeof *m->bits);
    numbers_reserve(m, n);
}

static inline bool is_met(const struct stack_subset_numbers *m, uint32_t i)
{
    return m->bits[i >> 6] >> (i & 63) & 1;
}

static inline void meet(struct stack_subset_numbers *m, uint32_t i, uint32_t place)
{
    m->bits[i >> 6] |= UINT64_C(1) << (i & 63);
    m->place[i] = place;
}

static uint32_t add_frame(struct stack_subset *p, uint32_t frame)
{
    uint32_t n = p->n_frames++;

    MEM_GROW(p->frame_module, p->module_cap, p->n_frames);
    MEM_GROW(p->frame_offset, p->offset_cap, p->n_frames);
    MEM_GROW(p->frame_interrupted, p->interrupted_cap, p->n_frames);
    p->frame_module[n] = stacks_frame_modules(p->stacks)[frame];
    p->frame_offset[n] = stacks_frame_offsets(p->stacks)[frame];
    p->frame_interrupted[n] = stacks_frame_interrupts(p->stacks)[frame];
    meet(&p->frames, frame, n);
    return n;
}

/* Adds the first n nodes of p->pending below node `at`, from the last to the first. */
static uint32_t add_nodes(struct stack_subset *p, uint32_t at, uint32_t n)
{
    const uint32_t *frame_of = stacks_frames(p->stacks);

    MEM_GROW(p->parent, p->parent_cap, (size_t)p->n_nodes + n);
    MEM_GROW(p->frame, p->frame_cap, (size_t)p->n_nodes + n);
    while (n-- > 0) {
        uint32_t stack = p->pending[n], frame = frame_of[stack];

        p->parent[p->n_nodes] = at;
        p->frame[p->n_nodes] = is_met(&p->frames, frame) ? p->frames.place[frame] : add_frame(p, frame);
        at = p->n_nodes++;
        meet(&p->nodes, stack, at);
    }
    return at;
}

void stack_subset_begin(struct stack_subset *p, const struct stacks *s)
{
    p->stacks = s;
    p->n_nodes = p->n_frames = 0;
    numbers_reset(&p->nodes, stacks_node_count(s));
    numbers_reset(&p->frames, stacks_frame_count(s));
    MEM_GROW(p->pending, p->pending_cap, 1);
    p->pending[0] = 0;
    add_nodes(p, 0, 1);
}

void stack_subset_go_on(struct stack_subset *p)
{
    numbers_reserve(&p->nodes, stacks_node_count(p->stacks));
    numbers_reserve(&p->frames, stacks_frame_count(p->stacks));
}

uint32_t stack_subset_add_path(struct stack_subset *p, uint32_t stack)
{
    const uint32_t *parent_of = stacks_parents(p->stacks);
    uint32_t n = 0;

    for (; !is_met(&p->nodes, stack); stack = parent_of[stack]) {
        MEM_GROW(p->pending, p->pending_cap, (size_t)n + 1);
        p->pending[n++] = stack;
    }
    return add_nodes(p, p->nodes.place[stack], n);
}

void stack_subset_done(struct stack_subset *p)
{
    numbers_done(&p->nodes);
    numbers_done(&p->frames);
    mem_free(p->parent);
    mem_free(p->frame);
    mem_free(p->frame_module);
    mem_free(p->frame_offset);
    mem_free(p->frame_interrupted);
    mem_free(p->pending);
    *p = (struct stack_subset){ 0 };
}
