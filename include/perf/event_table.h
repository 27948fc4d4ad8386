// SPDX-License-Identifier: GPL-2.0-or-later
/* The events that perf knows by name on every machine: hardware, software, cache and those of perf stat itself, with their values
 * from <linux/perf_event.h> and their spelling from perf-list(1). */
#ifndef FLAMETOP_PERF_EVENT_TABLE_H
#define FLAMETOP_PERF_EVENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/event.h"
#include "perf/namelist.h"

enum event_match {
    EVENT_MATCH_NONE,
    EVENT_MATCH_FOUND,
    EVENT_MATCH_ILLEGAL, /* a cache event in form, but no such combination: "L1-icache-stores" */
};
/* Fills kind, attr.type and attr.config. Upper and lower case are the same, as they are to perf. */
enum event_match event_table_find(const char *name, struct event *out);
#define EVENT_RAW_DIGITS 16 /* of a raw event's number, at most */
/* "r01c2", "r0x1c2": the number behind the r. */
bool event_table_raw(const char *name, uint64_t *config);
/* Every event by its first name; false from the callback ends the walk, and is returned. */
bool event_table_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx);
void event_table_names(struct namelist *out); /* adds all names and aliases */

#endif
