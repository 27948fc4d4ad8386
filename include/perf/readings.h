// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples that read counters (PERF_SAMPLE_READ, perf record -e '{a,b}:S'): one sample stands for all events of its
 * group, each with what it counted since the sample before on that CPU or in that task, as deliver_sample_group() in
 * tools/perf/util/session.c has it; but where the layout scales and the group shared the PMU with others, it is what it
 * would have counted, had it run all the time since. Of a task's counters on several CPUs (elsewhere) the times are looked at
 * together, over its newest samples: a layout is then one group's. Of files nothing is scaled: perf record asks for no
 * times, perf report would not use them, and whose times they are a file does not tell; what has them is marked. */
#ifndef FLAMETOP_PERF_READINGS_H
#define FLAMETOP_PERF_READINGS_H

#include "base/map.h"
#include "perf/record.h"

#define READINGS_MAX (1u << 19) /* tasks come and go for ever */

struct readings {    /* zero-initialised: nothing was read yet */
    struct map last; /* counter (and task, where each has its own) → what it was at the last sample */
    struct map old;  /* the same of those that were not seen since there were READINGS_MAX others */
};
void readings_clear(struct readings *m);
void readings_done(struct readings *m);

/* Whose numbers those of a counter's id are: with per_task (inherited events) each task has its own of them. */
uint64_t readings_key(const struct record *r, bool per_task, uint64_t id);
/* Does this record bring the counters of its group, by id? */
bool readings_in(const struct record *r, const struct record_layout *l);
/* Called for each counter that has moved since: a copy of the record with its id and, as the period, by how much, scaled. The
 * first has `again` false. member: its place in the group, the leader's is 0. False stops. */
typedef bool readings_fn(void *ctx, struct record *one, uint32_t member);
bool readings_each(struct readings *m, const struct record *r, const struct record_layout *l, readings_fn *fn,
                   void *ctx);

#endif
