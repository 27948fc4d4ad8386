// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse several events from one text: commas, groups, and globs. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "perf/event_parse.h"
#include "perf/pair_rows.h"
#include "perf/event_table.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "perf/probe.h"
#include "perf/tracepoint.h"

/* Modifiers of the group as a whole, whichever member has them: not part of a name. */
#define OF_A_GROUP "SW"
/* Ignored around an event, as in perf. */
#define BLANKS " \t\n"
/* The kernel pins the leader, and with it the whole group. */
#define OF_ITS_LEADER "De"

/* The group being parsed. */
struct group {
    const char *mods; /* of all members; NULL: no group */
    size_t leader;    /* index in the list */
    bool reads;
};

static bool add(struct event_list *list, const struct event *ev, struct error *e)
{
    if (list->n == EVENT_LIST_MAX)
        return error_set(e, ERROR_LIMIT, "more than %d events: choose fewer", EVENT_LIST_MAX);
    *VEC_PUSH(list) = *ev;
    return true;
}

/* The modifiers at the end of an event's text; NULL: none. */
static const char *modifiers_of(const char *word)
{
    const char *slash = strrchr(word, '/'), *colon = strrchr(word, ':');
    const char *mods = slash && strncmp(word, "mem:", 4) ? slash + 1 : colon ? colon + 1 : NULL;
    if (mods && *mods == ':')
        mods++;
    return mods && !mods[strspn(mods, EVENT_MODIFIERS)] ? mods : NULL;
}

static unsigned count_of(const char *s, char c)
{
    unsigned n = 0;
    for (; *s; s++)
        n += *s == c;
    return n;
}

/* "cycles:u" and ":kS" of its group → "cycles:uk". */
static void add_modifiers(char *word, size_t cap, const char *group, bool leads)
{
    size_t len = strlen(word);
    bool colon = modifiers_of(word) != NULL;
    for (const char *m = group; *m && len + 2 < cap; m++) {
        const char *own = colon ? modifiers_of(word) : "";
        if (strchr(OF_A_GROUP, *m) || (strchr(OF_ITS_LEADER, *m) && !leads) ||
            count_of(own, *m) >= (*m == 'p' ? 3 : 1))
            continue;
        if (!colon)
            word[len++] = ':';
        colon = true;
        word[len++] = *m;
        word[len] = '\0';
    }
}

/* Remove modifiers of the group from an event's text. Returns true for ":S". */
static bool take_group_modifiers(char *word)
{
    const char *mods = modifiers_of(word);
    bool reads = false;
    if (!mods)
        return false;
    char *to = word + (mods - word);
    for (const char *m = mods; *m; m++) {
        reads |= *m == 'S';
        if (!strchr(OF_A_GROUP, *m))
            *to++ = *m;
    }
    if (to == mods && to[-1] == ':')
        to--;
    *to = '\0';
    return reads;
}

static bool has(const struct event_list *list, bool (*is)(const struct event *ev))
{
    for (size_t i = 0; i < list->n; i++)
        if (is(&list->items[i]))
            return true;
    return false;
}

static bool samples_cpu(const struct event *ev)
{
    return !ev->wall && event_is_cpu_time(&ev->attr);
}

static bool samples_waits(const struct event *ev)
{
    return ev->off_cpu;
}

/* Adds off-cpu and wakers, one behind the other, unless the list has them; in a group, off-cpu only. Any
 * other event: itself. */
static bool add_waits(struct event_list *list, const struct event *ev, const struct group *g, struct error *e)
{
    struct event off_cpu = *ev, wakers = *ev;
    if (g->mods || !event_is_wait(ev))
        return ev->wakers
                   ? error_set(e, ERROR_ARGUMENT, "wakers is no member of a group: sample it by itself")
                   : add(list, ev, e);
    if (ev->wakers && !event_parse_one("off-cpu", &off_cpu, e))
        return false;
    bool both = ev->wakers || event_make_wakers(&off_cpu, &wakers, NULL);
    if (!has(list, samples_waits) && (!add(list, &off_cpu, e) || (both && !add(list, &wakers, e))))
        return false;
    for (size_t i = 0; i < list->n; i++) {
        list->items[i].shown |= ev->wakers && list->items[i].wakers;
        list->items[i].implied &= !event_is_wait(&list->items[i]);
    }
    return true;
}

