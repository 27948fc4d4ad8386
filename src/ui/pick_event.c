// SPDX-License-Identifier: GPL-2.0-or-later
/* The picker of events: all events of this system, each marked if it cannot be sampled.
 * Each is tried while the list is already visible. Of tracepoints, only one per subsystem is tried,
 * because there are thousands. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/event.h"
#include "session/trials.h"
#include "ui/offer.h"
#include "ui/picker.h"

#define COLS        100
#define EDGE_COLS   8 /* border, and the mark of an open branch */
#define NAME_COLS   30
#define TRACE_COLS  44 /* the same for tracepoints, which have long names and no help */
#define RATE_COLS   11
#define COUNTED_MAX 64
#define EVENTS_MAX  100000
#define TRACEPOINTS "Tracepoint: "

static const char *const marks[] = {
    [TRIAL_NOT_MADE] = "",
    [TRIAL_OPENS] = "",
    [TRIAL_UNSUPPORTED] = "<not supported> ",
    [TRIAL_DENIED] = "<not permitted> ",
    [TRIAL_COUNTS_ONLY] = "<only counts> ",
    [TRIAL_FAILED] = "",
};

struct choice {
    uint64_t key;
    const char *name, *alias, *help; /* in the arena; alias and help may be NULL */
    const struct preset *preset;     /* NULL: a plain event */
    uint32_t group;
    uint32_t chosen;  /* number of a previously sampled event, + 1; 0: not sampled yet */
    uint64_t samples; /* its samples */
    bool sampled;     /* it is being sampled */
    uint8_t support;  /* enum trial */
    struct rate rate;
};
struct choice_group {
    const char *name;
    bool tracepoints;
    uint32_t n;
};

struct event_picker {
    struct arena strings;
    struct preset_list presets;
    struct error presets_wrong; /* error in a presets file */
    VEC(struct choice) choices; /* presets first */
    VEC(struct choice_group) groups;
    uint64_t counted[COUNTED_MAX]; /* keys of the events being counted */
    uint32_t n_counted;
    bool counting, rates_known;
    bool stale;            /* an event was removed */
    struct trials *trials; /* NULL: results were applied */
    bool no_tracefs;
    char no_tracefs_why[480];
};

/* --- events of the system --- */

static const char *keep(struct event_picker *p, const char *text)
{
    return text ? arena_strndup(&p->strings, text, strlen(text)) : NULL;
}

static uint32_t group_of(struct event_picker *p, const struct event_row *r)
{
    size_t prefix = strlen(TRACEPOINTS);
    bool tracepoints = strncmp(r->group, TRACEPOINTS, prefix) == 0;
    const char *name = tracepoints ? r->group + prefix : r->group;
    if (p->groups.n && strcmp(p->groups.items[p->groups.n - 1].name, name) == 0 &&
        p->groups.items[p->groups.n - 1].tracepoints == tracepoints)
        return (uint32_t)p->groups.n - 1;
    *VEC_PUSH(&p->groups) = (struct choice_group){ .name = keep(p, name), .tracepoints = tracepoints };
    return (uint32_t)p->groups.n - 1;
}

static bool add_choice(void *ctx, const struct event_row *r)
{
    struct event_picker *p = ctx;
    uint32_t group = group_of(p, r);
    *VEC_PUSH(&p->choices) = (struct choice){
        .key = map_hash_bytes(r->name, strlen(r->name), 0) | 1,
        .name = keep(p, r->name),
        .alias = keep(p, r->alias),
        .help = keep(p, r->help),
        .group = group,
    };
    p->groups.items[group].n++;
    return p->choices.n < EVENTS_MAX;
}

