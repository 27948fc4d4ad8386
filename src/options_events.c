// SPDX-License-Identifier: GPL-2.0-or-later
/* -e and --filter. */
#include "options.h"

#include "base/mem.h"

/* Of a file: the names are looked up when it is open. What the config names is for what is measured. */
static bool choose_of_file(struct options *o, const char *names)
{
    if (o->in_config)
        return true;
    MEM_GROW(o->chosen, o->chosen_cap, o->n_chosen + 1);
    o->chosen[o->n_chosen++] = names;
    return true;
}

bool options_set_event(struct options *o, const char *value, struct error *e)
{
    if (o->session.input)
        return choose_of_file(o, value);
    if (!o->session.event_named)
        event_list_done(&o->events); /* what the config names gives way to the command line */
    o->session.event_named = true;
    return event_list_parse(&o->events, value, e);
}

bool options_set_filter(struct options *o, const char *value, struct error *e)
{
    if (o->session.input)
        return o->in_config ||
               error_set(e, ERROR_ARGUMENT,
                         "--filter is for what is measured: a file has its samples (leave out "
                         "--filter or -i)");
    return event_list_filter(&o->events, o->session.event_named ? o->events.last : o->events.n, value, e);
}

bool options_take_events(struct options *o, struct error *e)
{
    struct session_config *s = &o->session;
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
