// SPDX-License-Identifier: GPL-2.0-or-later
/* The files below a PMU's folder, for pmu*.c only. */
#ifndef FLAMETOP_PERF_PMU_FILES_H
#define FLAMETOP_PERF_PMU_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "perf/namelist.h"

/* The terms of an event that the PMU names. */
bool pmu_files_alias(const char *pmu, const char *event, struct buf *terms);
/* Adds what "format" or "events" holds, without an event's ".unit" and its like. */
void pmu_files_names(const char *pmu, const char *folder, struct namelist *out);

#endif
