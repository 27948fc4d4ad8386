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
    const struct event *events; /* one, or those of a group */
    bool named; /* by the user */
    struct session_sampling how; /* as asked for with them */
    uint64_t seen_hz;
};

/* Every occurrence of a tracepoint counts, unless the user named a rate. */
static struct session_sampling sampling_of(const struct session_config *cfg, const struct event *ev,
                                           const struct session_sampling *how)
{
    if (how->freq_hz || how->period)
        return *how;
    if (ev->period || ev->freq_hz)
        return (struct session_sampling){ .freq_hz = ev->freq_hz, .period = ev->period };
    if (cfg->period)
        return (struct session_sampling){ .period = cfg->period };
    if (ev->kind == EVENT_TRACEPOINT && !cfg->freq_named)
        return (struct session_sampling){ .period = 1 };
    return (struct session_sampling){ .freq_hz = cfg->freq_hz };
}

void session_sampling_of(const struct session *s, const struct event *ev, const struct session_sampling *how,
                         struct session_sampling *out)
{
    *out = sampling_of(&s->cfg, ev, how);
}

uint64_t session_default_freq(const struct session *s)
{
    return s->cfg.freq_hz;
}

/* Of an event, or of the group that it leads. */
static uint32_t count_of(const struct event *leader)
{
    return leader->members > 1 ? leader->members : 1;
}

static void config_of(const struct wish *w, struct live_config *out)
{
    struct session_sampling how = sampling_of(w->cfg, &w->events[0], &w->how);
    *out = (struct live_config){
        .event = w->events[0],
        .scope = w->cfg->scope, /* borrowed */
        .freq_hz = how.freq_hz,
        .period = how.period,
        .callchain = w->cfg->callchain,
        .stack_bytes = w->cfg->callchain == CALLCHAIN_DWARF ? w->cfg->stack_bytes : 0,
        .regs_user_mask = unwind_arch_regs_mask(unwind_arch_native()),
        .regs_link_mask = unwind_arch_link_mask(unwind_arch_native()),
        .seen_hz = w->seen_hz,
        .inherit = !w->cfg->scope.no_inherit,
        .no_fallback = w->named,
    };
    memcpy(out->siblings, w->events + 1, (count_of(w->events) - 1) * sizeof *out->siblings);
}

static bool is_slot_of(const struct session *s, uint32_t slot, const struct event *events)
{
    uint32_t n = count_of(events);
    const struct session_event *at = &s->events[slot];
    if (at->leader != slot || count_of(&at->event) != n || at->event.reads != events->reads || slot + n > s->n_events)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(at[i].event.name, events[i].name) || strcmp(at[i].event.filter, events[i].filter))
            return false;
    return true;
}

/* Where an event stands, or the leader of a group; SESSION_EVENTS_MAX: nowhere yet. */
static uint32_t find_slot(const struct session *s, const struct event *events)
{
    for (uint32_t i = 0; i < s->n_events; i++)
        if (is_slot_of(s, i, events))
            return i;
    return SESSION_EVENTS_MAX;
}

