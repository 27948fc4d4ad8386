// SPDX-License-Identifier: GPL-2.0-or-later
/* Paints: what cells are drawn with. There is one for each style of the theme, and some are made on
 * demand: shades of a style, and cells whose halves have two colours. The number of a paint is used as a
 * style. Knows colours, not ncurses. */
#ifndef FLAMETOP_UI_TERM_PAINT_H
#define FLAMETOP_UI_TERM_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ui/theme.h"

#define TERM_PAINTS     (1 << 11)   /* as many as the bits of a term_grid cell hold */
#define TERM_PAINT_NONE STYLE_COUNT /* of cells without a style */

struct term_paints { /* zero-initialised at first */
    struct theme_style styles[TERM_PAINTS];
    uint32_t n, room;  /* room: as many as there may be */
    bool rich, direct; /* the terminal has 256 colours; RGB */
    struct map made;   /* colours and attributes → paint, of those made on demand */
};
/* Forgets all paints; makes those of the styles. room: TERM_PAINTS, or less where the terminal has fewer
 * colour pairs. */
void term_paint_theme(struct term_paints *p, const struct theme_style styles[STYLE_COUNT], uint32_t room);
/* Colour `which` of the shades of a style's background (theme_color.h). With fewer than 256 colours: the
 * style itself. */
enum style term_paint_shade(struct term_paints *p, enum style style, uint32_t which);
/* A cell whose left half has the background of one style and whose right half that of another: sets the
 * character. */
enum style term_paint_half(struct term_paints *p, enum style left, enum style right, const char **character);
void term_paint_done(struct term_paints *p);

#endif