static void add_presets(struct event_picker *p)
{
    (void)preset_read(&p->presets, &p->presets_wrong);
    uint32_t group = (uint32_t)p->groups.n;
    *VEC_PUSH(&p->groups) = (struct choice_group){ .name = "Presets", .n = (uint32_t)p->presets.n };
    for (size_t i = 0; i < p->presets.n; i++) {
        const struct preset *preset = &p->presets.items[i];
        *VEC_PUSH(&p->choices) =
            (struct choice){ .key = map_hash_bytes(preset->name, strlen(preset->name), 7) | 1,
                             .name = preset->name,
                             .help = preset->help,
                             .preset = preset,
                             .group = group };
    }
}

/* Adds the events sampled since the start; one event alone needs no list. */
static void add_sampled(struct event_picker *p, struct app *a)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(a->session, &list), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        kept += !list[i].removed;
    for (uint32_t i = 0; i < n && kept > 1; i++) {
        if (list[i].removed)
            continue;
        *VEC_PUSH(&p->choices) = (struct choice){ .key = map_hash_bytes(&i, sizeof i, 11) | 1,
                                                  .name = keep(p, list[i].name),
                                                  .chosen = i + 1,
                                                  .samples = list[i].samples,
                                                  .sampled = list[i].sampled };
    }
    if (p->choices.n) {
        *VEC_PUSH(&p->groups) =
            (struct choice_group){ .name = "Sampled so far", .n = (uint32_t)p->choices.n };
    }
    mem_free(list);
}

/* --- trials --- */

/* Of tracepoints, the first one of each subsystem is tried for all. */
static bool is_tried(const struct event_picker *p, size_t i)
{
    if (p->choices.items[i].chosen)
        return false;
    return !p->groups.items[p->choices.items[i].group].tracepoints ||
           p->choices.items[i - 1].group != p->choices.items[i].group;
}

/* An event that is not sampled yet: latency:ROW. */
static bool is_latency(const struct choice *c)
{
    return !c->preset && !c->chosen && text_begins_with(c->name, "latency:");
}

static void start_trials(struct event_picker *p)
{
    p->trials = trials_new();
    for (size_t i = 0; i < p->choices.n; i++) {
        const struct choice *c = &p->choices.items[i];
        if (is_tried(p, i))
            trials_add(p->trials, c->preset ? c->preset->events : c->name, !c->preset && !is_latency(c));
    }
    trials_start(p->trials);
}

static void take_trials(struct event_picker *p)
{
    enum trial result = TRIAL_NOT_MADE;
    uint32_t tried = 0;
    for (size_t i = 0; i < p->choices.n; i++) {
        struct choice *c = &p->choices.items[i];
        if (is_tried(p, i))
            result = trials_result(p->trials, tried++);
        if (!c->rate.counted) /* a rate counted meanwhile is more reliable */
            c->support = (uint8_t)((c->preset || is_latency(c)) && result == TRIAL_FAILED ? TRIAL_UNSUPPORTED
                                                                                          : result);
    }
    trials_leave(p->trials);
    p->trials = NULL;
}

static struct event_picker *look_around(struct app *a)
{
    struct event_picker *p = mem_zalloc(sizeof *p);
    struct event ev;
    struct error e = { 0 };
    add_sampled(p, a);
    add_presets(p);
    event_each(add_choice, p, &p->no_tracefs);
    if (p->no_tracefs && !event_parse("sched:sched_switch", &ev, &e))
        (void)snprintf(p->no_tracefs_why, sizeof p->no_tracefs_why, "%s", e.text);
    start_trials(p);
    return p;
}

/* --- items --- */

/* Parses the first event of a choice. */
static bool parse_choice(const struct choice *c, struct event *ev, struct error *e)
{
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    if (!event_parse_list(c->preset ? c->preset->events : c->name, list, SESSION_EVENTS_MAX, &n, e))
        return false;
    *ev = *event_shown_first(list, n);
    return true;
}

static void add_heading(struct picker *to, const char *name, uint32_t n, uint16_t depth)
{
    char text[200], number[32];
    (void)snprintf(text, sizeof text, "%.150s (%s)", name, text_thousands(number, sizeof number, n));
    uint64_t key = map_hash_bytes(name, strlen(name), 1 + depth) | 1;
    picker_add(to, &(struct picker_item){ .key = key, .text = text, .depth = depth, .heading = true });
}

