// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters view: `perf stat -a -d` live, per interval, with history, and by CPU, core, socket, cgroup,
 * process or thread.
 * It counts only while it is visible. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/counters.h"
#include "session/machine_load.h"
#include "ui/app.h"
#include "ui/counters_draw.h"
#include "ui/list.h"
#include "ui/view_ops.h"

#define SHORTEST_NS (100 * NS_PER_MS) /* a shorter interval is mostly noise */
#define DETAIL_MAX  3

struct counters_view {
    struct counters counters;
    struct error why_not;    /* set when nothing is counted */
    struct scope opened_for; /* the scope being counted */
    uint64_t read_ns;
    bool parts;
    struct list list; /* over both tables */
    struct machine_load load;
    bool load_open;
};

static void counters_init(void *state, struct app *a)
{
    struct counters_view *v = state;
    v->parts = true;
    scope_init(&v->opened_for);
    v->counters.how.detail = a->cfg->counters_detail ? a->cfg->counters_detail : 1;
    v->counters.by = a->cfg->counters_by;
}

static void counters_destroy(void *state)
{
    struct counters_view *v = state;
    counters_done(&v->counters);
    machine_load_done(&v->load);
    scope_done(&v->opened_for);
}

/* Stops counting, because each open counter costs a little with each event. Frozen counts stay. */
static void counters_hide(void *state, struct app *a)
{
    struct counters_view *v = state;
    if (a->status.frozen)
        return;
    counters_stop(&v->counters);
    v->load_open = false;
}

static uint64_t line_key(const void *ctx, uint32_t line)
{
    const struct counters_view *v = ctx;
    const struct counters *c = &v->counters;
    uint32_t lines = counters_lines(c);
    if (line < lines)
        return (uint64_t)count_event_of(c->set, counters_line_row(c, line)) + 1;
    line -= lines;
    if (line < v->load.rows.n)
        return v->load.rows.items[line].key;
    line -= (uint32_t)v->load.rows.n;
    return line < c->n_parts ? (UINT64_C(1) << 63 | (uint64_t)c->by << 48) ^ c->parts[line].part.key : 0;
}

static void update_list(struct counters_view *v)
{
    const struct counters *c = &v->counters;
    list_update(&v->list, counters_lines(c) + (uint32_t)v->load.rows.n + (v->parts ? c->n_parts : 0),
                line_key, v);
}

static void open_for(struct counters_view *v, struct app *a)
{
    const struct scope *scope = session_running_scope(a->session);
    bool same = scope_equal(scope, &v->opened_for);
    if (!same || !v->load_open)
        machine_load_open(&v->load, scope);
    v->load_open = true;
    if (same && v->counters.set)
        return;
    if (!same)
        counters_forget(&v->counters);
    error_clear(&v->why_not);
    scope_done(&v->opened_for);
    scope_copy(&v->opened_for, scope);
    counters_open(&v->counters, scope, &v->why_not);
    v->read_ns = clock_now_ns();
}

static void counters_update(void *state, struct app *a)
{
    struct counters_view *v = state;
    if (a->status.file || a->status.frozen)
        return;
    open_for(v, a);
    uint64_t now = clock_now_ns();
    if (now - v->load.read_ns >= SHORTEST_NS)
        machine_load_read(&v->load);
    if (v->counters.set && now - v->read_ns >= SHORTEST_NS) {
        v->read_ns = now;
        if (!counters_read(&v->counters, &v->why_not))
            counters_stop(&v->counters);
    }
    update_list(v);
}

/* Draws why nothing is counted. Returns the number of lines. */
static int draw_nothing(const struct counters_view *v, const struct app *a, struct area area)
{
    char text[sizeof v->why_not.text], key[16];
    struct area in = area_sub(area, 1, 2, -1, area.cols - 4);
    (void)snprintf(text, sizeof text, "counting ...");
    if (a->status.file)
        (void)snprintf(text, sizeof text, "Counters need a running system: a perf.data holds samples only.");
    else if (a->held)
        (void)snprintf(text, sizeof text, "The sampled processes have ended: there is nothing to count.");
    else if (a->status.frozen)
        (void)snprintf(text, sizeof text, "Frozen before anything was counted here: %s thaws.",
                       keymap_first(a->keymap, ACTION_FREEZE, key));
    else if (*v->why_not.text)
        (void)snprintf(text, sizeof text, "%s", v->why_not.text);
    return draw_wrapped(in, 0, STYLE_DIM, text) + 2;
}

