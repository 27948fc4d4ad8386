// SPDX-License-Identifier: GPL-2.0-or-later
/* Any events counted on a scope from a start to an end, as perf stat counts them: what --stat prints. */
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
    double value; /* scaled by the times, and by the event's own unit */
    uint64_t enabled_ns, running_ns;
    const char *
        why; /* not supported, not counted: why; else in what it differs from what was asked for, or NULL; borrowed */
};

struct tally;
/* Opens each event per CPU for all and a cgroup, per task with the children it will have for all others, and of the chosen
 * CPUs what it does there. scope->command: its
 * process waits before an exec, with which the counting begins. An event that does not open is a result that says why; only
 * without anybody to count, or with a filter that the kernel does not take, there is nothing. The list is borrowed. */
struct tally *tally_open(const struct event_list *events, const struct scope *scope, struct error *e);
void tally_start(struct tally *t);         /* those that do not wait for an exec */
size_t tally_parts(const struct tally *t); /* the cgroups of the scope, in its order; else 1 */
#define TALLY_ALL SIZE_MAX                 /* in place of a part */
/* Of an EVENT_TOOL nothing is read here: not counted. */
struct tally_result tally_read(struct tally *t, size_t event, size_t part);
void tally_close(struct tally *t);

#endif
