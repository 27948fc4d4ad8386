// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/durations_draw.h"

#include <stdio.h>

#include "base/text.h"
#include "ui/bars.h"

#define BAR_LEFT     31
#define BAR_COLS     80
#define DIGITS_BELOW 100000 /* larger numbers are shortened */

struct drawing {
    struct area area;
    bool is_time, glyphs;
    uint64_t most;
};

/* Draws the row of a bucket: its ends as text, and its number of values. */
static void draw_line(const struct drawing *w, int y, const char *from, const char *to, uint64_t count)
{
    char text[256];
    int cols = w->area.cols - BAR_LEFT - 1;
    draw_right(w->area, y, 0, 8, STYLE_NORMAL, from);
    draw_printf(w->area, y, 9, STYLE_NORMAL, "to %7s", to);
    draw_right(w->area, y, 20, 10, STYLE_NORMAL, text_thousands(text, sizeof text, count));
    bar_horizontal(text, sizeof text, (double)count / (double)w->most, cols < BAR_COLS ? cols : BAR_COLS,
                   w->glyphs);
    draw_text(w->area, y, BAR_LEFT, STYLE_SPARK, text);
}

/* The smallest value of a bucket by powers of two. */
static char *put_least(const struct drawing *w, uint32_t power, char *dst, size_t cap)
{
    uint64_t least = power ? UINT64_C(1) << (power - 1) : 0;
    if (w->is_time)
        return text_length(dst, cap, least);
    if (least >= DIGITS_BELOW) /* "128K": powers of two are whole there */
        return text_bytes(dst, cap, least);
    (void)snprintf(dst, cap, "%llu", (unsigned long long)least);
    return dst;
}

static uint64_t sum_of(const struct durations *d, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;
    for (uint32_t i = from; i < to && i < DURATION_POWERS; i++)
        sum += durations_power(d, i);
    return sum;
}

/* below: number of negative values, which are not in d. d NULL: all are. */
static void draw_all(const struct durations *d, uint64_t below, struct drawing *w)
{
    char from[24], to[24];
    uint32_t first = 0, last = DURATION_POWERS, lines = (uint32_t)w->area.rows - (below > 0), per = 1;
    w->most = below ? below : 1;
    while (d && d->n && !durations_power(d, first))
        first++;
    while (last > first && (!d || !durations_power(d, last - 1)))
        last--;
    if (lines)
        per = (last - first + lines - 1) / lines;
    for (uint32_t i = first; i < last && lines; i += per)
        w->most = sum_of(d, i, i + per) > w->most ? sum_of(d, i, i + per) : w->most;
    if (below)
        draw_line(w, 0, "less", "0", below);
    for (uint32_t i = first, y = below > 0; i < last && lines; i += per, y++)
        draw_line(w, (int)y, put_least(w, i, from, sizeof from),
                  i + per < DURATION_POWERS ? put_least(w, i + per, to, sizeof to) : "more",
                  sum_of(d, i, i + per));
}

void durations_draw(const struct durations *d, struct area area, bool glyphs)
{
    if (d->n && area.rows > 0)
        draw_all(d, 0, &(struct drawing){ .area = area, .is_time = true, .glyphs = glyphs });
}

void durations_draw_numbers(const struct value_group *g, bool is_time, struct area area, bool glyphs)
{
    if (g->numbers && area.rows > 0)
        draw_all(g->sizes, g->below, &(struct drawing){ .area = area, .is_time = is_time, .glyphs = glyphs });
}
