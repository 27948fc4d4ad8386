// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of the parser of events, for event*.c only. Places are in `text`; nothing is shown yet. */
#ifndef FLAMETOP_PERF_EVENT_PARSE_H
#define FLAMETOP_PERF_EVENT_PARSE_H

#include "perf/event.h"

/* ":S" and ":W" mean something in groups only. */
#define EVENT_MODIFIERS "ukhGHpPSDIWe"

bool event_parse_one(const char *text, struct event *out, struct error *e);
bool event_parse_tracepoint(const char *text, const char *system, const char *name, struct event *out,
                            struct error *e);
/* rest: what follows it in the text: "", "/terms/…" or ":mods". */
bool event_parse_breakpoint(const char *text, struct perf_event_attr *attr, const char **rest,
                            struct error *e);
/* mods as they stand behind the colon; the place is in them. */
bool event_check_modifiers(const char *mods, const char *text, struct error *e);

#endif
