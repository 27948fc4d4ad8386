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

struct pmu {
    char name[64];
    uint32_t type;
    bool core;     /* the counters of the CPUs themselves ("cpu", "cpu_core", "armv8_…") */
    uint64_t cpus; /* not 0: mask of the only CPUs (first 64) where it opens */
};

/* False when there is none: e says which are near, or there. */
bool pmu_find(const char *name, struct pmu *out, struct error *e);
/* The first PMU that names the event ("mem-loads" of "cpu"), or false. */
bool pmu_find_alias(const char *event, struct pmu *out);
/* "event=0x3c,umask=1", "instructions" (an event that the PMU names), "config1=5,name=mine": sets config*.
 * Of a field that is given twice the last counts. `name` gets what a name= term says, else stays. */
bool pmu_apply(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr, char *name, size_t cap,
               struct error *e);
bool pmu_has_core(void); /* false: no hardware counters here (most VMs) */

/* In order of name; false from the callback ends the walk and is returned. What is passed is borrowed. */
bool pmu_each(bool (*fn)(void *ctx, const struct pmu *pmu), void *ctx);
bool pmu_each_alias(const struct pmu *pmu, bool (*fn)(void *ctx, const char *name, const char *terms),
                    void *ctx);

/* A file of the PMU's folder ("caps/slots", "events/energy-pkg.scale"), without the blanks at its end. False: none. */
bool pmu_read_file(const struct pmu *pmu, const char *file, struct buf *text);

/* For tests: another folder in the place of /sys/bus/event_source/devices; NULL: that one again. */
void pmu_set_root(const char *dir);

#endif
