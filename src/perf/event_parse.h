// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of the event parser, for event*.c only. Error locations are pointers into `text`; nothing is
 * printed here. */
#ifndef FLAMETOP_PERF_EVENT_PARSE_H
#define FLAMETOP_PERF_EVENT_PARSE_H

#include "perf/event.h"

/* ":S" and ":W" are valid in groups only. */
#define EVENT_MODIFIERS "ukhGHpPSDIWe"

bool event_parse_one(const char *text, struct event *out, struct error *e);
/* The event wakers, for this event off-cpu. False: a tracepoint is not readable. */
bool event_make_wakers(const struct event *off_cpu, struct event *out, struct error *e);
/* event_latency.c: "latency:ROW" */
#define EVENT_LATENCY "latency:"
bool event_parse_latency(const char *text, struct event *out, struct error *e);
/* rest: the text behind it: "", "/terms/…" or ":mods". */
bool event_parse_breakpoint(const char *text, struct perf_event_attr *attr, const char **rest,
                            struct error *e);
/* Check the modifiers, given without the colon. Errors point into mods. */
bool event_check_modifiers(const char *mods, const char *text, struct error *e);

#endif
