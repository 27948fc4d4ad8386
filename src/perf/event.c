// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/event.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/event_table.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"

/* ":S" and ":W" mean something in groups only: taken, as perf takes them, and without effect. */
#define MODIFIERS "ukhGHpPSDIWe"

static void event_init(struct event *out, const char *name)
{
    *out = (struct event){ .attr.size = sizeof out->attr };
    text_clean(out->name, sizeof out->name, name, strlen(name));
}

bool event_is_clock(const struct event *ev)
{
    return ev->attr.type == PERF_TYPE_SOFTWARE &&
           (ev->attr.config == PERF_COUNT_SW_CPU_CLOCK || ev->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

void event_default(struct event *out)
{
    event_parse("cycles", out, NULL);
}

static bool bad_modifier(const char *text, char c, const char *why, struct error *e)
{
    return error_set(e, ERROR_ARGUMENT,
                     "event '%s': modifier '%c' %s; there are u (user) k (kernel) h "
                     "(hypervisor) G (guest) H (host) p pp ppp P (precise) D (pinned) "
                     "e (exclusive) I (no idle) S W",
                     text, c, why);
}

/* How often each modifier is given; false for what is none, or is given too often. */
static bool count_modifiers(const char *mods, const char *text, unsigned times[sizeof MODIFIERS],
                            struct error *e)
{
    if (!*mods)
        return error_set(e, ERROR_ARGUMENT, "event '%s': nothing follows the last ':'", text);
    for (; *mods; mods++) {
        const char *at = strchr(MODIFIERS, *mods);
        if (!at)
            return bad_modifier(text, *mods, "is unknown", e);
        unsigned n = ++times[at - MODIFIERS];
        if (n > (*mods == 'p' ? 3 : 1))
            return bad_modifier(text, *mods, "is given too often", e);
    }
    return true;
}

static unsigned given(const unsigned times[sizeof MODIFIERS], char c)
{
    return times[strchr(MODIFIERS, c) - MODIFIERS];
}

static void apply_modifiers(struct perf_event_attr *attr, const unsigned times[sizeof MODIFIERS])
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

/* The kind and the config are set: adds what follows from the modifiers, and the defaults without them.
 * The counters of the CPUs leave guests out by default, whose addresses mean nothing here; other PMUs
 * refuse any exclusion. */
static bool finish(struct event *ev, const char *mods, bool core_pmu, const char *text, struct error *e)
{
    unsigned times[sizeof MODIFIERS] = { 0 };
    bool cpu = ev->kind == EVENT_HARDWARE || ev->kind == EVENT_RAW || (ev->kind == EVENT_PMU && core_pmu);
    ev->attr.exclude_guest = cpu || ev->kind == EVENT_CACHE;
    ev->precise_max = cpu;
    if (!mods)
        return true;
    if (!count_modifiers(mods, text, times, e))
        return false;
    apply_modifiers(&ev->attr, times);
    ev->precise_max = given(times, 'P') || (cpu && !given(times, 'p'));
    return true;
}

/* rHEX */
static bool parse_raw(const char *name, uint64_t *config)
{
    size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");
    if (name[0] != 'r' || !digits || digits > 16 || name[1 + digits])
        return false;
    *config = strtoull(name + 1, NULL, 16);
    return true;
}

static bool bad_breakpoint(const char *text, const char *what, struct error *e)
{
    return error_set(e, ERROR_ARGUMENT,
                     "event '%s': %s; a breakpoint is mem:0xADDRESS[/LENGTH][:rwx], with a "
                     "length of 1, 2, 4 or 8",
                     text, what);
}

/* "rw": what the breakpoint watches for; 0 when it is no such word. */
static uint32_t breakpoint_type(const char *word, size_t n)
{
    uint32_t type = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr("rwx", word[i]);
        uint32_t bit = at ? (uint32_t[]){ HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X }[at - "rwx"] : 0;
        if (!bit || type & bit)
            return 0;
        type |= bit;
    }
    return type;
}

static bool parse_breakpoint(const char *text, struct event *out, struct error *e)
{
    char *s;
    errno = 0;
    uint64_t len = 0, addr = strtoull(text + 4, &s, 0);
    if (s == text + 4 || errno || text[4] == '-')
        return bad_breakpoint(text, "no address follows 'mem:'", e);
    if (*s == '/') {
        char *digits = s + 1;
        len = strtoull(digits, &s, 0);
        if (s == digits || (len != 1 && len != 2 && len != 4 && len != 8))
            return bad_breakpoint(text, "the length is wrong", e);
    }
    uint32_t type = HW_BREAKPOINT_RW;
    if (*s == ':') {
        size_t n = strcspn(s + 1, ":");
        uint32_t access = breakpoint_type(s + 1, n);
        s += access ? n + 1 : 0;
        type = access ? access : type;
    }
    if (*s && *s != ':')
        return bad_breakpoint(text, "something else follows the address", e);
    out->kind = EVENT_BREAKPOINT;
    out->attr.type = PERF_TYPE_BREAKPOINT;
    out->attr.bp_addr = addr;
    out->attr.bp_type = type;
    out->attr.bp_len = len ? len : type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
    return finish(out, *s ? s + 1 : NULL, false, text, e);
}

static void take_pmu(struct event *out, const struct pmu *pmu)
{
    out->kind = EVENT_PMU;
    out->cpus = pmu->cpus;
}

static void rename_event(struct event *out, const char *name, const char *mods)
{
    snprintf(out->name, sizeof out->name, "%.100s%s%s", name, mods ? ":" : "", mods ? mods : "");
}

/* pmu/terms/modifiers */
static bool parse_pmu(const char *text, const char *slash, struct event *out, struct error *e)
{
    const char *end = strrchr(slash + 1, '/');
    if (!end)
        return error_set(e, ERROR_ARGUMENT, "event '%s': the terms end with a second '/': pmu/term=value,…/",
                         text);
    char *name = mem_strndup(text, (size_t)(slash - text));
    char *terms = mem_strndup(slash + 1, (size_t)(end - slash - 1));
    char named[96] = "";
    const char *mods = end[1] == ':' ? end + 2 : end[1] ? end + 1 : NULL;
    struct pmu pmu;
    bool ok = pmu_find(name, &pmu, e) && pmu_apply(&pmu, terms, &out->attr, named, sizeof named, e);
    mem_free(name);
    mem_free(terms);
    if (!ok)
        return false;
    take_pmu(out, &pmu);
    if (*named)
        rename_event(out, named, mods);
    return finish(out, mods, pmu.core, text, e);
}

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

static bool unknown_event(const char *name, enum event_match match, struct error *e)
{
    struct namelist all = { 0 };
    event_table_names(&all);
    pmu_each(add_aliases, &all);
    const char *near = namelist_nearest(&all, name);
    const char *what = match == EVENT_MATCH_ILLEGAL ? "no CPU counts" : "unknown event";
    if (near)
        error_set(e, ERROR_MISSING, "%s '%s'; did you mean '%s'?", what, name, near);
    else
        error_set(e, ERROR_MISSING, "%s '%s'; --list-events shows what there is", what, name);
    namelist_done(&all);
    return false;
}

/* A name without a colon or a slash; NONE when there is none such. */
static enum event_match find_plain(const char *name, struct event *out, bool *core)
{
    struct pmu pmu;
    enum event_match match = event_table_find(name, out);
    *core = false;
    if (match != EVENT_MATCH_NONE)
        return match;
    if (pmu_find_alias(name, &pmu) && pmu_apply(&pmu, name, &out->attr, NULL, 0, NULL)) {
        take_pmu(out, &pmu);
        *core = pmu.core;
        return EVENT_MATCH_FOUND;
    }
    uint64_t config;
    if (!parse_raw(name, &config))
        return EVENT_MATCH_NONE;
    out->kind = EVENT_RAW;
    out->attr.type = PERF_TYPE_RAW;
    out->attr.config = config;
    return EVENT_MATCH_FOUND;
}

static bool parse_tracepoint(const char *text, const char *system, char *rest, struct event *out,
                             struct error *e)
{
    uint64_t id;
    char *mods = strchr(rest, ':');
    if (mods)
        *mods++ = '\0';
    if (!tracepoint_id(system, rest, &id, e))
        return false;
    out->kind = EVENT_TRACEPOINT;
    out->attr.type = PERF_TYPE_TRACEPOINT;
    out->attr.config = id;
    return finish(out, mods, false, text, e);
}

/* name[:modifiers] or system:name[:modifiers]; `name` is ours to cut. */
static bool parse_named(const char *text, char *name, struct event *out, struct error *e)
{
    bool core;
    char *rest = strchr(name, ':');
    if (rest)
        *rest++ = '\0';
    enum event_match match = find_plain(name, out, &core);
    if (match == EVENT_MATCH_FOUND)
        return finish(out, rest, core, text, e);
    /* "cyces:u" is a slip in an event, not a tracepoint "u" of a system "cyces". */
    if (!rest || match == EVENT_MATCH_ILLEGAL || !rest[strspn(rest, MODIFIERS)])
        return unknown_event(name, match, e);
    return parse_tracepoint(text, name, rest, out, e);
}

static bool check_form(const char *text, struct error *e)
{
    if (!*text)
        return error_set(e, ERROR_ARGUMENT, "the event's name is empty; try cycles or cpu-clock");
    if (strlen(text) >= sizeof((struct event *)0)->name)
        return error_set(e, ERROR_ARGUMENT, "event '%.40s…': the name is too long (at most %zu bytes)", text,
                         sizeof((struct event *)0)->name - 1);
    if (text[0] == '{' || (strchr(text, ',') && !strchr(text, '/')))
        return error_set(e, ERROR_ARGUMENT, "'%s' is more than one event: give one, as in '%.*s'", text,
                         (int)strcspn(text + (*text == '{'), ",}"), text + (*text == '{'));
    return true;
}

bool event_parse(const char *text, struct event *out, struct error *e)
{
    event_init(out, text);
    if (!check_form(text, e))
        return false;
    if (!strncmp(text, "mem:", 4))
        return parse_breakpoint(text, out, e);
    const char *slash = strchr(text, '/');
    if (slash)
        return parse_pmu(text, slash, out, e);
    char *copy = mem_strdup(text);
    bool ok = parse_named(text, copy, out, e);
    mem_free(copy);
    return ok;
}
