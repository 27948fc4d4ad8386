// SPDX-License-Identifier: GPL-2.0-or-later
/* The log view: the newest samples of all chosen events, one per line, the newest last. The cursor follows
 * the newest line until it is moved up. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/world.h"
#include "session/log_rows.h"
#include "ui/dialog.h"
#include "ui/list.h"
#include "ui/log_table.h"
#include "ui/picker.h"
#include "ui/sample_stack.h"
#include "ui/view_ops.h"

#define ROWS_MOST    20000            /* the newest */
#define STEP_NS      (50 * NS_PER_MS) /* of a search for a text */
#define DETAIL_ROWS  4                /* at the bottom: the whole text of the row under the cursor */
#define DETAIL_LEAST 12               /* rows of the view from which on there is a detail */
#define TIME_COLS    12
#define WIDE_COLS    110

struct log_view {
    struct log_rows rows;
    struct log_ask ask;
    char filter[256]; /* as typed */
    struct error error;
    struct list list;
    bool one_event; /* only the shown event */
    bool stays;     /* the cursor was moved up: it does not follow */
    uint32_t query_serial;
    uint32_t filters; /* number of filters so far */
    int scroll;       /* columns of the text to the left of the screen */
    struct buf text;
    struct log_table table;   /* with table.by.n: shown instead of the rows */
    VEC(struct log_by) shown; /* groupings that Esc may return to: numbered by view_position.order */
};

static void log_init(void *v, struct app *a)
{
    struct log_view *w = v;
    w->ask.most = ROWS_MOST;
    w->ask.step_ns = STEP_NS;
    if (a->cfg->log_by)
        w->table.by = *a->cfg->log_by;
}

static void log_destroy(void *v)
{
    struct log_view *w = v;
    log_rows_done(&w->rows);
    log_table_hide(&w->table);
    mem_free(w->shown.items);
    buf_done(&w->text);
}

static void log_hide(void *v, struct app *a)
{
    struct log_view *w = v;
    (void)a;
    log_rows_done(&w->rows);
    log_table_hide(&w->table);
    list_update(&w->list, 0, NULL, NULL);
    w->stays = false; /* its row is not known any more */
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    return ((const struct log_view *)ctx)->rows.rows[row].key;
}

static void follow(struct log_view *w)
{
    if (!w->stays && w->rows.n)
        list_go(&w->list, (uint32_t)w->rows.n - 1, row_key, w);
}

static bool is_grouped(const struct log_view *w)
{
    return w->table.by.n;
}

static void show_rows(struct log_view *w, struct app *a)
{
    a->view_goes_on = w->rows.left > 0;
    list_update(&w->list, (uint32_t)w->rows.n, row_key, w);
    follow(w);
}

static void log_go_on(void *v, struct app *a)
{
    struct log_view *w = v;
    session_log_go_on(&w->ask, &w->rows);
    show_rows(w, a);
}

/* Changes with all that decides which samples pass. */
static uint64_t serial_of(const struct log_view *w, const struct app *a)
{
    return ((uint64_t)w->filters << 32 | a->query_serial) * 2 + w->one_event + 1;
}

static void log_update(void *v, struct app *a)
{
    struct log_view *w = v;
    struct view_query q = a->query;
    q.all_events = !w->one_event;
    if (is_grouped(w)) {
        log_table_update(&w->table, a, &q, &w->ask.filter);
        w->query_serial = a->query_serial;
        return;
    }
    bool goes_on = w->rows.left && w->ask.serial == serial_of(w, a);
    w->ask.serial = serial_of(w, a);
    if (goes_on) { /* newer samples come when it is done */
        log_go_on(w, a);
        return;
    }
    w->error = (struct error){ 0 };
    if (!session_log_rows(a->session, &q, &w->ask, &w->rows, &w->error))
        w->rows.n = 0;
    w->stays &= w->query_serial == a->query_serial;
    w->query_serial = a->query_serial;
    show_rows(w, a);
}

/* --- drawing --- */

struct layout {
    int cpu, thread, event, text; /* first columns; event 0: there is only one event */
};

/* True if the rows are of several events. */
static bool several_events(const struct log_view *w)
{
    for (size_t i = 1; i < w->rows.n; i++)
        if (w->rows.rows[i].number != w->rows.rows[0].number)
            return true;
    return false;
}

