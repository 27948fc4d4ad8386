// SPDX-License-Identifier: GPL-2.0-or-later
/* Feeds the rows of operations.c with the records of a file. Nothing in the file is trusted. */
#include "session/collect/operations_file.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "perf/probe.h"
#include "session/collect/file_tracepoint.h"
#include "session/session_state.h"

#define LATENCY "latency:"

/* Finds the first alternative that the file has, with all of its samples and their fields. */
static bool find_part(struct session *s, const struct pair_row *row, enum pair_side side,
                      struct pair_events *events, uint32_t *part)
{
    const uint64_t needed =
        PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | (row->by_cpu ? (uint64_t)PERF_SAMPLE_CPU : 0);
    const char *at = side < PAIR_SIDES ? row->events[side] : pair_row_tracepoint(row, side);
    bool found = false;
    for (size_t n; at && *at && !found; at += n + (at[n] == '|')) {
        n = strcspn(at, "|");
        found = file_tracepoint_find(s, at, n, part);
    }
    if (!found)
        return false;
    const struct session_event *ev = &s->store.events[*part];
    if (ev->attr.freq || ev->attr.sample_period > 1 || (ev->attr.sample_type & needed) != needed)
        return false;
    (void)snprintf(events->names[side], sizeof events->names[side], "%.127s", ev->event.name);
    return (events->formats[side] = file_tracepoint_format(s, *part)) != NULL;
}

/* False: the file lacks a tracepoint or a field. Paths of files and names of probes are not in files. */
static bool open_row(struct session *s, const struct pair_row *row, struct operations_row *out)
{
    *out = (struct operations_row){
        .row = row, .one_in = 1, .elsewhere = s->load.elsewhere, .other_calls = s->load.other_arch
    };
    uint32_t *parts = out->parts;
    if (row->of_waits || row->slow || probe_is_definition(row->events[PAIR_BEGIN]))
        return false;
    bool ok = find_part(s, row, PAIR_BEGIN, &out->fields, &parts[PAIR_BEGIN]) &&
              find_part(s, row, PAIR_END, &out->fields, &parts[PAIR_END]);
    for (int side = PAIR_SIDES; side < PAIR_PARTS && ok; side++)
        if (!find_part(s, row, (enum pair_side)side, &out->fields, &parts[side]))
            parts[side] = UINT32_MAX;
    ok = ok && pair_events_find(row, &out->fields, NULL);
    for (int side = PAIR_SIDES; side < PAIR_PARTS && ok; side++)
        if (!out->fields.formats[side])
            parts[side] = UINT32_MAX;
    if (ok)
        return true;
    pair_events_close(&out->fields);
    return false;
}

static bool has_event(const struct session *s, const char *name)
{
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (!strcmp(s->store.events[i].event.name, name))
            return true;
    return false;
}

static void add_event(struct session *s, const struct pair_row *row, const char *name,
                      const struct operations_row *opened)
{
    const struct perf_event_attr from = s->store.events[opened->parts[row->stack]].attr;
    struct session_operations_file *f = &s->load.operations;
    struct session_event *ev = session_add_event(s);
    uint32_t number = s->store.n_events - 1;
    *ev = (struct session_event){ .event = { .latency = true, .pair = row },
                                  .first = number,
                                  .leader = number,
                                  .period = 1,
                                  .attr = from };
    (void)snprintf(ev->event.name, sizeof ev->event.name, "%s", name);
    offcpu_saved_attr(&ev->attr);
    ev->attr.sample_type |=
        PERF_SAMPLE_PERIOD | (from.sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                  PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN));
    ev->event.attr = ev->attr;
    f->first = f->n ? f->first : number;
    f->n++;
    operations_add_row(s, opened, number);
}

/* "latency:tcp" */
static void add_named(struct session *s, const char *name)
{
    struct operations_row opened;
    const struct pair_row *row = pair_row_find(name + strlen(LATENCY), NULL);
    if (row && !has_event(s, name) && s->store.n_events < SAMPLE_EVENTS && open_row(s, row, &opened))
        add_event(s, row, name, &opened);
}

void operations_file_open(struct session *s)
{
    char name[EVENT_NAME_MAX];
    for (size_t i = 0; i < s->cfg.n_chosen && !s->cfg.as_perf; i++)
        for (const char *at = s->cfg.chosen[i]; *at; at += strspn(at, ",")) {
            size_t n = strcspn(at, ",");
            (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
            if (text_begins_with(name, LATENCY))
                add_named(s, name);
            at += n;
        }
}

bool operations_file_reads(const struct session *s, uint32_t event)
{
    for (size_t i = 0; i < s->collect.operations.rows.n && s->load.operations.n; i++) {
        const struct operations_row *row = &s->collect.operations.rows.items[i];
        for (int side = 0; side < PAIR_PARTS; side++)
            if (row->parts[side] == event)
                return true;
    }
    return false;
}

void operations_file_sample(struct session *s, const struct record *r, uint32_t stack)
{
    if (s->load.operations.n && r->id.has & PERF_SAMPLE_TIME)
        operations_sample_of_file(s, r, stack);
}

bool operations_file_makes(const struct session *s, uint32_t event)
{
    const struct session_operations_file *f = &s->load.operations;
    return event >= f->first && event - f->first < f->n;
}
