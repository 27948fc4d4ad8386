// SPDX-License-Identifier: GPL-2.0-or-later
/* Single operations: the longest first, or the newest first. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "process/world.h"
#include "ui/picker.h"
#include "ui/sample_stack.h"
#include "ui/view_latency.h"
#include "ui/view_ops.h"

#define LONGEST_MOST   1000
#define NEWEST_MOST    20000 /* of which the row under the cursor chooses */
#define TIME_COLS      12
#define LENGTH_COLS    9
#define THREAD_COLS    24
#define PID_COLS       8
#define PARENT_COLS    20
#define BYTES_COLS     7
#define OPERATION_TEXT 256

static const char *const orders[] = { "the longest first", "the newest first" };

/* The newest come last. */
static const struct log_row *row_at(const struct latency_slow *s, uint32_t row)
{
    return &s->rows.rows[s->newest ? s->rows.n - 1 - row : row];
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    return row_at(&((const struct latency_view *)ctx)->slow, row)->key;
}

static const char *name_at(const struct latency_view *w, uint32_t row, size_t *n)
{
    const struct latency_slow *s = &w->slow;
    const struct view_function *f = log_row_function(&s->rows, (size_t)(row_at(s, row) - s->rows.rows));
    return operation_name_part(f ? f->name : "", w->rows.row, n);
}

static void slow_update(struct latency_view *w, struct app *a)
{
    struct latency_slow *s = &w->slow;
    struct view_query q = latency_query(w, a);
    s->ask.longest = !s->newest;
    s->ask.most = s->newest ? NEWEST_MOST : LONGEST_MOST;
    if (!session_log_rows(a->session, &q, &s->ask, &s->rows, &w->error))
        s->rows.n = 0;
    list_update(&s->list, (uint32_t)s->rows.n, row_key, w);
}

static void slow_hide(struct latency_view *w)
{
    log_rows_done(&w->slow.rows);
    w->slow.list.n = 0; /* the cursor stays */
}

/* --- drawing --- */

/* A process's comm is part of the operation, but not its parent. Returns the columns. */
static int draw_thread(const struct latency_view *w, const struct app *a, const struct log_row *row,
                       struct area area, int y, int x)
{
    char text[OPERATION_TEXT];
    if (!w->rows.of_processes) {
        (void)world_task_label(row->comm, row->tid, text, sizeof text);
        (void)draw_match(area, y, x, THREAD_COLS - 1, STYLE_LABEL, text, a->search);
        return THREAD_COLS;
    }
    (void)world_id_text(row->pid, text, sizeof text);
    (void)draw_match(area, y, x, PID_COLS - 1, STYLE_LABEL, text, a->search);
    (void)draw_match(area, y, x + PID_COLS, PARENT_COLS - 1, STYLE_LABEL,
                     world_parent_label(row->ppid, row->parent, text, sizeof text), a->search);
    return PID_COLS + PARENT_COLS;
}

static void draw_row(const struct latency_view *w, const struct app *a, uint32_t i, struct area area, int y)
{
    const struct latency_slow *s = &w->slow;
    const struct log_row *row = row_at(s, i);
    uint64_t bytes = log_row_bytes(&s->rows, (size_t)(row - s->rows.rows));
    char text[OPERATION_TEXT], name[OPERATION_TEXT];
    size_t n;
    int x = TIME_COLS;
    sample_time_draw(a, row, area, y, TIME_COLS);
    draw_right(area, y, x, LENGTH_COLS, STYLE_HIGH, text_length(text, sizeof text, row->weight));
    x += LENGTH_COLS + 2;
    x += draw_thread(w, a, row, area, y, x);
    if (w->rows.all.bytes) {
        draw_right(area, y, x, BYTES_COLS, STYLE_NORMAL, bytes ? text_bytes(text, sizeof text, bytes) : "-");
        x += BYTES_COLS + 1;
    }
    const char *from = name_at(w, i, &n);
    (void)snprintf(name, sizeof name, "%.*s", (int)n, from);
    (void)draw_match(area, y, x, area.cols - x, STYLE_NAME, name, a->search);
}

static void draw_summary(const struct latency_view *w, struct area area)
{
    const struct latency_slow *s = &w->slow;
    char shown[32], all[32];
    draw_printf(area, 0, 0, STYLE_NORMAL, "%s: %s of %s operations, %s", latency_row(w)->name,
                text_thousands(shown, sizeof shown, s->rows.n),
                text_thousands(all, sizeof all, latency_row(w)->count), orders[s->newest]);
}

