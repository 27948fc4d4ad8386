// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse latency:ROW, the durations of operations (perf/pair_rows.h). */
#include <string.h>

#include "perf/event_parse.h"
#include "perf/pair_rows.h"
#include "perf/probe.h"

bool event_parse_latency(const char *text, struct event *out, struct error *e)
{
    const char *name = text + strlen(EVENT_LATENCY);
    bool probe = probe_is_definition(name);
    size_t n = strcspn(name, ":/");
    if (!probe && name[n]) {
        error_set(e, ERROR_ARGUMENT, "event '%s': latency:ROW has no modifiers and no terms", text);
        return error_at(e, (size_t)(name - text) + n);
    }
    if (!(out->pair = probe ? pair_row_of_probe(name, e) : pair_row_find(name, e)))
        return e && e->placed ? error_shift(e, (size_t)(name - text)) : error_at(e, (size_t)(name - text));
    if (probe)
        probe_display_name(text, out->name, sizeof out->name);
    out->latency = out->shown = true;
    out->kind = EVENT_SOFTWARE;
    out->attr.type = PERF_TYPE_SOFTWARE;
    out->attr.config = PERF_COUNT_SW_DUMMY;
    out->period = 1;
    return true;
}
