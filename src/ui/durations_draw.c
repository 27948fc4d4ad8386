// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/durations_draw.h"

#include "base/text.h"
#include "ui/bars.h"

#define ROWS_MAX (DURATION_BUCKETS / DURATION_DOUBLING)
#define BAR_LEFT 31
#define BAR_COLS 80

static void draw_line(struct area area, int y, uint32_t from, uint32_t to, uint32_t count, double share,
                      bool glyphs)
{
    char text[256];
    int cols = area.cols - BAR_LEFT - 1;
    draw_right(area, y, 0, 8, STYLE_NORMAL, text_length(text, sizeof text, duration_least_ns(from)));
    draw_printf(area, y, 9, STYLE_NORMAL, "to %7s", text_length(text, sizeof text, duration_least_ns(to)));
    draw_right(area, y, 20, 10, STYLE_NORMAL, text_thousands(text, sizeof text, count));
    bar_horizontal(text, sizeof text, share, cols < BAR_COLS ? cols : BAR_COLS, glyphs);
    draw_text(area, y, BAR_LEFT, STYLE_SPARK, text);
}

void durations_draw(const struct durations *d, struct area area, bool glyphs)
{
    uint32_t first = 0, last = DURATION_BUCKETS, most = 1, sums[ROWS_MAX] = { 0 }, n = 0;
    if (!d->n || area.rows < 1)
        return;
    while (!d->counts[first])
        first++;
    while (!d->counts[last - 1])
        last--;
    first -= first % DURATION_DOUBLING;
    uint32_t doublings = (last - first + DURATION_DOUBLING - 1) / DURATION_DOUBLING;
    uint32_t per = (doublings + (uint32_t)area.rows - 1) / (uint32_t)area.rows * DURATION_DOUBLING;
    for (uint32_t at = first; at < last && n < ROWS_MAX; at += per, n++) {
        for (uint32_t i = at; i < at + per && i < last; i++)
            sums[n] += d->counts[i];
        most = sums[n] > most ? sums[n] : most;
    }
    for (uint32_t i = 0; i < n; i++)
        draw_line(area, (int)i, first + i * per, first + (i + 1) * per, sums[i], (double)sums[i] / most,
                  glyphs);
}