static struct layout layout_of(const struct log_view *w, const struct area *area)
{
    bool wide = area->cols >= WIDE_COLS;
    struct layout l = { .cpu = TIME_COLS + 1, .thread = TIME_COLS + 6 };
    l.text = l.thread + (wide ? 24 : 17);
    if (several_events(w)) {
        l.event = l.text;
        l.text += wide ? 24 : 15;
    }
    return l;
}

/* "sched_switch" of "sched:sched_switch" where there is little room. */
static const char *event_title(const char *event, bool wide)
{
    const char *colon = strchr(event, ':');
    return wide || !colon || !colon[1] ? event : colon + 1;
}

static const char *text_of(struct log_view *w, uint32_t row)
{
    w->text.len = 0;
    log_row_text(&w->rows, row, &w->text);
    return buf_str(&w->text);
}

static void draw_row(struct log_view *w, const struct app *a, uint32_t i, const struct layout *l,
                     struct area area, int y)
{
    const struct log_row *row = &w->rows.rows[i];
    char thread[80];
    sample_time_draw(a, row, area, y, TIME_COLS);
    draw_printf(area, y, l->cpu, STYLE_DIM, "%4u", row->cpu);
    world_task_label(row->comm, row->tid, thread, sizeof thread);
    draw_elided(area, y, l->thread, (l->event ? l->event : l->text) - l->thread - 1, STYLE_LABEL, thread,
                true);
    if (l->event)
        draw_elided(area, y, l->event, l->text - l->event - 1, STYLE_NAME,
                    event_title(row->event, area.cols >= WIDE_COLS), false);
    const char *text = text_of(w, i);
    text += text_prefix(text, w->scroll, NULL);
    if (*a->search)
        (void)draw_match(area, y, l->text, area.cols - l->text, STYLE_NORMAL, text, a->search);
    else /* its start says most */
        draw_elided(area, y, l->text, area.cols - l->text, STYLE_NORMAL, text, false);
}

static void draw_summary(const struct log_view *w, const struct app *a, struct area area)
{
    char shown[32], all[32], text[200], key[16];
    size_t n = 0;
    text_thousands(shown, sizeof shown, w->rows.n);
    text_thousands(all, sizeof all, w->rows.samples);
    if (w->rows.left)
        n = (size_t)snprintf(text, sizeof text, "searching %.0f%%: %s of the newest %s samples: %s",
                             100.0 * (double)w->rows.samples / (double)(w->rows.samples + w->rows.left),
                             shown, all, w->filter);
    else if (*w->filter)
        n = (size_t)snprintf(text, sizeof text, "%s of %s%s samples: %s", shown,
                             w->rows.older ? "the newest " : "", all, w->filter);
    else
        n = (size_t)snprintf(text, sizeof text, "%s%s sample%s", w->rows.older ? "the newest " : "", all,
                             w->rows.samples == 1 ? "" : "s");
    if (n < sizeof text && w->stays && !a->status.file)
        snprintf(text + n, sizeof text - n, "; %s follows the newest",
                 keymap_first(a->keymap, ACTION_END, key));
    draw_elided(area, 0, 0, area.cols, STYLE_NORMAL, text, false);
}

static void draw_head(const struct layout *l, struct area area)
{
    draw_fill(area, 1, 0, -1, STYLE_TABLE_HEAD);
    draw_right(area, 1, 0, TIME_COLS, STYLE_TABLE_HEAD, "SECONDS");
    draw_text(area, 1, l->cpu + 1, STYLE_TABLE_HEAD, "CPU");
    draw_text(area, 1, l->thread, STYLE_TABLE_HEAD, "THREAD");
    if (l->event)
        draw_text(area, 1, l->event, STYLE_TABLE_HEAD, "EVENT");
    draw_text(area, 1, l->text, STYLE_TABLE_HEAD, "FIELDS, OR FUNCTION");
}

/* Everything about the row under the cursor. */
static void draw_detail(struct log_view *w, struct area area)
{
    const struct log_row *row = &w->rows.rows[w->list.cursor];
    char pid[16], tid[16];
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 1, STYLE_TABLE_HEAD, "%s  %s  process %s  thread %s  cpu %u", row->event, row->comm,
                world_id_text(row->pid, pid, sizeof pid), world_id_text(row->tid, tid, sizeof tid), row->cpu);
    draw_wrapped(area_sub(area, 1, 1, -1, area.cols - 2), 0, STYLE_NORMAL, text_of(w, w->list.cursor));
}

