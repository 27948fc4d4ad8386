// SPDX-License-Identifier: GPL-2.0-or-later
/* Colours of the flame view's frames. */
#ifndef FLAMETOP_UI_FLAME_COLOR_H
#define FLAMETOP_UI_FLAME_COLOR_H

#include "symbols/symbolizer.h"
#include "ui/flame_model.h"
#include "ui/term.h"

enum flame_colour { /* what colours show */
                    FLAME_BY_TYPE,
                    FLAME_BY_MODULE,
                    FLAME_BY_DIFFERENCE,
                    FLAME_BY_RATE,
                    FLAME_COLOURS
};
enum style flame_class_style(enum symbol_class class);
/* left: style of the frame to the left, if any. Two shades of one colour keep their border visible. */
enum style flame_box_style(const struct flame_model *m, enum flame_colour colour, const char *search,
                           const struct flame_box *b, enum style left);

/* Returns the number that FLAME_BY_RATE colours by: IPC, or the first other number of the group. NULL:
 * none. */
const struct view_group_column *flame_rate(const struct view *v);
/* Computes that number for a node. *partly: an estimate, because the counters were multiplexed. Returns
 * false with too few samples. */
bool flame_rate_of(const struct flame_model *m, const struct view_group_column *b, uint32_t node,
                   double *value, bool *partly);

#endif
