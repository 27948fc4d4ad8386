// SPDX-License-Identifier: GPL-2.0-or-later
/* The waits view: what threads wait for, in rows by reason, process, thread, function, CPU or cgroup. Below
 * them, how long the waits of the row under the cursor were. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/wait_rows.h"
#include "ui/durations_draw.h"
#include "ui/list.h"
#include "ui/order.h"
#include "ui/picker.h"
#include "ui/term.h"
#include "ui/trend.h"
#include "ui/view_ops.h"

#define LENGTHS_ROWS_MAX 12 /* of the histogram, with its title */
#define WIDE_COLS        96 /* from this width on: trend and median */
#define REASON_COLS      16
#define NAME_LEAST       12

enum order { BY_TIME, BY_WAITS, BY_AVERAGE, BY_P99, BY_MAXIMUM, BY_NAME, ORDERS };
static const char *const order_names[ORDERS] = {
    [BY_TIME] = "time", [BY_WAITS] = "waits",     [BY_AVERAGE] = "average",
    [BY_P99] = "p99",   [BY_MAXIMUM] = "maximum", [BY_NAME] = "name",
};

struct waits_view {
    struct wait_rows rows;
    struct error error;
    enum wait_rows_by by;
    enum order order;
    enum wait_reason wakers_of; /* reason of the row whose wakers were shown last */
    struct list list;
    uint32_t query_serial;
};

static void waits_destroy(void *v)
{
    struct waits_view *w = v;
    wait_rows_done(&w->rows);
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    return ((const struct waits_view *)ctx)->rows.rows[row].key;
}

static const struct wait_row *cursor_row(const struct waits_view *w)
{
    return w->list.cursor < w->rows.n ? &w->rows.rows[w->list.cursor] : NULL;
}

/* --- order --- */

static uint64_t value_of(const struct wait_row *r, enum order order)
{
    switch (order) {
    case BY_WAITS:
        return r->waits;
    case BY_AVERAGE:
        return wait_row_average_ns(r);
    case BY_P99:
        return wait_row_percentile_ns(r, 0.99);
    case BY_MAXIMUM:
        return r->max_ns;
    default:
        return r->time_ns;
    }
}

/* The rows come most time first: equal ones stay so. */
static bool belongs_before(const void *x, const void *y, int order)
{
    const struct wait_row *a = x, *b = y;
    if (order == BY_NAME)
        return strcmp(a->name, b->name) < 0;
    return value_of(a, (enum order)order) > value_of(b, (enum order)order);
}

static void waits_update(void *v, struct app *a)
{
    struct waits_view *w = v;
    w->error = (struct error){ 0 };
    if (session_wait_rows(a->session, &a->query, w->by, &w->rows, &w->error) && w->order != BY_TIME)
        order_rows(w->rows.rows, w->rows.n, sizeof *w->rows.rows, belongs_before, w->order);
    if (w->query_serial != a->query_serial)
        list_restart(&w->list);
    w->query_serial = a->query_serial;
    list_update(&w->list, (uint32_t)w->rows.n, row_key, w);
}

/* --- drawing --- */

static void put_length(struct draw_line *l, uint64_t ns, bool known)
{
    char text[24];
    draw_column(l, 8, known ? text_length(text, sizeof text, ns) : "-");
}

static bool shows_reason(const struct waits_view *w, struct area area)
{
    return w->by != WAIT_ROWS_REASON && area.cols >= WIDE_COLS;
}

static void draw_head(const struct waits_view *w, struct area area, int y)
{
    bool wide = area.cols >= WIDE_COLS;
    draw_fill(area, y, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, y, 0, STYLE_TABLE_HEAD,
                "SHARE%%   %%WAIT WAITS/S  AVERAGE %s     P99  MAXIMUM %sS %s%s", wide ? "     P50 " : "",
                wide ? "TREND    " : "", shows_reason(w, area) ? "REASON          " : "",
                wait_rows_by_names[w->by]);
}

static void draw_trend(struct draw_line *l, const struct app *a, const struct wait_rows *rows,
                       const struct wait_row *r)
{
    const struct result *result = &rows->view.result;
    struct trend_time time = { result->from_ns, result->to_ns, a->status.now_ns };
    uint64_t picture[QUERY_TREND];
    char text[64];
    trend_picture(picture, r->trend_ns, &time);
    trend_spark(text, sizeof text, picture, term_glyphs());
    draw_text(l->area, l->y, l->x, STYLE_SPARK, text);
    l->x += QUERY_TREND + 1;
}

