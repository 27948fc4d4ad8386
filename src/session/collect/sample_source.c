// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source and its switches: events, scope and rate change, the history stays. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"
#include "unwind/arch.h"

/* Requested source: the session's configuration, perhaps changed, and events. */
struct wish {
    const struct session_config *cfg;
    struct event events[SESSION_EVENTS_MAX];
    struct session_sampling hows[SESSION_EVENTS_MAX]; /* as requested with the events */
    uint64_t chosen[SESSION_EVENTS_MAX]; /* periods, where none was requested (period.c); 0: not yet */
    uint32_t n;
    bool named; /* by the user */
    uint64_t seen_hz;
    struct session_selection selection;
};

static void config_of(struct session *s, struct wish *w, struct live_config *out)
{
    w->seen_hz = w->seen_hz ? w->seen_hz : thin_first(s, w->cfg, w->events, w->n);
    const struct live_selection *selections =
        selection_first(s, w->cfg, w->events, w->n, &w->selection, &w->seen_hz);
    period_choose(w->cfg, w->events, w->hows, w->n, w->chosen);
    struct session_sampling how = period_sampling_of(w->cfg, &w->events[0], &w->hows[0], w->chosen[0]);
    *out = (struct live_config){
        .event = w->events[0],
        .scope = w->cfg->scope, /* borrowed */
        .freq_hz = how.freq_hz,
        .period = how.period,
        .n_others = w->n - 1,
        .callchain = w->cfg->callchain,
        .stack_bytes = w->cfg->callchain == CALLCHAIN_DWARF ? w->cfg->stack_bytes : s->source.deep.bytes,
        .regs_user_mask = unwind_arch_regs_mask(unwind_arch_native()),
        .regs_link_mask = unwind_arch_link_mask(unwind_arch_native()),
        .seen_hz = w->seen_hz,
        .inherit = !w->cfg->scope.no_inherit,
        .one_in = { s->source.thin.one_in[0], s->source.thin.one_in[1] },
        .wakers_by_fp = w->cfg->callchain == CALLCHAIN_AUTO && s->source.thin.wakers_by_fp,
        .selections = selections,
        .switches = w->cfg->latency,
        .wide = true, /* threads and children may be shorter than a period */
        .named = w->named,
        .probe = interpreted_probe(s),
    };
    for (uint32_t i = 1; i < w->n; i++) {
        how = period_sampling_of(w->cfg, &w->events[i], &w->hows[i], w->chosen[i]);
        out->others[i - 1] = (struct live_extra_event){ w->events[i], how.freq_hz, how.period };
    }
}

static uint32_t event_slot(struct session *s, const struct event *events, uint32_t n)
{
    uint32_t slot = chosen_find(s, events, n), leader = 0, members = 0;
    if (slot != CHOSEN_NOWHERE || s->store.n_events + n > SAMPLE_EVENTS)
        return slot;
    slot = s->store.n_events;
    for (uint32_t i = 0; i < n; i++) {
        if (i >= leader + members) {
            leader = i;
            members = event_span(&events[i]);
        }
        *session_add_event(s) = (struct session_event){ .event = events[i],
                                                        .asked = events[i],
                                                        .attr = events[i].attr,
                                                        .leader = slot + leader,
                                                        .first = slot };
    }
    return slot;
}

static void adopt_notes(struct session *s, const struct live *live)
{
    const struct live_note *notes;
    s->source.n_notes = live_notes(live, &notes);
    for (uint32_t i = 0; i < s->source.n_notes; i++) {
        s->source.notes[i] = notes[i];
        log_add("degraded: %s; %s", notes[i].what, notes[i].fix);
    }
}

static void adopt_event(struct session *s, uint32_t slot, uint32_t i, const struct live *live,
                        const struct wish *w)
{
    const struct perf_event_attr *attr = live_attr_of(live, i);
    struct session_event *ev = &s->store.events[slot + i];
    ev->asked = w->events[i];
    ev->named = w->named;
    ev->how = w->hows[i];
    ev->chosen = w->chosen[i];
    ev->attr = attr ? *attr : ev->event.attr;
    ev->left_out = !attr;
    live_rate_of(live, i, &ev->freq_hz, &ev->period);
    ev->seen_hz = w->seen_hz;
}

static uint32_t first_that_opened(const struct session *s, uint32_t slot)
{
    uint32_t n = chosen_together(s, slot);
    for (uint32_t i = slot; i < slot + n; i++)
        if (s->store.events[i].event.shown && !s->store.events[i].left_out)
            return i;
    for (uint32_t i = slot; i < slot + n; i++)
        if (!s->store.events[i].left_out)
            return i;
    return slot;
}

