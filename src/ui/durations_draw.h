// SPDX-License-Identifier: GPL-2.0-or-later
/* A histogram of durations, or of other numbers, by powers of two. */
#ifndef FLAMETOP_UI_DURATIONS_DRAW_H
#define FLAMETOP_UI_DURATIONS_DRAW_H

#include "profile/durations.h"
#include "profile/value_groups.h"
#include "ui/draw.h"

/* Draws one line per doubling, from the shortest to the longest duration, or per several doublings if there
 * is little room. */
void durations_draw(const struct durations *d, struct area area, bool glyphs);
/* The same for the numbers of a group; is_time: they are durations. Negative ones have one line. */
void durations_draw_numbers(const struct value_group *g, bool is_time, struct area area, bool glyphs);

#endif
