// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/map.h"
#include "base/text.h"
#include "profile/functions.h"
#include "ui/columns.h"
#include "ui/list.h"
#include "ui/bars.h"
#include "ui/menus.h"
#include "ui/picker.h"
#include "ui/view.h"

#define NAME_STEP 10 /* columns; Left and Right */

struct row {
    uint32_t func, group; /* func 0: a row of a whole group */
    uint64_t self, total, key;
    uint32_t count;
    const uint32_t *trend; /* in functions.rows or group_trends */
};

struct table {
    struct functions functions;
    struct row *rows;
    size_t n, cap;
    uint32_t (*group_trends)[QUERY_TREND];
    size_t group_trends_cap;
    struct list list;
    enum column sort[COLUMN_COUNT]; /* the first sorts */
    uint32_t n_sort;
    bool upwards;
    int shift;                 /* names begin so many columns to the left */
    const struct view *answer; /* while it is sorted and searched */
    const char *needle;
};

static uint64_t row_key(const void *ctx, uint32_t row)
{
    return ((const struct table *)ctx)->rows[row].key;
}

static const char *row_group(const struct table *t, const struct row *r)
{
    return r->group < t->answer->n_groups ? t->answer->groups[r->group].label : "";
}

static const char *row_name(const struct table *t, const struct row *r)
{
    return r->func ? t->answer->funcs[r->func].name : row_group(t, r);
}

static const char *row_module(const struct table *t, const struct row *r)
{
    return r->func ? t->answer->funcs[r->func].module : "";
}

/* Whether rows are of whole groups, without functions. */
static bool groups_only(const struct app *a)
{
    switch (a->query.group) {
    case VIEW_GROUP_SYMBOL:
    case VIEW_GROUP_COMM_SYMBOL:
    case VIEW_GROUP_MODULE:
        return false;
    default:
        return true;
    }
}

/* --- rows --- */

static void add_function_rows(struct table *t, const struct app *a)
{
    const struct view *v = &a->answer;
    bool by_group = a->query.group == VIEW_GROUP_COMM_SYMBOL;
    functions_build(&t->functions, &v->result, v->frame_func, v->n_funcs, by_group, false);
    MEM_GROW(t->rows, t->cap, t->functions.n + 1);
    for (uint32_t i = 0; i < t->functions.n; i++) {
        const struct function_row *f = &t->functions.rows[i];
        uint64_t group_key = by_group && f->group < v->n_groups ? map_mix(v->groups[f->group].key) : 0;
        t->rows[t->n++] = (struct row){ .func = f->func,
                                        .group = f->group,
                                        .self = f->self_weight,
                                        .total = f->total_weight,
                                        .key = v->funcs[f->func].key ^ group_key,
                                        .count = f->total_count,
                                        .trend = f->trend };
    }
}

static void add_group_rows(struct table *t, const struct app *a)
{
    const struct view *v = &a->answer;
    const struct result *r = &v->result;
    MEM_GROW(t->rows, t->cap, v->n_groups + 1);
    MEM_GROW(t->group_trends, t->group_trends_cap, v->n_groups + 1);
    for (uint32_t i = 0; i < v->n_groups; i++) {
        memset(t->group_trends[i], 0, sizeof t->group_trends[i]);
        t->rows[i] = (struct row){ .group = i, .key = v->groups[i].key, .trend = t->group_trends[i] };
    }
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *en = &r->entries[i];
        if (en->group >= v->n_groups)
            continue;
        struct row *row = &t->rows[en->group];
        row->self = row->total += en->weight;
        row->count += en->count;
        for (int k = 0; k < QUERY_TREND; k++)
            t->group_trends[en->group][k] += en->trend[k];
    }
    for (uint32_t i = 0; i < v->n_groups; i++)
        if (t->rows[i].count)
            t->rows[t->n++] = t->rows[i];
}

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y); /* the largest first */
}

