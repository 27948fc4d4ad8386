// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "perf/payload.h"
#include "perf/tracepoint.h"
#include "session/state.h"

#define NAMES_MAX 65536 /* addresses that are kept; a payload may hold anything */

struct function_name {
    uint64_t start;
    const char *text; /* NULL: it has none */
};

struct session_trace {
    struct session *s;
    struct tracepoint_format *own[SESSION_EVENTS_MAX]; /* of this kernel … */
    struct payload_format *read[SESSION_EVENTS_MAX];   /* … or of the file; NULL: neither */
    struct map name_of;                                /* address of the kernel → struct function_name */
    struct arena names;
    bool impatient; /* names did not come in time */
};

static bool look_up(struct session *s, uint64_t address, struct symbol *out, uint64_t *offset)
{
    struct place place = { 0 };
    pthread_mutex_lock(&s->lock);
    bool there = world_resolve(s->world, 0, address, true, &place);
    struct module *m = there ? world_module(s->world, place.module) : NULL;
    if (m)
        symbolizer_lookup(s->symbolizer, m, place.offset, out);
    pthread_mutex_unlock(&s->lock);
    *offset = place.offset;
    return m != NULL;
}

static const char *name_of(void *trace, uint64_t address, uint64_t *start)
{
    struct session_trace *t = trace;
    const struct function_name *known;
    struct symbol symbol;
    uint64_t value, offset;
    if (map_get(&t->name_of, address, &value)) {
        known = (const struct function_name *)(uintptr_t)value;
        *start = known->start;
        return known->text;
    }
    bool there = look_up(t->s, address, &symbol, &offset);
    if (there && symbol.state == SYMBOL_PENDING && !t->impatient) {
        session_settle(t->s, session_patience_ns(t->s));
        look_up(t->s, address, &symbol, &offset);
        t->impatient = symbol.state == SYMBOL_PENDING;
    }
    if (t->name_of.n == NAMES_MAX) {
        map_clear(&t->name_of);
        arena_clear(&t->names);
    }
    bool found = there && symbol.state == SYMBOL_FOUND;
    struct function_name *name = arena_alloc(&t->names, sizeof *name);
    name->start = found ? address - (offset - symbol.start) : 0;
    name->text = found ? arena_strndup(&t->names, symbol.name, strlen(symbol.name)) : NULL;
    map_put(&t->name_of, address, (uintptr_t)name);
    *start = name->start;
    return name->text;
}

/* "sched:sched_switch:u" → "sched", "sched_switch" */
static bool split_name(const char *event, char *system, char *name, size_t cap)
{
    size_t n = strcspn(event, ":");
    snprintf(system, cap, "%.*s", (int)n, event);
    snprintf(name, cap, "%.*s", event[n] ? (int)strcspn(event + n + 1, ":") : 0, event[n] ? event + n + 1 : "");
    return *system && *name;
}

static void open_event(struct session_trace *t, struct session *s, uint32_t i)
{
    const struct session_event *ev = &s->events[i];
    char system[128], name[128];
    size_t n = 0;
    const char *tracepoint = *ev->event.tracepoint ? ev->event.tracepoint : ev->event.name; /* of a file there is the name */
    bool swap = s->file && perfdata_swapped(s->file), named = split_name(tracepoint, system, name, sizeof system);
    if (ev->attr.type != PERF_TYPE_TRACEPOINT)
        return;
    const char *text = s->file ? perfdata_tracepoint(s->file, ev->attr.config, &n) : NULL;
    /* libtraceevent is for the kernel's formats: those of files may be anything */
    if (named && !swap && (!s->file || (text && tracepoint_format_is(system, name, text, n))))
        t->own[i] = tracepoint_format_open(system, name, NULL);
    if (t->own[i])
        tracepoint_format_names(t->own[i], name_of, t);
    if (!t->own[i] && text)
        t->read[i] = payload_format_new(text, n, swap);
}

struct session_trace *session_trace_new(struct session *s)
{
    struct session_trace *t = mem_zalloc(sizeof *t);
    t->s = s;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->n_events && i < SESSION_EVENTS_MAX; i++)
        open_event(t, s, i);
    pthread_mutex_unlock(&s->lock);
    return t;
}

void session_trace_free(struct session_trace *t)
{
    for (uint32_t i = 0; t && i < SESSION_EVENTS_MAX; i++) {
        tracepoint_format_close(t->own[i]);
        payload_format_free(t->read[i]);
    }
    if (!t)
        return;
    map_done(&t->name_of);
    arena_done(&t->names);
    mem_free(t);
}

void session_trace_put(struct session_trace *t, uint32_t event, const void *raw, uint32_t size, uint32_t cpu,
                       struct buf *out)
{
    if (event >= SESSION_EVENTS_MAX)
        return;
    if (t->own[event])
        tracepoint_print(t->own[event], raw, size, cpu, out);
    else if (t->read[event])
        payload_print(t->read[event], raw, size, out);
}