/* Adds wall, behind what its samples are made from. */
static bool add_wall(struct event_list *list, const struct event *wall, const struct group *g,
                     struct error *e)
{
    struct event cycles, off_cpu;
    size_t first = list->n;
    if (g->mods)
        return error_set(e, ERROR_ARGUMENT, "wall is no member of a group: sample it by itself");
    bool ok = (has(list, samples_cpu) || (event_parse_one("cycles", &cycles, e) && add(list, &cycles, e))) &&
              (has(list, samples_waits) ||
               (event_parse_one("off-cpu", &off_cpu, e) && add_waits(list, &off_cpu, g, e)));
    for (size_t i = first; i < list->n; i++)
        list->items[i].implied = true;
    return ok && add(list, wall, e);
}

/* Events of either filter. */
static void join_filters(struct event *ev, const struct event *part)
{
    char joined[EVENT_FILTER_MAX];
    if (!strcmp(ev->filter, part->filter))
        return;
    bool both = *ev->filter && *part->filter;
    int n = snprintf(joined, sizeof joined, "(%s) || (%s)", ev->filter, part->filter);
    (void)snprintf(ev->filter, sizeof ev->filter, "%s", both && n < (int)sizeof joined ? joined : "");
}

/* Adds a tracepoint of latency:ROW, unless another row has added it. */
static bool add_part(struct event_list *list, const struct event *part, struct error *e)
{
    for (size_t i = 0; i < list->n; i++) {
        struct event *ev = &list->items[i];
        if (!event_is_part(ev, part))
            continue;
        if (strcmp(ev->key, part->key)) /* the selections would differ */
            *ev->key = '\0';
        ev->ends |= part->ends;
        join_filters(ev, part);
        ev->no_stack &= part->no_stack;
        return true;
    }
    return add(list, part, e);
}

static bool samples_wakers(const struct event *ev)
{
    return ev->wakers;
}

/* Adds latency:ROW of waits for a CPU, behind off-cpu and wakers. */
static bool add_waits_latency(struct event_list *list, const struct event *latency, const struct group *g,
                              struct error *e)
{
    struct event off_cpu, wakers;
    size_t first = list->n;
    bool ok = has(list, samples_waits) ||
              (event_parse_one("off-cpu", &off_cpu, e) && add_waits(list, &off_cpu, g, e));
    if (ok && !has(list, samples_wakers)) /* off-cpu does without them; the error says why they are missing */
        ok = event_parse_one("wakers", &wakers, e) && add(list, &wakers, e);
    for (size_t i = first; i < list->n; i++)
        list->items[i].implied = true;
    return ok && add(list, latency, e);
}

/* Adds latency:ROW, behind the tracepoints that its samples are made from. */
static bool add_latency(struct event_list *list, const struct event *latency, const struct group *g,
                        struct error *e)
{
    struct event parts[EVENT_LATENCY_PARTS];
    if (g->mods)
        return error_set(e, ERROR_ARGUMENT, "%s is no member of a group: sample it by itself", latency->name);
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].latency && list->items[i].pair == latency->pair)
            return true;
    if (latency->pair->of_waits)
        return add_waits_latency(list, latency, g, e);
    if (!event_latency_parts(latency, parts, e))
        return e && !e->placed ? error_at(e, 0) : false;
    for (int i = 0; i < EVENT_LATENCY_PARTS; i++)
        if (*parts[i].tracepoint && !add_part(list, &parts[i], e))
            return false;
    return add(list, latency, e);
}

/* Parse and add an event. A member of a group is first parsed on its own, so that errors have their correct
 * location. */
