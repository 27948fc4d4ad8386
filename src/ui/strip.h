// SPDX-License-Identifier: GPL-2.0-or-later
/* The time strip: samples over all time, above the bottom line of every view, with the selected range.
 * While it has the keys, they select a range, and the view follows at once. */
#ifndef FLAMETOP_UI_STRIP_H
#define FLAMETOP_UI_STRIP_H

#include "session/timeline_query.h"
#include "ui/action.h"
#include "ui/draw.h"
#include "ui/time_axis.h"

struct app;
struct strip { /* zero-initialised: closed */
    bool open, has_keys;
    bool marking; /* the range goes from mark_ns to the cursor */
    bool placed;  /* the user placed the cursor; else it is at the newest column */
    uint64_t mark_ns, cursor_ns;
    uint64_t from_ns, to_ns; /* zoomed in to; 0: all */
    struct time_axis axis;
    struct times_counts counts;
};

/* Opens the strip and gives it the keys; closes it if it has them. */
unsigned strip_open(struct app *a);
/* call when it has the keys; APP_IGNORED: not its action */
unsigned strip_act(struct app *a, enum action action);
void strip_update(struct app *a); /* call after session_times_look */
unsigned strip_click(struct app *a, int col);
unsigned strip_drag(struct app *a, int from_col, int to_col);
int strip_rows(const struct app *a, int screen_rows); /* 0: closed, or no room */
void strip_draw(struct app *a, struct area area);
void strip_done(struct strip *s);

/* Draws ticks and times below columns of `width` cells each. The time view uses it, too. */
void strip_draw_axis(struct area area, int row, int col, int width, const struct time_axis *x,
                     uint64_t base_ns, enum style style);

#endif
