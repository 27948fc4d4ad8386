// SPDX-License-Identifier: GPL-2.0-or-later
/* How many operations a sampled one represents. Each N-th begin of all operations is counted by its name. Of
 * the selected operations both events are sampled: each of them represents a part of the operations that were
 * counted before.
 *
 * The number of selected operations alone would be no estimate: a thread is slower while it is sampled. */
#ifndef FLAMETOP_PROFILE_ESTIMATES_H
#define FLAMETOP_PROFILE_ESTIMATES_H

#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

#define ESTIMATE_LAST 64
struct estimate {
    uint64_t counted;             /* operations */
    uint64_t taken;               /* by sampled ones, which represent them */
    uint64_t last[ESTIMATE_LAST]; /* the caller's numbers of the last sampled ones */
    uint64_t n_noted;             /* number of all that were ever in `last` */
    uint32_t turn;                /* selection of the last sampled one */
    uint32_t n, n_before;         /* sampled ones of this selection, and of the one before that had any */
};
struct estimates { /* zero-initialised: empty */
    VEC(struct estimate);
    struct map index; /* name → index */
};

/* n more operations of this name began. */
void estimates_count(struct estimates *e, uint64_t name, uint64_t n);
/* n more operations began, of names that are not known as records were lost: in the proportions of the
 * counted ones. */
void estimates_count_lost(struct estimates *e, uint64_t n);
/* A selected operation ended, in the turn-th selection. Returns how many it represents, at least 1. */
uint64_t estimates_take(struct estimates *e, uint64_t name, uint32_t turn);
/* It became the sample with this number. */
void estimates_note(struct estimates *e, uint64_t name, uint64_t number);
/* Where no sampled one has followed since before the turn-th selection, the last ones represent the rest as
 * well. `add`: sample `number` represents n more. */
void estimates_settle(struct estimates *e, uint32_t turn, void (*add)(void *ctx, uint64_t number, uint64_t n),
                      void *ctx);
/* The numbers of samples begin anew. */
void estimates_forget_samples(struct estimates *e);
void estimates_done(struct estimates *e);

#endif
