// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/bar.h"
#include "ui/legend.h"
#include "ui/view_ops.h"
#include "ui/window.h"

#define SPACIOUS_COLS  160
#define TITLES_COLS    132
#define NUMBERS_COLS   120 /* below, numbers if the rest of the line says more */
#define BRIEF_COLS     76
#define MESSAGE_ROWS   5
#define DESCRIBE_LEAST 16
#define LABEL_COLS     6

/* --- tabs, and the filters in effect --- */

static bool is_narrowed(const struct app *a)
{
    return a->query.n_zooms || a->query.to_ns || range_has_durations(a) || a->query.filter[0] ||
           a->search[0] || steps_newest_is(a, STEP_INSIDE);
}

/* Writes a tab's text. With less room, tabs get closer, then brief titles, then only numbers except for
 * the active one. */
static void tab_text(const struct app *a, int cols, uint32_t view, char *dst, size_t cap)
{
    bool narrowed = is_narrowed(a) || a->query.mode != VIEW_MODE_ALL, active = view == a->view;
    const struct view_row *row = &view_table[view];
    int least = a->ops[a->view]->explains || narrowed ? NUMBERS_COLS : BRIEF_COLS;
    const char *title = cols < TITLES_COLS ? row->brief : row->title;
    if (active || cols >= least)
        (void)snprintf(dst, cap, " %u %s%s", row->number, title, active || cols >= SPACIOUS_COLS ? " " : "");
    else
        (void)snprintf(dst, cap, " %u", row->number);
}

static int draw_tabs(const struct app *a, struct area area)
{
    int col = 0;
    for (uint32_t i = 0; i < APP_VIEWS; i++) {
        char text[64];
        if (view_page(a, i) != i)
            continue;
        tab_text(a, area.cols, i, text, sizeof text);
        col += draw_text(area, 0, col, i == a->view ? STYLE_TAB_ACTIVE : STYLE_TAB, text);
    }
    return col;
}

static int draw_chip(struct area area, int col, enum style label_style, const char *label, const char *text)
{
    if (col >= area.cols)
        return 0;
    int used = draw_text(area, 0, col + 1, label_style, label);
    /* the ends of names distinguish them */
    used += draw_elided(area, 0, col + 1 + used, 40, STYLE_NAME, text, *label);
    return used + 2;
}

/* Draws what restricts the samples, and their time range. */
static int draw_question(const struct app *a, struct area area, int col)
{
    const struct view_query *q = &a->query;
    char text[160];
    int start = col;
    range_text(a, text, sizeof text);
    if (text[0])
        col += draw_chip(area, col, STYLE_TAGGED, "range ", text);
    range_durations_text(a, text, sizeof text);
    if (text[0])
        col += draw_chip(area, col, STYLE_TAGGED, "took ", text);
    for (uint32_t i = 0; i < q->n_zooms; i++) {
        (void)snprintf(text, sizeof text, "%s:", zoom_words[q->zooms[i].kind]);
        col += draw_chip(area, col, STYLE_TAGGED, text, q->zooms[i].text);
    }
    if (q->filter[0])
        col += draw_chip(area, col, STYLE_TAGGED, "filter:", q->filter);
    if (a->whole.result.weight) {
        (void)snprintf(text, sizeof text, "%.1f%% of all",
                       100.0 * (double)a->data.result.weight / (double)a->whole.result.weight);
        col += draw_chip(area, col, STYLE_LABEL, "= ", text);
    }
    if (q->mode != VIEW_MODE_ALL)
        col += draw_chip(area, col, STYLE_TAGGED, "only:", q->mode == VIEW_MODE_KERNEL ? "kernel" : "user");
    if (q->show_idle)
        col += draw_chip(area, col, STYLE_TAGGED, "with ", "idle");
    if (a->search[0])
        col += draw_chip(area, col, STYLE_LABEL, "search:", a->search);
    window_name(q->window_ns, text, sizeof text);
    if (!q->to_ns)
        col += draw_chip(area, col, STYLE_LABEL, q->window_ns ? "last " : "", text);
    return col - start;
}

/* Writes the hint "Esc undoes" for the right edge, where nothing displaces it. Returns the rest of the
 * line. */
static struct area way_out(const struct app *a, struct area area, char *text, size_t cap)
{
    char key[16];
    text[0] = '\0';
    if (a->ops[a->view]->no_query || !is_narrowed(a) || area.cols < 60)
        return area;
    (void)snprintf(text, cap, " %s undoes", keymap_first(a->keymap, ACTION_BACK, key));
    return area_sub(area, 0, 0, 1, area.cols - text_width(text));
}

void tabs_draw(struct app *a, struct area area)
{
    char text[160];
    bool asks = !a->ops[a->view]->no_query;
    struct area left = way_out(a, area, text, sizeof text);
    draw_text(area, 0, left.cols, STYLE_LABEL, text);
    int col = draw_tabs(a, left) + 1;
    col += asks ? draw_question(a, left, col) : 0;
    const struct view_ops *ops = a->ops[a->view];
    text[0] = '\0';
    if (ops->describe && a->states[a->view])
        ops->describe(a->states[a->view], a, text, sizeof text);
    if (left.cols - col > DESCRIBE_LEAST || text_width(text) < left.cols - col)
        col += 1 + draw_elided(left, 0, col + 1, left.cols - col - 1, STYLE_NAME, text, false);
    if (ops->legend && a->data.result.samples)
        legend_draw(left, 0, col + 1, &a->data, app_class_style);
}

