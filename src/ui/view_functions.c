// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions table. Its rows are in table_rows.h, its columns in table_columns.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/callers_pane.h"
#include "ui/list.h"
#include "ui/menus.h"
#include "ui/picker.h"
#include "ui/table_columns.h"
#include "ui/table_rows.h"
#include "ui/view_ops.h"

#define NAME_STEP   10  /* columns that Left and Right scroll by */
#define PANE_COLS   160 /* minimum screen width for the callers pane */
#define TABLE_LEAST 100

struct table {
    struct table_rows rows, baseline;
    uint64_t baseline_result; /* number of the baseline result that `before` was built from */
    struct list list;
    int shift;                      /* columns by which names are scrolled to the left */
    bool shows_few;                 /* some visible rows have few samples */
    uint32_t query_serial;          /* app->query_serial of the rows */
    enum column menu[COLUMN_COUNT]; /* columns in the lines of the sort menu */
    struct callers_pane callers;
};

static const struct table_row *cursor_row(const struct table *t)
{
    return t->list.cursor < t->rows.n ? t->rows.rows[t->list.cursor] : NULL;
}

/* Returns the width of the table; the rest of the screen is for the callers pane. */
static int table_cols(const struct table *t, const struct app *a, int cols)
{
    bool functions =
        !view_group_is_whole(a->query.group) && a->query.group != VIEW_GROUP_MODULE && !t->rows.n_parts;
    int most = cols * 3 / 5;
    return !functions || !t->rows.n || cols < PANE_COLS ? cols : most < TABLE_LEAST ? TABLE_LEAST : most;
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    return ((const struct table *)ctx)->rows.rows[row]->key;
}

static bool asks_anew(struct table *t, const struct app *a)
{
    bool anew = t->query_serial != a->query_serial;
    t->query_serial = a->query_serial;
    return anew;
}

static void update(void *view, struct app *a)
{
    struct table *t = view;
    t->rows.difference = a->difference;
    t->rows.baseline = a->difference ? &t->baseline : NULL;
    if (a->difference && t->baseline_result != a->difference->answers) {
        table_rows_build(&t->baseline, &a->difference->data, a->query.group, a->difference->status.now_ns,
                         true);
        t->baseline_result = a->difference->answers;
    }
    bool anew = asks_anew(t, a);
    callers_pane_update(&t->callers);
    table_rows_build(&t->rows, &a->data, a->query.group, a->status.now_ns, anew);
    if (anew)
        list_restart(&t->list);
    list_update(&t->list, (uint32_t)t->rows.n, row_key, t);
}

static void init(void *view, struct app *a)
{
    struct table *t = view;
    t->rows.data = &a->data;
    t->baseline.sort[0] = COLUMN_SELF;
    t->baseline.n_sort = 1;
    if (!a->cfg->sort || !columns_parse(a->cfg->sort, t->rows.sort, &t->rows.n_sort, NULL)) {
        t->rows.sort[0] = a->difference ? COLUMN_SELF_CHANGE : COLUMN_SELF;
        t->rows.n_sort = 1;
    }
}

static void destroy(void *view)
{
    struct table *t = view;
    table_rows_done(&t->rows);
    table_rows_done(&t->baseline);
    callers_pane_done(&t->callers);
}

static void draw(void *view, struct app *a, struct area screen)
{
    struct table *t = view;
    struct table_columns l;
    int cols = table_cols(t, a, screen.cols);
    struct area area = area_sub(screen, 0, 0, -1, cols);
    struct area body = area_sub(area, 1, 0, area.rows - 1, -1);
    table_columns_lay_out(&l, a, &t->rows, area.cols);
    table_columns_draw_head(&l, a, &t->rows, area);
    if (t->rows.n == 0) {
        view_draw_empty(a, body);
        return;
    }
    list_fit(&t->list, body.rows);
    t->shows_few = false;
    for (int row = 0; row < body.rows && t->list.top + (uint32_t)row < t->rows.n; row++) {
        uint32_t i = t->list.top + (uint32_t)row;
        table_columns_draw_row(&l, a, &t->rows, t->rows.rows[i], t->shift, body, row);
        t->shows_few |= table_row_is_few(t->rows.rows[i]);
        if (i == t->list.cursor)
            draw_restyle(body, row, STYLE_CURSOR);
    }
    if (cols < screen.cols)
        callers_pane_draw(&t->callers, a, cursor_row(t)->func, area_sub(screen, 0, cols + 1, -1, -1));
}

