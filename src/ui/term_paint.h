// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints: the colours and attributes of cells. Knows colours, not ncurses.
 * There is one paint for each style of the theme. Others are made on demand: shades of a style, and cells
 * whose halves have two colours. A paint's number is used as a style. */
#ifndef FLAMETOP_UI_TERM_PAINT_H
#define FLAMETOP_UI_TERM_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ui/theme.h"

#define TERM_PAINTS     (1 << 11)   /* as many as fit into the bits of a term_grid cell */
#define TERM_PAINT_NONE STYLE_COUNT /* cells without a style */

struct term_paints { /* zero-initialise before use */
    struct theme_style styles[TERM_PAINTS];
    uint32_t n, room;  /* room: maximum of n */
    bool rich, direct; /* the terminal has 256 colours; RGB */
    struct map made;   /* colours and attributes → paint, for paints made on demand */
};
/* Drops all paints and makes those of the styles. room: TERM_PAINTS, or less if the terminal has fewer
 * colour pairs. */
void term_paint_theme(struct term_paints *p, const struct theme_style styles[STYLE_COUNT], uint32_t room);
/* Returns shade `which` of a style's background (theme_color.h). With fewer than 256 colours: the style
 * itself. */
enum style term_paint_shade(struct term_paints *p, enum style style, uint32_t which);
/* Returns the paint of a cell whose left and right half have the backgrounds of two styles. Sets its
 * character. */
enum style term_paint_half(struct term_paints *p, enum style left, enum style right, const char **character);
void term_paint_done(struct term_paints *p);

#endif