/* Adopts the events of a source. The shown event stays, if it is one of them. */
static void adopt_events(struct session *s, const struct live *live, const struct wish *w)
{
    const struct live_config *running = live_config_of(live);
    struct event events[SESSION_EVENTS_MAX] = { running->event };
    uint32_t n = 1 + running->n_others; /* one, if another event runs instead */
    for (uint32_t i = 1; i < n; i++)
        events[i] = running->others[i - 1].event;
    uint32_t slot = event_slot(s, events, n);
    if (slot == CHOSEN_NOWHERE) /* the caller ensured room: only a fallback's event gets here */
        slot = s->store.events[s->store.current_event].first;
    for (uint32_t i = 0; i < n && slot + i < s->store.n_events; i++)
        adopt_event(s, slot, i, live, w);
    wall_open(s, slot);
    operations_open(s, slot);
    if (s->store.events[s->store.current_event].first != slot ||
        s->store.events[s->store.current_event].left_out)
        s->store.current_event = first_that_opened(s, slot);
    s->store.live_event = slot;
}

/* Makes `live` the session's source. seamless: it was opened for the same tasks before the old source was
 * closed, so nothing was missed. Under both locks. */
static void source_adopt(struct session *s, struct live *live, const struct wish *w, bool seamless)
{
    const struct live_config *running = live_config_of(live);
    memcpy(s->collect.twice_ns, s->collect.applied_ns, sizeof s->collect.twice_ns);
    if (!s->store.scope_number)
        s->store.scope_number = 1;
    else if (!seamless)
        world_resync(s->store.world); /* events between the old source and this one were not seen */
    s->source.live = live;
    s->source.n_sources++;
    live_wake_by(live, s->collect.wake_fd);
    adopt_events(s, live, w);
    for (uint32_t i = 0; i < w->n; i++)
        if (!s->store.events[s->store.live_event + i].since_ns)
            s->store.events[s->store.live_event + i].since_ns = clock_now_ns();
    offcpu_adopt(s);
    operations_adopt(s);
    selection_adopt(s, &w->selection);
    latency_adopt(s, live, w->cfg->latency);
    s->source.callchain = running->callchain;
    s->source.stack_bytes = running->stack_bytes;
    scope_done(&s->source.scope);
    scope_copy(&s->source.scope, &running->scope);
    adopt_notes(s, live);
    s->source.runs_wide = live_is_wide(live);
    live_fix_wide(live, s->source.fix_wide, sizeof s->source.fix_wide);
    s->source.opened.samples = s->store.samples;
    s->source.opened.unseen = world_unseen(s->store.world);
    s->source.targets_gone = false;
    memset(&s->source.cost, 0, sizeof s->source.cost);
    deepstacks_adopt(s);
    s->fatal[0] = '\0';
    s->store.generation++;
}

static void wish_for(struct wish *w, const struct session_config *cfg, const struct event *events,
                     const struct session_sampling *hows, uint32_t n)
{
    *w = (struct wish){ .cfg = cfg, .n = n };
    memcpy(w->events, events, n * sizeof *events);
    memcpy(w->hows, hows, n * sizeof *hows);
}

bool source_open(struct session *s, struct error *e)
{
    struct wish w;
    struct live_config cfg;
    wish_for(&w, &s->cfg, s->cfg.events, s->cfg.samplings, s->cfg.n_events);
    w.named = s->cfg.event_named;
    config_of(s, &w, &cfg);
    cfg.enable_on_exec = s->command.argv != NULL;
    struct live *live = live_open(&cfg, e);
    if (!live)
        return false;
    source_adopt(s, live, &w, false);
    s->store.current_event = first_that_opened(s, s->store.live_event);
    return true;
}

/* Under source.lock. */
static void source_close(struct session *s)
{
    collector_final_drain(s);
    live_close(s->source.live);
    s->source.live = NULL;
}

void session_stop(struct session *s)
{
    pthread_mutex_lock(&s->source.lock);
    if (s->source.live) {
        collector_final_drain(s);
        coverage_look(s, true);
        live_close(s->source.live);
        s->source.live = NULL;
    }
    pthread_mutex_unlock(&s->source.lock);
}

/* Opens a second source. Locked memory and descriptors may suffice for one source only: then the running
 * one is closed first. */
static struct live *open_next_to(struct session *s, const struct live_config *cfg, bool *closed,
                                 struct error *e)
{
    struct live *live = live_open(cfg, e);
    *closed = false;
    if (!s->source.live || (live ? !live_is_short(live, s->source.live) : e->class != ERROR_LIMIT))
        return live;
    live_close(live);
    source_close(s);
    *closed = true;
    return live_open(cfg, e);
}

