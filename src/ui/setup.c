// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini_edit.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/columns.h"
#include "ui/dialog.h"
#include "ui/list.h"
#include "ui/menus.h"
#include "ui/window.h"

#define VALUE_COL 19
#define HELP_COL  23
#define PAIRS_MAX 8 /* settings that are saved */
/* below the list, for the whole help of the chosen column when the list is too narrow */
#define WHOLE_ROWS 2

/* One row per setting. A change takes effect at once, and is kept when saved. */

struct setup {
    struct dialog dialog;
    struct list list;
    struct area rows; /* of the last drawn frame, relative to the dialog's area */
    char (*themes)[64];
    uint32_t n_themes;
};

static const double delays_s[] = { 0.25, 0.5, 1, 2, 3, 5, 10 };
#define N_DELAYS (sizeof delays_s / sizeof *delays_s)

static uint32_t step_index(uint32_t at, int step, uint32_t n)
{
    return (uint32_t)(((int64_t)at + step + n) % n);
}

static void theme_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    (void)u;
    (void)snprintf(dst, cap, "%s", a->theme.name);
}

static unsigned theme_change(struct setup *u, struct app *a, int step)
{
    uint32_t at = 0;
    struct error e = { 0 };
    for (uint32_t i = 0; i < u->n_themes; i++)
        at = strcmp(u->themes[i], a->theme.name) == 0 ? i : at;
    if (!theme_load(&a->theme, u->themes[step_index(at, step, u->n_themes)], &e))
        return app_error(a, &e);
    term_set_theme(&a->theme);
    term_redraw_all();
    return APP_REDRAW;
}

static void delay_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    (void)u;
    (void)snprintf(dst, cap, "%g s", a->delay_s);
}

static unsigned delay_change(struct setup *u, struct app *a, int step)
{
    uint32_t at = 0;
    (void)u;
    for (uint32_t i = 0; i < N_DELAYS; i++)
        at = delays_s[i] <= a->delay_s ? i : at;
    a->delay_s = delays_s[step_index(at, step, N_DELAYS)];
    return APP_REDRAW;
}

static void window_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    (void)u;
    window_name(a->query.window_ns, dst, cap);
}

static unsigned window_change(struct setup *u, struct app *a, int step)
{
    uint32_t at = 0;
    (void)u;
    for (uint32_t i = 0; i < WINDOW_CHOICES; i++)
        at = window_choices_ns[i] == a->query.window_ns ? i : at;
    a->query.window_ns = window_choices_ns[step_index(at, step, WINDOW_CHOICES)];
    range_forget(a);
    return APP_QUERY;
}

static void group_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    (void)u;
    (void)snprintf(dst, cap, "%s", group_title(a->query.group));
}

static unsigned group_change(struct setup *u, struct app *a, int step)
{
    (void)u;
    a->query.group = (enum view_group)step_index(a->query.group, step, VIEW_GROUP_COUNT);
    return APP_QUERY;
}

static void mode_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    static const char *const names[] = { "kernel and user", "kernel only", "user only" };
    (void)u;
    (void)snprintf(dst, cap, "%s", names[a->query.mode]);
}

static unsigned mode_change(struct setup *u, struct app *a, int step)
{
    (void)u;
    a->query.mode = (enum view_mode)step_index(a->query.mode, step, 3);
    return APP_QUERY;
}

static void idle_value(const struct setup *u, const struct app *a, char *dst, size_t cap)
{
    (void)u;
    (void)snprintf(dst, cap, "%s", a->query.show_idle ? "included" : "excluded");
}

static unsigned idle_change(struct setup *u, struct app *a, int step)
{
    (void)u;
    (void)step;
    a->query.show_idle = !a->query.show_idle;
    return APP_QUERY;
}

