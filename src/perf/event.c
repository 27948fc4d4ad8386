// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/event.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/event_parse.h"
#include "perf/event_table.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "perf/probe.h"
#include "perf/terms.h"
#include "perf/tracepoint.h"
#include "perf/vendor.h"

/* An event as typed, split into its parts: HEAD[/TERMS/][:]MODS. */
struct parts {
    const char *text;
    char *head, *terms;       /* owned; terms NULL: none */
    size_t terms_at, mods_at; /* offsets in text */
    const char *mods;         /* NULL: none */
    struct event_terms more;
};

static void event_init(struct event *out, const char *name)
{
    *out = (struct event){ .attr.size = sizeof out->attr };
    text_clean(out->name, sizeof out->name, name, strlen(name));
}

uint32_t event_span(const struct event *ev)
{
    return ev->members > 1 ? ev->members : 1;
}

bool event_is_clock(const struct event *ev)
{
    return ev->attr.type == PERF_TYPE_SOFTWARE &&
           (ev->attr.config == PERF_COUNT_SW_CPU_CLOCK || ev->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool event_is_cpu_time(const struct perf_event_attr *attr)
{
    struct event ev = { .attr = *attr };
    uint32_t counter = (uint32_t)attr->config; /* the upper half may hold the PMU's type */
    return event_is_clock(&ev) ||
           (attr->type == PERF_TYPE_HARDWARE &&
            (counter == PERF_COUNT_HW_CPU_CYCLES || counter == PERF_COUNT_HW_REF_CPU_CYCLES));
}

bool event_is_time(const struct event *ev)
{
    return event_is_made(ev) || event_is_clock(ev);
}

bool event_is_wait(const struct event *ev)
{
    return ev->off_cpu || ev->wakers;
}

bool event_has_waits(const struct event *ev)
{
    return event_is_wait(ev) || ev->wall;
}

bool event_is_made(const struct event *ev)
{
    return event_has_waits(ev) || ev->latency;
}

bool event_opens_nothing(const struct event *ev)
{
    return ev->wall || ev->latency;
}

bool event_is_occurrence(const struct event *ev)
{
    return ev->kind == EVENT_SOFTWARE && ev->attr.type == PERF_TYPE_SOFTWARE && !event_is_clock(ev) &&
           ev->attr.config != PERF_COUNT_SW_DUMMY;
}

void event_default(struct event *out)
{
    event_parse("cycles", out, NULL);
}

static bool wrong(const struct parts *p, const char *at, const char *what, struct error *e)
{
    error_set(e, ERROR_ARGUMENT, "event '%s': %s", p->text, what);
    return error_at(e, (size_t)(at - p->text));
}

static bool bad_modifier(const char *text, const char *at, const char *why, struct error *e)
{
    error_set(
        e, ERROR_ARGUMENT,
        "event '%s': modifier '%c' %s; valid are u (user) k (kernel) h (hypervisor) G (guest) H (host) p pp "
        "ppp P (precise) D (pinned) e (exclusive) I (no idle) S W",
        text, *at, why);
    return false;
}

/* Count how often each modifier is given. False if one is unknown or given too often; the error points into
 * mods. */
static bool count_modifiers(const char *mods, const char *text, unsigned times[sizeof EVENT_MODIFIERS],
                            struct error *e)
{
    if (!*mods) {
        error_set(e, ERROR_ARGUMENT, "event '%s': nothing follows the last ':'", text);
        return error_at(e, 0);
    }
    for (const char *m = mods; *m; m++) {
        const char *at = strchr(EVENT_MODIFIERS, *m);
        const char *why = !at                                                     ? "is unknown"
                          : ++times[at - EVENT_MODIFIERS] > (*m == 'p' ? 3u : 1u) ? "is given too often"
                                                                                  : NULL;
        if (why) {
            bad_modifier(text, m, why, e);
            return error_at(e, (size_t)(m - mods));
        }
    }
    return true;
}

static unsigned given(const unsigned times[sizeof EVENT_MODIFIERS], char c)
{
    return times[strchr(EVENT_MODIFIERS, c) - EVENT_MODIFIERS];
}

bool event_check_modifiers(const char *mods, const char *text, struct error *e)
{
    unsigned times[sizeof EVENT_MODIFIERS] = { 0 };
    return count_modifiers(mods, text, times, e);
}

static void apply_modifiers(struct perf_event_attr *attr, const unsigned times[sizeof EVENT_MODIFIERS])
{
    if (given(times, 'u') || given(times, 'k') || given(times, 'h')) {
        attr->exclude_user = !given(times, 'u');
        attr->exclude_kernel = !given(times, 'k');
        attr->exclude_hv = !given(times, 'h');
    }
    if (given(times, 'G') || given(times, 'H')) {
        attr->exclude_guest = !given(times, 'G');
        attr->exclude_host = !given(times, 'H');
    }
    attr->exclude_idle = given(times, 'I');
    attr->pinned = given(times, 'D');
    attr->exclusive = given(times, 'e');
    attr->precise_ip = given(times, 'p') & 3;
}

static void take_more(const struct parts *p, struct event *ev)
{
    if (*p->more.name)
        snprintf(ev->name, sizeof ev->name, "%.100s%s%s", p->more.name, p->mods ? ":" : "",
                 p->mods ? p->mods : "");
    if (!event_has_waits(ev)) {
        ev->period = p->more.period;
        ev->freq_hz = p->more.freq_hz;
    }
    ev->scale = p->more.scale;
    snprintf(ev->unit, sizeof ev->unit, "%s", p->more.unit);
}

/* Complete an event whose kind and config are set: apply the modifiers, or the defaults without them.
 * Counters of the CPUs exclude guests by default, as addresses of guests mean nothing here; other PMUs
 * refuse any exclusion. */
static bool finish(const struct parts *p, struct event *ev, bool core_pmu, struct error *e)
{
    unsigned times[sizeof EVENT_MODIFIERS] = { 0 };
    bool cpu = ev->kind == EVENT_HARDWARE || ev->kind == EVENT_RAW || core_pmu;
    ev->attr.exclude_guest = cpu || ev->kind == EVENT_CACHE || ev->attr.exclude_guest;
    ev->precise_max = cpu;
    take_more(p, ev);
    if (!p->mods)
        return true;
    if (!count_modifiers(p->mods, p->text, times, e))
        return error_shift(e, p->mods_at);
    apply_modifiers(&ev->attr, times);
    ev->precise_max = given(times, 'P') || (cpu && !given(times, 'p'));
    return true;
}

/* ---- terms of events without PMU formats ---- */

static bool take_plain_term(void *ctx, const struct term *t, struct error *e)
{
    static const char *const names[] = { "name", "period", "freq" };
    bool known;
    if (terms_take(t, ctx, &known, e))
        return true;
    if (known)
        return false;
    int near = text_nearest(t->name, names, sizeof names / sizeof *names);
    error_set(e, ERROR_ARGUMENT,
              "'%s' is not a term of this event; valid: name=, period= and freq=", t->name);
    if (near >= 0)
        error_hint(e, "did you mean '%s='?", names[near]);
    return error_at(e, t->at);
}

static bool take_plain_terms(struct parts *p, struct error *e)
{
    return !p->terms || terms_each(p->terms, take_plain_term, &p->more, e) || error_shift(e, p->terms_at);
}

/* Split the text from the first slash on: "/terms/", "/terms/u", "/terms/:u". */
static bool take_terms(struct parts *p, const char *slash, struct error *e)
{
    const char *end = strrchr(slash + 1, '/');
    if (!end)
        return wrong(p, slash, "the terms end with a second '/': name/term=value,…/", e);
    p->terms = mem_strndup(slash + 1, (size_t)(end - slash - 1));
    p->terms_at = (size_t)(slash + 1 - p->text);
    if (end[1])
        p->mods = end + 1 + (end[1] == ':');
    return true;
}

static bool parse_breakpoint(struct parts *p, struct event *out, struct error *e)
{
    const char *rest;
    if (!event_parse_breakpoint(p->text, &out->attr, &rest, e))
        return false;
    if (*rest == '/' && !take_terms(p, rest, e))
        return false;
    if (*rest == ':')
        p->mods = rest + 1;
    p->mods_at = p->mods ? (size_t)(p->mods - p->text) : 0;
    out->kind = EVENT_BREAKPOINT;
    return take_plain_terms(p, e) && finish(p, out, false, e);
}

/* ---- names ---- */

static bool add_alias(void *ctx, const char *name, const char *terms)
{
    (void)terms;
    namelist_add(ctx, name);
    return true;
}

static bool add_aliases(void *ctx, const struct pmu *pmu)
{
    return pmu_each_alias(pmu, add_alias, ctx);
}

static bool add_vendor(void *ctx, const char *pmu, const char *name, const char *help)
{
    (void)pmu;
    (void)help;
    namelist_add(ctx, name);
    return true;
}

/* Suggest a vendor event where it is nearer than a tracepoint: "INST_RETIRED:ANY_Q". */
static bool near_vendor(const char *name, struct error *e)
{
    struct namelist all = { 0 };
    vendor_each(add_vendor, &all);
    const char *near = e && e->class == ERROR_MISSING && !strstr(e->text, "did you mean")
                           ? namelist_nearest(&all, name)
                           : NULL;
    if (near) {
        error_set(e, ERROR_MISSING, "unknown event '%s'; did you mean '%s'?", name, near);
        error_at(e, 0);
    }
    namelist_done(&all);
    return false;
}

/* Offset of the error in a name that looks like a raw event, or 0. */
static size_t raw_fault(const char *name)
{
    size_t digits = *name == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;
    bool meant = digits && name[1] <= '9';
    return !meant ? 0 : 1 + (digits < EVENT_RAW_DIGITS ? digits : EVENT_RAW_DIGITS);
}

static bool unknown_event(const char *name, enum event_match match, struct error *e)
{
    struct namelist all = { 0 };
    size_t apart = strcspn(name, " \t;|&");
    event_table_names(&all);
    pmu_each(add_aliases, &all);
    vendor_each(add_vendor, &all);
    char meant[EVENT_NAME_MAX];
    /* everything is near a single letter */
    const char *near = name[1] && !name[apart] ? namelist_nearest(&all, name) : NULL;
    if (!name[apart] && tracepoint_meant(name, meant, sizeof meant))
        near = meant;
    const char *what = match == EVENT_MATCH_ILLEGAL ? "no CPU counts" : "unknown event";
    if (near)
        error_set(e, ERROR_MISSING, "%s '%s'; did you mean '%s'?", what, name, near);
    else
        error_set(e, ERROR_MISSING, "%s '%s'; --list-events lists all events", what, name);
    if (!near && *name == 'r')
        error_hint(e, "; a raw event is r and 1 to %d hexadecimal digits, as in r01c2", EVENT_RAW_DIGITS);
    namelist_done(&all);
    if (name[apart])
        error_hint(e, "; several events are separated by commas");
    return error_at(e, name[apart] ? apart : near ? 0 : raw_fault(name));
}

static bool parse_pmu(struct parts *p, struct event *out, struct error *e)
{
    struct pmu pmu;
    if (!pmu_find(p->head, &pmu, e))
        return error_at(e, 0);
    if (!pmu_apply(&pmu, p->terms, &out->attr, &p->more, e))
        return error_shift(e, p->terms_at);
    out->kind = EVENT_PMU;
    out->cpus = pmu.cpus;
    return finish(p, out, pmu.core, e);
}

static bool parse_tracepoint(const char *text, const char *system, const char *name, struct event *out,
                             struct error *e)
{
    uint64_t id;
    event_init(out, text);
    if (!tracepoint_id(system, name, &id, e))
        return false;
    out->kind = EVENT_TRACEPOINT;
    out->attr.type = PERF_TYPE_TRACEPOINT;
    out->attr.config = id;
    snprintf(out->tracepoint, sizeof out->tracepoint, "%s:%s", system, name);
    return true;
}

/* Find a name without a colon that is not in the table: an event that a PMU names, or a raw event. */
static enum event_match find_plain(struct parts *p, const char *name, struct event *out, bool *core)
{
    struct pmu pmu;
    if (pmu_find_alias(name, &pmu) && pmu_apply(&pmu, name, &out->attr, &p->more, NULL)) {
        out->kind = EVENT_PMU;
        out->cpus = pmu.cpus;
        *core = pmu.core;
        return EVENT_MATCH_FOUND;
    }
    uint64_t config;
    if (!event_table_raw(name, &config))
        return EVENT_MATCH_NONE;
    out->kind = EVENT_RAW;
    out->attr.type = PERF_TYPE_RAW;
    out->attr.config = config;
    return EVENT_MATCH_FOUND;
}

/* Parse a vendor event; libpfm4 parses its own modifiers. */
static bool parse_vendor(struct parts *p, struct event *out)
{
    struct error e;
    if (!vendor_find(p->head, &out->attr))
        return false;
    out->kind = EVENT_VENDOR;
    bool precise = out->attr.precise_ip;
    bool ok = take_plain_terms(p, &e) && finish(p, out, true, &e);
    out->precise_max &= !precise;
    return ok;
}

/* Complete the event off-cpu. The switch records tell the times, so it works also without the tracepoint. By
 * its filter, the kernel samples no stacks of preempted and exiting threads, and of idle workers. */
static void make_off_cpu(struct event *out)
{
    uint64_t id;
    bool readable = tracepoint_id("sched", "sched_switch", &id, NULL);
    out->off_cpu = true;
    out->kind = readable ? EVENT_TRACEPOINT : EVENT_SOFTWARE;
    out->attr.type = readable ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
    out->attr.config = readable ? id : PERF_COUNT_SW_CONTEXT_SWITCHES;
    out->attr.context_switch = 1;
    out->period = 1;
    if (readable) {
        snprintf(out->tracepoint, sizeof out->tracepoint, "sched:sched_switch");
        snprintf(out->filter, sizeof out->filter, "prev_state & %d", EVENT_WAIT_STATES);
    }
}

bool event_make_wakers(const struct event *off_cpu, struct event *out, struct error *e)
{
    uint64_t id;
    if (!tracepoint_id("sched", "sched_waking", &id, e))
        return false;
    if (off_cpu->kind != EVENT_TRACEPOINT)
        return error_set(e, ERROR_PERMISSION,
                         "the tracepoint sched:sched_switch is not readable; run as root");
    *out = *off_cpu;
    out->off_cpu = false;
    out->wakers = true;
    snprintf(out->name, sizeof out->name, "wakers");
    out->attr.config = id;
    out->attr.context_switch = 0;
    out->filter[0] = '\0';
    snprintf(out->tracepoint, sizeof out->tracepoint, "sched:sched_waking");
    return true;
}

static bool make_wall(struct event *out)
{
    out->wall = out->shown = true;
    out->kind = EVENT_SOFTWARE;
    out->attr.type = PERF_TYPE_SOFTWARE;
    out->attr.config = PERF_COUNT_SW_DUMMY;
    out->period = 1;
    return true;
}

/* Complete off-cpu, wakers or wall, which the table of names says. */
static bool make_waits(struct event *out, struct error *e)
{
    bool wakers = out->attr.config == EVENT_TABLE_WAKERS;
    struct event off_cpu = *out;
    if (out->attr.config == EVENT_TABLE_WALL)
        return make_wall(out);
    make_off_cpu(&off_cpu);
    if (!wakers)
        *out = off_cpu;
    else if (!event_make_wakers(&off_cpu, out, e))
        return error_at(e, 0);
    out->shown = wakers;
    return true;
}

/* False: terms or modifiers that cannot apply to off-cpu, wakers or wall. */
static bool check_waits(const struct parts *p, const struct event *ev, struct error *e)
{
    if (ev->wall && p->mods)
        return wrong(p, p->mods, "modifiers belong to the event that samples the CPU, as in cycles:u,wall",
                     e);
    return !event_has_waits(ev) || (!p->more.period && !p->more.freq_hz) ||
           wrong(p, p->text + p->terms_at, "it has no period or frequency: all of the time is measured", e);
}

static bool is_tracepoint(const char *system, const char *rest)
{
    char *name = mem_strndup(rest, strcspn(rest, ":"));
    bool is = tracepoint_exists(system, name);
    mem_free(name);
    return is;
}

/* Parse "name[:mods]" or "system:name[:mods]". */
static bool parse_named(struct parts *p, struct event *out, struct error *e)
{
    bool core = false;
    char *first = mem_strdup(p->head), *rest = strchr(first, ':'), *more = NULL;
    size_t rest_at = rest ? (size_t)(rest + 1 - first) : 0;
    if (rest)
        *rest++ = '\0';
    enum event_match match = event_table_find(first, out);
    if (match == EVENT_MATCH_NONE && !(rest && is_tracepoint(first, rest)))
        match = find_plain(p, first, out, &core);
    bool ok = false, slip = !rest || match == EVENT_MATCH_ILLEGAL || !rest[strspn(rest, EVENT_MODIFIERS)];
    if (match == EVENT_MATCH_FOUND && rest && p->terms) {
        wrong(p, p->text + rest_at - 1, "modifiers go behind the terms: name/terms/:modifiers", e);
    } else if (match == EVENT_MATCH_FOUND && rest && rest[strspn(rest, EVENT_MODIFIERS)] &&
               parse_vendor(p, out)) {
        ok = true; /* L1D:REPLACEMENT is not l1d */
    } else if (match == EVENT_MATCH_FOUND) {
        if (rest) {
            p->mods = p->text + rest_at;
            p->mods_at = rest_at;
        }
        ok = (out->kind != EVENT_TRACEPOINT || make_waits(out, e)) && take_plain_terms(p, e) &&
             check_waits(p, out, e) && finish(p, out, core, e);
    } else if (slip && !(rest && is_tracepoint(first, rest))) {
        /* "cyces:u" is a typo in an event, not a tracepoint "u" of a system "cyces". */
        ok = parse_vendor(p, out) || unknown_event(first, match, e);
    } else {
        if ((more = strchr(rest, ':'))) {
            *more++ = '\0';
            p->mods = p->text + rest_at + (size_t)(more - rest);
            p->mods_at = (size_t)(p->mods - p->text);
        }
        ok = parse_tracepoint(p->text, first, rest, out, e)
                 ? take_plain_terms(p, e) && finish(p, out, false, e)
                 : parse_vendor(p, out) || near_vendor(p->head, e);
    }
    mem_free(first);
    return ok;
}

/* True if the head names a PMU, which has its own events and formats. */
static bool is_pmu(const char *head)
{
    struct event ignored;
    uint64_t config;
    return !strchr(head, ':') && event_table_find(head, &ignored) == EVENT_MATCH_NONE &&
           !event_table_raw(head, &config);
}

static bool parse_parts(struct parts *p, struct event *out, struct error *e)
{
    if (!strncmp(p->text, "mem:", 4))
        return parse_breakpoint(p, out, e);
    if (!strncmp(p->text, EVENT_LATENCY, strlen(EVENT_LATENCY)))
        return event_parse_latency(p->text, out, e);
    const char *slash = strchr(p->text, '/');
    if (slash && !take_terms(p, slash, e))
        return false;
    p->mods_at = p->mods ? (size_t)(p->mods - p->text) : 0;
    p->head = slash ? mem_strndup(p->text, (size_t)(slash - p->text)) : mem_strdup(p->text);
    return slash && is_pmu(p->head) ? parse_pmu(p, out, e) : parse_named(p, out, e);
}

/* Define a probe, and use its tracepoint. */
static bool parse_probe(const char *text, struct event *out, struct error *e)
{
    char system[PROBE_NAME_MAX], *name;
    if (!probe_define(text, system, e))
        return false;
    name = strchr(system, ':');
    *name++ = '\0';
    if (!parse_tracepoint(text, system, name, out, e))
        return false;
    probe_display_name(text, out->name, sizeof out->name);
    return true;
}

static bool place_at_start(struct error *e)
{
    return e && !e->placed ? error_at(e, 0) : false;
}

bool event_parse_one(const char *text, struct event *out, struct error *e)
{
    struct parts p = { .text = text };
    event_init(out, text);
    if (!*text || *text == ':' || *text == '/') {
        error_set(e, ERROR_ARGUMENT, "the event's name is empty; try cycles or cpu-clock");
        return error_at(e, 0);
    }
    if (probe_is_definition(text))
        return parse_probe(text, out, e) || place_at_start(e);
    if (text_begins_with(text, EVENT_LATENCY) && probe_is_definition(text + strlen(EVENT_LATENCY)))
        return event_parse_latency(text, out, e) || place_at_start(e);
    if (strlen(text) >= EVENT_NAME_MAX) {
        error_set(e, ERROR_ARGUMENT, "event '%.40s…': the name is too long (at most %d bytes)", text,
                  EVENT_NAME_MAX - 1);
        return error_at(e, EVENT_NAME_MAX - 1);
    }
    bool ok = parse_parts(&p, out, e);
    mem_free(p.head);
    mem_free(p.terms);
    return ok || place_at_start(e);
}

/* True for a single event: commas between slashes separate its terms. */
static bool is_one(const char *text)
{
    return *text != '{' && (!strchr(text, ',') || strchr(text, '/'));
}

bool event_parse(const char *text, struct event *out, struct error *e)
{
    const char *first = text + (*text == '{');
    if (is_one(text))
        return event_parse_one(text, out, e) || error_show(e, text);
    event_init(out, text);
    error_set(e, ERROR_ARGUMENT, "'%s' is more than one event: give one, as in '%.*s'", text,
              (int)strcspn(first, ",}"), first);
    error_at(e, strcspn(text, ","));
    return error_show(e, text);
}