static void draw_row(const struct waits_view *w, const struct app *a, const struct wait_row *r,
                     struct area area, int y)
{
    const struct view *v = &w->rows.view;
    struct draw_line l = { area, y, 0, STYLE_NORMAL };
    bool wide = area.cols >= WIDE_COLS;
    double all = w->rows.time_ns ? (double)w->rows.time_ns : 1, span_ns = v->span_ns ? (double)v->span_ns : 1;
    double share = 100 * (double)r->time_ns / all;
    char text[32];
    snprintf(text, sizeof text, "%.1f", share);
    l.style = app_share_style(share);
    draw_column(&l, 6, text);
    l.style = STYLE_NORMAL;
    snprintf(text, sizeof text, "%.1f", 100 * (double)r->time_ns / span_ns);
    draw_column(&l, 7, text);
    draw_column(&l, 7, text_si(text, sizeof text, (double)r->waits * NS_PER_SEC / span_ns));
    put_length(&l, wait_row_average_ns(r), r->waits);
    if (wide)
        put_length(&l, wait_row_percentile_ns(r, 0.5), r->waits);
    put_length(&l, wait_row_percentile_ns(r, 0.99), r->waits);
    put_length(&l, r->max_ns, true);
    if (wide)
        draw_trend(&l, a, &w->rows, r);
    draw_printf(area, y, l.x, r->state == 'D' ? STYLE_HIGH : STYLE_NORMAL, "%c", r->state);
    l.x += 2;
    if (shows_reason(w, area)) {
        draw_elided(area, y, l.x, REASON_COLS - 1, STYLE_LABEL, wait_reason_title(r->reason), false);
        l.x += REASON_COLS;
    }
    int room = area.cols - l.x, module = *r->module && room > 2 * NAME_LEAST ? room / 3 : 0;
    (void)draw_match(area, y, l.x, room - module, STYLE_NAME, r->name, a->search);
    if (module)
        draw_elided(area, y, l.x + room - module + 1, module - 1, STYLE_DIM, r->module, true);
}

static void draw_summary(const struct waits_view *w, const struct app *a, struct area area)
{
    const struct view *v = &w->rows.view;
    double span_ns = v->span_ns ? (double)v->span_ns : 1;
    char key[16], text[160];
    int n =
        snprintf(text, sizeof text, "threads that wait, on average: %.2f", (double)w->rows.time_ns / span_ns);
    if (v->idle_weight && !a->query.show_idle)
        (void)snprintf(text + n, sizeof text - (size_t)n, "; %.2f more wait for work (%s includes them)",
                       (double)v->idle_weight / span_ns, keymap_first(a->keymap, ACTION_IDLE, key));
    draw_elided(area, 0, 0, area.cols, STYLE_NORMAL, text, false);
}

/* Draws how many waits took how long. */
static void draw_lengths(const struct wait_row *r, struct area area)
{
    char number[24], p50[24], p99[24], most[24];
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 1, STYLE_TABLE_HEAD, "%s: %s waits ended; p50 %s, p99 %s, maximum %s", r->name,
                text_thousands(number, sizeof number, r->waits),
                r->waits ? text_length(p50, sizeof p50, wait_row_percentile_ns(r, 0.5)) : "-",
                r->waits ? text_length(p99, sizeof p99, wait_row_percentile_ns(r, 0.99)) : "-",
                text_length(most, sizeof most, r->max_ns));
    durations_draw(r->lengths, area_sub(area, 1, 0, -1, -1), term_glyphs());
}

static void draw_nothing(const struct waits_view *w, struct app *a, struct area area)
{
    char text[200], drill[16], off_cpu[16];
    if (w->error.text[0])
        (void)snprintf(text, sizeof text, "%.199s", w->error.text);
    else if (a->status.file)
        (void)snprintf(text, sizeof text,
                       "the event shown does not measure what threads wait for: %s shows one "
                       "that does, if the recording has one",
                       keymap_first(a->keymap, ACTION_OFF_CPU, off_cpu));
    else
        (void)snprintf(text, sizeof text, "what threads wait for is not sampled: %s (or %s) samples it",
                       keymap_first(a->keymap, ACTION_DRILL, drill),
                       keymap_first(a->keymap, ACTION_OFF_CPU, off_cpu));
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}