static const struct setting {
    const char *name;
    void (*value)(const struct setup *u, const struct app *a, char *dst, size_t cap);
    unsigned (*change)(struct setup *u, struct app *a, int step);
} settings[] = {
    { "Theme", theme_value, theme_change },
    { "Redraw every", delay_value, delay_change },
    { "Time window", window_value, window_change },
    { "Group by", group_value, group_change },
    { "Show", mode_value, mode_change },
    { "Idle time", idle_value, idle_change },
};
#define N_SETTINGS (sizeof settings / sizeof *settings)
/* The function column cannot be hidden. */
#define N_ROWS (N_SETTINGS + COLUMN_FUNCTION)

static uint64_t row_key(const void *ctx, uint32_t row)
{
    (void)ctx;
    return row;
}

static unsigned change(struct setup *u, struct app *a, int step)
{
    uint32_t row = u->list.cursor;
    if (row < N_SETTINGS)
        return APP_REDRAW | settings[row].change(u, a, step);
    a->columns_hidden ^= 1u << (row - N_SETTINGS);
    return APP_REDRAW;
}

/* --- saving --- */

struct pairs {
    struct ini_pair list[PAIRS_MAX];
    size_t n;
};

static void add(struct pairs *p, const char *key, const char *value)
{
    p->list[p->n++] = (struct ini_pair){ key, value };
}

/* Returns a theme's name; if it is a path, the full path, so that it works from every directory. */
static char *theme_to_save(const struct app *a)
{
    const char *name = a->theme.name;
    char *full = strchr(name, '/') ? realpath(name, NULL) : NULL, *value = mem_strdup(full ? full : name);
    free(full);
    return value;
}

/* Writes [options] to the config file, and shows a message either way. */
static unsigned save(struct app *a)
{
    char delay[32], window[32];
    struct buf columns = { 0 };
    struct pairs p = { .n = 0 };
    struct error e = { 0 };
    if (!a->cfg->config_path)
        return app_message(a, "cannot save: set HOME or XDG_CONFIG_HOME");
    char *theme = theme_to_save(a);
    (void)snprintf(delay, sizeof delay, "%g", a->delay_s);
    (void)snprintf(window, sizeof window, "%g", (double)a->query.window_ns / (double)NS_PER_SEC);
    columns_shown(a->columns_hidden, &columns);
    add(&p, "theme", theme);
    add(&p, "delay", delay);
    /* for a recording, the window starts as all of it */
    if (!a->status.file || a->query.window_ns != a->cfg->query.window_ns)
        add(&p, "window", window);
    add(&p, "group-by", view_group_names[a->query.group]);
    add(&p, "idle", a->query.show_idle ? "yes" : "no");
    add(&p, "columns", buf_str(&columns));
    bool good = ini_write(a->cfg->config_path, a->cfg->config_model, "options", p.list, p.n, &e);
    mem_free(theme);
    buf_done(&columns);
    return good ? app_message(a, "saved in %s", a->cfg->config_path) : app_error(a, &e);
}

/* --- the dialog --- */

static unsigned setup_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct setup *u = (struct setup *)d;
    enum action action = keymap_find(a->keymap, SCOPE_KEYS_GLOBAL, key);
    if (list_act(&u->list, action, row_key, NULL))
        return APP_REDRAW;
    switch (action) {
    case ACTION_LEFT:
        return change(u, a, -1);
    case ACTION_RIGHT:
    case ACTION_DRILL:
        return change(u, a, 1);
    case ACTION_WRITE:
        return save(a);
    case ACTION_BACK:
    case ACTION_SETUP:
    case ACTION_QUIT:
        dialog_close(a, d);
        return APP_REDRAW;
    default:
        return key == ' ' ? change(u, a, 1) : APP_HANDLED;
    }
}

static unsigned setup_click(struct dialog *d, struct app *a, int row, int col, bool twice)
{
    struct setup *u = (struct setup *)d;
    bool inside = col >= u->rows.x && col < u->rows.x + u->rows.cols;
    if (!inside || !list_click(&u->list, row - u->rows.y, row_key, NULL))
        return APP_HANDLED;
    return APP_REDRAW | (twice ? change(u, a, 1) : 0);
}

