// SPDX-License-Identifier: GPL-2.0-or-later
/* The chosen events: those of a file, and those sampled since the start. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/pair_rows.h"
#include "perf/probe.h"
#include "session/session_state.h"

#define LATENCY     "latency:"
#define NAMES_SHOWN 8 /* in an error message */

struct session_event *session_add_event(struct session *s)
{
    MEM_GROW(s->store.events, s->store.events_cap, s->store.n_events + 1);
    s->store.events[s->store.n_events] = (struct session_event){ 0 };
    return &s->store.events[s->store.n_events++];
}

void session_add_hidden_event(struct session *s, uint32_t *number, const char *name)
{
    if (*number || s->store.n_events >= SAMPLE_EVENTS)
        return;
    *number = s->store.n_events;
    struct session_event *ev = session_add_event(s);
    *ev = (struct session_event){
        .leader = *number, .first = *number, .period = 1, .left_out = true, .removed = true
    };
    snprintf(ev->event.name, sizeof ev->event.name, "%s", name);
}

/* ---- sets ---- */

uint32_t chosen_together(const struct session *s, uint32_t first)
{
    uint32_t n = 1;
    while (first + n < s->store.n_events && s->store.events[first + n].first == first)
        n++;
    return n;
}

static bool is_same_event(const struct event *a, const struct event *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->filter, b->filter) && a->members == b->members &&
           a->reads == b->reads;
}

static bool is_slot_of(const struct session *s, uint32_t slot, const struct event *events, uint32_t n)
{
    if (s->store.events[slot].first != slot || s->store.events[slot].removed || chosen_together(s, slot) != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is_same_event(&s->store.events[slot + i].event, &events[i]))
            return false;
    return true;
}

uint32_t chosen_find(const struct session *s, const struct event *events, uint32_t n)
{
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (is_slot_of(s, i, events, n))
            return i;
    return CHOSEN_NOWHERE;
}

/* ---- -e over a file ---- */

/* Length of a name without modifiers: "cycles:ppu" -> length of "cycles". Keeps the ':' of a tracepoint. */
static size_t without_modifiers(const char *name)
{
    const char *colon = strrchr(name, ':');
    size_t n = strlen(name);
    return colon && colon[1] && colon[1 + strspn(colon + 1, "ukhpPGHSDWIe")] == '\0' ? (size_t)(colon - name)
                                                                                     : n;
}

static bool is_called(const char *name, const char *pattern)
{
    char plain[EVENT_NAME_MAX];
    snprintf(plain, sizeof plain, "%.*s", (int)without_modifiers(name), name);
    return !strcmp(name, pattern) || !fnmatch(pattern, name, 0) || !fnmatch(pattern, plain, 0);
}

/* Length of the next name in a list. A comma inside "cpu/event=1,umask=2/" does not end it. */
static size_t name_length(const char *list)
{
    bool inside = false;
    size_t n = 0;
    for (; list[n] && (list[n] != ',' || inside); n++)
        inside ^= list[n] == '/';
    return n;
}

/* Says what the file would need for latency:ROW. */
static bool no_such_operations(const struct session *s, const char *name, struct error *e)
{
    const struct pair_row *row = pair_row_find(name, e);
    if (!row)
        return false;
    const char *begin = row->events[PAIR_BEGIN], *end = row->events[PAIR_END];
    bool one = !strcmp(begin, end);
    if (row->of_waits || row->slow || probe_is_definition(begin))
        error_set(e, ERROR_UNSUPPORTED,
                  "%s has no operations of latency row %s, and they do not follow from other events",
                  s->cfg.input, name);
    else
        error_set(e, ERROR_MISSING,
                  "%s has no operations of latency row %s: they follow from all events %.100s%s%.100s, with "
                  "their fields (perf record -a -e EVENT)",
                  s->cfg.input, name, begin, one ? "" : " and ", one ? "" : end);
    return error_hint(e, "flametop -e latency:%s -o FILE records them", name);
}

static bool no_such_event(const struct session *s, const char *pattern, struct error *e)
{
    if (text_begins_with(pattern, LATENCY))
        return no_such_operations(s, pattern + strlen(LATENCY), e);
    char text[512];
    size_t at = 0;
    if (!strcmp(pattern, "wall"))
        return error_set(e, ERROR_MISSING,
                         "no wall-clock time in %s: it needs samples of CPU time and all switches "
                         "(perf record -e cycles -e sched:sched_switch --switch-events -g -a)",
                         s->cfg.input);
    for (uint32_t i = 0; i < s->store.n_events && i < NAMES_SHOWN && at + EVENT_NAME_MAX < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ", " : "",
                               s->store.events[i].event.name);
    if (s->store.n_events > NAMES_SHOWN)
        snprintf(text + at, sizeof text - at, ", ... (%u)", s->store.n_events);
    return error_set(e, ERROR_ARGUMENT, "-e %s: %s has no such event; its events are %s", pattern,
                     s->cfg.input, text);
}

static bool choose(struct session *s, const char *pattern, struct error *e)
{
    bool found = false;
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (is_called(s->store.events[i].event.name, pattern)) {
            s->store.events[i].left_out = false;
            found = true;
        }
    return found || no_such_event(s, pattern, e);
}

static bool choose_list(struct session *s, const char *list, struct error *e)
{
    char pattern[EVENT_NAME_MAX];
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (!strcmp(s->store.events[i].event.name, list))
            return choose(s, list, e);
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = name_length(list);
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, list);
        if (n && !choose(s, pattern, e))
            return false;
    }
    return true;
}

bool chosen_events(struct session *s, struct error *e)
{
    for (uint32_t i = 0; i < s->store.n_events; i++)
        s->store.events[i].left_out = s->cfg.n_chosen > 0;
    for (size_t i = 0; i < s->cfg.n_chosen; i++)
        if (!choose_list(s, s->cfg.chosen[i], e))
            return false;
    return true;
}

/* ---- all events ---- */

static void count_run(void *ctx, struct sample *samples, size_t n)
{
    uint64_t *counts = ctx;
    for (size_t i = 0; i < n; i++)
        counts[samples[i].event]++;
}

uint64_t *chosen_counts(struct session *s)
{
    uint64_t *counts = mem_array(SAMPLE_EVENTS, sizeof *counts);
    history_scan(s->store.history, 0, 0, count_run, counts);
    return counts;
}

uint32_t session_chosen(struct session *s, struct session_chosen **out)
{
    pthread_mutex_lock(&s->store.lock);
    uint64_t *counts = chosen_counts(s);
    struct session_chosen *list = mem_array(s->store.n_events + 1, sizeof *list);
    uint32_t n = s->store.n_events;
    for (uint32_t i = 0; i < n; i++) {
        const struct session_event *ev = &s->store.events[i];
        text_clean(list[i].name, sizeof list[i].name, ev->event.name, strlen(ev->event.name));
        list[i].off_cpu = event_is_wait(&ev->event);
        list[i].wakers = ev->event.wakers;
        list[i].wall = ev->event.wall;
        list[i].latency = ev->event.latency;
        list[i].implied = ev->event.implied;
        list[i].cpu_time = !ev->event.wall && event_is_cpu_time(&ev->attr);
        list[i].first = ev->first;
        list[i].samples = ev->removed ? 0 : counts[i];
        list[i].shown = i == s->store.current_event;
        list[i].sampled = !s->load.file && ev->first == s->store.live_event && !ev->left_out && !s->fatal[0];
        list[i].left_out = ev->left_out;
        list[i].removed = !session_event_is_listed(ev);
    }
    pthread_mutex_unlock(&s->store.lock);
    mem_free(counts);
    *out = list;
    return n;
}
