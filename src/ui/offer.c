// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/offer.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/picker.h"
#include "ui/view_ops.h"

char *offer_rate_text(char *dst, size_t cap, const struct event *ev, double per_second)
{
    char number[32];
    if (event_opens_nothing(ev)) /* nothing that occurs */
        *dst = '\0';
    else if (event_is_clock(ev))
        (void)snprintf(dst, cap, "%.2f CPUs", per_second / (double)NS_PER_SEC);
    else if (per_second < 10)
        (void)snprintf(dst, cap, "%.1f /s", per_second);
    else
        (void)snprintf(dst, cap, "%s/s", text_si(number, sizeof number, per_second));
    return dst;
}

static unsigned open_events(struct app *a, const char *events, const struct session_sampling *how)
{
    struct error e = { 0 };
    if (!session_set_event_as(a->session, events, how, &e))
        return app_error(a, &e);
    session_get_status(a->session, &a->status);
    if (a->status.freq_hz)
        return APP_QUERY | app_message(a, "sampling %s %llu times a second and CPU", a->status.event,
                                       (unsigned long long)a->status.freq_hz);
    if (a->status.period > 1)
        return APP_QUERY | app_message(a, "sampling %s once in %llu", a->status.event,
                                       (unsigned long long)a->status.period);
    return APP_QUERY | app_message(a, "sampling %s, each time it happens", a->status.event);
}

/* --- the dialog --- */

static unsigned take_choice(struct app *a, uint32_t choice)
{
    return open_events(a, a->offer.events, &a->offer.choices[choice]);
}

static void describe(const struct app *a, double samples, const char *what, char *dst, size_t cap)
{
    char number[32];
    double percent = rate_cost_percent(samples, a->status.callchain, a->status.cpus);
    const char *about = percent >= 100 ? "more than all of the CPUs" : "of the CPUs";
    text_si(number, sizeof number, samples);
    if (percent >= 100)
        (void)snprintf(dst, cap, "%-22s %s samples a second: %s", what, number, about);
    else
        (void)snprintf(dst, cap, "%-22s %s samples a second: about %.1f%% %s", what, number, percent, about);
}

static unsigned offer_events(struct app *a, const char *events, const struct event *ev, uint64_t period,
                             double per_second)
{
    char what[64], title[200], rate[48], lines[3][160];
    const char *list[3] = { lines[0], lines[1], lines[2] };
    uint64_t offered =
        period * rate_period_for(per_second / (double)period,
                                 rate_budget(a->status.callchain, a->status.cpus, a->status.budget_percent));
    uint64_t hz = session_default_freq(a->session);
    (void)snprintf(a->offer.events, sizeof a->offer.events, "%s", events);
    a->offer.choices[0] = (struct session_sampling){ .period = offered };
    a->offer.choices[1] = (struct session_sampling){ .freq_hz = hz };
    a->offer.choices[2] = (struct session_sampling){ .period = period };
    (void)snprintf(what, sizeof what, "one in %llu", (unsigned long long)offered);
    describe(a, per_second / (double)offered, what, lines[0], sizeof lines[0]);
    (void)snprintf(lines[1], sizeof lines[1],
                   "%-22s %llu samples a second and CPU, the kernel adapts the period", "by frequency",
                   (unsigned long long)hz);
    if (period > 1)
        (void)snprintf(what, sizeof what, "one in %llu, as requested", (unsigned long long)period);
    else
        (void)snprintf(what, sizeof what, "each one");
    describe(a, per_second / (double)period, what, lines[2], sizeof lines[2]);
    offer_rate_text(rate, sizeof rate, ev, per_second);
    (void)snprintf(title, sizeof title, "%.120s happens often: %s. Sample", ev->name, rate);
    return picker_menu(a, title, list, 3, 0, take_choice);
}

static unsigned decide(struct app *a, const char *events, const struct event *ev,
                       const struct session_sampling *how, const struct rate *rate)
{
    struct session_sampling runs;
    session_sampling_of(a->session, ev, how, &runs);
    double samples = rate->per_second / (double)(runs.period ? runs.period : 1);
    if (!rate->counted ||
        samples <= rate_budget(a->status.callchain, a->status.cpus, a->status.budget_percent))
        return open_events(a, events, how);
    return offer_events(a, events, ev, runs.period, rate->per_second);
}