static bool add_one(struct event_list *list, const char *text, struct group *g, struct error *e)
{
    struct event ev;
    char word[EVENT_NAME_MAX + 32];
    if (g->mods && probe_is_definition(text)) {
        error_set(e, ERROR_ARGUMENT, "a probe is no member of a group: sample it by itself");
        return error_at(e, 0);
    }
    if (!event_parse_one(text, &ev, e))
        return false;
    if (g->mods) {
        bool leads = list->n == g->leader;
        snprintf(word, sizeof word, "%s", text);
        g->reads |= take_group_modifiers(word) && leads;
        add_modifiers(word, sizeof word, g->mods, leads);
        if (!event_parse_one(word, &ev, e))
            return false;
    }
    return ev.latency ? add_latency(list, &ev, g, e)
           : ev.wall  ? add_wall(list, &ev, g, e)
                      : add_waits(list, &ev, g, e);
}

/* ---- tracepoint globs ---- */

static bool is_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

struct glob {
    char *system, *name;
    const char *tail; /* terms and modifiers */
};

static bool add_matches(struct event_list *list, const struct glob *glob, const char *system, struct group *g,
                        struct error *e)
{
    struct namelist names = { 0 };
    char text[3 * EVENT_NAME_MAX];
    bool ok = true;
    tracepoint_names(system, &names, NULL);
    for (size_t i = 0; ok && i < names.n; i++) {
        if (fnmatch(glob->name, names.items[i], 0) || !tracepoint_exists(system, names.items[i]))
            continue;
        snprintf(text, sizeof text, "%s:%s%s", system, names.items[i], glob->tail);
        ok = add_one(list, text, g, e);
    }
    namelist_done(&names);
    return ok;
}

static bool no_match(const struct glob *glob, const char *text, const struct namelist *systems,
                     struct error *e)
{
    const char *near = is_glob(glob->system) ? NULL : namelist_nearest(systems, glob->system);
    bool known = near && !strcmp(near, glob->system);
    error_set(e, ERROR_MISSING, "no tracepoint matches '%s'", text);
    if (known)
        error_hint(e, "--list-events '%s:*' shows what %s has", glob->system, glob->system);
    else if (near)
        error_hint(e, "did you mean '%s:%s'?", near, glob->name);
    else
        error_hint(e, "--list-events lists all events");
    return error_at(e, known ? strlen(glob->system) + 1 : 0);
}

static bool add_tracepoints(struct event_list *list, const char *text, const struct glob *glob,
                            struct group *g, struct error *e)
{
    struct namelist systems = { 0 };
    size_t before = list->n;
    bool ok = tracepoint_systems(&systems, e);
    for (size_t i = 0; ok && i < systems.n; i++)
        if (!fnmatch(glob->system, systems.items[i], 0))
            ok = add_matches(list, glob, systems.items[i], g, e);
    if (ok && list->n == before)
        ok = no_match(glob, text, &systems, e);
    namelist_done(&systems);
    return ok;
}

/* Split a tracepoint glob such as "sched:*" or "sys*:sys_enter_[or]*:u", with or without terms. False: not
 * a glob. */
static bool take_glob(const char *text, struct glob *out)
{
    size_t head = strcspn(text, "/"), system = strcspn(text, ":");
    if (system >= head || !strncmp(text, "mem:", 4))
        return false;
    size_t name = strcspn(text + system + 1, ":/");
    *out = (struct glob){ mem_strndup(text, system), mem_strndup(text + system + 1, name),
                          text + system + 1 + name };
    if (is_glob(out->system) || is_glob(out->name))
        return true;
    mem_free(out->system);
    mem_free(out->name);
    return false;
}

/* ---- PMUs with several instances ---- */

static bool add_pmus(struct event_list *list, const char *tail, const struct namelist *pmus, struct group *g,
                     struct error *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pmus->n; i++) {
        struct buf b = { 0 };
        buf_printf(&b, "%s%s", pmus->items[i], tail);
        ok = add_one(list, buf_str(&b), g, e);
        buf_done(&b);
    }
    return ok;
}

static bool is_probe(const char *text)
{
    return probe_is_definition(
        text + (strncmp(text, EVENT_LATENCY, strlen(EVENT_LATENCY)) ? 0 : strlen(EVENT_LATENCY)));
}

