// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_grid.h"

#include <string.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/text.h"

static uint32_t cell_of(uint32_t ch, unsigned style)
{
    return ch | (uint32_t)style << TERM_GRID_STYLE;
}

static uint32_t *row_of(const struct term_grid *g, uint32_t *cells, int y)
{
    return cells + (size_t)y * (size_t)g->cols;
}

static bool is_right_half(uint32_t cell)
{
    return !term_grid_character(cell);
}

void term_grid_begin(struct term_grid *g, int rows, int cols, unsigned style)
{
    size_t n = (size_t)rows * (size_t)cols;
    if (rows != g->rows || cols != g->cols) {
        g->now = mem_resize(g->now, n, sizeof *g->now);
        g->shown = mem_resize(g->shown, n, sizeof *g->shown);
        g->rows = rows;
        g->cols = cols;
        g->whole = true;
    }
    for (size_t i = 0; i < n; i++)
        g->now[i] = cell_of(' ', style);
}

/* Clips [x, x + cols) to the row; 0: nothing is left. */
static int clip(const struct term_grid *g, int y, int x, int cols)
{
    if (y < 0 || y >= g->rows || x < 0 || x >= g->cols || cols <= 0)
        return 0;
    return cols < g->cols - x ? cols : g->cols - x;
}

/* Blanks wide characters that [x, x + cols) would split. Call before overwriting it. */
static void cut_halves(const struct term_grid *g, uint32_t *row, int x, int cols)
{
    if (is_right_half(row[x]))
        row[x - 1] = cell_of(' ', row[x - 1] >> TERM_GRID_STYLE);
    if (x + cols < g->cols && is_right_half(row[x + cols]))
        row[x + cols] = cell_of(' ', row[x + cols] >> TERM_GRID_STYLE);
}

/* Returns how many of the first characters are printable ASCII, at most `most`. */
static int ascii_length(const char *text, int most)
{
    int n = 0;
    while (n < most && text[n] >= 0x20 && text[n] < 0x7f)
        n++;
    return n;
}

/* Puts a character of this width. Characters whose width the terminal may see differently would shift the
 * line, and those it cannot show would garble it: they become '?'. */
static void put_character(uint32_t *cells, uint32_t ch, int width, unsigned style, bool unicode)
{
    bool shows = unicode && wcwidth((wchar_t)ch) == width;
    for (int i = 0; i < width; i++)
        cells[i] = cell_of(!shows ? '?' : i ? 0 : ch, style);
}

int term_grid_text(struct term_grid *g, int y, int x, int cols, unsigned style, const char *text,
                   bool unicode)
{
    const char *end = text + strlen(text);
    int used = 0;
    cols = clip(g, y, x, cols);
    while (used < cols && text < end) {
        uint32_t *row = row_of(g, g->now, y), ch;
        int ascii = ascii_length(text, cols - used);
        size_t bytes = ascii ? (size_t)ascii : text_decode(text, (size_t)(end - text), &ch);
        int width = ascii ? ascii : text_char_width(ch);
        if (width > cols - used)
            break;
        if (width)
            cut_halves(g, row, x + used, width);
        for (int i = 0; i < ascii; i++) /* fast path */
            row[x + used + i] = cell_of((unsigned char)text[i], style);
        if (!ascii)
            put_character(row + x + used, ch, width, style, unicode);
        used += width;
        text += bytes;
    }
    return used;
}

void term_grid_fill(struct term_grid *g, int y, int x, int cols, unsigned style, char ch)
{
    cols = clip(g, y, x, cols);
    if (!cols)
        return;
    uint32_t *row = row_of(g, g->now, y);
    cut_halves(g, row, x, cols);
    for (int i = x; i < x + cols; i++)
        row[i] = cell_of((unsigned char)ch, style);
}

void term_grid_restyle(struct term_grid *g, int y, int x, int cols, unsigned style)
{
    cols = clip(g, y, x, cols);
    for (int i = x; i < x + cols; i++) {
        uint32_t *cell = row_of(g, g->now, y) + i;
        *cell = cell_of(term_grid_character(*cell), style);
    }
}

static bool has_halves(const uint32_t *cells, int n)
{
    for (int i = 0; i < n; i++)
        if (is_right_half(cells[i]))
            return true;
    return false;
}

const uint32_t *term_grid_changed(struct term_grid *g, int y, int *x, int *n)
{
    const uint32_t *now = row_of(g, g->now, y);
    uint32_t *shown = row_of(g, g->shown, y);
    size_t bytes = (size_t)g->cols * sizeof *now;
    int from = 0, to = g->cols;
    if (!g->whole) {
        if (!memcmp(now, shown, bytes))
            return NULL;
        if (!has_halves(now, g->cols) && !has_halves(shown, g->cols)) {
            while (now[from] == shown[from])
                from++;
            while (now[to - 1] == shown[to - 1])
                to--;
        }
    }
    memcpy(shown, now, bytes);
    *x = from;
    *n = to - from;
    return now + from;
}

void term_grid_done(struct term_grid *g)
{
    mem_free(g->now);
    mem_free(g->shown);
    *g = (struct term_grid){ 0 };
}
