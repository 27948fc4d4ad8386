// SPDX-License-Identifier: GPL-2.0-or-later
/* A cache of recent unwinds of user stacks, keyed by what they read. Programs reach the same point by the
 * same calls again and again: after a few frames, the cache supplies the rest of an unwind by
 * comparing the words that decided it. These words are adjacent in the dump, while each unwind step reads
 * flametop's own memory, which the sampled programs have pushed out of the CPU cache. */
#include <string.h>

#include "base/mem.h"
#include "session/session_state.h"

#define SLOTS       8192
#define ARENA_WORDS ((size_t)64 << 10)
#define WAYS_MOST   8 /* slots checked per hash */

struct kept { /* the runs follow it */
    uint64_t hash, first, sum;
    uint64_t fp; /* if uses_fp */
    uint32_t callers;
    uint32_t next;     /* an older entry of the same slot */
    uint16_t n, words; /* as in struct unwind_reads */
    bool uses_fp;
};

static size_t slots(const struct unwind_cache *w)
{
    return (size_t)SLOTS << w->shift;
}

void unwind_cache_open(struct unwind_cache *w, unsigned shift)
{
    w->shift = shift;
    w->index = mem_array(slots(w), sizeof *w->index);
    w->arena = mem_array(ARENA_WORDS << shift, sizeof *w->arena);
}

void unwind_cache_forget(struct unwind_cache *w)
{
    if (w->used)
        memset(w->index, 0, slots(w) * sizeof *w->index);
    w->used = 0;
}

void unwind_cache_done(struct unwind_cache *w)
{
    mem_free(w->index);
    mem_free(w->arena);
}

/* Compares the words of a cached unwind. The first words alone distinguish most of them. */
static bool is_way(const struct kept *k, const struct unwind_memory *memory, const struct unwind_regs *regs)
{
    const uint16_t *runs = (const void *)(k + 1);
    uint64_t sum;

    return (!k->uses_fp || k->fp == regs->fp) &&
           unwind_reads_sum(runs, k->n > 0, k->words, regs->sp, memory, &sum) && sum == k->first &&
           unwind_reads_sum(runs, k->n, k->words, regs->sp, memory, &sum) && sum == k->sum;
}

uint32_t unwind_cache_find(const struct unwind_cache *w, uint64_t hash, const struct unwind_memory *memory,
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

void unwind_cache_keep(struct unwind_cache *w, const struct unwind_start *from,
                       const struct unwind_reads *reads, uint32_t callers)
{
    size_t words = (sizeof(struct kept) + reads->n * sizeof *reads->runs + 7) / 8;

    if (w->used + words > ARENA_WORDS << w->shift)
        unwind_cache_forget(w); /* useful entries come back soon */
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
