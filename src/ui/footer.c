// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/bar.h"
#include "ui/view.h"
#include "ui/window.h"

#define MESSAGE_ROWS   5
#define DESCRIBE_LEAST 16
#define LABEL_COLS     6

/* --- tabs, and what restricts what is shown --- */

static bool is_narrowed(const struct app *a)
{
    return a->query.n_zooms || a->query.filter[0] || a->search[0];
}

static int draw_tabs(const struct app *a, struct area area)
{
    const struct view_query *q = &a->query;
    bool titles = area.cols >= (is_narrowed(a) || q->mode != VIEW_MODE_ALL ? 120 : 90);
    int col = 0;
    for (uint32_t i = 0; i < a->n_views; i++) {
        char text[64];
        bool active = i == a->view;
        if (titles || active)
            (void)snprintf(text, sizeof text, " %u %s ", a->views[i]->number, a->views[i]->title);
        else
            (void)snprintf(text, sizeof text, " %u ", a->views[i]->number);
        col += draw_text(area, 0, col, active ? STYLE_TAB_ACTIVE : STYLE_TAB, text);
    }
    return col;
}

static const char *const zoom_words[] = {
    [ZOOM_MODULE] = "module",     [ZOOM_COMM] = "comm", [ZOOM_PROCESS] = "process",
    [ZOOM_THREAD] = "thread",     [ZOOM_CPU] = "cpu",   [ZOOM_CGROUP] = "cgroup",
    [ZOOM_FUNCTION] = "function",
};

static int draw_chip(struct area area, int col, enum style label_style, const char *label, const char *text)
{
    if (col >= area.cols)
        return 0;
    int used = draw_text(area, 0, col + 1, label_style, label);
    used += draw_elided(area, 0, col + 1 + used, 40, STYLE_NAME, text, true);
    return used + 2;
}

/* What restricts the samples, and their time. */
static int draw_question(const struct app *a, struct area area, int col)
{
    const struct view_query *q = &a->query;
    char text[160];
    int start = col;
    for (uint32_t i = 0; i < q->n_zooms; i++) {
        (void)snprintf(text, sizeof text, "%s:", zoom_words[q->zooms[i].kind]);
        col += draw_chip(area, col, STYLE_TAGGED, text, q->zooms[i].text);
    }
    if (q->filter[0])
        col += draw_chip(area, col, STYLE_TAGGED, "filter:", q->filter);
    if (q->mode != VIEW_MODE_ALL)
        col += draw_chip(area, col, STYLE_TAGGED, "only:", q->mode == VIEW_MODE_KERNEL ? "kernel" : "user");
    if (q->show_idle)
        col += draw_chip(area, col, STYLE_TAGGED, "with ", "idle");
    if (a->search[0])
        col += draw_chip(area, col, STYLE_LABEL, "search:", a->search);
    window_name(q->window_ns, text, sizeof text);
    col += draw_chip(area, col, STYLE_LABEL, q->window_ns ? "last " : "", text);
    return col - start;
}

/* How one gets out of what Esc takes back: at the right edge, where nothing pushes it off the line. */
static struct area draw_way_out(const struct app *a, struct area area)
{
    char key[16], text[32];
    if (!is_narrowed(a) || area.cols < 60)
        return area;
    (void)snprintf(text, sizeof text, " %s undoes", keymap_first(a->keymap, ACTION_BACK, key));
    int width = text_width(text);
    draw_text(area, 0, area.cols - width, STYLE_LABEL, text);
    return area_sub(area, 0, 0, 1, area.cols - width);
}

void tabs_draw(struct app *a, struct area area)
{
    char text[160];
    bool asks = !a->views[a->view]->no_query;
    struct area left = asks ? draw_way_out(a, area) : area;
    int col = draw_tabs(a, left) + 1;
    col += asks ? draw_question(a, left, col) : 0;
    const struct view_ops *ops = a->views[a->view];
    text[0] = '\0';
    if (ops->describe && a->states[a->view])
        ops->describe(a->states[a->view], a, text, sizeof text);
    if (left.cols - col > DESCRIBE_LEAST || text_width(text) < left.cols - col)
        (void)draw_chip(left, col, STYLE_LABEL, "", text);
}

/* --- the bottom line --- */

static int draw_key(struct area area, int col, const char *key, const char *label)
{
    int used = draw_text(area, 0, col, STYLE_KEY, key);
    used += draw_text(area, 0, col + used, STYLE_KEY_LABEL, label);
    return used;
}

/* First F-key if the action has one: the bar is where people look for those. */
static void bar_key(const struct app *a, enum action action, char dst[16])
{
    char keys[64], *save = NULL;
    (void)snprintf(keys, sizeof keys, "%s", keymap_keys(a->keymap, action));
    keymap_first(a->keymap, action, dst);
    for (char *w = strtok_r(keys, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (w[0] == 'F' && w[1]) {
            (void)snprintf(dst, 16, "%.15s", w);
            return;
        }
    }
}

static void draw_keys(const struct app *a, struct area area, enum action_scope scope, enum action without)
{
    char key[16], label[32];
    bar_key(a, ACTION_QUIT, key);
    int col = 0, quit = scope == SCOPE_KEYS_GLOBAL ? text_width(key) + LABEL_COLS : 0; /* always has room */
    for (enum action action = 1; action < ACTION_COUNT; action++) {
        const struct action_row *row = action_row(action);
        if (row->scope != scope || !row->label[0] || action == without)
            continue;
        bar_key(a, action, key);
        bool thaw = action == ACTION_FREEZE && a->status.frozen;
        (void)snprintf(label, sizeof label, "%-*s", LABEL_COLS, thaw ? "Thaw" : row->label);
        int after = action == ACTION_QUIT ? 0 : quit;
        if (key[0] && col + text_width(key) + LABEL_COLS + after <= area.cols + 2)
            col += draw_key(area, col, key, label);
    }
    draw_fill(area, 0, col, -1, STYLE_KEY_LABEL);
}

/* What is longer than the line grows upwards: the end of an error says what mends it. */
static void draw_message(const struct app *a, struct area area)
{
    enum style style = a->message_is_error ? STYLE_ALERT : STYLE_MESSAGE;
    int rows = draw_wrapped(area_sub(area, 0, 0, 0, -1), 0, style, a->message);
    rows = rows > MESSAGE_ROWS ? MESSAGE_ROWS : rows;
    rows = rows > area.y + 1 ? area.y + 1 : rows;
    struct area box = { area.y + 1 - rows, area.x, rows, area.cols };
    draw_clear(box, style);
    (void)draw_wrapped(box, 0, style, a->message);
}

void footer_draw(const struct app *a, struct area area)
{
    if (a->message[0])
        draw_message(a, area);
    else
        draw_keys(a, area, SCOPE_KEYS_GLOBAL, ACTION_NONE);
}

void footer_draw_picker(const struct app *a, struct area area, bool multiple)
{
    if (a->message[0])
        footer_draw(a, area);
    else
        draw_keys(a, area, SCOPE_KEYS_PICKER, multiple ? ACTION_NONE : ACTION_PICK_TAG);
}
