// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --list-events: the events of this system by kind, and whether each one opens. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"

/* The kernel needs tens of milliseconds to close a tracepoint. If more than these are listed, only the first
 * of each system is tried, and all are closed after everything is printed. */
#define TRACEPOINTS_TRIED 64
#define REASONS           3 /* per group */

struct row {
    const char *group, *name, *alias, *help;
    bool tracepoint;
};

struct listing {
    const char *glob;
    struct arena strings;
    VEC(struct row) rows;
    size_t tracepoints;
    struct buf out;
    VEC(int) held;
    bool each_tracepoint;
    char reasons[REASONS][480];
    size_t n_reasons, refused; /* in the current group */
};

static const char *keep(struct listing *l, const char *text)
{
    return text ? arena_strndup(&l->strings, text, strlen(text)) : NULL;
}

static bool add(void *ctx, const struct event_row *r)
{
    struct listing *l = ctx;
    bool tracepoint = !strncmp(r->group, "Tracepoint: ", 12);
    const struct row *last = l->rows.n ? &l->rows.items[l->rows.n - 1] : NULL;
    const char *group = last && !strcmp(last->group, r->group) ? last->group : keep(l, r->group);
    *VEC_PUSH(&l->rows) =
        (struct row){ group, keep(l, r->name), keep(l, r->alias), keep(l, r->help), tracepoint };
    return true;
}

/* ---- which events are listed: those that match GLOB, else those of a kind (perf list's words or the group's
 * title), else those with the text in their name ---- */

static bool by_glob(const struct row *r, const char *text)
{
    return !fnmatch(text, r->name, 0) || (r->alias && !fnmatch(text, r->alias, 0));
}

static bool by_kind(const struct row *r, const char *text)
{
    size_t kind = strcspn(r->group, ":");
    const char *word = !strcmp(text, "hw") ? "hardware" : !strcmp(text, "sw") ? "software" : text;
    bool named = r->group[kind] && !strcmp(r->group + kind + 2, text); /* "Tracepoint: sched" */
    return named || (strlen(word) == kind && !strncasecmp(r->group, word, kind));
}

static bool by_part(const struct row *r, const char *text)
{
    return strcasestr(r->name, text) || (r->alias && strcasestr(r->alias, text));
}

static void choose(struct listing *l)
{
    static bool (*const rules[])(const struct row *r, const char *text) = { by_glob, by_kind, by_part };
    size_t n = 0;
    for (size_t rule = 0; l->glob && !n && rule < sizeof rules / sizeof *rules; rule++)
        for (size_t i = 0; i < l->rows.n; i++)
            if (rules[rule](&l->rows.items[i], l->glob))
                l->rows.items[n++] = l->rows.items[i];
    if (l->glob)
        l->rows.n = n;
    for (size_t i = 0; i < l->rows.n; i++)
        l->tracepoints += l->rows.items[i].tracepoint;
}

static void hold(struct listing *l, int fd)
{
    *VEC_PUSH(&l->held) = fd;
}

/* Adds a reason without the event's name before it: many events have the same reason, which is listed
 * once. */
static void add_reason(struct listing *l, const char *name, const char *why)
{
    size_t n = strlen(name);
    if (!strncmp(why, name, n) && why[n] == ':')
        why += n + 1 + strspn(why + n + 1, " ");
    l->refused++;
    for (size_t i = 0; i < l->n_reasons; i++)
        if (!strcmp(l->reasons[i], why))
            return;
    if (l->n_reasons < REASONS)
        snprintf(l->reasons[l->n_reasons++], sizeof l->reasons[0], "%s", why);
}

static char try_event(struct listing *l, const struct row *r)
{
    struct event ev;
    struct error e = { 0 };
    int fd = -1;
    bool parsed = event_parse(r->name, &ev, &e);
    if (parsed && ev.kind == EVENT_TOOL)
        return '+';
    if (parsed && (fd = event_try(&ev, &e)) >= 0) {
        if (r->tracepoint || ev.latency)
            hold(l, fd);
        else
            close(fd);
        return '+';
    }
    add_reason(l, r->name, e.text);
    return '-';
}

