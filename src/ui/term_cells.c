// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_cells.h"

#include <string.h>

#include "base/text.h"

static bool can_show(uint32_t ch, int width, bool unicode)
{
    if (ch < 0x80)
        return ch >= 0x20 && ch != 0x7f;
    return unicode && wcwidth((wchar_t)ch) == width;
}

void term_cells_of(struct term_cells *c, const char *text, int cols, bool unicode)
{
    c->n = 0;
    /* fast path: ASCII */
    while (c->n < cols && c->n < TERM_CELLS_MAX && text[c->n] >= 0x20 && text[c->n] < 0x7f) {
        c->text[c->n] = (wchar_t)text[c->n];
        c->n++;
    }
    c->cols = c->n;
    c->len = (size_t)c->n;
    size_t left = strlen(text + c->len);
    while (left && c->cols < cols && c->n < TERM_CELLS_MAX) {
        uint32_t ch;
        size_t took = text_decode(text + c->len, left, &ch);
        int width = text_char_width(ch);
        if (width > cols - c->cols)
            break;
        c->len += took;
        left -= took;
        if (width <= 0)
            continue;
        c->cols += width;
        if (can_show(ch, width, unicode))
            c->text[c->n++] = (wchar_t)ch;
        else
            for (int i = 0; i < width; i++)
                c->text[c->n++] = L'?';
    }
}