static bool add_named(struct event_list *list, const char *text, struct group *g, struct error *e)
{
    struct glob glob;
    list->last = list->n;
    if (!is_probe(text) && take_glob(text, &glob)) {
        bool ok = add_tracepoints(list, text, &glob, g, e);
        mem_free(glob.system);
        mem_free(glob.name);
        return ok;
    }
    const char *slash = strchr(text, '/');
    char *head = mem_strndup(text, slash ? (size_t)(slash - text) : 0);
    struct namelist pmus = { 0 };
    struct event ignored;
    struct pmu pmu;
    if (slash && !strchr(head, ':') && event_table_find(head, &ignored) == EVENT_MATCH_NONE &&
        !pmu_find(head, &pmu, NULL))
        pmu_match(head, &pmus);
    bool ok = pmus.n ? add_pmus(list, slash, &pmus, g, e) : add_one(list, text, g, e);
    namelist_done(&pmus);
    mem_free(head);
    return ok;
}

/* ---- commas and braces ---- */

/* True for events whose slashes do not enclose terms. */
static bool has_own_slashes(const char *s)
{
    static const char *const starts[] = { "mem:", PROBE_PREFIX, PROBE_MARKER_PREFIX, EVENT_LATENCY };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(s, starts[i], strlen(starts[i])))
            return true;
    return false;
}

/* Length up to the comma behind an event, or the end; commas between slashes and braces belong to the
 * event. */
static size_t length_of(const char *s, bool braces)
{
    bool terms = false, mem = has_own_slashes(s);
    int depth = 0;
    size_t i = 0;
    for (; s[i]; i++) {
        if (s[i] == '/' && !mem)
            terms = !terms;
        if (terms)
            continue;
        depth += braces ? (s[i] == '{') - (s[i] == '}') : 0;
        if (s[i] == ',' && depth <= 0)
            break;
        if (depth > 0 && (s[i] == ',' || s[i] == '{'))
            mem = has_own_slashes(s + i + 1);
    }
    return i;
}

typedef bool add_fn(struct event_list *list, const char *text, struct group *g, struct error *e);

static bool add_each(struct event_list *list, const char *text, struct group *g, bool braces, add_fn *fn,
                     struct error *e)
{
    bool ok = true;
    for (const char *s = text; ok;) {
        s += strspn(s, BLANKS);
        size_t n = length_of(s, braces), end = n;
        while (end && strchr(BLANKS, s[end - 1]))
            end--;
        char *item = mem_strndup(s, end);
        ok = fn(list, item, g, e) || error_shift(e, (size_t)(s - text));
        mem_free(item);
        if (!s[n])
            break;
        s += n + 1;
    }
    return ok;
}

static bool wrong_group(const char *text, size_t at, const char *what, struct error *e)
{
    error_set(e, ERROR_ARGUMENT, "'%s': %s; a group is {event,event,…}[:modifiers]", text, what);
    return error_at(e, at);
}

/* Complete a group. A single event is not a group. */
static bool end_group(struct event_list *list, const struct group *g, const char *text, struct error *e)
{
    size_t members = list->n - g->leader;
    if (members > EVENT_GROUP_MAX)
        return wrong_group(text, 0, "there are at most 8 events in a group", e);
    if (members > 1) {
        list->items[g->leader].members = (uint8_t)members;
        list->items[g->leader].reads = g->reads;
    }
    return true;
}