static void draw_nothing(const struct log_view *w, struct app *a, struct area area)
{
    char text[sizeof w->error.text];
    const struct error *e = is_grouped(w) ? &w->table.error : &w->error;
    if (e->text[0])
        (void)snprintf(text, sizeof text, "%s", e->text);
    else if (!is_grouped(w) && w->rows.missing_field)
        (void)snprintf(text, sizeof text,
                       "no event here has a field %s: the text of a row names the fields that it has",
                       w->rows.missing_field);
    else if (*w->filter)
        (void)snprintf(text, sizeof text, "no row%s passes the filter %s", w->rows.left ? " yet" : "",
                       w->filter);
    else {
        view_draw_empty(a, area);
        return;
    }
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}

static void draw_groups(struct log_view *w, struct app *a, struct area area)
{
    char only[sizeof w->filter + sizeof a->status.event + 2];
    const char *event = w->one_event ? a->status.event : "";
    (void)snprintf(only, sizeof only, "%s%s%s", event, *event && *w->filter ? ", " : "", w->filter);
    if (w->table.groups.n)
        log_table_draw(&w->table, a, only, area);
    else
        draw_nothing(w, a, area);
}

static void log_draw(void *v, struct app *a, struct area area)
{
    struct log_view *w = v;
    struct layout l = layout_of(w, &area);
    int detail = area.rows >= DETAIL_LEAST ? DETAIL_ROWS : 0, rows = area.rows - 2 - detail;
    if (is_grouped(w)) {
        draw_groups(w, a, area);
        return;
    }
    draw_summary(w, a, area);
    draw_head(&l, area);
    if (!w->rows.n) {
        draw_nothing(w, a, area_sub(area, 2, 0, -1, -1));
        return;
    }
    list_fit(&w->list, rows);
    for (int y = 0; y < rows && w->list.top + (uint32_t)y < w->rows.n; y++) {
        uint32_t i = w->list.top + (uint32_t)y;
        draw_row(w, a, i, &l, area, 2 + y);
        if (i == w->list.cursor)
            draw_restyle(area, 2 + y, STYLE_CURSOR);
    }
    if (detail)
        draw_detail(w, area_sub(area, area.rows - detail, 0, detail, -1));
}

static void log_describe(void *v, struct app *a, char *dst, size_t cap)
{
    const struct log_view *w = v;
    if (is_grouped(w))
        log_table_describe(&w->table, dst, cap);
    else
        (void)snprintf(dst, cap, w->one_event ? "%s" : "all chosen events", a->status.event);
}

/* --- keys --- */

static const struct log_row *cursor_row(const struct log_view *w)
{
    return w->list.cursor < w->rows.n ? &w->rows.rows[w->list.cursor] : NULL;
}

/* Shows the stack of the row as a call graph of this moment. */
static unsigned drill(struct log_view *w, struct app *a)
{
    const struct log_row *row = cursor_row(w);
    if (!row)
        return app_message(a, "there is no row to open");
    w->stays = true; /* Esc returns to this row */
    return sample_stack_show(a, row);
}

static unsigned set_filter(struct log_view *w, struct app *a, const char *text)
{
    struct error e = { 0 };
    struct log_filter filter;
    if (!log_filter_parse(text, &filter, &e))
        return app_error(a, &e);
    steps_push(a, STEP_INSIDE);
    w->ask.filter = filter;
    w->filters++;
    snprintf(w->filter, sizeof w->filter, "%s", text);
    w->stays = false;
    return APP_QUERY;
}

/* --- groups --- */

static void set_groups(struct log_view *w, const struct log_by *by)
{
    if (is_grouped(w))
        w->table.before = w->table.by;
    w->table.by = *by;
    w->table.list = (struct list){ .page = w->table.list.page };
    w->stays = false;
}

static unsigned take_groups(struct app *a, const struct log_by *by)
{
    steps_push(a, STEP_INSIDE);
    set_groups(a->states[APP_VIEW_LOG], by);
    return APP_QUERY;
}

static unsigned pick_groups(struct log_view *w, struct app *a, bool value)
{
    if (value && !is_grouped(w))
        return app_message(a, "numbers are summed in groups: group the log first");
    return pick_field(a, is_grouped(w) ? &w->table.by : &w->table.before, value, take_groups);
}

/* Shows the groups instead of the rows, or the rows again. */
static unsigned toggle_groups(struct log_view *w, struct app *a)
{
    if (!is_grouped(w) && !w->table.before.n)
        return pick_groups(w, a, false);
    return take_groups(a, is_grouped(w) ? &(struct log_by){ .n = 0 } : &w->table.before);
}