static void draw_row(const struct setup *u, const struct app *a, struct area area, int row, uint32_t i)
{
    if (i < N_SETTINGS) {
        char value[96];
        settings[i].value(u, a, value, sizeof value);
        draw_text(area, row, 0, STYLE_DIALOG, settings[i].name);
        draw_printf(area, row, VALUE_COL, STYLE_NAME, "< %s >", value);
    } else {
        const struct column_row *column = &column_table[i - N_SETTINGS];
        bool shown = !(a->columns_hidden & 1u << (i - N_SETTINGS));
        draw_printf(area, row, 0, STYLE_DIALOG, "Column %s", column->title);
        draw_printf(area, row, VALUE_COL, STYLE_NAME, "[%c] ", shown ? 'x' : ' ');
        draw_elided(area, row, HELP_COL, area.cols - HELP_COL, STYLE_DIALOG, column->help, false);
    }
    if (i == u->list.cursor)
        draw_restyle(area, row, STYLE_CURSOR);
}

static const char *help_of(uint32_t row)
{
    return row < N_SETTINGS ? "" : column_table[row - N_SETTINGS].help;
}

static int widest_help(void)
{
    int widest = 0;
    for (uint32_t i = 0; i < N_ROWS; i++)
        widest = text_width(help_of(i)) > widest ? text_width(help_of(i)) : widest;
    return widest;
}

static void setup_draw(struct dialog *d, struct app *a, struct area area)
{
    struct setup *u = (struct setup *)d;
    int wanted = HELP_COL + widest_help() + 4, whole = wanted > area.cols ? WHOLE_ROWS : 0;
    struct area all = draw_box(area_center(area, (int)N_ROWS + 2 + whole, wanted), "Setup");
    struct area in = area_sub(all, 0, 0, all.rows - whole, -1);
    draw_wrapped(area_sub(all, in.rows, 0, whole, -1), 0, STYLE_NAME, help_of(u->list.cursor));
    u->rows = (struct area){ in.y - area.y, in.x - area.x, in.rows, in.cols };
    list_fit(&u->list, in.rows);
    for (int row = 0; row < in.rows && u->list.top + (uint32_t)row < N_ROWS; row++)
        draw_row(u, a, in, row, u->list.top + (uint32_t)row);
}

static void setup_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    char save[16], leave[16];
    (void)d;
    if (a->message[0]) {
        footer_draw(a, bar);
        return;
    }
    draw_fill(bar, 0, 0, -1, STYLE_KEY_LABEL);
    int col =
        draw_printf(bar, 0, 0, STYLE_KEY_LABEL, "Left/Right change  %s closes  %s saves",
                    keymap_first(a->keymap, ACTION_BACK, leave), keymap_first(a->keymap, ACTION_WRITE, save));
    if (a->cfg->config_path) {
        col += draw_text(bar, 0, col, STYLE_KEY_LABEL, " in ");
        draw_elided(bar, 0, col, bar.cols - col, STYLE_KEY_LABEL, a->cfg->config_path, true);
    }
}

static void setup_destroy(struct dialog *d)
{
    mem_free(((struct setup *)d)->themes);
}

unsigned dialog_setup(struct app *a)
{
    static const struct dialog_ops ops = {
        .key = setup_key,
        .draw = setup_draw,
        .click = setup_click,
        .draw_bar = setup_draw_bar,
        .destroy = setup_destroy,
    };
    struct setup *u = mem_zalloc(sizeof *u);
    u->dialog.ops = &ops;
    u->n_themes = theme_list(&u->themes);
    list_update(&u->list, N_ROWS, row_key, NULL);
    dialog_push(a, &u->dialog);
    return APP_REDRAW;
}
