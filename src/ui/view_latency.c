// SPDX-License-Identifier: GPL-2.0-or-later
/* The latency view: how long operations take, of an event latency:ROW. Three charts: a table with a
 * histogram, a heat map over time, and the slowest operations. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/dialog.h"
#include "ui/picker.h"
#include "ui/view_latency.h"
#include "ui/view_ops.h"

static const struct latency_chart_ops *const charts[LATENCY_CHARTS] = {
    [LATENCY_TABLE] = &latency_table_ops,
    [LATENCY_HEAT] = &latency_heat_ops,
    [LATENCY_SLOW] = &latency_slow_ops,
};

static void latency_hide(void *v, struct app *a)
{
    struct latency_view *w = v;
    (void)a;
    for (int i = 0; i < LATENCY_CHARTS; i++)
        if (charts[i]->hide)
            charts[i]->hide(w);
    operation_rows_done(&w->rows);
}

static void latency_destroy(void *v)
{
    latency_hide(v, NULL);
}

/* Another chosen event with latencies; UINT32_MAX: none. */
static uint32_t find_elsewhere(struct app *a)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(a->session, &list), found = UINT32_MAX;
    for (uint32_t i = n; i-- > 0;)
        if (list[i].latency && !list[i].left_out && !list[i].removed && !list[i].shown)
            found = i;
    mem_free(list);
    return found;
}

static void latency_update(void *v, struct app *a)
{
    struct latency_view *w = v;
    w->error = (struct error){ 0 };
    if (a->data.latency || w->query_serial != a->query_serial) /* the list of events is expensive */
        w->elsewhere = a->data.latency ? UINT32_MAX : find_elsewhere(a);
    latency_table_ops.update(w, a);
    if (w->chart != LATENCY_TABLE && a->data.latency && w->rows.n)
        charts[w->chart]->update(w, a);
}

/* --- drawing --- */

/* Says what to do while the event has no latencies. */
static void draw_nothing(const struct latency_view *w, struct app *a, struct area area)
{
    char text[300], drill[16], other[16];
    keymap_first(a->keymap, ACTION_DRILL, drill);
    keymap_first(a->keymap, ACTION_EVENT, other);
    if (w->error.text[0])
        (void)snprintf(text, sizeof text, "%.299s", w->error.text);
    else if (w->elsewhere != UINT32_MAX)
        (void)snprintf(
            text, sizeof text,
            "%.100s does not say how long operations take: %s shows an event latency:ROW that does",
            a->status.event, drill);
    else if (a->status.file)
        (void)snprintf(
            text, sizeof text,
            "the recording does not say how long operations take: flametop -e latency:ROW records it");
    else
        (void)snprintf(
            text, sizeof text,
            "how long operations take is not measured: %s (or %s) lists the operations that this system "
            "can measure, latency:ROW, and says why it cannot measure the others",
            drill, other);
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}

/* Appends what is not in the rows. Returns the lines needed. */
static int put_losses(const struct latency_view *w, struct buf *text)
{
    struct buf part = { 0 };
    if (operation_losses_put(&w->rows.losses, "; ", &part))
        buf_printf(text, "not counted: %s", buf_str(&part));
    buf_clear(&part);
    if (operation_arguments_put(&w->rows.losses, &part))
        buf_printf(text, "%s%s", text->len ? "; " : "", buf_str(&part));
    buf_done(&part);
    return text->len ? 1 : 0;
}

static int draw_losses(const struct latency_view *w, struct area area)
{
    struct buf text = { 0 };
    int lines = put_losses(w, &text);
    if (lines)
        draw_elided(area, 0, 0, area.cols, STYLE_LABEL, buf_str(&text), false);
    buf_done(&text);
    return lines;
}

static void latency_draw(void *v, struct app *a, struct area area)
{
    struct latency_view *w = v;
    if (!a->data.latency || w->error.text[0]) {
        draw_nothing(w, a, area);
        return;
    }
    int losses = draw_losses(w, area);
    area = area_sub(area, losses, 0, -1, -1);
    if (w->rows.n)
        charts[w->chart]->draw(w, a, area);
    else
        view_draw_empty(a, area);
}

static void latency_describe(void *v, struct app *a, char *dst, size_t cap)
{
    struct latency_view *w = v;
    dst[0] = '\0';
    if (a->data.latency)
        charts[w->chart]->describe(w, a, dst, cap);
}

/* --- keys --- */

static unsigned take_limits(void *ctx, struct app *a, const char *text)
{
    uint64_t min_ns = 0, max_ns = 0;
    struct error e = { 0 };
    (void)ctx;
    if (!text)
        return APP_REDRAW;
    if (*text && !operation_range_parse(text, &min_ns, &max_ns, &e))
        return app_error(a, &e);
    return range_set_operations(a, a->query.from_ns, a->query.to_ns, min_ns, max_ns);
}

static unsigned ask_limits(struct app *a)
{
    if (!a->data.latency)
        return app_message(a, "the event has no durations of operations");
    return dialog_ask(a, &(struct dialog_prompt){ .label = "only operations over (10ms, or 1ms-40ms): ",
                                                  .done = take_limits });
}

