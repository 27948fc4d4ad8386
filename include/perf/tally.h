// SPDX-License-Identifier: GPL-2.0-or-later
/* Count any events on a scope from start to end, as perf stat does: the data of --stat. */
#ifndef FLAMETOP_PERF_TALLY_H
#define FLAMETOP_PERF_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/count.h"
#include "perf/event.h"
#include "perf/scope.h"

struct tally_result {
    enum count_state state;
    double value; /* scaled by the times and by the event's unit */
    uint64_t enabled_ns, running_ns;
    /* why it is not supported or not counted; else how it differs from the request, or NULL; borrowed */
    const char *why;
};

struct tally;
/* Open each event: per CPU for all tasks and for cgroups; per task with its future children otherwise, and
 * only on the chosen CPUs. With scope->command, its process waits before an exec, and counting starts with
 * the exec. An event that does not open is a result that says why. NULL only if there is nothing to count,
 * or the kernel refuses a filter. The list is borrowed. */
struct tally *tally_open(const struct event_list *events, const struct scope *scope, struct error *e);
void tally_start(struct tally *t);         /* starts events that do not wait for an exec */
size_t tally_parts(const struct tally *t); /* cgroups of the scope, in order; else 1 */
#define TALLY_ALL SIZE_MAX                 /* all parts together */
/* The result of an event. EVENT_TOOL is not read here: not counted. */
struct tally_result tally_read(struct tally *t, size_t event, size_t part);
void tally_close(struct tally *t);

#endif