static int compare_column(const struct table *t, enum column c, const struct row *x, const struct row *y)
{
    switch (c) {
    case COLUMN_SELF:
        return compare_numbers(x->self, y->self);
    case COLUMN_TOTAL:
        return compare_numbers(x->total, y->total);
    case COLUMN_SAMPLES:
        return compare_numbers(x->count, y->count);
    case COLUMN_TREND:
        return compare_numbers(x->trend[QUERY_TREND - 1], y->trend[QUERY_TREND - 1]);
    case COLUMN_COMM:
        return strcmp(row_group(t, x), row_group(t, y));
    case COLUMN_MODULE:
        return strcmp(row_module(t, x), row_module(t, y));
    default:
        return strcmp(row_name(t, x), row_name(t, y));
    }
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
    const struct table *t = ctx;
    int order = 0;
    for (uint32_t i = 0; i < t->n_sort && !order; i++) {
        order = compare_column(t, t->sort[i], x, y);
        order = i == 0 && t->upwards ? -order : order;
    }
    if (!order)
        order = compare_numbers(((const struct row *)x)->total, ((const struct row *)y)->total);
    if (!order)
        order = compare_numbers(((const struct row *)x)->key, ((const struct row *)y)->key);
    return order;
}

static void sort_rows(struct table *t)
{
    qsort_r(t->rows, t->n, sizeof *t->rows, compare_rows, t);
    list_update(&t->list, (uint32_t)t->n, row_key, t);
}

static void update(void *view, struct app *a)
{
    struct table *t = view;
    t->answer = &a->answer;
    t->n = 0;
    if (groups_only(a))
        add_group_rows(t, a);
    else
        add_function_rows(t, a);
    sort_rows(t);
}

static void *create(struct app *a)
{
    struct table *t = mem_zalloc(sizeof *t);
    t->answer = &a->answer;
    if (!a->cfg->sort || !columns_parse(a->cfg->sort, t->sort, &t->n_sort, NULL)) {
        t->sort[0] = COLUMN_SELF;
        t->n_sort = 1;
    }
    return t;
}

static void destroy(void *view)
{
    struct table *t = view;
    functions_done(&t->functions);
    mem_free(t->rows);
    mem_free(t->group_trends);
    mem_free(t);
}

/* --- drawing --- */

/* A screen's columns: which there are, where each begins, how wide it is. */
struct layout {
    enum column columns[COLUMN_COUNT];
    int at[COLUMN_COUNT], width[COLUMN_COUNT];
    int n;
};

static bool column_shows(const struct app *a, enum column c, int screen_cols)
{
    bool symbols = !groups_only(a) && a->query.group != VIEW_GROUP_MODULE;
    if (c != COLUMN_FUNCTION && a->columns_hidden & 1u << c)
        return false;
    if (c == COLUMN_COMM)
        return a->query.group == VIEW_GROUP_COMM_SYMBOL;
    if (c == COLUMN_MODULE)
        return symbols && screen_cols >= column_table[c].min_cols;
    if (c == COLUMN_TOTAL && groups_only(a))
        return false; /* would be the same as self */
    return screen_cols >= column_table[c].min_cols;
}

static void lay_out(struct layout *l, const struct app *a, int cols)
{
    int col = 0;
    l->n = 0;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (!column_shows(a, (enum column)c, cols))
            continue;
        int width = column_table[c].width ? column_table[c].width : cols - col;
        if (c == COLUMN_MODULE && cols < 100)
            width = 15;
        if (c == COLUMN_COMM && cols < 100)
            width = 12;
        l->columns[l->n] = (enum column)c;
        l->at[l->n] = col;
        l->width[l->n++] = width;
        col += width + 1;
    }
}

static bool is_number(enum column c)
{
    return c == COLUMN_SELF || c == COLUMN_TOTAL || c == COLUMN_SAMPLES;
}

static const char *head_title(const struct app *a, enum column c, char dst[32])
{
    if (c != COLUMN_FUNCTION || a->query.group == VIEW_GROUP_SYMBOL ||
        a->query.group == VIEW_GROUP_COMM_SYMBOL)
        return column_table[c].title;
    const char *title = group_title(a->query.group);
    size_t i = 0;
    for (; title[i] && i < 31; i++)
        dst[i] = title[i] >= 'a' && title[i] <= 'z' ? (char)(title[i] - 32) : title[i];
    dst[i] = '\0';
    return dst;
}