/* Shows the rows of the group under the cursor: they pass the filter and have its values. */
static unsigned show_group(struct log_view *w, struct app *a)
{
    const struct value_group *g = log_table_group(&w->table);
    struct buf filter = { 0 };
    struct log_by rows = { .n = 0 };
    unsigned flags;
    if (!g && w->table.groups.n)
        return take_groups(a, &rows);
    if (*w->filter)
        buf_printf(&filter, "%s && ", w->filter);
    w->table.list.moved = true; /* Esc returns to this row */
    if (!g)
        flags = app_message(a, "there is no row to open");
    else if (!log_group_put_filter(&w->table.groups, g, &w->table.by, &filter))
        flags = app_message(a, "these samples have values without a row: no filter has only them");
    else if (filter.len >= sizeof w->filter)
        flags = app_message(a, "the values are too long for a filter");
    else if ((flags = set_filter(w, a, buf_str(&filter))) == APP_QUERY)
        set_groups(w, &rows);
    buf_done(&filter);
    return flags;
}

static unsigned take_order(struct app *a, uint32_t choice)
{
    struct log_view *w = a->states[APP_VIEW_LOG];
    return log_table_sort(&w->table, a, (int)choice);
}

static unsigned ask_order(const struct log_view *w, struct app *a)
{
    return picker_menu(a, "Sort by", log_table_orders, LOG_TABLE_ORDERS, (uint32_t)w->table.order,
                       take_order);
}

static unsigned take_filter(void *ctx, struct app *a, const char *text)
{
    struct log_view *w = ctx;
    return text && strcmp(text, w->filter) != 0 ? set_filter(w, a, text) : (unsigned)APP_REDRAW;
}

static unsigned ask_filter(struct log_view *w, struct app *a)
{
    return dialog_ask(a, &(struct dialog_prompt){ .label = "rows with (text, or field<value): ",
                                                  .initial = w->filter,
                                                  .done = take_filter,
                                                  .ctx = w });
}

static unsigned scroll(struct log_view *w, int columns)
{
    w->scroll = w->scroll + columns > 0 ? w->scroll + columns : 0;
    return APP_REDRAW;
}

static unsigned log_act(void *v, struct app *a, enum action action)
{
    struct log_view *w = v;
    switch (action) {
    case ACTION_DRILL:
        return is_grouped(w) ? show_group(w, a) : drill(w, a);
    case ACTION_FILTER:
        return ask_filter(w, a);
    case ACTION_LOG_LATENCY:
        return app_show_view(a, APP_VIEW_LATENCY, false);
    case ACTION_LOG_EVENTS:
        w->one_event = !w->one_event;
        w->stays = false;
        return APP_QUERY;
    case ACTION_LEFT:
        return scroll(w, -8);
    case ACTION_RIGHT:
        return scroll(w, 8);
    case ACTION_GROUP:
        return toggle_groups(w, a);
    case ACTION_GROUP_MENU:
        return pick_groups(w, a, false);
    case ACTION_LOG_VALUE:
        return pick_groups(w, a, true);
    case ACTION_SORT:
        if (is_grouped(w))
            return ask_order(w, a);
        break;
    default:
        break;
    }
    if (is_grouped(w))
        return log_table_act(&w->table, a, action);
    if (!list_act(&w->list, action, row_key, w))
        return APP_IGNORED;
    w->stays = w->list.cursor + 1 < w->rows.n;
    return APP_REDRAW;
}

static unsigned log_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct log_view *w = v;
    (void)col;
    if (is_grouped(w))
        return log_table_click(&w->table, row) ? APP_REDRAW | (twice ? show_group(w, a) : 0) : APP_HANDLED;
    if (!list_click(&w->list, row - 2, row_key, w))
        return APP_HANDLED;
    w->stays = true;
    return APP_REDRAW | (twice ? drill(w, a) : 0);
}

static void log_selection(void *v, struct app *a, struct ui_selection *out)
{
    const struct log_view *w = v;
    const struct view_function *f =
        !is_grouped(w) && cursor_row(w) ? log_row_function(&w->rows, w->list.cursor) : NULL;
    (void)a;
    if (f)
        ui_selection_of(out, f);
    out->chosen = w->stays;
}

/* Returns the number of the present grouping for view_position.order. */
static uint32_t number_groups(struct log_view *w)
{
    uint32_t i = 0;
    while (i < w->shown.n && memcmp(&w->shown.items[i], &w->table.by, sizeof w->table.by) != 0)
        i++;
    if (i == w->shown.n)
        *VEC_PUSH(&w->shown) = w->table.by;
    return i + 1;
}

