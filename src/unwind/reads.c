// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/reads.h"

#include <string.h>

#include "unwind/expression.h"

#define WORDS_MAX (UINT16_MAX / UNWIND_READS_RUN + 1)

void unwind_reads_begin(struct unwind_reads *r, uint64_t sp)
{
    r->sp = sp;
    r->fp = r->bad = false;
    r->n = r->words = 0;
}

/* Extends the last run if it can: the words that are read of a frame are mostly adjacent. */
void unwind_reads_note(struct unwind_reads *r, uint64_t addr)
{
    uint64_t word = (addr - r->sp) / 8;
    unsigned last = r->n ? r->runs[r->n - 1] : 0, first = last / UNWIND_READS_RUN,
             more = last % UNWIND_READS_RUN;

    if (addr < r->sp || addr % 8 != r->sp % 8 || word >= WORDS_MAX) {
        r->bad = true;
        return;
    }
    if (word >= r->words)
        r->words = (uint16_t)(word + 1);
    if (r->n && word >= first && word <= first + more)
        return;
    if (r->n && more + 1 < UNWIND_READS_RUN && word + 1 == first)
        r->runs[r->n - 1] = (uint16_t)(word * UNWIND_READS_RUN + more + 1);
    else if (r->n && more + 1 < UNWIND_READS_RUN && word == first + more + 1)
        r->runs[r->n - 1]++;
    else if (r->n < UNWIND_READS_MAX)
        r->runs[r->n++] = (uint16_t)(word * UNWIND_READS_RUN);
    else
        r->bad = true;
}

bool unwind_reads_sum(const uint16_t *runs, unsigned n, unsigned words, uint64_t sp,
                      const struct unwind_memory *m, uint64_t *sum)
{
    uint64_t at = sp - m->base, h = n;

    if (at > m->size || m->size - at < (uint64_t)words * 8)
        return false;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *from = m->bytes + at + runs[i] / UNWIND_READS_RUN * 8u;
        for (unsigned k = 0; k <= runs[i] % UNWIND_READS_RUN; k++) {
            uint64_t word;
            memcpy(&word, from + 8 * k, sizeof word);
            h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            h ^= h >> 32;
        }
    }
    *sum = h;
    return true;
}