static void draw_head(const struct table *t, const struct app *a, const struct layout *l, struct area area)
{
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    for (int i = 0; i < l->n; i++) {
        enum column c = l->columns[i];
        enum style style = c == t->sort[0] ? STYLE_TABLE_SORT : STYLE_TABLE_HEAD;
        char upper[32];
        const char *title = head_title(a, c, upper);
        if (is_number(c))
            draw_right(area, 0, l->at[i], l->width[i], style, title);
        else
            draw_elided(area, 0, l->at[i], l->width[i], style, title, false);
    }
}

static const char *shifted(const char *name, int columns)
{
    return name + text_prefix(name, columns, NULL);
}

static void draw_cell(const struct table *t, const struct app *a, struct area area, int row,
                      const struct row *r, enum column c, int at, int width)
{
    char text[64];
    double percent = app_percent(a, c == COLUMN_SELF ? r->self : r->total);
    enum style name_style = r->func ? app_class_style(t->answer->funcs[r->func].class) : STYLE_NORMAL;
    switch (c) {
    case COLUMN_SELF:
    case COLUMN_TOTAL:
        (void)snprintf(text, sizeof text, "%.1f", percent);
        draw_right(area, row, at, width, app_share_style(percent), text);
        break;
    case COLUMN_SAMPLES:
        draw_right(area, row, at, width, STYLE_NORMAL, text_thousands(text, sizeof text, r->count));
        break;
    case COLUMN_TREND:
        bar_spark(text, sizeof text, r->trend, QUERY_TREND, 0, term_glyphs());
        draw_text(area, row, at, STYLE_NORMAL, text);
        break;
    case COLUMN_COMM:
        (void)draw_match(area, row, at, width, STYLE_NORMAL, row_group(t, r), a->search);
        break;
    case COLUMN_MODULE:
        (void)draw_match(area, row, at, width, STYLE_NORMAL, row_module(t, r), a->search);
        break;
    default:
        if (t->shift)
            draw_text(area, row, at, name_style, shifted(row_name(t, r), t->shift));
        else
            (void)draw_match(area, row, at, width, name_style, row_name(t, r), a->search);
    }
}

static void draw(void *view, struct app *a, struct area area)
{
    struct table *t = view;
    struct layout l;
    struct area body = area_sub(area, 1, 0, area.rows - 1, -1);
    lay_out(&l, a, area.cols);
    draw_head(t, a, &l, area);
    if (t->n == 0) {
        view_draw_empty(a, body);
        return;
    }
    list_fit(&t->list, body.rows);
    for (int row = 0; row < body.rows && t->list.top + (uint32_t)row < t->n; row++) {
        uint32_t i = t->list.top + (uint32_t)row;
        for (int c = 0; c < l.n; c++)
            draw_cell(t, a, body, row, &t->rows[i], l.columns[c], l.at[c], l.width[c]);
        if (i == t->list.cursor)
            draw_restyle(body, row, STYLE_CURSOR);
    }
}

static void describe(void *view, struct app *a, char *dst, size_t cap)
{
    const struct table *t = view;
    (void)snprintf(dst, cap, "by %s, %s first%s", group_title(a->query.group), column_table[t->sort[0]].name,
                   t->upwards ? " (reversed)" : "");
}

/* --- keys --- */

static const struct row *cursor_row(const struct table *t)
{
    return t->list.cursor < t->n ? &t->rows[t->list.cursor] : NULL;
}

static void selection(void *view, struct app *a, struct ui_selection *out)
{
    const struct table *t = view;
    const struct row *r = cursor_row(t);
    (void)a;
    if (!r)
        return;
    out->group = r->group;
    out->is_group = !r->func;
    out->chosen = t->list.moved;
    if (!r->func)
        return;
    const struct view_function *f = &t->answer->funcs[r->func];
    if (a->query.group != VIEW_GROUP_MODULE) { /* there a row is no function */
        out->func_key = f->key;
        text_clean(out->function, sizeof out->function, f->name, strlen(f->name));
    }
    text_clean(out->module, sizeof out->module, f->module, strlen(f->module));
}

static unsigned select_function(void *view, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct table *t = view;
    (void)a;
    (void)drill;
    const struct row *now = cursor_row(t);
    if (!sel->func_key || (now && now->func && t->answer->funcs[now->func].key == sel->func_key))
        return APP_HANDLED;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->rows[i].func && t->answer->funcs[t->rows[i].func].key == sel->func_key) {
            list_go(&t->list, i, row_key, t);
            return APP_REDRAW;
        }
    }
    return APP_HANDLED;
}