static void log_save(void *v, struct app *a, struct view_position *out)
{
    struct log_view *w = v;
    (void)a;
    list_save(is_grouped(w) ? &w->table.list : &w->list, out);
    if (is_grouped(w))
        out->order = number_groups(w);
    else
        out->moved = w->stays;
    snprintf(out->subject.function, sizeof out->subject.function, "%s", w->filter);
}

static void log_restore(void *v, struct app *a, const struct view_position *position)
{
    struct log_view *w = v;
    struct error e = { 0 };
    uint32_t shown = position->order;
    struct log_by by = shown && shown <= w->shown.n ? w->shown.items[shown - 1] : (struct log_by){ .n = 0 };
    bool same = !strcmp(w->filter, position->subject.function) && by.n == w->table.by.n;
    snprintf(w->filter, sizeof w->filter, "%s", position->subject.function);
    (void)log_filter_parse(w->filter, &w->ask.filter, &e); /* it was valid */
    w->filters += !same;
    if (!same || by.n) {
        set_groups(w, &by);
        log_update(w, a);
    }
    if (is_grouped(w)) {
        list_restore(&w->table.list, position, log_table_key, &w->table);
        return;
    }
    w->stays = position->moved;
    list_restore(&w->list, position, row_key, w);
    follow(w);
}

static bool row_matches(const void *ctx, uint32_t i, const char *needle)
{
    struct log_view *w = (struct log_view *)(uintptr_t)ctx; /* text_of() reuses a buffer */
    const struct log_row *row = &w->rows.rows[i];
    return text_find_nocase(row->comm, needle) || text_find_nocase(row->event, needle) ||
           text_find_nocase(text_of(w, i), needle);
}

static enum search_found log_search(void *v, struct app *a, int step)
{
    struct log_view *w = v;
    if (is_grouped(w))
        return log_table_search(&w->table, a, step);
    enum search_found found = list_find(&w->list, step, a->search, row_matches, row_key, w);
    w->stays |= found != SEARCH_NONE;
    return found;
}

const struct view_ops view_log_ops = {
    .intro =
        "Single samples in order of time, the newest last: of a tracepoint its fields, of a wait its length, "
        "else the function that ran. All chosen events are shown together; v shows only the event of the "
        "header. Enter shows the stack of a row, z freezes the log. \\ keeps the rows with a text, or with a "
        "field that compares: ret<0, prev_state=D, filename~/etc && comm=bash; !dev: without dev (also comm, "
        "parent, pid, ppid, tid, cpu, event, weight, process, thread, syscall). Left and Right scroll the "
        "text, which is at the bottom as a whole. b counts samples by one or two fields that it asks for, as "
        "perf script | sort | uniq -c does, and shows the rows again; B asks for others. u sums a field with "
        "numbers: with average, P50, largest one and histogram, as argdist has. Of the groups, F6, < and > "
        "choose the order, and Enter shows the rows of one. 6 shows latencies, the other page of this tab.",
    .manual =
        "Single samples in order of time, the newest last: the fields of tracepoints, as\n.Xr perf-script 1\n"
        "prints them, else the function that ran, and the lengths of waits. The filter keeps the rows with a "
        "text, or with a field that compares\n.Pq Ql ret<0 , Ql prev_state=D , Ql filename~/etc && "
        "comm=bash ,\nor without a field\n.Pq Ql \\&!dev .\n"
        "Samples are grouped by one or two fields: system calls by name, block I/O by device and kind, "
        "switches by state; with the sum and the histogram of a field with numbers. All samples that are "
        "held are counted. The first 10,000 different values have a row, others are counted together.\n"
        "With\n.Fl b \\&-view Cm log\nthe samples are printed as they arrive, with\n.Fl \\&-log\\-by\n"
        "their groups. JSON has the newest 20,000 samples with their fields, or the groups.\n",
    .without = { ACTION_CALLERS, ACTION_SORT },
    .size = sizeof(struct log_view),
    .init = log_init,
    .destroy = log_destroy,
    .hide = log_hide,
    .update = log_update,
    .go_on = log_go_on,
    .draw = log_draw,
    .act = log_act,
    .click = log_click,
    .selection = log_selection,
    .save = log_save,
    .restore = log_restore,
    .search = log_search,
    .describe = log_describe,
};
