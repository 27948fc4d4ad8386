// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "perf/payload.h"
#include "perf/tracepoint.h"
#include "process/device.h"
#include "session/address_names.h"
#include "session/session_state.h"

struct session_trace {
    uint32_t n; /* events */
    struct traced {
        struct tracepoint_format *own;    /* this kernel's format, for text; NULL: `read` is used */
        struct payload_format *read;      /* for single fields; NULL: unknown */
        int32_t device;                   /* its first field with a device; -1: none */
    } * of;                               /* by event */
    struct session_address_names *naming; /* for kernel addresses */
    bool elsewhere;                       /* the devices are of another machine */
    struct map devices;                   /* dev_t → number in `names` */
    struct intern *names;
};

static const char *name_of(void *trace, uint64_t address, uint64_t *start)
{
    struct session_trace *t = trace;
    const struct session_name *name = session_name_at(t->naming, 0, address, true);
    *start = name->start;
    return name->text;
}

/* "sched:sched_switch:u" → "sched", "sched_switch" */
static bool split_name(const char *event, char *system, char *name, size_t cap)
{
    size_t n = strcspn(event, ":");
    snprintf(system, cap, "%.*s", (int)n, event);
    snprintf(name, cap, "%.*s", event[n] ? (int)strcspn(event + n + 1, ":") : 0,
             event[n] ? event + n + 1 : "");
    return *system && *name;
}

static void open_event(struct session_trace *t, struct session *s, uint32_t i)
{
    const struct session_event *ev = &s->store.events[i];
    char system[128], name[128];
    size_t n = 0;
    /* a file only has the name */
    const char *tracepoint = *ev->event.tracepoint ? ev->event.tracepoint : ev->event.name;
    bool swap = s->load.file && perfdata_swapped(s->load.file),
         named = split_name(tracepoint, system, name, sizeof system);
    if (ev->attr.type != PERF_TYPE_TRACEPOINT || event_is_made(&ev->event)) /* a payload of offcpu.c */
        return;
    const char *text = s->load.file ? perfdata_tracepoint(s->load.file, ev->attr.config, &n) : NULL;
    /* libtraceevent reads only the kernel's own formats: those of files may be malformed */
    if (named && !swap && (!s->load.file || (text && tracepoint_format_is(system, name, text, n))))
        t->of[i].own = tracepoint_format_open(system, name, NULL);
    if (t->of[i].own)
        tracepoint_format_names(t->of[i].own, name_of, t);
    if (text)
        t->of[i].read = payload_format_new(text, n, swap);
    else if (t->of[i].own)
        t->of[i].read = tracepoint_payload(system, name);
    for (int32_t f = 0; t->of[i].device < 0 && session_trace_field_name(t, i, f); f++)
        t->of[i].device = payload_is_device(t->of[i].read, f) ? f : -1;
}

struct session_trace *session_trace_new(struct session *s)
{
    struct session_trace *t = mem_zalloc(sizeof *t);
    t->naming = session_address_names_new(s);
    t->names = intern_new();
    pthread_mutex_lock(&s->store.lock);
    t->n = s->store.n_events;
    t->of = mem_array(t->n + 1, sizeof *t->of);
    t->elsewhere = s->load.file && s->load.elsewhere;
    for (uint32_t i = 0; i < t->n; i++) {
        t->of[i].device = -1;
        open_event(t, s, i);
    }
    pthread_mutex_unlock(&s->store.lock);
    return t;
}

void session_trace_free(struct session_trace *t)
{
    for (uint32_t i = 0; t && i < t->n; i++) {
        tracepoint_format_close(t->of[i].own);
        payload_format_free(t->of[i].read);
    }
    if (!t)
        return;
    session_address_names_free(t->naming);
    map_done(&t->devices);
    intern_free(t->names);
    mem_free(t->of);
    mem_free(t);
}

int32_t session_trace_find_field(const struct session_trace *t, uint32_t event, const char *name)
{
    return event < t->n && t->of[event].read ? payload_field_find(t->of[event].read, name) : -1;
}

const char *session_trace_field_name(const struct session_trace *t, uint32_t event, int32_t field)
{
    return event < t->n && t->of[event].read ? payload_field_name(t->of[event].read, field) : NULL;
}

bool session_trace_field_is_number(const struct session_trace *t, uint32_t event, int32_t field)
{
    return session_trace_field_name(t, event, field) && payload_is_readable(t->of[event].read, field);
}

enum payload_value session_trace_value(struct session_trace *t, uint32_t event, int32_t field,
                                       const void *raw, uint32_t size, uint64_t *number, bool *is_negative,
                                       struct buf *text)
{
    if (!raw || !session_trace_field_name(t, event, field))
        return PAYLOAD_VALUE_NONE;
    struct payload p = { t->of[event].read, raw, size, name_of, t };
    return payload_value(&p, field, number, is_negative, text);
}

static uint64_t find_device(struct session_trace *t, uint64_t dev)
{
    struct buf name = { 0 };
    uint64_t number = device_put_name(dev, &name) ? intern_add(t->names, buf_str(&name), name.len) : 0;
    buf_done(&name);
    return number;
}

const char *session_trace_device(struct session_trace *t, uint32_t event, int32_t field, const void *raw,
                                 uint32_t size)
{
    uint64_t number = 0, dev;
    field = field < 0 && event < t->n ? t->of[event].device : field;
    if (t->elsewhere || !raw || !session_trace_field_name(t, event, field) ||
        !payload_is_device(t->of[event].read, field))
        return NULL;
    dev = payload_number(&(struct payload){ t->of[event].read, raw, size, NULL, NULL }, field);
    if (!map_get(&t->devices, dev, &number)) {
        number = find_device(t, dev);
        map_put(&t->devices, dev, number);
    }
    return number ? intern_str(t->names, (uint32_t)number) : NULL;
}

bool session_trace_put_field(struct session_trace *t, uint32_t event, int32_t field, const void *raw,
                             uint32_t size, struct buf *out)
{
    if (!raw || !session_trace_field_name(t, event, field))
        return false;
    return payload_put_field(&(struct payload){ t->of[event].read, raw, size, name_of, t }, field, out);
}

void session_trace_put(struct session_trace *t, uint32_t event, const void *raw, uint32_t size, uint32_t cpu,
                       struct buf *out)
{
    if (event >= t->n)
        return;
    if (t->of[event].own)
        tracepoint_print(t->of[event].own, raw, size, cpu, out);
    else if (t->of[event].read)
        payload_print(&(struct payload){ t->of[event].read, raw, size, name_of, t }, out);
}
