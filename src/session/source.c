// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source and its switches: events, scope and rate change while the history stays. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/state.h"
#include "unwind/arch.h"

/* What a source is to be opened for: the session's configuration, maybe with a change, and an event. */
struct wish {
    const struct session_config *cfg;
    const struct event *event;
    bool named; /* the event, by the user */
    uint64_t seen_hz;
};

static void config_of(const struct wish *w, struct live_config *out)
{
    *out = (struct live_config){
        .event = *w->event,
        .scope = w->cfg->scope, /* borrowed */
        .freq_hz = w->cfg->period ? 0 : w->cfg->freq_hz,
        .period = w->cfg->period,
        .callchain = w->cfg->callchain,
        .stack_bytes = w->cfg->callchain == CALLCHAIN_DWARF ? w->cfg->stack_bytes : 0,
        .regs_user_mask = unwind_arch_regs_mask(unwind_arch_native()),
        .seen_hz = w->seen_hz,
        .inherit = true,
        .no_fallback = w->named,
    };
    /* every occurrence of a tracepoint counts, unless the user named a rate */
    if (w->event->kind == EVENT_TRACEPOINT && !w->cfg->freq_named && !w->cfg->period)
        out->freq_hz = 0, out->period = 1;
}

static uint32_t event_slot(struct session *s, const struct event *ev)
{
    for (uint32_t i = 0; i < s->n_events; i++)
        if (!strcmp(s->events[i].event.name, ev->name))
            return i;
    if (s->n_events == SESSION_EVENTS_MAX)
        return SESSION_EVENTS_MAX;
    s->events[s->n_events] = (struct session_event){ .event = *ev, .asked = *ev };
    return s->n_events++;
}

static void adopt_notes(struct session *s, const struct live *live)
{
    const struct live_note *notes;
    s->n_notes = live_notes(live, &notes);
    for (uint32_t i = 0; i < s->n_notes; i++) {
        s->notes[i] = notes[i];
        log_add("degraded: %s; %s", notes[i].what, notes[i].mend);
    }
}

/* Under both locks. */
static void source_adopt(struct session *s, struct live *live, const struct wish *w)
{
    const struct live_config *running = live_config_of(live);
    if (s->scope_number)
        world_resync(s->world); /* what happened between the old source and this one was not seen */
    else
        s->scope_number = 1;
    s->live = live;
    uint32_t slot = event_slot(s, &running->event);
    if (slot == SESSION_EVENTS_MAX)
        slot = s->current_event; /* the caller made sure of room: only a fallback's event can meet this */
    s->current_event = slot;
    s->events[slot].asked = *w->event;
    s->events[slot].named = w->named;
    s->events[slot].attr = *live_attr(live);
    s->events[slot].freq_hz = running->freq_hz;
    s->events[slot].period = running->period;
    s->events[slot].seen_hz = w->seen_hz;
    s->running_callchain = running->callchain;
    s->running_stack_bytes = running->stack_bytes;
    scope_done(&s->running_scope);
    scope_copy(&s->running_scope, &running->scope);
    adopt_notes(s, live);
    s->targets_gone = false;
    s->fatal[0] = '\0';
    s->generation++;
}

bool source_open(struct session *s, struct error *e)
{
    struct wish w = { &s->cfg, &s->cfg.events[0], s->cfg.event_named, 0 };
    struct live_config cfg;
    config_of(&w, &cfg);
    cfg.enable_on_exec = s->command != NULL;
    struct live *live = live_open(&cfg, e);
    if (!live)
        return false;
    source_adopt(s, live, &w);
    for (uint32_t i = 1; i < s->cfg.n_events; i++) { /* those that may be switched to */
        uint32_t slot = event_slot(s, &s->cfg.events[i]);
        if (slot < SESSION_EVENTS_MAX)
            s->events[slot].named = true;
    }
    return true;
}

/* Under source_lock. */
static void source_close(struct session *s)
{
    collector_final_drain(s);
    live_close(s->live);
    s->live = NULL;
}

void session_stop(struct session *s)
{
    pthread_mutex_lock(&s->source_lock);
    if (s->live)
        source_close(s);
    pthread_mutex_unlock(&s->source_lock);
}

/* Locked memory and descriptors may do for one source and not for two: then what runs is closed first. */
static struct live *open_beside(struct session *s, const struct live_config *cfg, bool *closed, struct error *e)
{
    struct live *live = live_open(cfg, e);
    *closed = false;
    if (!s->live || (live ? live_ring_bytes(live) >= live_ring_bytes(s->live) : e->class != ERROR_LIMIT))
        return live;
    live_close(live);
    source_close(s);
    *closed = true;
    return live_open(cfg, e);
}

static void reopen(struct session *s)
{
    const struct session_event *current = &s->events[s->current_event];
    struct event event = current->asked;
    struct wish w = { &s->cfg, &event, current->named, current->seen_hz };
    struct live_config cfg;
    struct error e = { 0 };
    config_of(&w, &cfg);
    struct live *live = live_open(&cfg, &e);
    pthread_mutex_lock(&s->lock);
    if (live)
        source_adopt(s, live, &w);
    else
        snprintf(s->fatal, sizeof s->fatal, "sampling stopped: %.140s", e.text);
    pthread_mutex_unlock(&s->lock);
}

