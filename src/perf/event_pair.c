// SPDX-License-Identifier: GPL-2.0-or-later
/* The tracepoints that samples of latency:ROW are made from. */
#include <stdio.h>
#include <string.h>

#include "perf/event_parse.h"
#include "perf/pair_rows.h"
#include "perf/payload_field.h"
#include "perf/probe.h"

/* Lowest bits of 64-bit numbers that are often 0: of sectors, as blocks have several, and of addresses. */
#define EVEN_BITS 3

/* True if only the thread or the CPU that sees the begin sees the end. */
static bool stays(const struct pair_row *row)
{
    return row->by_thread || row->by_cpu;
}

/* The field of the key that tells most operations apart: an unsigned one, as the kernel's filters compare
 * signed numbers in another way. -1: none. */
static int32_t widest_key(const struct pair_row *row, const struct pair_events *events)
{
    const struct payload_field *fields = events->formats[PAIR_BEGIN]->fields, *f;
    int32_t widest = -1;
    for (uint32_t i = 0; i < row->n_keys; i++) {
        f = &fields[events->keys[PAIR_BEGIN][i]];
        if (!f->is_signed && (widest < 0 || f->size > fields[events->keys[PAIR_BEGIN][widest]].size))
            widest = (int32_t)i;
    }
    return widest;
}

/* Nested operations are not selected: an end that two events report would end two of them. */
static void set_key(const struct pair_row *row, const struct pair_events *events, struct event *part)
{
    int32_t i = widest_key(row, events);
    if (row->nested)
        return;
    if (row->by_thread)
        (void)snprintf(part->key, sizeof part->key, EVENT_KEY_THREAD);
    else if (row->by_cpu)
        (void)snprintf(part->key, sizeof part->key, EVENT_KEY_CPU);
    else if (i >= 0)
        (void)snprintf(part->key, sizeof part->key, "%s", row->keys[i]);
    bool wide = !row->by_thread && !row->by_cpu && i >= 0 &&
                events->formats[PAIR_BEGIN]->fields[events->keys[PAIR_BEGIN][i]].size > sizeof(uint32_t);
    part->key_shift = wide ? EVEN_BITS : 0;
}

/* The kernel leaves out what cannot be an operation. Any event may tell the process. */
static void set_filter(const struct pair_row *row, const struct pair_events *events, enum pair_side side,
                       struct event *part)
{
    bool tells = row->of_process &&
                 (side == PAIR_END || strcmp(events->names[PAIR_BEGIN], events->names[PAIR_END]) != 0);
    if (!tells)
        pair_checks_filter(&events->checks[side], events->formats[side], part->filter, sizeof part->filter);
}

/* A begin of one row may be the end of another one: these select other operations (perf/select.c). */
bool event_is_part(const struct event *ev, const struct event *part)
{
    return ev->of_pair && ev->everywhere == part->everywhere && ev->begins == part->begins &&
           !strcmp(ev->tracepoint, part->tracepoint);
}

bool event_latency_parts(const struct event *latency, struct event parts[EVENT_LATENCY_PARTS],
                         struct error *e)
{
    const struct pair_row *row = latency->pair;
    struct pair_events events;
    if (!pair_events_open(row, &events, e))
        return false;
    bool ok = true;
    parts[PAIR_MORE] = parts[PAIR_ERROR] = (struct event){ .kind = EVENT_TRACEPOINT };
    for (int side = 0; side < PAIR_PARTS && ok; side++) {
        struct event *part = &parts[side];
        if (!*events.names[side])
            continue;
        ok = event_parse_one(events.names[side], part, e);
        if (ok && side < PAIR_SIDES && probe_is_definition(row->events[side]))
            probe_display_name(row->events[side], part->name, sizeof part->name);
        part->period = 1;
        part->implied = part->of_pair = true;
        part->no_stack = side >= PAIR_SIDES || (side != (int)row->stack && !row->of_process);
        /* The kernel exchanges the inherited events of parent and child when it switches between them, but a
         * probe for single threads reports only threads whose event is their own. */
        part->everywhere = side >= PAIR_SIDES || (!stays(row) && (side == PAIR_END || row->of_process));
        part->begins = side == PAIR_BEGIN;
        part->ends = side == PAIR_END || side == PAIR_MORE;
        if (side != PAIR_ERROR)
            set_key(row, &events, part);
        if (ok && side < PAIR_SIDES)
            set_filter(row, &events, (enum pair_side)side, part);
    }
    pair_events_close(&events);
    return ok;
}
