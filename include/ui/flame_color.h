// SPDX-License-Identifier: GPL-2.0-or-later
/* The colours of the flame view's boxes. */
#ifndef FLAMETOP_UI_FLAME_COLOR_H
#define FLAMETOP_UI_FLAME_COLOR_H

#include "symbols/symbolizer.h"
#include "ui/flame_model.h"
#include "ui/term.h"

enum flame_colour { /* what colours mean */
                    FLAME_BY_TYPE,
                    FLAME_BY_MODULE,
                    FLAME_BY_DIFFERENCE,
                    FLAME_BY_RATE,
                    FLAME_COLOURS
};
enum style flame_class_style(enum symbol_class class);
/* left: the style of the box that ends where this one begins, if there is one: with two shades of one
 * colour side by side their border is seen. */
enum style flame_box_style(const struct flame_model *m, enum flame_colour colour, const char *search,
                           const struct flame_box *b, enum style left);

/* What boxes are coloured by with FLAME_BY_RATE: IPC, or the first other number of the group; NULL: there
 * is none. */
const struct view_beside *flame_rate(const struct view *v);
/* That number of a node; *partly: an estimate, as the PMU was shared. False: too few samples. */
bool flame_rate_of(const struct flame_model *m, const struct view_beside *b, uint32_t node, double *value,
                   bool *partly);

#endif