/* --- counting before sampling --- */

struct counting {
    struct dialog dialog;
    char events[512];
    struct event event; /* the first of `events` */
    struct session_sampling how;
};

static bool counting_tick(struct dialog *d, struct app *a)
{
    struct counting *c = (struct counting *)d;
    struct rate rate;
    if (!session_rates_take(a->session, &rate, 1))
        return false;
    dialog_close(a, d);
    (void)decide(a, c->events, &c->event, &c->how, &rate);
    return true;
}

static bool counting_waits(const struct dialog *d)
{
    (void)d;
    return true;
}

static unsigned counting_key(struct dialog *d, struct app *a, uint32_t key)
{
    if (keymap_find(a->keymap, SCOPE_KEYS_PICKER, key) != ACTION_PICK_CANCEL)
        return APP_HANDLED;
    session_rates_drop(a->session);
    dialog_close(a, d);
    return APP_REDRAW;
}

static void counting_draw(struct dialog *d, struct app *a, struct area area)
{
    const struct counting *c = (const struct counting *)d;
    char text[200];
    (void)a;
    (void)snprintf(text, sizeof text, "counting how often %.100s happens ...", c->event.name);
    struct area in = draw_box(area_center(area, 3, text_width(text) + 4), "");
    draw_text(in, 0, 0, STYLE_DIALOG, text);
}

static void counting_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    (void)d;
    footer_draw_picker(a, bar, false);
}

static unsigned count_first(struct app *a, const char *events, const struct event *ev,
                            const struct session_sampling *how)
{
    static const struct dialog_ops ops = { .key = counting_key,
                                           .draw = counting_draw,
                                           .tick = counting_tick,
                                           .waits = counting_waits,
                                           .draw_bar = counting_draw_bar };
    struct error e = { 0 };
    if (!session_rates_start(a->session, ev, 1, &e))
        return app_error(a, &e);
    struct counting *c = mem_zalloc(sizeof *c);
    c->dialog.ops = &ops;
    c->event = *ev;
    (void)snprintf(c->events, sizeof c->events, "%s", events);
    c->how = *how;
    dialog_push(a, &c->dialog);
    return APP_REDRAW;
}

unsigned offer_event(struct app *a, const char *name, const struct session_sampling *how,
                     const struct rate *known)
{
    static const struct session_sampling as_all = { 0 };
    struct session_sampling runs;
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    struct error e = { 0 };
    how = how ? how : &as_all;
    if (!event_parse_list(name, list, SESSION_EVENTS_MAX, &n, &e))
        return app_error(a, &e);
    session_sampling_of(a->session, &list[0], how, &runs);
    /* of one begin in N, few would have an end */
    if (list[0].of_pair || runs.freq_hz || session_chooses_period(a->session, &list[0], how) ||
        strlen(name) >= sizeof a->offer.events)
        return open_events(a, name, how);
    return known && known->counted ? decide(a, name, &list[0], how, known)
                                   : count_first(a, name, &list[0], how);
}

/* Sets the preset's scope. What the screen shows changes only if that succeeds. */
static bool set_scope(struct app *a, const struct preset *p, struct error *e)
{
    struct scope scope;
    scope_init(&scope);
    bool ok = scope_copy(&scope, session_scope(a->session)) && preset_set_scope(p, &scope, e) &&
              session_set_scope(a->session, &scope, e);
    scope_done(&scope);
    return ok;
}

static bool check_events(const struct preset *p, struct error *e)
{
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    struct error why = { 0 };
    if (!event_parse_list(p->events, list, SESSION_EVENTS_MAX, &n, &why))
        return error_set(e, why.class, "%s%s", p->from, why.text);
    return event_supported(event_shown_first(list, n), e);
}

unsigned offer_preset(struct app *a, const struct preset *p, const struct rate *known)
{
    struct error e = { 0 };
    if (!check_events(p, &e) || (strcmp(p->scope, "-") && !set_scope(a, p, &e)))
        return app_error(a, &e);
    if (p->group >= 0)
        (void)app_group_by(a, (enum view_group)p->group);
    unsigned flags = p->view ? app_show_view(a, view_named(p->view), false) : APP_REDRAW;
    return flags | APP_QUERY | offer_event(a, p->events, &p->how, known);
}
