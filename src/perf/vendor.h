// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU vendors' events by their own names ("INST_RETIRED:ANY_P"), through libpfm4, which is used only here.
 * Without that library at build or run time there are none. */
#ifndef FLAMETOP_PERF_VENDOR_H
#define FLAMETOP_PERF_VENDOR_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* Set type, config* and the event's own modifiers (":u", ":k", ":e=1"). False: this CPU has no such event. */
bool vendor_find(const char *name, struct perf_event_attr *attr);
/* Call back for every event of this machine's PMUs, with its umasks as "EVENT:UMASK", borrowed. The
 * callback returns false to stop; that is returned. */
bool vendor_each(bool (*fn)(void *ctx, const char *pmu, const char *name, const char *help), void *ctx);

/* For tests: hide this machine's CPU events. */
void vendor_set_off(bool off);

#endif
