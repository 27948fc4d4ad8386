// SPDX-License-Identifier: GPL-2.0-or-later
/* Read PMU types, formats, named events and CPUs from /sys/bus/event_source/devices
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
    bool core;            /* counters of the CPUs themselves ("cpu", "cpu_core", "armv8_…") */
    struct cpu_mask cpus; /* the only CPUs where it opens; no bit: all, or tasks */
};

/* False if there is no such PMU: e lists the nearest or the available ones. */
bool pmu_find(const char *name, struct pmu *out, struct error *e);
/* Find the first PMU that names the event ("mem-loads" of "cpu"). False: none. */
bool pmu_find_alias(const char *event, struct pmu *out);
/* Apply terms to attr: set type and config*. Terms: "event=0x3c,umask=1", "instructions" (an event that the
 * PMU names), "config1=5,name=mine"; for a core PMU also "cycles" and "r1c2". The last value of a repeated
 * field wins. Terms other than the config go to `more`. Errors point into `terms`. */
bool pmu_apply(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
               struct event_terms *more, struct error *e);
/* The PMUs that match a name, in order: "uncore_imc" for uncore_imc_0, uncore_imc_1 …; globs; the name
 * itself. */
struct namelist;
void pmu_match(const char *name, struct namelist *out);
bool pmu_has_core(void); /* false: no hardware counters here (most VMs) */

/* The type of the core PMU of this CPU (-1: the first) on hybrid machines. 0 where PERF_TYPE_HARDWARE and
 * similar types select it by themselves. */
uint32_t pmu_hybrid_type(int cpu);
#define PMU_HYBRID_MAX 4
uint32_t pmu_hybrid_types(uint32_t types[PMU_HYBRID_MAX]); /* of all kinds of cores; 0: not hybrid */

/* Call back for each PMU in order of name, with borrowed values. The callback returns false to stop; that
 * is returned. */
bool pmu_each(bool (*fn)(void *ctx, const struct pmu *pmu), void *ctx);
/* Description of a named event, for those of the kernel's drivers; else NULL. */
const char *pmu_alias_help(const char *pmu, const char *event);
/* The terms of its formats: "event (config:0-7), umask (config:8-15)". False: none. */
bool pmu_formats(const struct pmu *pmu, char *dst, size_t cap);
bool pmu_each_alias(const struct pmu *pmu, bool (*fn)(void *ctx, const char *name, const char *terms),
                    void *ctx);

/* Read a file of the PMU's folder ("caps/slots", "events/energy-pkg.scale"), without trailing blanks.
 * False: no such file. */
bool pmu_read_file(const struct pmu *pmu, const char *file, struct buf *text);
bool pmu_names_event(const struct pmu *pmu, const char *event); /* true if it has an event of that name */

/* For tests: replace /sys/bus/event_source/devices; NULL: restore it. */
void pmu_set_root(const char *dir);

#endif
