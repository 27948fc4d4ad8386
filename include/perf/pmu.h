// SPDX-License-Identifier: GPL-2.0-or-later
/* What /sys/bus/event_source/devices says of the PMUs: types, formats, named events, CPUs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-*). */
#ifndef FLAMETOP_PERF_PMU_H
#define FLAMETOP_PERF_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/cpus.h"
#include "perf/terms.h"

struct pmu {
    char name[64];
    uint32_t type;
    bool core;            /* the counters of the CPUs themselves ("cpu", "cpu_core", "armv8_…") */
    struct cpu_mask cpus; /* the only ones where it opens; no bit: all, or tasks */
};

/* False when there is none: e says which are near, or there. */
bool pmu_find(const char *name, struct pmu *out, struct error *e);
/* The first PMU that names the event ("mem-loads" of "cpu"), or false. */
bool pmu_find_alias(const char *event, struct pmu *out);
/* "event=0x3c,umask=1", "instructions" (an event that the PMU names), "config1=5,name=mine", of a core PMU "cycles" and
 * "r1c2" as well: sets type and config*. Of a field that is given twice the last counts. What is said beside the config
 * goes to `more`. The place of an error is in `terms`. */
bool pmu_apply(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
               struct event_terms *more, struct error *e);
/* The PMUs that a name stands for: "uncore_imc" for uncore_imc_0, uncore_imc_1 …, globs, and itself; in order. */
struct namelist;
void pmu_match(const char *name, struct namelist *out);
bool pmu_has_core(void); /* false: no hardware counters here (most VMs) */

/* One of the core PMUs where there are several kinds of CPUs: which has this CPU (-1: the first). Its type, or 0 where
 * PERF_TYPE_HARDWARE and its like find it by themselves. */
uint32_t pmu_hybrid_type(int cpu);
#define PMU_HYBRID_MAX 4
uint32_t pmu_hybrid_types(uint32_t types[PMU_HYBRID_MAX]); /* of all kinds; 0: not hybrid */

/* In order of name; false from the callback ends the walk and is returned. What is passed is borrowed. */
bool pmu_each(bool (*fn)(void *ctx, const struct pmu *pmu), void *ctx);
/* In words what a named event is, for those that the kernel's drivers bring; else NULL. */
const char *pmu_alias_help(const char *pmu, const char *event);
/* "event (config:0-7), umask (config:8-15)": the terms that its formats name. False: none. */
bool pmu_formats(const struct pmu *pmu, char *dst, size_t cap);
bool pmu_each_alias(const struct pmu *pmu, bool (*fn)(void *ctx, const char *name, const char *terms),
                    void *ctx);

/* A file of the PMU's folder ("caps/slots", "events/energy-pkg.scale"), without the blanks at its end. False: none. */
bool pmu_read_file(const struct pmu *pmu, const char *file, struct buf *text);
bool pmu_names_event(const struct pmu *pmu, const char *event); /* whether it has one of that name */

/* For tests: another folder in the place of /sys/bus/event_source/devices; NULL: that one again. */
void pmu_set_root(const char *dir);

#endif