static uint32_t shown_cgroups(const struct table *t, const struct app *a)
{
    struct table_columns l;
    uint32_t n = 0;
    table_columns_lay_out(&l, a, &t->rows, table_cols(t, a, area_screen().cols));
    for (int i = 0; i < l.n; i++)
        n += column_is_cgroup(l.columns[i]);
    return n;
}

static void describe(void *view, struct app *a, char *dst, size_t cap)
{
    const struct table *t = view;
    char title[32], cgroups[32] = "", name[96];
    enum column sorted = t->rows.sort[0];
    uint32_t shown = shown_cgroups(t, a);
    if (shown < t->rows.n_cgroups)
        (void)snprintf(cgroups, sizeof cgroups, "%u of %u ", shown, t->rows.n_cgroups);
    if (a->difference)
        (void)snprintf(dst, cap, "by %s%s, against %s", cgroups, group_title(a->query.group),
                       difference_name(a->difference, name, sizeof name));
    else
        (void)snprintf(dst, cap, "by %s%s, %s first%s", cgroups, group_title(a->query.group),
                       column_is_cgroup(sorted) ? table_columns_title(a, &t->rows, sorted, title)
                                                : column_table[sorted].name,
                       t->rows.upwards ? " (reversed)" : "");
    size_t n = strlen(dst);
    if (t->shows_few && n < cap)
        (void)snprintf(dst + n, cap - n, "; grey: < %d samples", TABLE_FEW_SAMPLES);
}

/* --- keys --- */

static void selection(void *view, struct app *a, struct ui_selection *out)
{
    const struct table *t = view;
    const struct table_row *r = cursor_row(t);
    if (!r || r->gone)
        return;
    out->group = r->group;
    out->is_group = !r->func;
    out->chosen = t->list.moved;
    if (r->func)
        ui_selection_of(out, &t->rows.data->funcs[r->func]);
    if (a->query.group == VIEW_GROUP_MODULE) { /* grouped by module, a row is no function */
        out->func_key = 0;
        out->function[0] = '\0';
    }
}

static unsigned select_function(void *view, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct table *t = view;
    (void)a;
    (void)drill;
    const struct table_row *now = cursor_row(t);
    if (!sel->func_key || (now && now->func && t->rows.data->funcs[now->func].key == sel->func_key))
        return APP_HANDLED;
    for (uint32_t i = 0; i < t->rows.n; i++) {
        if (t->rows.rows[i]->func && t->rows.data->funcs[t->rows.rows[i]->func].key == sel->func_key) {
            list_choose(&t->list, i, row_key, t);
            return APP_REDRAW;
        }
    }
    return APP_HANDLED;
}

static unsigned sort_by(struct table *t, enum column c, bool upwards)
{
    table_rows_sort(&t->rows, c, upwards);
    list_update(&t->list, (uint32_t)t->rows.n, row_key, t);
    return APP_REDRAW;
}

static unsigned set_sort(struct table *t, enum column c)
{
    bool again = t->rows.sort[0] == c;
    return sort_by(t, c, again && !t->rows.upwards);
}

static unsigned take_sort(struct app *a, uint32_t choice)
{
    struct table *t = a->states[APP_VIEW_FUNCTIONS];
    return set_sort(t, t->menu[choice]);
}

/* Opens the sort menu, with the columns that exist for this event and query. */
static unsigned menu_sort(struct table *t, struct app *a)
{
    char lines[COLUMN_COUNT][128], title[32];
    const char *list[COLUMN_COUNT];
    uint32_t n = 0, now = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        enum column c = (enum column)i;
        bool special = column_is_of_group(c) || column_is_cgroup(c) || c == COLUMN_RATE || c == COLUMN_PID;
        bool maybe = special || c == COLUMN_SELF_CHANGE || c == COLUMN_TOTAL_CHANGE;
        if (maybe && !table_columns_has(a, &t->rows, c))
            continue;
        (void)snprintf(lines[n], sizeof lines[n], "%-9s %s",
                       special ? table_columns_title(a, &t->rows, c, title) : column_table[c].title,
                       column_table[c].help);
        now = c == t->rows.sort[0] ? n : now;
        t->menu[n] = c;
        list[n] = lines[n];
        n++;
    }
    return picker_menu(a, "Sort by (the same again: reverse)", list, n, now, take_sort);
}