static bool shows_wakers(struct app *a)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(a->session, &list);
    bool wakers = false;
    for (uint32_t i = 0; i < n; i++)
        wakers |= list[i].shown && list[i].wakers;
    mem_free(list);
    return wakers;
}

static void draw_no_rows(const struct waits_view *w, struct app *a, struct area area)
{
    char text[200], key[16];
    if (w->by == WAIT_ROWS_WAKER && a->data.result.samples)
        (void)snprintf(text, sizeof text,
                       "this event does not say who woke the threads: %s shows the event wakers",
                       keymap_first(a->keymap, ACTION_EVENT_NEXT, key));
    else if (w->by == WAIT_ROWS_WAKER && w->wakers_of == WAIT_NOT_TAKEN && shows_wakers(a))
        (void)snprintf(
            text, sizeof text,
            "wakers and stacks of these waits were not sampled, as there were too many switches. To get "
            "more: %s%s, or --budget for more of the CPUs",
            a->status.file ? "record a smaller scope" : "a smaller scope: ",
            a->status.file ? "" : keymap_first(a->keymap, ACTION_SCOPE, key));
    else {
        view_draw_empty(a, area);
        return;
    }
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}

static void waits_draw(void *v, struct app *a, struct area area)
{
    struct waits_view *w = v;
    if (!view_has_waits(&a->data) || w->error.text[0]) {
        draw_nothing(w, a, area);
        return;
    }
    int lengths = area.rows >= 14 ? area.rows / 2 : 0;
    lengths = lengths > LENGTHS_ROWS_MAX ? LENGTHS_ROWS_MAX : lengths;
    int rows = area.rows - 2 - lengths;
    draw_summary(w, a, area);
    draw_head(w, area, 1);
    if (!w->rows.n) {
        draw_no_rows(w, a, area_sub(area, 2, 0, -1, -1));
        return;
    }
    list_fit(&w->list, rows);
    for (int y = 0; y < rows && w->list.top + (uint32_t)y < w->rows.n; y++) {
        uint32_t i = w->list.top + (uint32_t)y;
        draw_row(w, a, &w->rows.rows[i], area, 2 + y);
        if (i == w->list.cursor)
            draw_restyle(area, 2 + y, STYLE_CURSOR);
    }
    if (lengths)
        draw_lengths(cursor_row(w), area_sub(area, area.rows - lengths, 0, lengths, -1));
}

static void waits_describe(void *v, struct app *a, char *dst, size_t cap)
{
    const struct waits_view *w = v;
    (void)a;
    (void)snprintf(dst, cap, w->order == BY_TIME ? "by %s, most time first" : "by %s, sorted by %s",
                   wait_rows_by_names[w->by], order_names[w->order]);
}

/* --- keys --- */

static unsigned group_by(struct waits_view *w, struct app *a, enum wait_rows_by by)
{
    w->by = by;
    list_restart(&w->list);
    return APP_QUERY | app_message(a, "waits are now by %s", wait_rows_by_names[by]);
}

static unsigned take_group(struct app *a, uint32_t choice)
{
    return group_by(a->states[APP_VIEW_WAITS], a, (enum wait_rows_by)choice);
}

static unsigned sort_by(struct waits_view *w, enum order order)
{
    w->order = order;
    return APP_QUERY;
}

static unsigned take_order(struct app *a, uint32_t choice)
{
    return sort_by(a->states[APP_VIEW_WAITS], (enum order)choice);
}

static unsigned zoom(struct waits_view *w, struct app *a)
{
    const struct wait_row *r = cursor_row(w);
    return r ? app_zoom(a, &r->zoom) : app_message(a, "there is no row to zoom into");
}

/* Shows the stacks of a row, as a call graph. */
static unsigned drill(struct waits_view *w, struct app *a)
{
    if (!view_has_waits(&a->data))
        return app_act(a, ACTION_OFF_CPU);
    if (!cursor_row(w))
        return app_message(a, "there is no row to open");
    w->list.moved = true; /* Esc returns to this row */
    return zoom(w, a) | app_show_view(a, APP_VIEW_CALLGRAPH, false);
}

/* Number of the event wakers; UINT32_MAX: it is not sampled. */
static uint32_t find_wakers(struct app *a)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(a->session, &list), found = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].wakers && !list[i].left_out && !list[i].removed)
            found = i;
    mem_free(list);
    return found;
}