/* Opens what is wished for in place of what runs. Under source_lock. */
static bool source_replace(struct session *s, const struct wish *w, struct error *e)
{
    struct live_config cfg;
    struct error local = { 0 };
    bool closed;
    config_of(w, &cfg);
    struct live *live = open_beside(s, &cfg, &closed, e ? e : &local);
    if (!live) {
        if (closed)
            reopen(s);
        return false;
    }
    if (s->live)
        source_close(s);
    pthread_mutex_lock(&s->lock);
    source_adopt(s, live, w);
    pthread_mutex_unlock(&s->lock);
    uint64_t one = 1; /* the collector waits for the descriptors of the old one */
    if (write(s->wake_fd, &one, sizeof one) < 0)
        log_add("the collector's counter is full");
    return true;
}

/* The event that runs, under another configuration. */
static bool source_change(struct session *s, const struct session_config *cfg, struct error *e)
{
    const struct session_event *current = &s->events[s->current_event];
    struct event event = current->asked;
    return source_replace(s, &(struct wish){ cfg, &event, current->named, 0 }, e);
}

void source_keep_budget(struct session *s)
{
    const struct session_event *current = &s->events[s->current_event];
    struct event event = current->asked;
    struct wish w = { &s->cfg, &event, current->named, s->live ? live_over_budget(s->live) : 0 };
    struct error e = { 0 };
    if (w.seen_hz && !source_replace(s, &w, &e))
        log_add("smaller stacks were not to be had: %s", e.text);
}

static bool not_over_a_file(const struct session *s, struct error *e)
{
    return !s->file || error_set(e, ERROR_UNSUPPORTED, "a file is open: nothing is being measured");
}

/* Room for one more event is needed before it is opened: its samples need a number. */
static bool event_fits(struct session *s, const struct event *ev, struct error *e)
{
    for (uint32_t i = 0; i < s->n_events; i++)
        if (!strcmp(s->events[i].event.name, ev->name))
            return true;
    return s->n_events < SESSION_EVENTS_MAX ||
           error_set(e, ERROR_LIMIT, "%u events were sampled already: leave and start anew for more", s->n_events);
}

static bool source_switch_event(struct session *s, const struct event *ev, bool named, struct error *e)
{
    pthread_mutex_lock(&s->source_lock);
    bool ok = event_fits(s, ev, e) && source_replace(s, &(struct wish){ &s->cfg, ev, named, 0 }, e);
    pthread_mutex_unlock(&s->source_lock);
    return ok;
}

bool session_set_event(struct session *s, const char *text, struct error *e)
{
    struct event ev;
    return not_over_a_file(s, e) && event_parse(text, &ev, e) && source_switch_event(s, &ev, true, e);
}

bool session_select_event(struct session *s, int step, struct error *e)
{
    pthread_mutex_lock(&s->lock);
    uint32_t n = s->n_events;
    uint32_t next = n ? (s->current_event + n + (uint32_t)(step < 0 ? n - 1 : 1)) % n : 0;
    struct event ev = s->events[next].asked;
    bool named = s->events[next].named;
    bool alone = n < 2;
    if (!alone && s->file) {
        s->current_event = next;
        s->generation++;
    }
    pthread_mutex_unlock(&s->lock);
    if (alone)
        return error_set(e, ERROR_MISSING, "only one event was chosen: press e to pick another");
    return s->file ? true : source_switch_event(s, &ev, named, e);
}

bool session_set_scope(struct session *s, const struct scope *scope, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source_lock);
    struct session_config cfg = s->cfg;
    scope_init(&cfg.scope);
    bool ok = scope_copy(&cfg.scope, scope) && source_change(s, &cfg, e);
    if (ok) {
        scope_done(&s->cfg.scope);
        s->cfg.scope = cfg.scope;
        pthread_mutex_lock(&s->lock);
        s->scope_number++;
        pthread_mutex_unlock(&s->lock);
    } else {
        scope_done(&cfg.scope);
    }
    pthread_mutex_unlock(&s->source_lock);
    return ok;
}

bool session_set_freq(struct session *s, uint64_t freq_hz, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source_lock);
    struct session_config cfg = s->cfg;
    cfg.freq_hz = freq_hz;
    cfg.freq_named = true;
    cfg.period = 0;
    bool ok = source_change(s, &cfg, e);
    if (ok) {
        s->cfg.freq_hz = freq_hz;
        s->cfg.freq_named = true;
        s->cfg.period = 0;
    }
    pthread_mutex_unlock(&s->source_lock);
    return ok;
}

bool session_set_callchain(struct session *s, enum callchain_mode mode, uint32_t stack_bytes, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source_lock);
    struct session_config cfg = s->cfg;
    cfg.callchain = mode;
    if (stack_bytes)
        cfg.stack_bytes = stack_bytes;
    bool ok = source_change(s, &cfg, e);
    if (ok) {
        s->cfg.callchain = mode;
        s->cfg.stack_bytes = cfg.stack_bytes;
    }
    pthread_mutex_unlock(&s->source_lock);
    return ok;
}

const struct scope *session_scope(struct session *s)
{
    return &s->cfg.scope;
}

const struct scope *session_running_scope(struct session *s)
{
    return &s->running_scope;
}
