// SPDX-License-Identifier: GPL-2.0-or-later
/* Files below a PMU's folder, for pmu*.c only. */
#ifndef FLAMETOP_PERF_PMU_FILES_H
#define FLAMETOP_PERF_PMU_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "perf/namelist.h"

/* Read the terms of an event that the PMU names. */
bool pmu_files_alias(const char *pmu, const char *event, struct buf *terms);
/* Add the entries of "format" or "events", without attribute files such as an event's ".unit". */
void pmu_files_names(const char *pmu, const char *folder, struct namelist *out);

#endif