/* Requests again the events that are sampled together with `slot`. */
static void wish_again(const struct session *s, const struct session_config *cfg, uint32_t slot,
                       struct wish *w)
{
    const struct session_event *first = &s->store.events[slot];
    *w = (struct wish){ .cfg = cfg, .n = chosen_together(s, slot), .named = first->named };
    for (uint32_t i = 0; i < w->n; i++) {
        w->events[i] = first[i].asked;
        w->hows[i] = first[i].how;
        w->chosen[i] = first[i].chosen;
    }
}

/* Requests the running events again, with the rate that auto measures now; 0: measured before. */
static void wish_as_now(const struct session *s, const struct session_config *c, uint64_t hz, struct wish *w)
{
    wish_again(s, c, s->store.live_event, w);
    w->seen_hz = hz ? hz : s->store.events[s->store.live_event].seen_hz;
}

static bool same_tasks(const struct scope *a, const struct scope *b)
{
    return a->kind == b->kind && !a->no_inherit && !b->no_inherit && a->n_ids == b->n_ids &&
           (!a->n_ids || !memcmp(a->ids, b->ids, a->n_ids * sizeof *a->ids));
}

static void reopen(struct session *s, const uint32_t *known, uint32_t n_known)
{
    struct wish w;
    struct live_config cfg;
    struct error e = { 0 };
    wish_as_now(s, &s->cfg, 0, &w);
    config_of(s, &w, &cfg);
    cfg.known = known;
    cfg.n_known = n_known;
    struct live *live = live_open(&cfg, &e);
    pthread_mutex_lock(&s->store.lock);
    if (live)
        source_adopt(s, live, &w, false);
    else
        snprintf(s->fatal, sizeof s->fatal, "sampling stopped: %.140s", e.text);
    pthread_mutex_unlock(&s->store.lock);
}

/* Opens the requested source in place of the running one. Under source.lock. */
static bool source_replace(struct session *s, struct wish *w, struct error *e)
{
    struct live_config cfg;
    struct error local = { 0 };
    bool closed;
    config_of(s, w, &cfg);
    uint32_t n_known = 0, *known = s->source.live ? live_known(s->source.live, &n_known) : NULL;
    if (same_tasks(&cfg.scope, &s->cfg.scope)) { /* for other tasks, the followed ones do not matter */
        cfg.known = known;
        cfg.n_known = n_known;
    }
    struct live *live = open_next_to(s, &cfg, &closed, e ? e : &local);
    if (!live && closed)
        reopen(s, known, n_known);
    mem_free(known);
    if (!live)
        return false;
    bool seamless = s->source.live && scope_equal(&cfg.scope, &s->cfg.scope);
    source_close(s);
    pthread_mutex_lock(&s->store.lock);
    source_adopt(s, live, w, seamless);
    if (closed) {
        offcpu_restart(s);
        operations_restart(s);
    }
    pthread_mutex_unlock(&s->store.lock);
    collector_wake(s); /* it waits at the descriptors of the old source */
    return true;
}

/* Reopens the running events under another configuration. */
static bool source_change(struct session *s, const struct session_config *cfg, struct error *e)
{
    struct wish w;
    wish_again(s, cfg, s->store.live_event, &w);
    memset(w.chosen, 0, sizeof w.chosen); /* another scope has another rate */
    return source_replace(s, &w, e);
}

void source_keep_budget(struct session *s, uint64_t now_ns)
{
    uint64_t seen_hz = 0;
    uint32_t before = s->source.deep.bytes, one_in = s->source.thin.one_in[0];
    struct wish w;
    struct error e = { 0 };
    if (!s->source.live || !(thin_over_budget(s, &seen_hz) + deepstacks_change(s, now_ns) +
                             thin_change(s, now_ns) + selection_change(s, now_ns)))
        return;
    wish_as_now(s, &s->cfg, seen_hz, &w);
    if (source_replace(s, &w, &e))
        return;
    log_add("the events could not be reopened for cheaper stacks: %s", e.text);
    s->source.deep.bytes = before;
    s->source.thin.one_in[0] = one_in;
    selection_refused(s);
}

void source_keep_periods(struct session *s, uint64_t now_ns)
{
    struct wish w;
    struct error e = { 0 };
    if (!s->source.live)
        return;
    wish_again(s, &s->cfg, s->store.live_event, &w);
    if (period_must_change(s, now_ns, w.chosen, w.n) && !source_replace(s, &w, &e))
        log_add("the period could not be changed: %s", e.text);
}

