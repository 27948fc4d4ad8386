// SPDX-License-Identifier: GPL-2.0-or-later
/* How often events happen: counted for a moment, not sampled, as perf stat before perf record is used for. And what
 * it would cost to sample that. */
#ifndef FLAMETOP_PERF_RATE_H
#define FLAMETOP_PERF_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/event.h"
#include "perf/live.h"
#include "perf/scope.h"

struct rate {
    bool counted;
    double per_second; /* in all of the scope; of a clock: ns; scaled where the counter was shared */
    struct error why;  /* counted is false: why it could not be */
};
/* Counts n events at the same time for about ns (as many at once as descriptors allow, then the next). Of a user all
 * tasks are counted, as the kernel cannot tell them apart; of many threads at most some hundred. Stops early, with
 * what is there, when *stop (may be NULL) becomes true. */
void rate_count(const struct event *events, uint32_t n, const struct scope *scope, uint64_t ns,
                const atomic_bool *stop, struct rate *out);

/* What a sample costs, in ns of CPU time: taking it in the kernel, and making a stack of it here. */
uint64_t rate_sample_cost_ns(enum callchain_mode mode);
/* The share of one CPU, in percent, that so many samples a second cost. */
double rate_cost_percent(double samples_per_second, enum callchain_mode mode);
/* What samples may cost on n_cpus before a person is asked: RATE_BUDGET_PERCENT of the machine. */
#define RATE_BUDGET_PERCENT 5
bool rate_is_dear(double samples_per_second, enum callchain_mode mode, uint32_t n_cpus);
/* The smallest of 1, 2, 5, 10, 20, ... such that one sample in so many events stays within the budget. */
uint64_t rate_period_for(double events_per_second, enum callchain_mode mode, uint32_t n_cpus);

#endif
