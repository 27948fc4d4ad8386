// SPDX-License-Identifier: GPL-2.0-or-later
/* Conversion of text to terminal cells.
 * Characters whose width the terminal may see differently would shift the line, and those it cannot show
 * would garble it. */
#ifndef FLAMETOP_UI_TERM_CELLS_H
#define FLAMETOP_UI_TERM_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#define TERM_CELLS_MAX 500

struct term_cells {
    wchar_t text[TERM_CELLS_MAX + 2];
    int n;      /* wide characters */
    int cols;   /* width */
    size_t len; /* bytes of the text used */
};
/* Converts the start of cleaned UTF-8 that fits into `cols` columns (and TERM_CELLS_MAX characters).
 * Without unicode, characters beyond ASCII become '?'. */
void term_cells_of(struct term_cells *c, const char *text, int cols, bool unicode);

#endif
