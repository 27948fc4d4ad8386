// SPDX-License-Identifier: GPL-2.0-or-later
/* A histogram of durations by powers of two. */
#ifndef FLAMETOP_UI_DURATIONS_DRAW_H
#define FLAMETOP_UI_DURATIONS_DRAW_H

#include "profile/durations.h"
#include "ui/draw.h"

/* Draws one line per doubling, from the shortest to the longest duration, or per several doublings if there
 * is little room. */
void durations_draw(const struct durations *d, struct area area, bool glyphs);

#endif
