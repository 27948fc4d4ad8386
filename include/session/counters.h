// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters with a table of parts, how busy each is, and what they counted before: what the screen and the text show. */
#ifndef FLAMETOP_SESSION_COUNTERS_H
#define FLAMETOP_SESSION_COUNTERS_H

#include "perf/count.h"
#include "session/box.h"

#define COUNTERS_TREND 60 /* intervals that are kept */

struct counters_part {
    struct count_part part;
    double
        busy_percent; /* of one CPU for tasks and cgroups, of its CPUs for parts of the machine; < 0: unknown */
    uint32_t trend[COUNTERS_TREND]; /* of that, in hundredths of a percent */
    uint32_t n_trend;
};
struct counters { /* zero-initialised: nothing is counted */
    struct count_set *set;
    struct count_options how;
    enum count_by by;
    struct counters_part *parts; /* of the machine in order, others the busiest first */
    uint32_t n_parts;
    bool counted;     /* there was an interval */
    bool without_pmu; /* nothing of the cores can be counted */
    double rates[COUNT_EVENTS]
                [COUNTERS_TREND]; /* per second, of top-down and metrics in percent the share; newest last */
    uint32_t n_rates;
    struct box_cpus cpus;
};
/* False: e says why nothing can be counted. by is corrected to what the scope can be divided into. */
bool counters_open(struct counters *c, const struct scope *scope, struct error *e);
bool counters_read(struct counters *c, struct error *e);
/* Stops counting; what was counted before stays, for a scope that is opened again. */
void counters_stop(struct counters *c);
void counters_forget(struct counters *c); /* what was counted before */
void counters_done(struct counters *c);
/* To the next way of dividing that the scope has; opens the set anew where that needs other counters. */
bool counters_next_split(struct counters *c, const struct scope *scope, struct error *e);
bool counters_has_column(const struct counters *c, uint32_t column); /* some part does */
/* What an expert would ask about a row: why it has no number, whether it was scaled, with what it is read. */
void counters_explain(const struct counters *c, uint32_t row, char *dst, size_t cap);
/* What the hypervisor, or the machine, would have to give for counters of the cores. */
extern const char counters_pmu_hint[];

#endif