static void add_event(const struct event_picker *p, struct picker *to, const struct choice *c, uint16_t depth)
{
    char line[400], rate[48] = "";
    struct event ev;
    bool dim = c->support == TRIAL_UNSUPPORTED || c->support == TRIAL_COUNTS_ONLY;
    if (c->rate.counted && parse_choice(c, &ev, NULL))
        offer_rate_text(rate, sizeof rate, &ev, c->rate.per_second);
    (void)snprintf(line, sizeof line, "%-*s %*s%s%s%s%s%s%s",
                   (depth > 1 ? TRACE_COLS : NAME_COLS) - 2 * depth, c->name, p->rates_known ? RATE_COLS : 0,
                   rate, p->rates_known ? "  " : "", marks[c->support], c->alias ? "(" : "",
                   c->alias ? c->alias : "", c->alias ? ") " : "", c->help ? c->help : "");
    picker_add(to, &(struct picker_item){ .key = c->key, .text = line, .depth = depth, .dim = dim });
}

static void add_sampled_line(struct picker *to, const struct choice *c)
{
    char line[300], number[32];
    (void)snprintf(line, sizeof line, "%-*s %*s samples%s", NAME_COLS - 2, c->name, RATE_COLS,
                   text_thousands(number, sizeof number, c->samples), c->sampled ? "  sampled now" : "");
    picker_add(to, &(struct picker_item){ .key = c->key, .text = line, .depth = 1 });
}

static uint32_t count_tracepoints(const struct event_picker *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->groups.n; i++)
        n += p->groups.items[i].tracepoints ? p->groups.items[i].n : 0;
    return n;
}

/* Adds the reason and the fix in several lines: they are too long for one. */
static void add_no_tracefs(const struct event_picker *p, struct picker *to)
{
    char line[128];
    int cols = area_screen().cols < COLS ? area_screen().cols : COLS;
    uint64_t key = 2; /* keys of events are odd */
    picker_add(to, &(struct picker_item){ .key = key, .text = "Tracepoints (none)", .heading = true });
    for (const char *at = p->no_tracefs_why; *at; at += strspn(at, " ")) {
        size_t n = text_prefix(at, cols - EDGE_COLS - 2, NULL), end = n;
        while (at[n] && end && at[end] != ' ')
            end--;
        n = at[n] && end ? end : n;
        (void)snprintf(line, sizeof line, "%.*s", (int)n, at);
        key += 2;
        picker_add(to, &(struct picker_item){ .key = key, .text = line, .depth = 1, .dim = true });
        at += n ? n : 1;
    }
}

/* Tracepoints come last: below one open heading, with a branch for each subsystem. */
static void fill(void *ctx, struct app *a, struct picker *to)
{
    const struct event_picker *p = ctx;
    uint32_t tracepoints = count_tracepoints(p);
    bool headed = false;
    (void)a;
    for (size_t i = 0; i < p->choices.n; i++) {
        const struct choice *c = &p->choices.items[i];
        const struct choice_group *g = &p->groups.items[c->group];
        if (g->tracepoints && !headed)
            add_heading(to, "Tracepoints", tracepoints, 0);
        headed |= g->tracepoints;
        if (i == 0 || p->choices.items[i - 1].group != c->group)
            add_heading(to, g->name, g->n, g->tracepoints);
        if (c->chosen)
            add_sampled_line(to, c);
        else
            add_event(p, to, c, g->tracepoints ? 2 : 1);
    }
    if (p->no_tracefs)
        add_no_tracefs(p, to);
}

/* --- choosing an event, counting the visible ones --- */

