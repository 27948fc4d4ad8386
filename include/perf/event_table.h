// SPDX-License-Identifier: GPL-2.0-or-later
/* Events that perf knows by name on every machine: hardware, software, cache and perf stat's own. Values
 * are those of <linux/perf_event.h>, spelling that of perf-list(1). */
#ifndef FLAMETOP_PERF_EVENT_TABLE_H
#define FLAMETOP_PERF_EVENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/event.h"
#include "perf/namelist.h"

/* attr.config of the events that event.c completes */
enum { EVENT_TABLE_OFF_CPU, EVENT_TABLE_WAKERS, EVENT_TABLE_WALL };

enum event_match {
    EVENT_MATCH_NONE,
    EVENT_MATCH_FOUND,
    EVENT_MATCH_ILLEGAL, /* formed like a cache event, but an invalid combination: "L1-icache-stores" */
};
/* Fill kind, attr.type and attr.config. Case is ignored, as in perf. */
enum event_match event_table_find(const char *name, struct event *out);
#define EVENT_RAW_DIGITS 16 /* maximum digits of a raw event */
/* Parse "r01c2" or "r0x1c2": the number behind the r. */
bool event_table_raw(const char *name, uint64_t *config);
/* Call back for every event, by its first name. The callback returns false to stop; that is returned. */
bool event_table_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx);
void event_table_names(struct namelist *out); /* adds all names and aliases */

#endif
