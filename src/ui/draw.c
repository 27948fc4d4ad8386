// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/bars.h"

struct area area_screen(void)
{
    struct area a = { 0 };
    term_size(&a.rows, &a.cols);
    return a;
}

static int clip(int at, int size, int limit)
{
    if (at >= limit)
        return 0;
    return size < 0 || size > limit - at ? limit - at : size;
}

struct area area_sub(struct area a, int row, int col, int rows, int cols)
{
    row = row < 0 ? 0 : row;
    col = col < 0 ? 0 : col;
    return (struct area){ a.y + row, a.x + col, clip(row, rows, a.rows), clip(col, cols, a.cols) };
}

struct area area_center(struct area a, int rows, int cols)
{
    rows = rows > a.rows ? a.rows : rows;
    cols = cols > a.cols ? a.cols : cols;
    return area_sub(a, (a.rows - rows) / 2, (a.cols - cols) / 2, rows, cols);
}

int draw_text(struct area a, int row, int col, enum style style, const char *text)
{
    if (row < 0 || row >= a.rows || col < 0 || col >= a.cols)
        return 0;
    return term_text(a.y + row, a.x + col, a.cols - col, style, text);
}

int draw_printf(struct area a, int row, int col, enum style style, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return draw_text(a, row, col, style, text);
}

int draw_elided(struct area a, int row, int col, int cols, enum style style, const char *text, bool middle)
{
    char shorter[512];
    cols = clip(col, cols, a.cols);
    if (cols <= 0)
        return 0;
    text_elide(shorter, sizeof shorter, text, cols, middle);
    return draw_text(a, row, col, style, shorter);
}

int draw_right(struct area a, int row, int col, int cols, enum style style, const char *text)
{
    int width = text_width(text);
    return draw_text(a, row, width < cols ? col + cols - width : col, style, text);
}

void draw_column(struct draw_line *line, int cols, const char *text)
{
    draw_right(line->area, line->y, line->x, cols, line->style, text);
    line->x += cols + 1;
}

/* shorter: at most 511 bytes, fits the area. */
static int draw_matches(struct area a, int row, int col, enum style style, const char *shorter,
                        const char *needle)
{
    char head[512];
    int used = draw_text(a, row, col, style, shorter);
    size_t n = needle ? strlen(needle) : 0;
    for (const char *p = shorter; n && *p;) {
        if (strncasecmp(p, needle, n) != 0) {
            uint32_t c;
            p += text_decode(p, strlen(p), &c);
            continue;
        }
        memcpy(head, p, n);
        head[n] = '\0';
        int width = text_width(head);
        char before[512];
        memcpy(before, shorter, (size_t)(p - shorter));
        before[p - shorter] = '\0';
        if (row >= 0 && row < a.rows)
            term_restyle(a.y + row, a.x + col + text_width(before), width, STYLE_MATCH);
        p += n;
    }
    return used;
}

int draw_match(struct area a, int row, int col, int cols, enum style style, const char *text,
               const char *needle)
{
    char shorter[512];
    cols = clip(col, cols, a.cols);
    if (cols <= 0)
        return 0;
    text_elide(shorter, sizeof shorter, text, cols, true);
    return draw_matches(a, row, col, style, shorter, needle);
}

int draw_function(struct area a, int row, int col, int cols, enum style style, const char *name,
                  const char *needle)
{
    char shorter[512];
    cols = clip(col, cols, a.cols);
    if (cols <= 0)
        return 0;
    text_shorten_name(shorter, sizeof shorter, name, cols);
    return draw_matches(a, row, col, style, shorter, needle);
}

void draw_half(struct area a, int row, int col, enum style left, enum style right)
{
    if (row >= 0 && row < a.rows && col >= 0 && col < a.cols)
        term_half(a.y + row, a.x + col, left, right);
}

void draw_fill(struct area a, int row, int col, int cols, enum style style)
{
    if (row < 0 || row >= a.rows || col < 0)
        return;
    term_fill(a.y + row, a.x + col, clip(col, cols, a.cols), style, ' ');
}

void draw_restyle(struct area a, int row, enum style style)
{
    if (row >= 0 && row < a.rows)
        term_restyle(a.y + row, a.x, a.cols, style);
}

void draw_clear(struct area a, enum style style)
{
    for (int row = 0; row < a.rows; row++)
        draw_fill(a, row, 0, -1, style);
}

static void draw_edge(struct area a, int row, enum glyph left, enum glyph right)
{
    bool glyphs = term_glyphs();
    draw_text(a, row, 0, STYLE_DIALOG, glyph_text(left, glyphs));
    for (int col = 1; col + 1 < a.cols; col++)
        draw_text(a, row, col, STYLE_DIALOG, glyph_text(GLYPH_HORIZONTAL, glyphs));
    draw_text(a, row, a.cols - 1, STYLE_DIALOG, glyph_text(right, glyphs));
}

struct area draw_box(struct area a, const char *title)
{
    draw_clear(a, STYLE_DIALOG);
    draw_edge(a, 0, GLYPH_CORNER_TL, GLYPH_CORNER_TR);
    draw_edge(a, a.rows - 1, GLYPH_CORNER_BL, GLYPH_CORNER_BR);
    for (int row = 1; row + 1 < a.rows; row++) {
        draw_text(a, row, 0, STYLE_DIALOG, glyph_text(GLYPH_VERTICAL, term_glyphs()));
        draw_text(a, row, a.cols - 1, STYLE_DIALOG, glyph_text(GLYPH_VERTICAL, term_glyphs()));
    }
    if (title && *title && a.cols > 6) {
        char padded[160];
        (void)snprintf(padded, sizeof padded, " %s ", title);
        draw_elided(a, 0, 2, a.cols - 4, STYLE_DIALOG_TITLE, padded, false);
    }
    return area_sub(a, 1, 2, a.rows > 2 ? a.rows - 2 : 0, a.cols > 4 ? a.cols - 4 : 0);
}

int draw_wrapped(struct area a, int row, enum style style, const char *text)
{
    int start = row, col = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        char word[256];
        text_clean(word, sizeof word, text, n < sizeof word ? n : sizeof word - 1);
        int width = text_width(word);
        if (col && col + width > a.cols) {
            row++;
            col = 0;
        }
        draw_text(a, row, col, style, word);
        col += width + 1;
        text += n;
        text += strspn(text, " ");
    }
    return row - start + 1;
}
