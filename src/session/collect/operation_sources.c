// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of latencies that the running source has: which events they need, and what goes on from the source
 * before. */
#include "session/collect/operations.h"

#include <string.h>
#include <unistd.h>

#include "session/collect/kept_stack.h"
#include "session/session_state.h"

#define NO_PART UINT32_MAX

static bool is_open(const struct session_event *ev, const struct event *part)
{
    return !ev->left_out && event_is_part(&ev->event, part);
}

/* False: one of them did not open. */
static bool find_parts(const struct session *s, const struct session_event *latency,
                       uint32_t parts[PAIR_PARTS])
{
    struct event wanted[PAIR_PARTS];
    bool found = event_latency_parts(&latency->event, wanted, NULL);
    for (int side = 0; side < PAIR_PARTS && found; side++) {
        uint32_t i = latency->first, end = i + chosen_together(s, i);
        while (i < end && !is_open(&s->store.events[i], &wanted[side]))
            i++;
        parts[side] = i < end ? i : NO_PART;
        found = i < end || side >= PAIR_SIDES;
    }
    return found;
}

/* The event off-cpu among n events, if it and wakers opened; first + n: none. */
static uint32_t find_waits(const struct session *s, uint32_t first, uint32_t n)
{
    uint32_t i = first;
    while (i < first + n &&
           !(s->store.events[i].event.off_cpu && !s->store.events[i].left_out && i + 1 < first + n &&
             s->store.events[i + 1].event.wakers && !s->store.events[i + 1].left_out))
        i++;
    return i;
}

void operations_open(struct session *s, uint32_t first)
{
    uint32_t n = chosen_together(s, first), parts[PAIR_PARTS];
    for (uint32_t i = first; i < first + n; i++) {
        struct session_event *ev = &s->store.events[i];
        if (!ev->event.latency)
            continue;
        ev->attr = ev->event.attr;
        if (ev->event.pair->of_waits) {
            uint32_t off_cpu = find_waits(s, first, n);
            ev->left_out = off_cpu == first + n;
            if (!ev->left_out)
                ev->attr.sample_type = s->store.events[off_cpu].attr.sample_type | PERF_SAMPLE_PERIOD;
            continue;
        }
        ev->left_out = !find_parts(s, ev, parts);
        if (!ev->left_out)
            ev->attr.sample_type =
                s->store.events[parts[ev->event.pair->stack]].attr.sample_type | PERF_SAMPLE_PERIOD;
    }
}

static bool is_one_of(const uint32_t parts[PAIR_PARTS], uint32_t event)
{
    for (int side = 0; side < PAIR_PARTS; side++)
        if (parts[side] == event)
            return true;
    return false;
}

/* True if the event is a begin or an end that no event but this latency:ROW needs. */
static bool is_only_for(const struct session *s, uint32_t part, uint32_t latency)
{
    const struct session_event *ev = &s->store.events[part];
    uint32_t parts[PAIR_PARTS];
    if (!ev->event.of_pair)
        return false;
    for (uint32_t i = ev->first, end = i + chosen_together(s, i); i < end; i++)
        if (i != latency && s->store.events[i].event.latency && find_parts(s, &s->store.events[i], parts) &&
            is_one_of(parts, part))
            return false;
    return true;
}

bool operations_event_stays(const struct session *s, uint32_t event, uint32_t removed)
{
    return s->store.events[event].leader != s->store.events[removed].leader &&
           !is_only_for(s, event, removed);
}

static void close_row(struct operations_row *row)
{
    pair_events_close(&row->fields);
    pairs_done(&row->pairs);
    map_done(&row->names);
    map_done(&row->completed);
    mem_free(row->ending.items);
    estimates_done(&row->estimates);
}

static void forget_rows(struct session_operations *o)
{
    for (size_t i = 0; i < o->rows.n; i++)
        close_row(&o->rows.items[i]);
    o->rows.n = 0;
}

/* Takes over the operations of the same row of the source before. */
static void go_on_from(struct session_operations *before, struct operations_row *row)
{
    for (size_t i = 0; i < before->rows.n; i++) {
        struct operations_row *old = &before->rows.items[i];
        if (old->event != row->event || old->row != row->row)
            continue;
        row->pairs = old->pairs;
        row->names = old->names;
        row->completed = old->completed;
        row->ending.items = old->ending.items;
        row->ending.n = old->ending.n;
        row->ending.cap = old->ending.cap;
        row->incomplete = old->incomplete;
        row->estimates = old->estimates;
        row->one_in = old->one_in;
        row->one_in_before = old->one_in_before;
        row->one_in_ns = old->one_in_ns;
        row->begins = old->begins;
        old->pairs = (struct pairs){ 0 };
        old->names = old->completed = (struct map){ 0 };
        old->ending.items = NULL;
        old->estimates = (struct estimates){ 0 };
    }
}

static uint32_t value_key_of(const struct operations_row *row, const struct event *begin)
{
    uint32_t i = 0;
    while (i < row->row->n_keys && strcmp(row->row->keys[i], begin->key) != 0)
        i++;
    return i;
}

static enum pairs_again again_of(const struct pair_row *row)
{
    return row->nested      ? PAIRS_NEST
           : row->outermost ? PAIRS_OUTERMOST
           : row->first     ? PAIRS_GO_ON
                            : PAIRS_REPLACE;
}

void operations_add_row(struct session *s, const struct operations_row *row, uint32_t event)
{
    struct operations_row *added = VEC_PUSH(&s->collect.operations.rows);
    *added = *row;
    added->event = event;
    added->value_key = row->row->n_keys;
    added->pairs.again = again_of(row->row);
}

void operations_adopt(struct session *s)
{
    struct session_operations *o = &s->collect.operations, before = *o;
    uint32_t first = s->store.live_event, n = chosen_together(s, first);
    *o = (struct session_operations){ .self = (uint32_t)getpid(), .records = before.records };
    o->runqueue.names = before.runqueue.names;
    for (uint32_t i = first; i < first + n; i++) {
        const struct session_event *ev = &s->store.events[i];
        struct operations_row row = { .row = ev->event.pair, .event = i, .one_in = 1 };
        if (ev->event.latency && !ev->left_out && ev->event.pair->of_waits) {
            o->runqueue.runs = true;
            o->runqueue.event = i;
        }
        if (!ev->event.latency || ev->left_out || !find_parts(s, ev, row.parts) ||
            !pair_events_open(row.row, &row.fields, NULL))
            continue;
        row.value_key = value_key_of(&row, &s->store.events[row.parts[PAIR_BEGIN]].event);
        go_on_from(&before, &row);
        row.pairs.again = again_of(row.row);
        *VEC_PUSH(&o->rows) = row;
    }
    forget_rows(&before);
    mem_free(before.rows.items);
    if (o->rows.n)
        kept_stack_prepare(s);
}

void operations_restart(struct session *s)
{
    struct session_operations *o = &s->collect.operations;
    for (size_t i = 0; i < o->rows.n; i++)
        pairs_forget(&o->rows.items[i].pairs);
}

void operations_done(struct session *s)
{
    forget_rows(&s->collect.operations);
    map_done(&s->collect.operations.runqueue.names);
    mem_free(s->collect.operations.rows.items);
}