static bool not_over_a_file(const struct session *s, struct error *e)
{
    return !s->load.file || error_set(e, ERROR_UNSUPPORTED, "a file is open: nothing is being measured");
}

/* True if the history can number the events: needed before they are opened. */
static bool events_fit(struct session *s, const struct wish *w, struct error *e)
{
    return chosen_find(s, w->events, w->n) != CHOSEN_NOWHERE || s->store.n_events + w->n <= SAMPLE_EVENTS ||
           error_set(e, ERROR_LIMIT, "%u events were sampled already: restart flametop for more",
                     s->store.n_events);
}

/* show: index of the event to show; the number of events: none in particular. */
static bool source_switch_event(struct session *s, struct wish *w, uint32_t show, struct error *e)
{
    pthread_mutex_lock(&s->source.lock);
    bool ok = events_fit(s, w, e) && source_replace(s, w, e);
    if (ok) {
        pthread_mutex_lock(&s->store.lock);
        bool runs = show < chosen_together(s, s->store.live_event) &&
                    !s->store.events[s->store.live_event + show].left_out;
        s->store.current_event =
            runs ? s->store.live_event + show : first_that_opened(s, s->store.live_event);
        pthread_mutex_unlock(&s->store.lock);
    }
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

bool session_set_event(struct session *s, const char *text, struct error *e)
{
    return session_set_event_as(s, text, &(struct session_sampling){ 0 }, e);
}

bool session_set_event_as(struct session *s, const char *text, const struct session_sampling *how,
                          struct error *e)
{
    struct wish w = { .cfg = &s->cfg, .named = true };
    if (!not_over_a_file(s, e) || !event_parse_list(text, w.events, SESSION_EVENTS_MAX, &w.n, e))
        return false;
    for (uint32_t i = 0; i < w.n; i++)
        w.hows[i] = *how;
    return source_switch_event(s, &w, w.n, e);
}

bool session_show_event(struct session *s, uint32_t event, struct error *e)
{
    struct wish w;
    pthread_mutex_lock(&s->store.lock);
    bool there = event < s->store.n_events && (!s->load.file || !s->store.events[event].left_out);
    uint32_t first = there ? s->store.events[event].first : 0;
    bool is_sampled = s->load.file || (first == s->store.live_event && (!s->fatal[0] || !s->source.live));
    if (there && is_sampled) {
        s->store.current_event = event;
        s->load.event_chosen = true;
        s->store.generation++;
    } else if (there) {
        wish_again(s, &s->cfg, first, &w);
    }
    pthread_mutex_unlock(&s->store.lock);
    if (!there)
        return error_set(e, ERROR_MISSING, "there is no such event, or -e left it out");
    return is_sampled || source_switch_event(s, &w, event - first, e);
}

/* Over a file: only events with samples. */
static uint32_t next_event(struct session *s, int step)
{
    uint32_t n = s->store.n_events, at = s->store.current_event;
    uint64_t *counts = s->load.file ? chosen_counts(s) : NULL;
    do
        at = (at + (step < 0 ? n - 1 : 1)) % n;
    while (at != s->store.current_event &&
           (!session_event_is_listed(&s->store.events[at]) || (counts && !counts[at])));
    mem_free(counts);
    return at;
}

bool session_select_event(struct session *s, int step, struct error *e)
{
    pthread_mutex_lock(&s->store.lock);
    uint32_t next = s->store.n_events ? next_event(s, step) : 0;
    bool alone = s->store.n_events < 2 || next == s->store.current_event;
    pthread_mutex_unlock(&s->store.lock);
    if (alone)
        return error_set(e, ERROR_MISSING,
                         s->load.file ? "no other event of the file has samples"
                                      : "only one event was chosen: press e to pick another");
    return session_show_event(s, next, e);
}

/* Used when a new set replaces the set of a removed event, and takes over the samples of the others. */
static uint32_t renumbered(void *session, uint32_t event)
{
    const struct session *s = session;
    const struct session_event *ev = &s->store.events[event];
    return ev->instead ? ev->instead : event;
}

static void hand_over(struct session *s, uint32_t old, uint32_t n)
{
    uint32_t to = s->store.live_event;
    for (uint32_t i = old; i < old + n; i++)
        if (!s->store.events[i].removed) {
            s->store.events[i].removed = true;
            s->store.events[to].samples += s->store.events[i].samples;
            s->store.events[i].instead = to++;
        }
    history_change_events(s->store.history, renumbered, s);
    for (uint32_t i = old; i < old + n; i++)
        s->store.events[i].instead = 0;
}

/* Removes the event from a request of wish_again(). */
static void take_out(const struct session *s, struct wish *w, uint32_t event)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (operations_event_stays(s, s->store.live_event + i, event)) {
            w->events[n] = w->events[i];
            w->hows[n] = w->hows[i];
            w->chosen[n++] = w->chosen[i];
        }
    w->n = n;
}