/* Offers events with latencies. */
static unsigned offer_rows(struct app *a)
{
    uint32_t elsewhere = find_elsewhere(a);
    if (elsewhere != UINT32_MAX)
        return app_show_event(a, elsewhere);
    return a->status.file ? pick_recorded(a) : pick_latency(a);
}

static unsigned show_chart(struct latency_view *w, int step)
{
    if (charts[w->chart]->hide)
        charts[w->chart]->hide(w);
    w->chart = (enum latency_chart)(((int)w->chart + step) % LATENCY_CHARTS);
    return APP_QUERY;
}

static unsigned latency_act(void *v, struct app *a, enum action action)
{
    struct latency_view *w = v;
    char next[16];
    switch (action) {
    case ACTION_LATENCY_LOG:
        return app_show_view(a, APP_VIEW_LOG, false);
    case ACTION_LATENCY_LIMIT:
        return ask_limits(a);
    case ACTION_EVENT:
        return a->data.latency || a->status.file ? (unsigned)APP_IGNORED : pick_latency(a);
    default:
        break;
    }
    if (!a->data.latency)
        return action == ACTION_DRILL ? offer_rows(a) : (unsigned)APP_IGNORED;
    if (action == ACTION_LATENCY_CHART || action == ACTION_LATENCY_CHART_BACK)
        return show_chart(w, action == ACTION_LATENCY_CHART ? 1 : LATENCY_CHARTS - 1);
    unsigned flags = w->rows.n ? charts[w->chart]->act(w, a, action) : (unsigned)APP_IGNORED;
    if (flags != APP_IGNORED || action_row(action)->scope != SCOPE_KEYS_LATENCY || !w->rows.n)
        return flags;
    return app_message(a, "this chart has no use for that key: %s shows the next chart",
                       keymap_first(a->keymap, ACTION_LATENCY_CHART, next));
}

/* Rows of the losses are above the chart. */
static int chart_row(const struct latency_view *w, int row)
{
    struct buf text = { 0 };
    int lines = put_losses(w, &text);
    buf_done(&text);
    return row - lines;
}

static unsigned latency_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct latency_view *w = v;
    return a->data.latency && w->rows.n ? charts[w->chart]->click(w, a, chart_row(w, row), col, twice)
                                        : (unsigned)APP_HANDLED;
}

static unsigned latency_drag(void *v, struct app *a, int row, int col, int to_row, int to_col)
{
    struct latency_view *w = v;
    if (!charts[w->chart]->drag || !a->data.latency || !w->rows.n)
        return APP_HANDLED;
    return charts[w->chart]->drag(w, a, chart_row(w, row), col, chart_row(w, to_row), to_col);
}

static void latency_save(void *v, struct app *a, struct view_position *out)
{
    const struct latency_view *w = v;
    (void)a;
    charts[w->chart]->save(w, out);
    out->order = w->chart;
}

static void latency_restore(void *v, struct app *a, const struct view_position *position)
{
    struct latency_view *w = v;
    w->chart = (enum latency_chart)position->order;
    latency_update(v, a);
    charts[w->chart]->restore(w, position);
}

static enum search_found latency_search(void *v, struct app *a, int step)
{
    struct latency_view *w = v;
    return charts[w->chart]->search ? charts[w->chart]->search(w, a, step) : SEARCH_NONE;
}

const struct view_ops view_latency_ops = {
    .intro =
        "How long operations take: system calls, disk I/O, locks, ... of an event latency:ROW (e lists "
        "them). The table has a row per name (b: per device or program, process, parent, thread, CPU, "
        "cgroup): number of "
        "operations, per second, P50, P90, P99 and maximum of their durations, their sum, bytes per second. "
        "Below is the histogram of the selected row. v shows the heat map: time across, durations upwards, "
        "colour by number; a rectangle from one cell to another (Space at both, or Enter for one cell) "
        "selects time and duration, and all views and exports show only those operations. v again lists the "
        "slowest operations, or with > the newest; Enter shows the stack of one. o limits all views to "
        "operations over a duration. 6 shows the log, the other page of this tab.",
    .manual =
        "How long operations take, of an event\n.Cm latency:ROW\n.Pq see Fl \\&-list-latency .\n"
        "A table by name, device or program, process, parent, thread, CPU or cgroup, with percentiles "
        "that are exact to 3 %, "
        "and the histogram of the selected row; a heat map of durations over time, in which a rectangle "
        "limits all views and exports to its operations; and the slowest operations, each with its stack. "
        "The log is the other page of this view. In text output\n"
        ".Fl \\&-view Cm latency\n"
        "prints histogram and table.\n",
    .without = { ACTION_CALLERS, ACTION_TREE }, /* Enter opens the tree; the other page needs the room */
    .size = sizeof(struct latency_view),
    .destroy = latency_destroy,
    .hide = latency_hide,
    .update = latency_update,
    .draw = latency_draw,
    .act = latency_act,
    .click = latency_click,
    .drag = latency_drag,
    .save = latency_save,
    .restore = latency_restore,
    .search = latency_search,
    .describe = latency_describe,
};
