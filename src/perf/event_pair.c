// SPDX-License-Identifier: GPL-2.0-or-later
/* The tracepoints that samples of latency:ROW are made from. */
#include "perf/event_parse.h"
#include "perf/pair_rows.h"
#include "perf/probe.h"

/* True if only the thread or the CPU that sees the begin sees the end. */
static bool stays(const struct pair_row *row)
{
    return row->by_thread || row->by_cpu;
}

bool event_latency_parts(const struct event *latency, struct event parts[2], struct error *e)
{
    const struct pair_row *row = latency->pair;
    struct pair_events events;
    if (!pair_events_open(row, &events, e))
        return false;
    bool ok = true;
    for (int side = 0; side < PAIR_SIDES && ok; side++) {
        struct event *part = &parts[side];
        ok = event_parse_one(events.names[side], part, e);
        if (ok && probe_is_definition(row->events[side]))
            probe_display_name(row->events[side], part->name, sizeof part->name);
        part->period = 1;
        part->implied = part->of_pair = true;
        part->no_stack = side != (int)row->stack;
        part->everywhere = side == PAIR_END && !stays(row);
    }
    pair_events_close(&events);
    return ok;
}
