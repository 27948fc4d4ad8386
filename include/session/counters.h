// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters divided into parts (CPUs, tasks, cgroups …), with CPU use and history, for the screen and the
 * text output. */
#ifndef FLAMETOP_SESSION_COUNTERS_H
#define FLAMETOP_SESSION_COUNTERS_H

#include "perf/count.h"
#include "session/measured.h"
#include "session/system_stats.h"

#define COUNTERS_TREND MEASURED_TREND

struct counters_part {
    struct count_part part;
    /* CPU use in percent: of one CPU for tasks and cgroups, of its own CPUs for parts of the system */
    struct measured busy;
};
struct counters { /* zero-initialised: counts nothing */
    struct count_set *set;
    struct count_options how;
    enum count_by by;
    struct counters_part *parts; /* parts of the system in order; others busiest first */
    uint32_t n_parts;
    bool counted;     /* at least one interval is complete */
    bool without_pmu; /* no core PMU event can be counted */
    /* per second; top-down and metrics: a share in percent; newest last */
    double rates[COUNT_EVENTS][COUNTERS_TREND];
    uint32_t n_rates;
    struct system_cpus cpus;
};
/* False: e says why nothing can be counted. Corrects c->by to a division that the scope supports. */
bool counters_open(struct counters *c, const struct scope *scope, struct error *e);
bool counters_read(struct counters *c, struct error *e);
/* Stops counting. History stays, for a scope that is opened again. */
void counters_stop(struct counters *c);
void counters_forget(struct counters *c); /* drops the history */
void counters_done(struct counters *c);
/* Switches to the next division that the scope supports. Reopens the set if it needs other counters. */
bool counters_next_split(struct counters *c, const struct scope *scope, struct error *e);
bool counters_has_column(const struct counters *c, uint32_t column); /* some part has it */
/* Explains a row: why it has no number, whether it was scaled, how it is read. */
void counters_explain(const struct counters *c, uint32_t row, char *dst, size_t cap);
/* What the hypervisor or the machine must provide for core counters. */
extern const char counters_pmu_hint[];

#endif
