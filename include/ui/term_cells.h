// SPDX-License-Identifier: GPL-2.0-or-later
/* Text as it is put into cells: what the terminal would measure differently from us would shift the line, and what it
 * cannot show would garble it. */
#ifndef FLAMETOP_UI_TERM_CELLS_H
#define FLAMETOP_UI_TERM_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#define TERM_CELLS_MAX 500

struct term_cells {
    wchar_t text[TERM_CELLS_MAX + 2];
    int n;      /* wide characters */
    int cols;   /* that they take */
    size_t len; /* bytes of the text that were taken */
};
/* The beginning of cleaned UTF-8 that fits into so many columns (and TERM_CELLS_MAX characters). Without unicode what
 * is beyond ASCII becomes '?'. */
void term_cells_of(struct term_cells *c, const char *text, int cols, bool unicode);

#endif