static uint32_t event_slot(struct session *s, const struct event *events)
{
    uint32_t n = count_of(events), slot = find_slot(s, events);
    if (slot < SESSION_EVENTS_MAX || s->n_events + n > SESSION_EVENTS_MAX)
        return slot;
    slot = s->n_events;
    for (uint32_t i = 0; i < n; i++)
        s->events[s->n_events++] = (struct session_event){
            .event = events[i], .asked = events[i], .attr = events[i].attr, .leader = slot
        };
    return slot;
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

static void adopt_event(struct session *s, uint32_t slot, uint32_t member, const struct live *live, const struct wish *w)
{
    const struct live_config *running = live_config_of(live);
    const struct perf_event_attr *attr = member ? live_sibling_attr(live, member) : live_attr(live);
    struct session_event *ev = &s->events[slot + member];
    ev->asked = w->events[member];
    if (count_of(&running->event) == 1) { /* another event in its place, or no group */
        ev->asked.members = 0;
        ev->asked.reads = false;
    }
    ev->named = w->named;
    ev->how = w->how;
    ev->attr = attr ? *attr : ev->event.attr;
    ev->left_out = !attr;
    ev->freq_hz = running->freq_hz;
    ev->period = running->period;
    ev->seen_hz = w->seen_hz;
}

/* What is shown stays, if it is one of them. */
static void adopt_events(struct session *s, const struct live *live, const struct wish *w)
{
    const struct live_config *running = live_config_of(live);
    struct event events[EVENT_GROUP_MAX] = { running->event };
    memcpy(events + 1, running->siblings, sizeof running->siblings);
    uint32_t slot = event_slot(s, events);
    if (slot == SESSION_EVENTS_MAX) /* the caller made sure of room: only a fallback's event can meet this */
        slot = s->events[s->current_event].leader;
    for (uint32_t i = 0; i < count_of(events); i++)
        adopt_event(s, slot, i, live, w);
    if (s->events[s->current_event].leader != slot)
        s->current_event = slot;
    s->live_event = slot;
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
    adopt_events(s, live, w);
    s->running_callchain = running->callchain;
    s->running_stack_bytes = running->stack_bytes;
    scope_done(&s->running_scope);
    scope_copy(&s->running_scope, &running->scope);
    adopt_notes(s, live);
    s->targets_gone = false;
    memset(&s->dear, 0, sizeof s->dear);
    s->fatal[0] = '\0';
    s->generation++;
}

/* Those behind the first one, which may be switched to. */
static void add_events(struct session *s, const struct event *events, const struct session_sampling *hows, uint32_t n)
{
    for (uint32_t i = count_of(events); i < n; i += count_of(&events[i])) {
        uint32_t slot = event_slot(s, &events[i]);
        if (slot == SESSION_EVENTS_MAX)
            return;
        s->events[slot].named = true;
        s->events[slot].how = hows[i];
    }
}

bool source_open(struct session *s, struct error *e)
{
    struct wish w = { &s->cfg, s->cfg.events, s->cfg.event_named, s->cfg.samplings[0], 0 };
    struct live_config cfg;
    config_of(&w, &cfg);
    cfg.enable_on_exec = s->command != NULL;
    struct live *live = live_open(&cfg, e);
    if (!live)
        return false;
    source_adopt(s, live, &w);
    add_events(s, s->cfg.events, s->cfg.samplings, s->cfg.n_events);
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

/* What was asked for of an event, or of the group that it leads. */
static struct wish wish_of(const struct session *s, const struct session_config *cfg, uint32_t slot,
                           struct event events[EVENT_GROUP_MAX])
{
    const struct session_event *leader = &s->events[slot];
    for (uint32_t i = 0; i < count_of(&leader->asked); i++)
        events[i] = leader[i].asked;
    return (struct wish){ cfg, events, leader->named, leader->how, 0 };
}

static void reopen(struct session *s)
{
    struct event events[EVENT_GROUP_MAX];
    struct wish w = wish_of(s, &s->cfg, s->live_event, events);
    w.seen_hz = s->events[s->live_event].seen_hz;
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
    struct event events[EVENT_GROUP_MAX];
    struct wish w = wish_of(s, cfg, s->live_event, events);
    return source_replace(s, &w, e);
}

void source_keep_budget(struct session *s)
{
    struct event events[EVENT_GROUP_MAX];
    struct wish w = wish_of(s, &s->cfg, s->live_event, events);
    w.seen_hz = s->live ? live_over_budget(s->live) : 0;
    struct error e = { 0 };
    if (w.seen_hz && !source_replace(s, &w, &e))
        log_add("smaller stacks were not to be had: %s", e.text);
}

static bool not_over_a_file(const struct session *s, struct error *e)
{
    return !s->file || error_set(e, ERROR_UNSUPPORTED, "a file is open: nothing is being measured");
}

/* Room for more events is needed before they are opened: their samples need numbers. */
static bool event_fits(struct session *s, const struct event *events, struct error *e)
{
    return find_slot(s, events) < SESSION_EVENTS_MAX || s->n_events + count_of(events) <= SESSION_EVENTS_MAX ||
           error_set(e, ERROR_LIMIT, "%u events were sampled already: leave and start anew for more", s->n_events);
}

/* show: which of a group is to be shown. */
static bool source_switch_event(struct session *s, const struct wish *w, uint32_t show, struct error *e)
{
    pthread_mutex_lock(&s->source_lock);
    bool ok = event_fits(s, w->events, e) && source_replace(s, w, e);
    if (ok) {
        pthread_mutex_lock(&s->lock);
        bool there = s->live_event + show < s->n_events && s->events[s->live_event + show].leader == s->live_event;
        s->current_event = s->live_event + (there ? show : 0);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&s->source_lock);
    return ok;
}

bool session_set_event(struct session *s, const char *text, struct error *e)
{
    return session_set_event_as(s, text, &(struct session_sampling){ 0 }, e);
}

bool session_set_event_as(struct session *s, const char *text, const struct session_sampling *how, struct error *e)
{
    struct event events[SESSION_EVENTS_MAX];
    struct session_sampling hows[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    if (!not_over_a_file(s, e) || !event_parse_list(text, events, SESSION_EVENTS_MAX, &n, e) ||
        !source_switch_event(s, &(struct wish){ &s->cfg, events, true, *how, 0 }, 0, e))
        return false;
    for (uint32_t i = 0; i < n; i++)
        hows[i] = *how;
    pthread_mutex_lock(&s->lock);
    add_events(s, events, hows, n);
    pthread_mutex_unlock(&s->lock);
    return true;
}

bool session_select_event(struct session *s, int step, struct error *e)
{
    struct event events[EVENT_GROUP_MAX];
    pthread_mutex_lock(&s->lock);
    uint32_t n = s->n_events;
    uint32_t next = n ? (s->current_event + n + (uint32_t)(step < 0 ? n - 1 : 1)) % n : 0;
    uint32_t leader = s->events[next].leader;
    struct wish w = wish_of(s, &s->cfg, leader, events);
    bool alone = n < 2, is_sampled = s->file || (leader == s->live_event && !s->fatal[0]);
    if (!alone && is_sampled) {
        s->current_event = next;
        s->generation++;
    }
    pthread_mutex_unlock(&s->lock);
    if (alone)
        return error_set(e, ERROR_MISSING, "only one event was chosen: press e to pick another");
    return is_sampled || source_switch_event(s, &w, next - leader, e);
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
    struct session_sampling *own = &s->events[s->live_event].how, before = *own;
    *own = (struct session_sampling){ 0 };
    bool ok = source_change(s, &cfg, e);
    if (ok) {
        s->cfg.freq_hz = freq_hz;
        s->cfg.freq_named = true;
        s->cfg.period = 0;
    } else {
        *own = before;
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
