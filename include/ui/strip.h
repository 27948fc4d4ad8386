// SPDX-License-Identifier: GPL-2.0-or-later
/* The time strip: samples over all of the time, above the bottom line of every view, and the range that is looked at.
 * While it has the keys a range is chosen with them; what is shown above follows at once. */
#ifndef FLAMETOP_UI_STRIP_H
#define FLAMETOP_UI_STRIP_H

#include "session/timeline.h"
#include "ui/action.h"
#include "ui/draw.h"
#include "ui/time_axis.h"

struct app;
struct strip { /* zero-initialised: closed */
    bool open, has_keys;
    bool marking; /* a range goes from mark_ns to the cursor */
    bool placed;  /* by a person: else the cursor is at the newest */
    uint64_t mark_ns, cursor_ns;
    uint64_t from_ns, to_ns; /* zoomed in to; 0: all */
    struct time_axis axis;
    struct times_counts counts;
};

unsigned strip_open(struct app *a);                    /* and gives it the keys; it has them: closes it */
unsigned strip_act(struct app *a, enum action action); /* when it has the keys; APP_IGNORED: not for it */
void strip_update(struct app *a);                      /* after session_times_look */
unsigned strip_click(struct app *a, int col);
unsigned strip_drag(struct app *a, int from_col, int to_col);
int strip_rows(const struct app *a, int screen_rows); /* 0: closed, or no room */
void strip_draw(struct app *a, struct area area);
void strip_done(struct strip *s);

/* Ticks and their times below columns that are `width` cells wide each; for others, too. */
void strip_draw_axis(struct area area, int row, int col, int width, const struct time_axis *x,
                     uint64_t base_ns, enum style style);

#endif
