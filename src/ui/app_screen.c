// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/app_screen.h"

#include <stdio.h>

#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/view_ops.h"

struct layout {
    struct area header, tabs, view, strip, bottom;
};

static struct layout layout_of(const struct app *a)
{
    struct area screen = area_screen();
    int header = header_rows(a, screen.rows), strip = strip_rows(a, screen.rows);
    return (struct layout){
        .header = area_sub(screen, 0, 0, header, -1),
        .tabs = area_sub(screen, header, 0, 1, -1),
        .view = area_sub(screen, header + 1, 0, screen.rows - header - 2 - strip, -1),
        .strip = area_sub(screen, screen.rows - 1 - strip, 0, strip, -1),
        .bottom = area_sub(screen, screen.rows - 1, 0, 1, -1),
    };
}

struct area app_screen_view(const struct app *a)
{
    return layout_of(a).view;
}

static bool too_small(void)
{
    struct area s = area_screen();
    return s.rows < TERM_MIN_ROWS || s.cols < TERM_MIN_COLS;
}

static void draw_too_small(const struct app *a)
{
    char key[16];
    struct area s = area_screen();
    char text[96];
    (void)snprintf(text, sizeof text, "terminal too small: %dx%d (need %dx%d), %s quits", s.cols, s.rows,
                   TERM_MIN_COLS, TERM_MIN_ROWS, keymap_first(a->keymap, ACTION_QUIT, key));
    (void)draw_wrapped(s, 0, STYLE_NORMAL, text);
}

static struct area dialog_area(const struct layout *l)
{
    struct area all = area_screen();
    int top = l->view.rows >= 10 ? l->tabs.y : 0;
    return area_sub(all, top, 0, all.rows - 1 - top, -1);
}

static void draw_bottom(struct app *a, const struct layout *l)
{
    struct dialog *d = a->dialog;
    if (d)
        d->ops->draw_bar(d, a, l->bottom);
    else
        footer_draw(a, l->bottom);
}

/* Draws the topmost dialog that has more than a bottom line: a search prompt leaves the list that it searches
 * on the screen. */
static void draw_dialog(struct app *a, const struct layout *l)
{
    struct dialog *d = a->dialog;
    while (d && !d->ops->draw)
        d = d->below;
    if (d)
        d->ops->draw(d, a, dialog_area(l));
}

static void draw_all(struct app *a)
{
    const struct view_ops *ops = a->ops[a->view];
    struct layout l = layout_of(a);
    header_draw(a, l.header);
    tabs_draw(a, l.tabs);
    if (ops->draw && a->states[a->view])
        ops->draw(a->states[a->view], a, l.view);
    strip_draw(a, l.strip);
    draw_dialog(a, &l);
    draw_bottom(a, &l);
}

void app_screen_draw(struct app *a)
{
    term_frame_begin();
    if (too_small())
        draw_too_small(a);
    else
        draw_all(a);
    term_frame_end();
}

/* --- hit tests --- */

static bool is_in(struct area a, int y, int x, struct app_place *at)
{
    at->row = y - a.y;
    at->col = x - a.x;
    return at->row >= 0 && at->row < a.rows && at->col >= 0 && at->col < a.cols;
}

void app_screen_find(struct app *a, int y, int x, struct app_place *at)
{
    struct layout l = layout_of(a);
    at->what = APP_PLACE_NOTHING;
    if (too_small())
        return;
    if (is_in(l.bottom, y, x, at)) {
        if (!a->dialog && footer_find(a, l.bottom, at->col, &at->key))
            at->what = APP_PLACE_KEY;
    } else if (a->dialog) {
        if (is_in(dialog_area(&l), y, x, at))
            at->what = APP_PLACE_DIALOG;
    } else if (is_in(l.tabs, y, x, at)) {
        if (tabs_find(a, l.tabs, at->col, &at->view))
            at->what = APP_PLACE_TAB;
    } else if (is_in(l.strip, y, x, at)) {
        at->what = APP_PLACE_STRIP;
    } else if (is_in(l.view, y, x, at)) {
        at->what = APP_PLACE_VIEW;
    }
}
