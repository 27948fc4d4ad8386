// SPDX-License-Identifier: GPL-2.0-or-later
/* Records which stack words an unwind has read, to recognise an identical unwind.
 *
 * An unwind from the same pc, sp and fp over a dump with the same words gives the same frames, and can
 * be skipped. */
#ifndef FLAMETOP_UNWIND_READS_H
#define FLAMETOP_UNWIND_READS_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_memory;

#define UNWIND_READS_RUN 8 /* words per run */
#define UNWIND_READS_MAX 96

struct unwind_reads {
    uint64_t sp;       /* at the start */
    bool fp;           /* the initial fp matters, too */
    bool bad;          /* too many words, or one out of range: nothing is known */
    uint16_t n, words; /* runs; words from sp to the end of the last run */
    /* Per run: its first word, relative to sp, times UNWIND_READS_RUN, plus the number of words after
     * it. */
    uint16_t runs[UNWIND_READS_MAX];
};

void unwind_reads_begin(struct unwind_reads *r, uint64_t sp);
void unwind_reads_note(struct unwind_reads *r, uint64_t addr);
/* Computes a hash of the words of n runs in a dump. Returns false if the dump has fewer than `words`
 * words. */
bool unwind_reads_sum(const uint16_t *runs, unsigned n, unsigned words, uint64_t sp,
                      const struct unwind_memory *m, uint64_t *sum);

#endif
