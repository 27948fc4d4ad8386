// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/file_tracepoint.h"

#include <string.h>

#include "perf/payload.h"
#include "session/session_state.h"

bool file_tracepoint_is(const struct session *s, uint32_t event, const char *name, size_t n)
{
    const struct session_event *ev = &s->store.events[event];
    return ev->attr.type == PERF_TYPE_TRACEPOINT && !strncmp(ev->event.name, name, n) &&
           (!ev->event.name[n] || ev->event.name[n] == ':');
}

bool file_tracepoint_find(const struct session *s, const char *name, size_t n, uint32_t *event)
{
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (file_tracepoint_is(s, i, name, n)) {
            *event = i;
            return true;
        }
    return false;
}

struct payload_format *file_tracepoint_format(struct session *s, uint32_t event)
{
    size_t n;
    const char *text = perfdata_tracepoint(s->load.file, s->store.events[event].attr.config, &n);
    return text ? payload_format_new(text, n, perfdata_swapped(s->load.file)) : NULL;
}
