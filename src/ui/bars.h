// SPDX-License-Identifier: GPL-2.0-or-later
/* Bars and sparklines as text. glyphs: block elements, else ASCII. */
#ifndef FLAMETOP_UI_BARS_H
#define FLAMETOP_UI_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum glyph {
    GLYPH_ELLIPSIS,
    GLYPH_HORIZONTAL,
    GLYPH_VERTICAL,
    GLYPH_CORNER_TL,
    GLYPH_CORNER_TR,
    GLYPH_CORNER_BL,
    GLYPH_CORNER_BR,
    GLYPH_BRANCH,
    GLYPH_LAST_BRANCH,
    GLYPH_TO,
    GLYPH_FROM,
    GLYPH_COUNT
};
const char *glyph_text(enum glyph g, bool glyphs);
/* One column per value of 0 to 8 eighths. */
void bar_eighths(char *dst, size_t cap, const uint32_t *eighths, size_t n, bool glyphs);
/* One column per value, at most 512. max (0: the largest value) is 7 eighths high; any value above 0 is
 * visible. */
void bar_spark(char *dst, size_t cap, const uint32_t *values, size_t n, uint32_t max, bool glyphs);
/* A horizontal bar of at most cols columns, in steps of an eighth; no padding. */
void bar_horizontal(char *dst, size_t cap, double share, int cols, bool glyphs);

#endif
