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

struct kept { /* runs follow */
    uint64_t hash, sum;
    uint64_t fp; /* if uses_fp */
    uint32_t callers;
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

uint32_t walks_find(const struct walks *w, uint64_t hash, const struct unwind_memory *memory, const struct unwind_regs *regs)
{
    uint32_t at = w->index[hash & (slots(w) - 1)];
    const struct kept *k = (const void *)(w->arena + at);
    uint64_t sum;

    if (at >= w->used || k->hash != hash || (k->uses_fp && k->fp != regs->fp) ||
        !unwind_reads_sum((const uint16_t *)(k + 1), k->n, k->words, regs->sp, memory, &sum) || sum != k->sum)
        return 0;
    return k->callers;
}

void walks_keep(struct walks *w, const struct walked *from, const struct unwind_reads *reads, uint32_t callers)
{
    size_t words = (sizeof(struct kept) + reads->n * sizeof *reads->runs + 7) / 8;

    if (w->used + words > ARENA_WORDS << w->shift)
        walks_forget(w); /* what is of use comes back soon */
    struct kept *k = (void *)(w->arena + w->used);
    *k = (struct kept){ .hash = from->hash, .sum = from->sum, .fp = from->fp, .callers = callers,
                        .n = reads->n, .words = reads->words, .uses_fp = reads->fp };
    memcpy(k + 1, reads->runs, reads->n * sizeof *reads->runs);
    w->index[from->hash & (slots(w) - 1)] = (uint32_t)w->used;
    w->used += words;
}