static struct choice *choice_of(const struct event_picker *p, uint64_t key)
{
    for (size_t i = 0; i < p->choices.n; i++)
        if (p->choices.items[i].key == key)
            return &p->choices.items[i];
    return NULL;
}

/* Removes the event under the cursor. */
static unsigned remove_shown(struct event_picker *p, struct app *a, struct picker *shown)
{
    struct error e = { 0 };
    struct choice *c = choice_of(p, picker_cursor(shown));
    if (!c || !c->chosen)
        return app_message(a, "only events under \"Sampled so far\" can be removed");
    if (!session_remove_event(a->session, c->chosen - 1, &e))
        return app_error(a, &e);
    char name[EVENT_NAME_MAX];
    (void)snprintf(name, sizeof name, "%s", c->name);
    session_get_status(a->session, &a->status);
    p->stale = true;
    return APP_QUERY | app_message(a, "%s is removed", name);
}

static unsigned apply_choice(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct choice *c = n ? choice_of(ctx, keys[0]) : NULL;
    session_rates_drop(a->session);
    if (!c)
        return APP_HANDLED;
    if (c->chosen)
        return app_show_event(a, c->chosen - 1);
    return c->preset ? offer_preset(a, c->preset, &c->rate) : offer_event(a, c->name, NULL, &c->rate);
}

static uint64_t called(const void *ctx, const char *text)
{
    const struct event_picker *p = ctx;
    for (size_t i = 0; i < p->choices.n; i++) {
        const struct choice *c = &p->choices.items[i];
        if (!strcmp(c->name, text) || (c->alias && !strcmp(c->alias, text)))
            return c->key;
    }
    return 0;
}

/* Checks typed text: terms, modifiers, breakpoints and groups are in no list. */
static bool check_typed(void *ctx, const char *text, struct error *e)
{
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    (void)ctx;
    return event_parse_list(text, list, SESSION_EVENTS_MAX, &n, e) &&
           event_supported(event_shown_first(list, n), e);
}

static unsigned take_typed(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    session_rates_drop(a->session);
    return offer_event(a, text, NULL, NULL);
}

/* Counts the visible events, each independently of the others. */
static unsigned act(void *ctx, struct app *a, struct picker *shown, enum action action)
{
    struct event_picker *p = ctx;
    if (action == ACTION_PICK_REMOVE)
        return remove_shown(p, a, shown);
    uint64_t keys[COUNTED_MAX];
    struct event *events = mem_array(COUNTED_MAX, sizeof *events);
    struct error e = { 0 };
    uint32_t n = picker_shown(shown, keys, COUNTED_MAX);
    p->n_counted = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct choice *c = choice_of(p, keys[i]);
        if (c && parse_choice(c, &events[p->n_counted], NULL))
            p->counted[p->n_counted++] = keys[i];
    }
    unsigned flags = APP_REDRAW;
    if (!p->n_counted)
        flags = app_message(a, "no visible event can be counted");
    else if (!session_rates_start(a->session, events, p->n_counted, &e))
        flags = app_error(a, &e);
    else
        p->counting = true;
    mem_free(events);
    return p->counting ? flags | app_message(a, "counting %u events ...", p->n_counted) : flags;
}

/* Shows the rates. An event that could not be counted is marked. */
static bool take_rates(struct event_picker *p, struct app *a)
{
    struct rate rates[COUNTED_MAX];
    if (!p->counting || !session_rates_take(a->session, rates, COUNTED_MAX))
        return false;
    for (uint32_t i = 0; i < p->n_counted; i++) {
        struct choice *c = choice_of(p, p->counted[i]);
        c->rate = rates[i];
        if (!rates[i].counted)
            c->support = (uint8_t)trial_after(&rates[i].why);
    }
    p->counting = false;
    p->rates_known = true;
    (void)app_message(a, "%u events counted, in the present scope", p->n_counted);
    return true;
}

