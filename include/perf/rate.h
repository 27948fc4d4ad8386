// SPDX-License-Identifier: GPL-2.0-or-later
/* Count for a moment how often events happen, as perf stat does before perf record, and estimate the cost
 * of sampling. */
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
    double per_second; /* in the whole scope; ns for clocks; scaled if the counter was shared */
    struct error why;  /* if counted is false: why */
};
/* Count n events at the same time for about `ns` (as many at once as descriptors allow, then the next
 * ones). For a user, all tasks are counted, as the kernel cannot tell users apart; of many threads at most
 * some hundred. Stops early with partial results when *stop (may be NULL) becomes true. */
void rate_count(const struct event *events, uint32_t n, const struct scope *scope, uint64_t ns,
                const atomic_bool *stop, struct rate *out);

/* CPU time of one sample in ns: taking it in the kernel, and unwinding its stack here. */
uint64_t rate_sample_cost_ns(enum callchain_mode mode);
/* The share of n_cpus, in percent, that this rate of samples costs. */
double rate_cost_percent(double samples_per_second, enum callchain_mode mode, uint32_t n_cpus);
/* Samples per second on n_cpus above which the user must confirm: they cost `percent` of the machine. */
#define RATE_BUDGET_PERCENT 5.0 /* by default */
double rate_budget(enum callchain_mode mode, uint32_t n_cpus, double percent);

/* Rates per second of the events of waits. */
struct rate_waits {
    double switches;  /* records of switches, two per switch */
    double stacks[2]; /* of off-cpu and of wakers, if each were sampled */
    bool wakers_by_fp;
};
/* Cost in CPU time, in shares of one CPU, if one stack in one_in of each kind is sampled. */
double rate_waits_cost(const struct rate_waits *r, enum callchain_mode mode, const uint32_t one_in[2]);
/* One stack of each kind in how many fits the budget, of which each may use a half and what the other leaves:
 * 1, or a step of about a factor of two. LIVE_NO_STACKS: none, as the records of switches cost as much by
 * themselves. */
void rate_waits_fit(const struct rate_waits *r, enum callchain_mode mode, uint32_t n_cpus, double percent,
                    uint32_t one_in[2]);
/* The next larger step; LIVE_NO_STACKS behind the last one. */
uint32_t rate_waits_fewer(uint32_t one_in);
/* The operations of a row of latencies. */
struct rate_operations {
    double per_second;
    uint32_t group; /* rows of one group share an event: the same share of their operations is sampled */
    uint32_t most;  /* the largest one_in: a power of two */
};
/* Cost in CPU time, in shares of one CPU, if one operation in one_in[] of each row is sampled. */
double rate_operations_cost(const struct rate_operations *rows, uint32_t n, enum callchain_mode mode,
                            const uint32_t *one_in);
/* One operation in how many, by row, fits the budget: powers of two. Of rows with few
 * operations all are sampled as long as possible. */
void rate_operations_fit(const struct rate_operations *rows, uint32_t n, enum callchain_mode mode,
                         uint32_t n_cpus, double percent, uint32_t *one_in);
/* The smallest period of 1, 2, 5, 10, 20, ... events that gives at most `most` samples per second. */
uint64_t rate_period_for(double events_per_second, double most);

#endif