static unsigned step_sort(struct table *t, struct app *a, int step)
{
    struct table_columns l;
    table_columns_lay_out(&l, a, &t->rows, table_cols(t, a, area_screen().cols));
    int at = 0;
    for (int i = 0; i < l.n; i++)
        at = l.columns[i] == t->rows.sort[0] ? i : at;
    return sort_by(t, l.columns[(at + step + l.n) % l.n], false);
}

/* Scrolls long names: to the right only while one on the screen continues there. */
static unsigned scroll_names(struct table *t, struct app *a, int step)
{
    struct table_columns l;
    int shift = t->shift + step, widest = 0;
    table_columns_lay_out(&l, a, &t->rows, table_cols(t, a, area_screen().cols));
    for (uint32_t i = t->list.top; i < t->rows.n && i < t->list.top + (uint32_t)t->list.page; i++) {
        int width = text_width(table_row_name(&t->rows, t->rows.rows[i]));
        widest = width > widest ? width : widest;
    }
    if (step > 0 && widest - t->shift <= l.width[l.n - 1])
        return APP_HANDLED;
    t->shift = shift > 0 ? shift : 0;
    return APP_REDRAW;
}

/* Drills in: annotates a function, or zooms into a group and shows its functions. */
static unsigned drill(struct table *t, struct app *a)
{
    const struct table_row *r = cursor_row(t);
    if (!r)
        return APP_IGNORED;
    if (r->gone)
        return app_message(a, "only in the baseline profile");
    t->list.moved = true; /* Esc returns to this row, even if it is the first */
    if (r->func && a->query.group != VIEW_GROUP_MODULE)
        return app_annotate(a);
    unsigned flags = app_act(a, r->func ? ACTION_ZOOM_MODULE : ACTION_ZOOM_THREAD);
    if (flags & APP_QUERY) {
        a->query.group = VIEW_GROUP_SYMBOL;
        list_go(&t->list, 0, row_key, t);
    }
    return flags;
}

static unsigned act(void *view, struct app *a, enum action action)
{
    struct table *t = view;
    if (list_act(&t->list, action, row_key, t))
        return APP_REDRAW;
    switch (action) {
    case ACTION_SORT:
        return menu_sort(t, a);
    case ACTION_SORT_LEFT:
        return step_sort(t, a, -1);
    case ACTION_SORT_RIGHT:
        return step_sort(t, a, 1);
    case ACTION_LEFT:
        return scroll_names(t, a, -NAME_STEP);
    case ACTION_RIGHT:
        return scroll_names(t, a, NAME_STEP);
    case ACTION_DRILL:
        return drill(t, a);
    default:
        return APP_IGNORED;
    }
}

static unsigned click(void *view, struct app *a, int row, int col, bool twice)
{
    struct table *t = view;
    if (col >= table_cols(t, a, area_screen().cols))
        return APP_HANDLED;
    if (row == 0) {
        struct table_columns l;
        table_columns_lay_out(&l, a, &t->rows, table_cols(t, a, area_screen().cols));
        enum column c;
        return table_columns_at(&l, col, &c) ? set_sort(t, c) : (unsigned)APP_HANDLED;
    }
    if (!list_click(&t->list, row - 1, row_key, t))
        return APP_HANDLED;
    return APP_REDRAW | (twice ? drill(t, a) : 0);
}

/* --- search --- */

static bool row_matches(const void *ctx, uint32_t row, const char *needle)
{
    const struct table *t = ctx;
    const struct table_row *r = t->rows.rows[row];
    return text_find_nocase(table_row_name(&t->rows, r), needle) ||
           text_find_nocase(table_row_module(&t->rows, r), needle) ||
           text_find_nocase(table_row_group(&t->rows, r), needle);
}

const struct view_ops view_functions_ops = {
    .intro = "SELF% is the share of samples in the function itself, TOTAL% in the function and its callees. "
             "Idle time is excluded. Enter shows a function's instructions, i its callers (next to the table "
             "from 160 columns on).",
    .manual =
        "Time per function: the share of samples in the function itself (SELF%), the share in it and its "
        "callees (TOTAL%), the number of samples of TOTAL% (SAMPLES), and the trend over the time window. In "
        "text output the number is that of samples in the function itself (SELF SAMPLES), as in perf report "
        "\\-n.\n",
    .legend = true,
    .compares = true,
    .size = sizeof(struct table),
    .init = init,
    .destroy = destroy,
    .update = update,
    .draw = draw,
    .act = act,
    .click = click,
    .selection = selection,
    .list = offsetof(struct table, list),
    .row_key = row_key,
    .row_matches = row_matches,
    .select = select_function,
    .describe = describe,
};