static void draw(void *state, struct app *a, struct area area)
{
    struct counters_view *v = state;
    char key[16];
    bool tables = !a->status.file && (!a->status.frozen || v->counters.counted || v->load.rows.n);
    if (!tables || !v->counters.set)
        area = area_sub(area, draw_nothing(v, a, area), 0, -1, -1);
    if (tables)
        counters_draw(&v->counters, &v->load, &v->list, v->parts, keymap_first(a->keymap, ACTION_GROUP, key),
                      area);
}

/* Refuses when the counts are frozen: reopening would discard them. */
static bool is_still(const struct counters_view *v, struct app *a, unsigned *flags)
{
    char key[16];
    bool still = a->status.frozen || a->status.file || a->held || !v->counters.set;
    if (still)
        *flags = app_message(a, "nothing is counted now%s%s%s", a->status.frozen && !a->held ? ": " : "",
                             a->status.frozen && !a->held ? keymap_first(a->keymap, ACTION_FREEZE, key) : "",
                             a->status.frozen && !a->held ? " thaws" : "");
    return still;
}

static unsigned set_detail(struct counters_view *v, struct app *a, int step)
{
    static const char *const words[] = { "", "-d", "-d -d", "-d -d -d" };
    struct counters *c = &v->counters;
    unsigned wanted = c->how.detail + (unsigned)step, flags;
    if (is_still(v, a, &flags))
        return flags;
    if (wanted < 1 || wanted > DETAIL_MAX)
        return app_message(a, "no %s events than those of perf stat %s", step > 0 ? "more" : "fewer",
                           words[c->how.detail]);
    c->how.detail = wanted;
    counters_stop(c);
    return APP_QUERY | app_message(a, "events as in perf stat %s", words[wanted]);
}

static unsigned next_split(struct counters_view *v, struct app *a)
{
    unsigned flags;
    if (is_still(v, a, &flags))
        return flags;
    if (!counters_next_split(&v->counters, session_running_scope(a->session), &v->why_not))
        counters_stop(&v->counters);
    v->parts = true;
    v->read_ns = clock_now_ns();
    return APP_QUERY;
}

static unsigned counters_act(void *state, struct app *a, enum action action)
{
    struct counters_view *v = state;
    switch (action) {
    case ACTION_COUNTERS_CPUS:
        v->parts = !v->parts;
        update_list(v);
        return APP_REDRAW;
    case ACTION_COUNTERS_MORE:
        return set_detail(v, a, 1);
    case ACTION_COUNTERS_FEWER:
        return set_detail(v, a, -1);
    case ACTION_GROUP:
        return next_split(v, a);
    default:
        return list_act(&v->list, action, line_key, v) ? APP_REDRAW : APP_IGNORED;
    }
}

static void counters_describe(void *state, struct app *a, char *dst, size_t cap)
{
    const struct counters_view *v = state;
    snprintf(dst, cap, "per second, last %.3g s, by %s", a->delay_s, count_by_names[v->counters.by]);
}

const struct view_ops view_counters_ops = {
    .intro =
        "What perf stat -a -d prints, for the present scope: events per second since the last redraw. "
        "RUN% is the share of time in which an event had a hardware counter; counts are scaled up by it. "
        "The rows after the events are of the system: load average; run queue, the threads that run or wait "
        "for a CPU; threads blocked on a disk or the like; steal, the share of time that the host gave to "
        "other VMs; pressure (PSI), the share of the time since the last redraw in which some or all threads "
        "waited for a CPU, I/O, memory or interrupts. If the scope is cgroups, each has its own pressure. "
        "A note on the row under the cursor is below the table. The lower table splits the sum by CPU, "
        "process and the like.",
    .manual =
        "The events of perf stat \\-a \\-d, counted anew in each interval. The count of an event that was "
        "counted for only part of the time is scaled up, and RUN% is that part. After the events: load "
        "average, run queue, steal time and pressure stall information (PSI) of the system; if the scope is "
        "cgroups, also the pressure of each.\n",
    .without = { ACTION_SEARCH, ACTION_FILTER, ACTION_SORT, ACTION_GROUP_MENU, ACTION_CALLERS, ACTION_MODE,
                 ACTION_WINDOW },
    .no_query = true,
    .size = sizeof(struct counters_view),
    .init = counters_init,
    .destroy = counters_destroy,
    .hide = counters_hide,
    .update = counters_update,
    .draw = draw,
    .act = counters_act,
    .describe = counters_describe,
};
