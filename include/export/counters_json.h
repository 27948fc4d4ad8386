// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters as JSON, for -b --view counters. */
#ifndef FLAMETOP_EXPORT_COUNTERS_JSON_H
#define FLAMETOP_EXPORT_COUNTERS_JSON_H

#include "base/buf.h"
#include "session/counters.h"
#include "session/machine_load.h"

/* Appends one interval as an object on a line of its own:
 *
 *   {"time":N,"seconds":N,"scope":"all",
 *    "events":[{"name","count","running"} or {"name","unknown":"why"}],
 *    "load":{"average":[N,N,N],"running":N,"threads":N}, "run_queue":N, "blocked":N, "steal":N,
 *    "pressure":{"cpu":{"some":{"percent":N,"avg10":N,"avg60":N,"avg300":N,"total_us":N},"full":…},"io":…},
 *    "cgroups":[{"path","pressure"}],
 *    "split":"cpu","parts":[{"name","busy","counts":{"cpu-clock":N,…}}]}
 *
 * time: seconds since 1970, at the end of the interval. Counts have the units of struct count_value; steal,
 * percent and busy are percent. What cannot be read is {"unknown":"why"}; a number that is not known yet is
 * null. */
void counters_json(const struct counters *c, const struct machine_load *l, const struct scope *scope,
                   struct buf *out);

#endif