/* Zooms into the row, and shows in the event wakers who ended its waits. */
static unsigned show_wakers(struct waits_view *w, struct app *a)
{
    const struct wait_row *r = cursor_row(w);
    uint32_t event = find_wakers(a);
    if (!r)
        return app_message(a, "there is no row whose wakers to show");
    if (event == UINT32_MAX)
        return app_message(
            a, a->status.file ? "the recording does not say who woke the threads: perf sched record -g does"
                              : "who woke the threads is not sampled: that needs the tracepoint "
                                "sched:sched_waking, for root or CAP_PERFMON only");
    if (!r->waits && r->state != 'R')
        return app_message(a, "none of these waits has ended: nothing woke the threads yet");
    w->wakers_of = r->reason;
    unsigned flags = w->by == WAIT_ROWS_WAKER ? 0 : zoom(w, a);
    w->by = WAIT_ROWS_WAKER;
    return flags | app_show_event(a, event);
}

static unsigned waits_act(void *v, struct app *a, enum action action)
{
    struct waits_view *w = v;
    switch (action) {
    case ACTION_DRILL:
        return drill(w, a);
    case ACTION_WAITS_WAKERS:
        return show_wakers(w, a);
    case ACTION_ZOOM_MODULE:
    case ACTION_ZOOM_THREAD:
        return zoom(w, a);
    case ACTION_GROUP:
        return group_by(w, a, (enum wait_rows_by)((w->by + 1) % WAIT_ROWS_KINDS));
    case ACTION_GROUP_MENU:
        return picker_menu(a, "Waits by", wait_rows_by_names, WAIT_ROWS_KINDS, w->by, take_group);
    case ACTION_SORT:
        return picker_menu(a, "Sort by", order_names, ORDERS, w->order, take_order);
    case ACTION_SORT_LEFT:
        return sort_by(w, (enum order)((w->order + ORDERS - 1) % ORDERS));
    case ACTION_SORT_RIGHT:
        return sort_by(w, (enum order)((w->order + 1) % ORDERS));
    default:
        return list_act(&w->list, action, row_key, w) ? APP_REDRAW : APP_IGNORED;
    }
}

static unsigned waits_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct waits_view *w = v;
    (void)col;
    if (!list_click(&w->list, row - 2, row_key, w))
        return APP_HANDLED;
    return APP_REDRAW | (twice ? drill(w, a) : 0);
}

static bool row_matches(const void *ctx, uint32_t i, const char *needle)
{
    const struct waits_view *w = ctx;
    const struct wait_row *r = &w->rows.rows[i];
    return text_find_nocase(r->name, needle) || text_find_nocase(r->module, needle) ||
           text_find_nocase(wait_reason_title(r->reason), needle);
}

const struct view_ops view_waits_ops = {
    .intro =
        "What threads wait for, and how long. SHARE% is the share of all waiting time shown, %WAIT that of "
        "the window: 100 is one thread that waits all the time. WAITS/S counts the waits that ended; "
        "AVERAGE, P50, P99 and MAXIMUM are their lengths, MAXIMUM also of one that goes on. S is the state: "
        "S sleeping, D blocked (disk), R waiting for a CPU, T stopped. Below are the lengths of the waits "
        "of the selected row. Enter shows its stacks, i who woke its threads, or ran while they waited "
        "for a CPU (Enter there: the wakers' stacks).",
    .manual =
        "Time that threads wait, by reason, process, thread, waiting function, CPU or cgroup: the share of "
        "all waiting time (SHARE%), the share of the window (%WAIT; 100 is one thread that waits all the "
        "time), "
        "waits per second, and their average, median, 99th percentile and maximum. The row\n.Dq run queue\n"
        "is the time that threads were ready to run and waited for a CPU; the event\n.Cm wakers\n"
        "shows who ran meanwhile, as far as the scope includes it. Threads that wait for work (poll, "
        "accept, timers) are left out as idle time is. In text output\n.Fl \\&-view Cm waits\n"
        "prints all of these tables. Percentiles are exact to 3 %.\n",
    .without = { ACTION_CALLERS },
    .size = sizeof(struct waits_view),
    .destroy = waits_destroy,
    .update = waits_update,
    .draw = waits_draw,
    .act = waits_act,
    .click = waits_click,
    .list = offsetof(struct waits_view, list),
    .row_key = row_key,
    .row_matches = row_matches,
    .describe = waits_describe,
};