bool tabs_find(const struct app *a, struct area area, int col, uint32_t *view)
{
    char text[64];
    struct area left = way_out(a, area, text, sizeof text);
    int at = 0;
    for (uint32_t i = 0; i < APP_VIEWS; i++) {
        if (view_page(a, i) != i)
            continue;
        tab_text(a, left.cols, i, text, sizeof text);
        at += text_width(text);
        if (col < at) {
            *view = i;
            return true;
        }
    }
    return false;
}

/* --- the bottom line --- */

struct slot { /* "F1Help  ", "e Event  " */
    char key[16], label[32];
    int at, width;
};
#define SLOTS_MAX 40

struct slots {
    struct slot slots[SLOTS_MAX];
    int n, col;
};

/* Returns the action's first F-key if it has one: people expect those in this bar. */
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

static bool is_of_live(enum action action)
{
    return action == ACTION_FREEZE || action == ACTION_EVENT || action == ACTION_PROCESSES ||
           action == ACTION_SCOPE || action == ACTION_STACKS || action == ACTION_FREQUENCY;
}

/* Hides keys that would only say that they do nothing here. */
static bool is_of_use(const struct app *a, enum action action, const char *key)
{
    const struct view_ops *ops = a->ops[a->view];
    uint32_t code;
    if (action_row(action)->scope != SCOPE_KEYS_GLOBAL)
        return true;
    if (!view_offers(ops, action) || (a->status.file && is_of_live(action)))
        return false;
    return key_parse(key, &code) && keymap_find(a->keymap, view_table[a->view].scope, code) == action;
}

static void add_key(const struct app *a, int cols, enum action action, struct slots *s)
{
    const struct action_row *row = action_row(action);
    struct slot *slot = &s->slots[s->n];
    if (s->n == SLOTS_MAX || !row->label[0])
        return;
    bar_key(a, action, slot->key);
    bool thaw = action == ACTION_FREEZE && a->status.frozen,
         function_key = slot->key[0] == 'F' && slot->key[1];
    (void)snprintf(slot->label, sizeof slot->label, function_key ? "%-*s" : " %-*s ",
                   function_key ? LABEL_COLS : 0, thaw ? "Thaw" : row->label);
    slot->width = text_width(slot->key) + text_width(slot->label);
    int needed = action == ACTION_QUIT ? text_width(slot->key) + text_width(row->label) : slot->width;
    if (!slot->key[0] || s->col + needed > cols || !is_of_use(a, action, slot->key))
        return;
    slot->at = s->col;
    s->col += slot->width;
    s->n++;
}

/* Lays out the keys that fit: the main global ones, the view's own, more global ones. Quit always fits. */
static void lay_out_keys(const struct app *a, int cols, enum action_scope scope, enum action without,
                         struct slots *s)
{
    char key[16];
    s->n = s->col = 0;
    bar_key(a, ACTION_QUIT, key);
    bool global = scope == SCOPE_KEYS_GLOBAL;
    int quit = global ? text_width(key) + text_width(action_row(ACTION_QUIT)->label) : 0;
    for (enum action action = 1; action < ACTION_COUNT && !(global && action == ACTION_QUIT); action++)
        if (action_row(action)->scope == scope && action != without)
            add_key(a, cols - quit, action, s);
    if (!global)
        return;
    for (enum action action = 1; action < ACTION_COUNT; action++)
        if (action_row(action)->scope == view_table[a->view].scope)
            add_key(a, cols - quit, action, s);
    for (enum action action = ACTION_QUIT + 1; action < ACTION_COUNT; action++)
        if (action_row(action)->scope == SCOPE_KEYS_GLOBAL)
            add_key(a, cols - quit, action, s);
    add_key(a, cols, ACTION_QUIT, s);
}

static void draw_keys(const struct app *a, struct area area, enum action_scope scope, enum action without)
{
    struct slots s;
    lay_out_keys(a, area.cols, scope, without, &s);
    draw_fill(area, 0, 0, -1, STYLE_KEY_LABEL);
    for (int i = 0; i < s.n; i++) {
        int used = draw_text(area, 0, s.slots[i].at, STYLE_KEY, s.slots[i].key);
        draw_text(area, 0, s.slots[i].at + used, STYLE_KEY_LABEL, s.slots[i].label);
    }
}

static enum action_scope keys_scope(const struct app *a)
{
    return a->strip.has_keys ? SCOPE_KEYS_STRIP : SCOPE_KEYS_GLOBAL;
}

bool footer_find(const struct app *a, struct area area, int col, uint32_t *key)
{
    struct slots s;
    lay_out_keys(a, area.cols, keys_scope(a), ACTION_NONE, &s);
    for (int i = 0; i < s.n && !a->message[0]; i++)
        if (col >= s.slots[i].at && col < s.slots[i].at + s.slots[i].width)
            return key_parse(s.slots[i].key, key);
    return false;
}

/* Draws a message. A long one grows upwards: the end of an error says how to fix it. */
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
    char text[160], key[16];
    if (a->message[0]) {
        draw_message(a, area);
    } else if (a->job.state != JOB_NONE && a->job.state != JOB_MADE) {
        (void)snprintf(text, sizeof text, "%s  (%s cancels)", a->job.progress,
                       keymap_first(a->keymap, ACTION_BACK, key));
        draw_fill(area, 0, 0, -1, STYLE_MESSAGE);
        draw_elided(area, 0, 0, area.cols, STYLE_MESSAGE, text, false);
    } else {
        draw_keys(a, area, keys_scope(a), ACTION_NONE);
    }
}

void footer_draw_picker(const struct app *a, struct area area, bool multiple)
{
    if (a->message[0])
        footer_draw(a, area);
    else
        draw_keys(a, area, SCOPE_KEYS_PICKER, multiple ? ACTION_NONE : ACTION_PICK_TAG);
}