/* Parse "{a,b}:S" or "name{a,b}". */
static bool add_group(struct event_list *list, const char *text, struct group *none, struct error *e)
{
    size_t open = strcspn(text, "{/:"), stray = strcspn(text, "{}/");
    if (text[stray] == '}')
        return wrong_group(text, stray, "there is no open group to close", e);
    if (text[open] != '{')
        return add_named(list, text, none, e);
    const char *close = strrchr(text, '}');
    if (!close)
        return wrong_group(text, open, "the brace is not closed", e);
    size_t after = (size_t)(close + 1 - text);
    if (text[after] && text[after] != ':')
        return wrong_group(text, after, "something else follows the brace", e);
    const char *mods = text[after] ? text + after + 1 : "";
    if (text[after] && !event_check_modifiers(mods, text, e))
        return error_shift(e, after + 1);
    char *inside = mem_strndup(text + open + 1, (size_t)(close - text) - open - 1);
    struct group g = { mods, list->n, strchr(mods, 'S') != NULL };
    bool ok = (!strchr(inside, '{') ||
               wrong_group(text, open + 1 + strcspn(inside, "{"), "groups do not nest", e)) &&
              (add_each(list, inside, &g, false, add_named, e) || error_shift(e, open + 1));
    mem_free(inside);
    return ok && end_group(list, &g, text, e);
}

static bool parse_names(struct event_list *list, const char *text, struct error *e)
{
    return add_each(list, text, &(struct group){ NULL, 0, false }, true, add_group, e) || error_show(e, text);
}

/* The opening bracket of a filter, as in "sched:sched_switch[prev_state & 255]"; NULL: none. Brackets of a
 * glob contain no comparison. */
static const char *filter_of(const char *text)
{
    size_t n = strlen(text);
    const char *open = strchr(text, '[');
    return open && open > text && text[n - 1] == ']' && strpbrk(open, "=<>&~") ? open : NULL;
}

static bool parse_list(struct event_list *list, const char *text, struct error *e)
{
    const char *open = filter_of(text);
    if (!open)
        return parse_names(list, text, e);
    char *names = mem_strndup(text, (size_t)(open - text));
    char *filter = mem_strndup(open + 1, strlen(open) - 2);
    size_t first = list->n;
    bool ok = parse_names(list, names, e) && event_list_filter(list, first, filter, e);
    mem_free(names);
    mem_free(filter);
    return ok;
}

bool event_list_parse(struct event_list *list, const char *text, struct error *e)
{
    size_t before = list->n;
    if (parse_list(list, text, e))
        return true;
    list->n = before;
    return false;
}

bool event_parse_list(const char *text, struct event *out, uint32_t cap, uint32_t *n, struct error *e)
{
    struct event_list list = { 0 };
    bool ok = parse_list(&list, text, e);
    if (ok && *n + list.n > cap)
        ok = error_set(e, ERROR_LIMIT, "-e %s: at most %u events at a time", text, cap);
    for (size_t i = 0; ok && i < list.n; i++)
        out[(*n)++] = list.items[i];
    event_list_done(&list);
    return ok;
}

const struct event *event_shown_first(const struct event *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].shown)
            return &list[i];
    return list;
}

bool event_list_filter(struct event_list *list, size_t first, const char *filter, struct error *e)
{
    if (first >= list->n)
        return error_set(e, ERROR_ARGUMENT,
                         "--filter '%s': it must follow a tracepoint: -e sched:sched_switch "
                         "--filter 'prev_prio < 100'",
                         filter);
    for (size_t i = first; i < list->n; i++) {
        struct event *ev = &list->items[i];
        char joined[EVENT_FILTER_MAX];
        if (ev->wakers) /* the filter is for off-cpu, whose fields are others */
            continue;
        if (ev->kind != EVENT_TRACEPOINT)
            return error_set(
                e, ERROR_ARGUMENT,
                "--filter '%s': %s is not a tracepoint; only tracepoints have fields to filter by", filter,
                ev->name);
        int n = snprintf(joined, sizeof joined, *ev->filter ? "(%s) && (%s)" : "%s%s", ev->filter, filter);
        if (!*filter || n >= (int)sizeof joined)
            return error_set(e, ERROR_ARGUMENT,
                             *filter ? "--filter: at most %d bytes are allowed" : "--filter: it is empty",
                             EVENT_FILTER_MAX - 1);
        memcpy(ev->filter, joined, sizeof joined);
    }
    return true;
}

void event_list_done(struct event_list *list)
{
    mem_free(list->items);
    *list = (struct event_list){ 0 };
}