static void put_row(struct listing *l, const struct row *r, char mark)
{
    char fields[400], system[128];
    const char *help = r->help;
    if (r->tracepoint) {
        size_t n = strcspn(r->name, ":");
        snprintf(system, sizeof system, "%.*s", (int)n, r->name);
        help = tracepoint_fields(system, r->name + n + 1, fields, sizeof fields) ? fields : NULL;
    }
    buf_printf(&l->out, "  %c %-40s %s%s%s%s\n", mark, r->name, r->alias ? "(" : "", r->alias ? r->alias : "",
               r->alias ? ") " : "", help ? help : "");
}

static void end_group(struct listing *l)
{
    for (size_t i = 0; i < l->n_reasons; i++)
        buf_printf(&l->out, "    - %s\n", l->reasons[i]);
    l->n_reasons = l->refused = 0;
}

static void put_rows(struct listing *l)
{
    const char *group = NULL;
    char mark = '-';
    for (size_t i = 0; i < l->rows.n; i++) {
        const struct row *r = &l->rows.items[i];
        bool first = r->group != group;
        if (first) {
            end_group(l);
            buf_printf(&l->out, "%s%s\n", i ? "\n" : "", r->group);
            group = r->group;
        }
        if (first || !r->tracepoint || l->each_tracepoint || mark == '-')
            mark = try_event(l, r);
        else
            mark = '=';
        put_row(l, r, mark);
    }
    end_group(l);
}

/* ---- events without a name: their syntax ---- */

static char try_text(const char *text, struct listing *l)
{
    return try_event(l, &(struct row){ .name = text });
}

static void put_form(struct listing *l, char mark, const char *form, const char *help)
{
    buf_printf(&l->out, "  %c %-40s %s\n", mark, form, help);
}

static bool put_formats(void *ctx, const struct pmu *pmu)
{
    struct listing *l = ctx;
    char formats[600], form[96];
    snprintf(form, sizeof form, "%s/term=value,…/", pmu->name);
    if (pmu_formats(pmu, formats, sizeof formats))
        put_form(l, ' ', form, formats);
    return true;
}

static void put_forms(struct listing *l)
{
    char own[64];
    snprintf(own, sizeof own, "mem:%p/4:w", (void *)&l->refused);
    buf_puts(&l->out, "\nRaw events and breakpoints\n");
    put_form(l, try_text("r0", l), "rNNN", "raw CPU event by hexadecimal code (event and umask)");
    put_form(l, try_text(own, l), "mem:ADDRESS[/LENGTH][:rwx]",
             "hardware breakpoint: the CPU reads, writes or executes ADDRESS (1, 2, 4 or 8 bytes)");
    pmu_each(put_formats, l);
    end_group(l);
}

static void put_legend(struct listing *l)
{
    buf_puts(&l->out, "\n+ opens here   - does not open: the reason is below its group");
    if (l->tracepoints && !l->each_tracepoint)
        buf_puts(&l->out,
                 "   = same as the first of its system, which was tried: --list-events 'sched:*' tries each");
    buf_puts(
        &l->out,
        "\nModifiers: name:u user, k kernel, p pp ppp P precise, G H guest or host, D pinned, e exclusive, "
        "I not idle\n");
}

static bool print(struct listing *l, struct error *e)
{
    bool ok = file_write_all(STDOUT_FILENO, buf_str(&l->out), l->out.len, e);
    close(STDOUT_FILENO); /* a reader of the pipe need not wait until the kernel has closed the tracepoints */
    return ok;
}

int list_events(const char *glob)
{
    struct listing l = { .glob = glob };
    struct error e = { 0 };
    bool no_tracefs = false, ok = true;
    event_each(add, &l, &no_tracefs);
    choose(&l);
    l.each_tracepoint = l.tracepoints <= TRACEPOINTS_TRIED;
    put_rows(&l);
    if (!glob)
        put_forms(&l);
    if (l.rows.n)
        put_legend(&l);
    if (no_tracefs) {
        struct namelist none = { 0 };
        tracepoint_systems(&none, &e);
        fprintf(stderr, "flametop: %s\n", e.text);
        namelist_done(&none);
    }
    if (l.rows.n)
        ok = print(&l, &e);
    else
        fprintf(stderr, "flametop: no event matches %s\n", glob ? glob : "");
    if (!ok && e.sys != EPIPE)
        fprintf(stderr, "flametop: %s\n", e.text);
    for (size_t i = 0; i < l.held.n; i++)
        close(l.held.items[i]);
    mem_free(l.held.items);
    mem_free(l.rows.items);
    arena_done(&l.strings);
    buf_done(&l.out);
    return l.rows.n && ok ? 0 : 1;
}
