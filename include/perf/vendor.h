// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of CPU vendors by their own names ("INST_RETIRED:ANY_P"), through libpfm4 (the only door to it). Without that
 * library, in the build or on the machine, there are none. */
#ifndef FLAMETOP_PERF_VENDOR_H
#define FLAMETOP_PERF_VENDOR_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* type, config* and what the event's own modifiers say (":u", ":k", ":e=1"). False: no such event of this CPU. */
bool vendor_find(const char *name, struct perf_event_attr *attr);
/* Every event of the PMUs that this machine has, with its umasks as "EVENT:UMASK"; what is passed is borrowed. False from
 * the callback ends the walk, and is returned. */
bool vendor_each(bool (*fn)(void *ctx, const char *pmu, const char *name, const char *help), void *ctx);

/* For tests: not the names of this machine's CPU. */
void vendor_set_off(bool off);

#endif