static void slow_draw(struct latency_view *w, struct app *a, struct area area)
{
    struct latency_slow *s = &w->slow;
    int x = TIME_COLS + LENGTH_COLS + 2;
    draw_summary(w, area);
    draw_fill(area, 1, 0, -1, STYLE_TABLE_HEAD);
    draw_right(area, 1, 0, TIME_COLS, STYLE_TABLE_HEAD, "SECONDS");
    draw_right(area, 1, TIME_COLS, LENGTH_COLS, STYLE_TABLE_HEAD, "TOOK");
    draw_text(area, 1, x, STYLE_TABLE_HEAD, w->rows.of_processes ? "PID" : "THREAD");
    if (w->rows.of_processes)
        draw_text(area, 1, x + PID_COLS, STYLE_TABLE_HEAD, "PARENT");
    x += w->rows.of_processes ? PID_COLS + PARENT_COLS : THREAD_COLS;
    if (w->rows.all.bytes) {
        draw_right(area, 1, x, BYTES_COLS, STYLE_TABLE_HEAD, "BYTES");
        x += BYTES_COLS + 1;
    }
    draw_text(area, 1, x, STYLE_TABLE_HEAD, "OPERATION");
    list_fit(&s->list, area.rows - 2);
    for (int y = 0; y < area.rows - 2 && s->list.top + (uint32_t)y < s->list.n; y++) {
        uint32_t i = s->list.top + (uint32_t)y;
        draw_row(w, a, i, area, 2 + y);
        if (i == s->list.cursor)
            draw_restyle(area, 2 + y, STYLE_CURSOR);
    }
}

static void slow_describe(struct latency_view *w, struct app *a, char *dst, size_t cap)
{
    (void)a;
    (void)snprintf(dst, cap, "single operations, %s", orders[w->slow.newest]);
}

/* --- keys --- */

/* Shows the stack of the operation. */
static unsigned drill(struct latency_view *w, struct app *a)
{
    struct latency_slow *s = &w->slow;
    if (s->list.cursor >= s->rows.n)
        return app_message(a, "there is no operation to open");
    s->list.moved = true; /* Esc returns to this row */
    return sample_stack_show(a, row_at(s, s->list.cursor));
}

static unsigned sort_by(struct latency_view *w, bool newest)
{
    w->slow.newest = newest;
    w->slow.list.moved = false;
    w->slow.list.top = 0;
    return APP_QUERY;
}

static unsigned take_order(struct app *a, uint32_t choice)
{
    return sort_by(a->states[APP_VIEW_LATENCY], choice);
}

static unsigned slow_act(struct latency_view *w, struct app *a, enum action action)
{
    switch (action) {
    case ACTION_DRILL:
        return drill(w, a);
    case ACTION_SORT:
        return picker_menu(a, "Sort by", orders, 2, w->slow.newest, take_order);
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
        return sort_by(w, !w->slow.newest);
    case ACTION_LATENCY_PREVIOUS:
        return latency_table_step(w, -1);
    case ACTION_LATENCY_NEXT:
        return latency_table_step(w, 1);
    case ACTION_GROUP:
    case ACTION_GROUP_MENU:
        return app_message(a, "the rows are single operations: the table groups them");
    default:
        return list_act(&w->slow.list, action, row_key, w) ? APP_REDRAW : APP_IGNORED;
    }
}

static unsigned slow_click(struct latency_view *w, struct app *a, int row, int col, bool twice)
{
    (void)col;
    if (!list_click(&w->slow.list, row - 2, row_key, w))
        return APP_HANDLED;
    return APP_REDRAW | (twice ? drill(w, a) : 0);
}

static void slow_save(const struct latency_view *w, struct view_position *out)
{
    list_save(&w->slow.list, out);
}

static void slow_restore(struct latency_view *w, const struct view_position *position)
{
    list_restore(&w->slow.list, position, row_key, w);
}

static bool row_matches(const void *ctx, uint32_t i, const char *needle)
{
    const struct latency_view *w = ctx;
    char name[OPERATION_TEXT];
    size_t n;
    const char *from = name_at(w, i, &n);
    (void)snprintf(name, sizeof name, "%.*s", (int)n, from);
    return text_find_nocase(row_at(&w->slow, i)->comm, needle) ||
           (w->rows.of_processes && text_find_nocase(row_at(&w->slow, i)->parent, needle)) ||
           text_find_nocase(name, needle);
}

static enum search_found slow_search(struct latency_view *w, struct app *a, int step)
{
    return list_find(&w->slow.list, step, a->search, row_matches, row_key, w);
}

const struct latency_chart_ops latency_slow_ops = {
    .update = slow_update,
    .draw = slow_draw,
    .act = slow_act,
    .click = slow_click,
    .search = slow_search,
    .describe = slow_describe,
    .hide = slow_hide,
    .save = slow_save,
    .restore = slow_restore,
};
