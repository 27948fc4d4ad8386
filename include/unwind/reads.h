// SPDX-License-Identifier: GPL-2.0-or-later
/* Which words of a stack a walk has read. A walk from the same pc, sp and fp over a dump that has the same words there
 * goes the same way, and need not be walked. */
#ifndef FLAMETOP_UNWIND_READS_H
#define FLAMETOP_UNWIND_READS_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_memory;

#define UNWIND_READS_RUN 8 /* words */
#define UNWIND_READS_MAX 96

struct unwind_reads {
    uint64_t sp;       /* where it began */
    bool fp;           /* the fp that it began with was of use, too */
    bool bad;          /* too many, or a word that cannot be told: nothing is known */
    uint16_t n, words; /* runs; words from sp up to the end of the last of them */
    uint16_t runs
        [UNWIND_READS_MAX]; /* first word, counted from sp, times UNWIND_READS_RUN, plus how many follow it */
};

void unwind_reads_begin(struct unwind_reads *r, uint64_t sp);
void unwind_reads_note(struct unwind_reads *r, uint64_t addr);
/* A hash of the words of so many runs in a dump; false: it does not reach as far as `words`. */
bool unwind_reads_sum(const uint16_t *runs, unsigned n, unsigned words, uint64_t sp,
                      const struct unwind_memory *m, uint64_t *sum);

#endif
