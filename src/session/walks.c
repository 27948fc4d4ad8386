// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks of user stacks that were made lately, by what they read. Programs come to the same place by the same calls again
 * and again: where a walk has gone a few frames, the rest of its way can be had for one look at the words that decided on
 * it when it was walked. They lie in the dump one behind the other, while each step looks into memory of ours that the
 * sampled programs have pushed out of the cache. */
#include <string.h>

#include "base/mem.h"
#include "session/state.h"

#define SLOTS       8192
#define ARENA_WORDS ((size_t)64 << 10)
#define WAYS_MOST   8 /* that are looked at */

struct kept { /* runs follow */
    uint64_t hash, first, sum;
    uint64_t fp; /* if uses_fp */
    uint32_t callers;
    uint32_t next;     /* one that was kept before and has its slot */
    uint16_t n, words; /* as in struct unwind_reads */
    bool uses_fp;
};

static size_t slots(const struct walks *w)
{
    return (size_t)SLOTS << w->shift;
}

void walks_open(struct walks *w, unsigned shift)
{
    w->shift = shift;
    w->index = mem_array(slots(w), sizeof *w->index);
    w->arena = mem_array(ARENA_WORDS << shift, sizeof *w->arena);
}

void walks_fetch(const struct walks *w)
{
    if (w->used)
        mem_fetch_all(w->index, slots(w) * sizeof *w->index);
}

void walks_forget(struct walks *w)
{
    if (w->used)
        memset(w->index, 0, slots(w) * sizeof *w->index);
    w->used = 0;
}

void walks_done(struct walks *w)
{
    mem_free(w->index);
    mem_free(w->arena);
}

/* The first words alone tell most ways apart. */
static bool is_way(const struct kept *k, const struct unwind_memory *memory, const struct unwind_regs *regs)
{
    const uint16_t *runs = (const void *)(k + 1);
    uint64_t sum;

    return (!k->uses_fp || k->fp == regs->fp) &&
           unwind_reads_sum(runs, k->n > 0, k->words, regs->sp, memory, &sum) && sum == k->first &&
           unwind_reads_sum(runs, k->n, k->words, regs->sp, memory, &sum) && sum == k->sum;
}

uint32_t walks_find(const struct walks *w, uint64_t hash, const struct unwind_memory *memory,
                    const struct unwind_regs *regs)
{
    uint32_t at = w->index[hash & (slots(w) - 1)];

    for (int i = 0; at && i < WAYS_MOST; i++) {
        const struct kept *k = (const void *)(w->arena + (at - 1));

        if (k->hash == hash && is_way(k, memory, regs))
            return k->callers;
        at = k->next;
    }
    return 0;
}

void walks_keep(struct walks *w, const struct walked *from, const struct unwind_reads *reads,
                uint32_t callers)
{
    size_t words = (sizeof(struct kept) + reads->n * sizeof *reads->runs + 7) / 8;

    if (w->used + words > ARENA_WORDS << w->shift)
        walks_forget(w); /* what is of use comes back soon */
    struct kept *k = (void *)(w->arena + w->used);
    uint32_t *slot = &w->index[from->hash & (slots(w) - 1)];
    *k = (struct kept){ .hash = from->hash,
                        .first = from->first,
                        .sum = from->sum,
                        .fp = from->fp,
                        .callers = callers,
                        .next = *slot,
                        .n = reads->n,
                        .words = reads->words,
                        .uses_fp = reads->fp };
    memcpy(k + 1, reads->runs, reads->n * sizeof *reads->runs);
    *slot = (uint32_t)w->used + 1;
    w->used += words;
}
