// SPDX-License-Identifier: GPL-2.0-or-later
/* Top-down analysis, level 1: how the issue slots of a core were used.
 *
 * The events differ by PMU. Names of events and formats are those of sysfs; for AMD, which sysfs does not
 * name, those of the family's PPR. Formulas are perf's (tools/perf/pmu-events/arch: x86 TopdownL1,
 * amdzen4/pipeline.json, arm64/sbsa.json). */
#ifndef FLAMETOP_PERF_TOPDOWN_H
#define FLAMETOP_PERF_TOPDOWN_H

#include <stdbool.h>

#include "perf/pmu.h"

#define TOPDOWN_INPUTS 5

enum topdown_model {
    TOPDOWN_NONE,
    TOPDOWN_METRICS, /* Intel since Ice Lake: four shares of "slots", read with it as their leader */
    TOPDOWN_ATOM,    /* Intel E cores: the same four, without slots */
    TOPDOWN_BUBBLES, /* earlier Intel: slots issued and retired, bubbles */
    TOPDOWN_AMD,     /* since Zen 4 */
    TOPDOWN_ARM,     /* stalled slots of Armv8.4 */
};
struct topdown {
    enum topdown_model model;
    double width;                       /* slots per cycle, if the model needs it */
    const char *events[TOPDOWN_INPUTS]; /* terms of the PMU, in opening order; NULL: end */
};
/* Detect the model. amd_width: slots per cycle of an AMD core that has the events (topdown_amd_width), else
 * 0. */
void topdown_find(const struct pmu *pmu, double amd_width, struct topdown *out);
/* From the text of /proc/cpuinfo: 6 for Zen 4, 8 for Zen 5, 0 for others. */
double topdown_amd_width(const char *cpuinfo);

struct topdown_slots {
    double all, retiring, bad_speculation, frontend, backend;
};
/* Compute the slots. `in`: counts of an interval, in the order of events. No result is negative. */
void topdown_make(const struct topdown *t, const double in[TOPDOWN_INPUTS], struct topdown_slots *out);

#endif
