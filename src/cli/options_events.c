// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the options -e and --filter. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Keeps names of a file's events, which are looked up when it is open. Events of the config apply to live
 * sampling only. */
static bool choose_of_file(struct options *o, const char *names)
{
    if (o->in_config)
        return true;
    *VEC_PUSH(&o->chosen) = names;
    return true;
}

bool options_set_event(struct options *o, const char *value, struct error *e)
{
    if (o->session.input)
        return choose_of_file(o, value);
    if (!o->session.event_named)
        event_list_done(&o->events); /* the command line replaces the config's events */
    o->session.event_named = true;
    return event_list_parse(&o->events, value, e);
}

bool options_set_off_cpu(struct options *o, const char *value, struct error *e)
{
    (void)value;
    return options_set_event(o, "off-cpu", e);
}

bool options_set_wall(struct options *o, const char *value, struct error *e)
{
    (void)value;
    return options_set_event(o, "wall", e);
}

/* Adds -e latency:ROW for each of "ROW,ROW". */
static bool add_latencies(struct options *o, const char *rows, struct error *e)
{
    bool ok = true;
    for (const char *at = rows; ok; at++) {
        size_t n = strcspn(at, ",");
        char *event = mem_alloc(n + sizeof "latency:");
        (void)snprintf(event, n + sizeof "latency:", "latency:%.*s", (int)n, at);
        *VEC_PUSH(&o->strings) = event;
        ok = options_set_event(o, event, e);
        at += n;
        if (!*at)
            break;
    }
    return ok;
}

bool options_set_latency(struct options *o, const char *value, struct error *e)
{
    bool shares = true;
    if (!value || text_parse_bool(value, &shares)) {
        o->session.latency = shares;
        return true;
    }
    if (o->in_config)
        return error_set(e, ERROR_ARGUMENT, "latency = %s: yes or no is needed", value);
    o->latencies = true;
    return add_latencies(o, value, e);
}

bool options_set_filter(struct options *o, const char *value, struct error *e)
{
    if (o->session.input)
        return o->in_config ||
               error_set(e, ERROR_ARGUMENT,
                         "--filter applies to live sampling, not to a file: leave out --filter or -i");
    return event_list_filter(&o->events, o->session.event_named ? o->events.last : o->events.n, value, e);
}

bool options_take_events(struct options *o, struct error *e)
{
    struct session_config *s = &o->session;
    for (size_t i = 0; i < o->events.n && o->mode == RUN_STAT; i++)
        if (o->events.items[i].off_cpu)
            return error_set(
                e, ERROR_ARGUMENT,
                "--stat cannot count off-cpu, which is a time per stack: leave out --stat, or count "
                "context-switches");
        else if (o->events.items[i].latency)
            return error_set(
                e, ERROR_ARGUMENT,
                "--stat cannot count %s, which is a time per operation: leave out --stat, or count "
                "its tracepoints",
                o->events.items[i].name);
    if (o->mode == RUN_STAT || !o->events.n)
        return true;
    if (o->events.n > SESSION_EVENTS_MAX)
        return error_set(e, ERROR_LIMIT,
                         "-e names %zu events; %d at most can be sampled (--stat counts any number)",
                         o->events.n, SESSION_EVENTS_MAX);
    for (size_t i = 0; i < o->events.n; i++)
        s->events[i] = o->events.items[i];
    s->n_events = (uint32_t)o->events.n;
    return true;
}