static unsigned set_sort(struct table *t, enum column c)
{
    t->upwards = t->sort[0] == c ? !t->upwards : false;
    t->sort[0] = c;
    t->n_sort = 1;
    sort_rows(t);
    return APP_REDRAW;
}

static unsigned take_sort(struct app *a, uint32_t choice)
{
    struct table *t = a->states[0];
    return a->views[a->view] == &view_functions_ops && t ? set_sort(t, (enum column)choice)
                                                         : (unsigned)APP_HANDLED;
}

static unsigned menu_sort(const struct table *t, struct app *a)
{
    char lines[COLUMN_COUNT][128];
    const char *list[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++) {
        (void)snprintf(lines[i], sizeof lines[i], "%-9s %s", column_table[i].title, column_table[i].help);
        list[i] = lines[i];
    }
    return picker_menu(a, "Sort by (the same again: the other way)", list, COLUMN_COUNT, t->sort[0],
                       take_sort);
}

static unsigned step_sort(struct table *t, struct app *a, int step)
{
    struct layout l;
    lay_out(&l, a, area_screen().cols);
    int at = 0;
    for (int i = 0; i < l.n; i++)
        at = l.columns[i] == t->sort[0] ? i : at;
    t->upwards = false;
    t->sort[0] = l.columns[(at + step + l.n) % l.n];
    t->n_sort = 1;
    sort_rows(t);
    return APP_REDRAW;
}

/* Long names: to the right as long as one on the screen goes on there. */
static unsigned scroll_names(struct table *t, struct app *a, int step)
{
    struct layout l;
    int shift = t->shift + step, widest = 0;
    lay_out(&l, a, area_screen().cols);
    for (uint32_t i = t->list.top; i < t->n && i < t->list.top + (uint32_t)t->list.page; i++) {
        int width = text_width(row_name(t, &t->rows[i]));
        widest = width > widest ? width : widest;
    }
    if (step > 0 && widest - t->shift <= l.width[l.n - 1])
        return APP_HANDLED;
    t->shift = shift > 0 ? shift : 0;
    return APP_REDRAW;
}

/* Into a group: zoom, and look at its functions. */
static unsigned drill(struct table *t, struct app *a)
{
    const struct row *r = cursor_row(t);
    if (!r)
        return APP_HANDLED;
    if (r->func && a->query.group != VIEW_GROUP_MODULE)
        return app_show_view_named(a, view_callgraph_ops.name, true);
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
    if (row == 0) {
        struct layout l;
        lay_out(&l, a, area_screen().cols);
        for (int i = l.n - 1; i >= 0; i--)
            if (col >= l.at[i])
                return set_sort(t, l.columns[i]);
        return APP_HANDLED;
    }
    uint32_t i = t->list.top + (uint32_t)row - 1;
    if (i >= t->n)
        return APP_HANDLED;
    list_go(&t->list, i, row_key, t);
    return APP_REDRAW | (twice ? drill(t, a) : 0);
}

/* --- search --- */

static bool row_matches(const void *ctx, uint32_t row)
{
    const struct table *t = ctx;
    const struct row *r = &t->rows[row];
    return text_find_nocase(row_name(t, r), t->needle) || text_find_nocase(row_module(t, r), t->needle) ||
           text_find_nocase(row_group(t, r), t->needle);
}

static bool search(void *view, struct app *a, int step)
{
    struct table *t = view;
    t->needle = a->search;
    int64_t row = list_search(&t->list, step, row_matches, t);
    if (row >= 0)
        list_go(&t->list, (uint32_t)row, row_key, t);
    return row >= 0;
}

const struct view_ops view_functions_ops = {
    .name = "functions",
    .title = "Functions",
    .intro = "Where the time goes: SELF% is the share of samples taken in a function itself, TOTAL% the "
             "share taken in it "
             "or in what it called. Idle time is left out. Enter shows who calls the function.",
    .number = 1,
    .scope = SCOPE_KEYS_FUNCTIONS,
    .create = create,
    .destroy = destroy,
    .update = update,
    .draw = draw,
    .act = act,
    .click = click,
    .selection = selection,
    .select = select_function,
    .search = search,
    .describe = describe,
};