/* Drops removed events and updates the others. */
static void refresh_sampled(struct event_picker *p, struct app *a)
{
    struct session_chosen *list;
    uint32_t n_list = session_chosen(a->session, &list);
    size_t n = 0;
    for (size_t i = 0; i < p->choices.n; i++) {
        struct choice c = p->choices.items[i];
        if (c.chosen && (c.chosen > n_list || list[c.chosen - 1].removed))
            continue;
        c.sampled = c.chosen && list[c.chosen - 1].sampled;
        p->choices.items[n++] = c;
    }
    p->groups.items[0].n -= (uint32_t)(p->choices.n - n);
    p->choices.n = n;
    mem_free(list);
}

static bool read_reply(void *ctx, struct app *a)
{
    struct event_picker *p = ctx;
    bool tried = p->trials && trials_done(p->trials);
    bool stale = p->stale;
    if (tried)
        take_trials(p);
    if (stale)
        refresh_sampled(p, a);
    p->stale = false;
    return take_rates(p, a) || tried || stale;
}

static bool waits(const void *ctx)
{
    const struct event_picker *p = ctx;
    return p->counting || p->trials || p->stale;
}

static void why_not(void *ctx, uint64_t key, struct error *e)
{
    const struct event_picker *p = ctx;
    const struct choice *c = choice_of(p, key);
    struct event ev;
    if (!c) {
        error_set(e, ERROR_MISSING, "%s", p->no_tracefs_why);
        return;
    }
    if (!parse_choice(c, &ev, e) || !event_supported(&ev, e))
        return;
    error_set(e, ERROR_UNSUPPORTED, "%s can be counted, but not sampled: its PMU has no interrupt", c->name);
}

/* Returns the key of the running event, which may have modifiers after its name: "cycles:ppp". */
static uint64_t current_key(const struct event_picker *p, const char *running)
{
    for (size_t i = 0; i < p->choices.n; i++) {
        size_t len = strlen(p->choices.items[i].name);
        if (!p->choices.items[i].preset && strncmp(running, p->choices.items[i].name, len) == 0 &&
            (!running[len] || running[len] == ':'))
            return p->choices.items[i].key;
    }
    return 0;
}

static void destroy(void *ctx)
{
    struct event_picker *p = ctx;
    trials_leave(p->trials);
    arena_done(&p->strings);
    preset_list_done(&p->presets);
    mem_free(p->choices.items);
    mem_free(p->groups.items);
}

static unsigned open_picker(struct app *a, const char *typed)
{
    char key[16], hint[160];
    struct event_picker *p = look_around(a);
    (void)snprintf(hint, sizeof hint, "type to filter or any event, Enter chooses, %s counts visible events",
                   keymap_first(a->keymap, ACTION_PICK_COUNT, key));
    if (a->status.n_events > 1)
        (void)snprintf(hint + strlen(hint), sizeof hint - strlen(hint), ", %s removes a sampled event",
                       keymap_first(a->keymap, ACTION_PICK_REMOVE, key));
    if (p->presets_wrong.class != ERROR_NONE)
        (void)app_error(a, &p->presets_wrong);
    /* shorten the help, not the mark before it */
    return picker_open(a, &(struct picker_config){ .title = "Event to sample",
                                                   .hint = hint,
                                                   .tree = true,
                                                   .open_depth = 1,
                                                   .current = current_key(p, a->status.event),
                                                   .typed = typed,
                                                   .cols = COLS - 4,
                                                   .cut_end = true,
                                                   .fill = fill,
                                                   .take = apply_choice,
                                                   .called = called,
                                                   .why_not = why_not,
                                                   .check_typed = check_typed,
                                                   .take_typed = take_typed,
                                                   .act = act,
                                                   .read_reply = read_reply,
                                                   .waits = waits,
                                                   .destroy = destroy,
                                                   .ctx = p });
}

unsigned pick_event(struct app *a)
{
    return open_picker(a, NULL);
}

unsigned pick_latency(struct app *a)
{
    return open_picker(a, "latency:");
}
