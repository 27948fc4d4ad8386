// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing of the rows of the counters view that are of load and pressure, and the columns that they share
 * with the rows of events. */
#ifndef FLAMETOP_UI_LOAD_DRAW_H
#define FLAMETOP_UI_LOAD_DRAW_H

#include "session/machine_load.h"
#include "ui/draw.h"

#define COUNTERS_NAME_COLS   25
#define COUNTERS_COUNT_COLS  16
#define COUNTERS_METRIC_AT   49
#define COUNTERS_TREND_AT    76
#define COUNTERS_TREND_MIN   8  /* a narrower trend is useless */
#define COUNTERS_NARROW_COLS 60 /* narrower screens have the count first, and then the name */

/* Draws a name and a count. In a line without room for metrics the count comes first: it matters most, and
 * names can be shortened. */
void counters_draw_count(struct area area, int y, enum style name_style, const char *name, enum style style,
                         const char *count);
/* Draws the last values that fit. full: value of a full column, 0: the largest. */
void counters_draw_trend(const uint32_t *trend, uint32_t n, uint32_t full, struct area area, int y, int col);

void load_draw_row(const struct load_row *row, struct area area, int y);
/* Draws the two lines that sum up the system's rows. Returns their number. */
int load_draw_summary(const struct machine_load *l, struct area area);

#endif
