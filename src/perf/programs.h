// SPDX-License-Identifier: GPL-2.0-or-later
/* The probe's BPF programs, run with the events of one source. */
#ifndef FLAMETOP_PERF_PROGRAMS_H
#define FLAMETOP_PERF_PROGRAMS_H

#include "perf/open.h"

/* Runs them with all events that do not have one yet, see live_runs(). False: none runs. */
bool programs_run(struct plan *p, const struct live_cpus *cpus);
/* Those at tracepoints end, unless another source has them too. */
void programs_end(struct plan *p);

#endif
