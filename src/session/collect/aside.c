// SPDX-License-Identifier: GPL-2.0-or-later
/* A sample that meets a module whose unwind table is not read yet goes into the history at once, with the
 * known part of its stack. It is also put aside, and unwound again when the table is there: neither the order
 * of samples nor the screen waits for a file. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/search.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"

#define PATIENCE_NS (30 * NS_PER_SEC) /* after this the stack stays incomplete */
/* Limit for dumps, or half of the history's budget; beyond it the oldest are given up. */
#define ASIDE_BYTES ((size_t)32 << 20)

static void free_aside(struct session *s, struct user_aside *a)
{
    world_let_maps(s->store.world, a->maps);
    mem_free(a->other.bytes);
    mem_free(a->parts.items);
    mem_free(a->frames);
    mem_free(a->bytes);
}

void aside_done(struct session *s)
{
    for (size_t i = 0; i < s->unwind.user.aside.n; i++)
        free_aside(s, &s->unwind.user.aside.items[i]);
    mem_free(s->unwind.user.aside.items);
}

/* Copies what unwinding reads of a record. */
static void copy_record(struct user_aside *a, const struct record *r, uint64_t regs_mask)
{
    const struct record_sample *in = &r->sample;
    size_t chain = in->chain_n * sizeof(uint64_t);
    size_t regs = in->user_regs ? (size_t)__builtin_popcountll(regs_mask) * sizeof(uint64_t) : 0;
    size_t stack = in->stack ? in->stack_dyn_size : 0;
    char *p;
    a->r = *r;
    a->n_bytes = chain + regs + stack;
    a->bytes = p = mem_alloc(a->n_bytes ? a->n_bytes : 1);
    if (chain)
        a->r.sample.chain = memcpy(p, in->chain, chain);
    if (regs)
        a->r.sample.user_regs = memcpy(p + chain, in->user_regs, regs);
    if (stack)
        a->r.sample.stack = memcpy(p + chain + regs, in->stack, stack);
    a->r.body = NULL;
    a->r.sample.raw = a->r.sample.read = a->r.sample.branch = NULL;
    a->r.sample.branch_n = 0;
}

void aside_put(struct session *s, const struct record *r, uint32_t thread, uint64_t number)
{
    struct user_stacks *u = &s->unwind.user;
    struct user_aside *a = VEC_PUSH(&u->aside);
    *a = (struct user_aside){ .number = number,
                              .until_ns = clock_now_ns() + PATIENCE_NS,
                              .maps = world_hold_maps(s->store.world, thread),
                              .frames = interpreted_take(s, r) };
    copy_record(a, r, userstack_regs_mask(s, r));
    u->aside_bytes += a->n_bytes;
    otherstack_want(s, a, u->other);
}

void aside_again(struct session *s, uint64_t number)
{
    struct user_stacks *u = &s->unwind.user;
    if (u->aside.n && u->aside.items[u->aside.n - 1].number == number)
        u->aside.items[u->aside.n - 1].n_again++;
}

static struct user_aside *find(struct user_stacks *u, uint64_t number)
{
    size_t at = SEARCH_FIRST(i, 0, u->aside.n, u->aside.items[i].number >= number);
    return at < u->aside.n && u->aside.items[at].number == number ? &u->aside.items[at] : NULL;
}

bool aside_has(struct session *s, uint64_t number)
{
    return find(&s->unwind.user, number) != NULL;
}

void aside_also(struct session *s, uint64_t number, uint64_t whole, bool ends)
{
    struct user_aside *a = find(&s->unwind.user, number);
    if (a)
        *VEC_PUSH(&a->parts) = (struct aside_part){ .number = whole, .ends = ends };
}

/* What is below the part `top`, at the end of a stack. */
static uint32_t below(const struct stacks *stacks, uint32_t stack, uint32_t top)
{
    const uint32_t *parents = stacks_parents(stacks);
    for (; top && stack; top = parents[top])
        stack = parents[stack];
    return stack;
}

/* Replaces the part `before` of the stack of a sample by the complete one. */
static void unwind_part(struct session *s, const struct aside_part *part, uint32_t before, uint32_t stack)
{
    const struct sample *whole = history_sample(s->store.history, part->number);
    struct stacks *stacks = s->store.stacks;
    if (!whole)
        return;
    stack = part->ends ? stacks_rebase(stacks, stack, 0, below(stacks, whole->stack, before))
                       : stacks_rebase(stacks, whole->stack, before, stack);
    history_set_stack(s->store.history, part->number, stack, whole->flags);
}

/* Unwinds a sample of the history again, from the copy of its record. False: something is still missing, and
 * nothing was changed. True also if the sample is no longer in the history. */
static bool unwind_again(struct session *s, const struct user_aside *aside, bool give_up)
{
    const struct sample *sample = history_sample(s->store.history, aside->number);
    if (!sample)
        return true;
    struct frame_owner owner = locate_owner(s, sample->thread);
    /* other files may be mapped there by now */
    if ((owner.maps = aside->maps))
        owner.version = world_held_version(aside->maps);
    owner.other = &aside->other;
    owner.frames = aside->frames;
    struct stack_result a = samplestack_of(s, &aside->r, &owner, give_up);
    if (a.awaits)
        return false;
    uint8_t flags = (uint8_t)((sample->flags & ~SAMPLE_BROKEN) | (a.broken ? SAMPLE_BROKEN : 0));
    uint32_t before = sample->stack;
    for (uint32_t i = 0; i <= aside->n_again; i++)
        history_set_stack(s->store.history, aside->number + i, a.stack, flags);
    for (size_t i = 0; i < aside->parts.n; i++)
        unwind_part(s, &aside->parts.items[i], before, a.stack);
    return true;
}

void aside_retry(struct session *s, bool last)
{
    struct user_stacks *u = &s->unwind.user;
    if (!u->aside.n)
        return;
    uint32_t generation = symbolizer_generation(s->store.symbolizer);
    uint64_t now_ns = clock_now_ns();
    size_t most = s->collect.budget_bytes / 2 < ASIDE_BYTES ? s->collect.budget_bytes / 2 : ASIDE_BYTES;
    bool full = u->aside_bytes > most;
    if (!last && !full && generation == u->tried_generation && !s->unwind.jit_frames.fresh &&
        now_ns < u->aside.items[0].until_ns)
        return;
    u->tried_generation = generation;
    s->unwind.jit_frames.fresh = false;
    size_t kept = 0;
    for (size_t i = 0; i < u->aside.n; i++) {
        struct user_aside *a = &u->aside.items[i];
        bool give_up = last || now_ns >= a->until_ns || u->aside_bytes > most / 2 * (full ? 1 : 2);
        if (!unwind_again(s, a, give_up)) {
            otherstack_want(s, a, u->other);
            u->aside.items[kept++] = *a;
            continue;
        }
        u->aside_bytes -= a->n_bytes;
        free_aside(s, a);
    }
    u->aside.n = kept;
    s->store.generation++;
}