static bool remove_running(struct session *s, uint32_t event, struct error *e)
{
    struct wish w;
    uint32_t old = s->store.live_event, n = chosen_together(s, old);
    wish_again(s, &s->cfg, old, &w);
    take_out(s, &w, event);
    if (!w.n)
        return error_set(e, ERROR_ARGUMENT, "%s is being sampled: pick another event first",
                         s->store.events[event].event.name);
    if (!events_fit(s, &w, e) || !source_replace(s, &w, e))
        return false;
    pthread_mutex_lock(&s->store.lock);
    for (uint32_t i = old; i < old + n; i++)
        s->store.events[i].removed = !operations_event_stays(s, i, event);
    if (s->store.live_event != old)
        hand_over(s, old, n);
    s->store.generation++;
    pthread_mutex_unlock(&s->store.lock);
    return true;
}

bool session_remove_event(struct session *s, uint32_t event, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source.lock);
    bool ok = event < s->store.n_events && !s->store.events[event].removed;
    if (!ok)
        error_set(e, ERROR_MISSING, "that event was removed already");
    else if (s->store.events[event].first == s->store.live_event)
        ok = remove_running(s, event, e);
    else
        for (uint32_t first = s->store.events[event].first, n = chosen_together(s, first), i = 0; i < n; i++)
            s->store.events[first + i].removed = true;
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

bool session_set_scope(struct session *s, const struct scope *scope, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source.lock);
    struct session_config cfg = s->cfg;
    scope_init(&cfg.scope);
    pthread_mutex_lock(&s->store.lock);
    deepstacks_forget(s); /* sizes belong to other programs */
    pthread_mutex_unlock(&s->store.lock);
    bool ok = scope_copy(&cfg.scope, scope) && source_change(s, &cfg, e);
    if (ok) {
        /* otherwise shares would mix sampled and unsampled time */
        bool known = scope_is_part(&cfg.scope, &s->cfg.scope);
        scope_done(&s->cfg.scope);
        s->cfg.scope = cfg.scope;
        pthread_mutex_lock(&s->store.lock);
        s->store.scope_number++;
        offcpu_restart(s);
        operations_restart(s);
        s->store.scope_ns = known ? s->store.scope_ns : clock_now_ns();
        pthread_mutex_unlock(&s->store.lock);
    } else {
        scope_done(&cfg.scope);
    }
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

bool session_set_freq(struct session *s, uint64_t freq_hz, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source.lock);
    struct session_config cfg = s->cfg;
    cfg.freq_hz = freq_hz;
    cfg.freq_named = true;
    cfg.period = 0;
    struct wish w;
    wish_again(s, &cfg, s->store.live_event, &w);
    memset(w.hows, 0, sizeof w.hows);
    bool ok = source_replace(s, &w, e);
    if (ok) {
        s->cfg.freq_hz = freq_hz;
        s->cfg.freq_named = true;
        s->cfg.period = 0;
    }
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

bool session_set_callchain(struct session *s, enum callchain_mode mode, uint32_t stack_bytes, struct error *e)
{
    if (!not_over_a_file(s, e))
        return false;
    pthread_mutex_lock(&s->source.lock);
    struct session_config cfg = s->cfg;
    cfg.callchain = mode;
    cfg.stack_bytes = stack_bytes ? stack_bytes : cfg.stack_bytes;
    bool ok = source_change(s, &cfg, e);
    if (ok) {
        s->cfg.callchain = mode;
        s->cfg.stack_bytes = cfg.stack_bytes;
    }
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

static bool set_latency_live(struct session *s, bool on, struct error *e)
{
    struct session_config cfg = s->cfg;
    struct wish w;
    cfg.latency = on;
    pthread_mutex_lock(&s->source.lock);
    wish_as_now(s, &cfg, 0, &w);
    bool ok = source_replace(s, &w, e);
    pthread_mutex_unlock(&s->source.lock);
    return ok;
}

bool session_set_latency(struct session *s, bool on, struct error *e)
{
    bool ok = s->load.file ? latency_is_in_file(s, e) || !on : set_latency_live(s, on, e);
    pthread_mutex_lock(&s->store.lock);
    s->cfg.latency = ok ? on : s->cfg.latency;
    s->store.generation++;
    pthread_mutex_unlock(&s->store.lock);
    return ok;
}
