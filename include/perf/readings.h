// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples that read counters (PERF_SAMPLE_READ, perf record -e '{a,b}:S'): split one sample into one per
 * group event.
 *
 * Each event gets what it counted since the previous sample on that CPU or in that task, as
 * deliver_sample_group() in tools/perf/util/session.c does. If the layout scales and the group shared the
 * PMU with others, that is scaled to the full time since then. A task's counters on several CPUs
 * (elsewhere) are scaled by the sum of their times over its newest samples; a layout therefore belongs to
 * one group. Files are not scaled: perf record does not request times, perf report would not use them, and
 * a file does not say which times they are; samples that have times are marked. */
#ifndef FLAMETOP_PERF_READINGS_H
#define FLAMETOP_PERF_READINGS_H

#include "base/map.h"
#include "perf/record.h"

#define READINGS_MAX (1u << 19) /* bounds the maps, as tasks come and go forever */

/* zero-initialised: nothing was read yet */
struct readings {
    struct map last; /* counter (and task, if each has its own) → value at the last sample */
    struct map old;  /* the same for counters not seen since READINGS_MAX others were */
};
void readings_clear(struct readings *m);
void readings_done(struct readings *m);

/* Key of a counter id: with per_task (inherited events) each task has its own counter. */
uint64_t readings_key(const struct record *r, bool per_task, uint64_t id);
/* True if this record reads the counters of its group, by id. */
bool readings_in(const struct record *r, const struct record_layout *l);
/* Called for each counter that has advanced: a copy of the record with the counter's id, and the scaled
 * difference as its period. The first one has `again` false. member: index in the group, the leader's is 0.
 * Return false to stop. */
typedef bool readings_fn(void *ctx, struct record *one, uint32_t member);
bool readings_each(struct readings *m, const struct record *r, const struct record_layout *l, readings_fn *fn,
                   void *ctx);

#endif
