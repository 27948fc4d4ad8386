// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/heat_cell.h"

void heat_cell_draw(const struct app *a, struct area area, int row, int col, int width, uint32_t samples,
                    uint32_t max, bool marked)
{
    static const char *const marks[2][5] = { { " ", ".", ":", "o", "#" }, { " ", "░", "▒", "▓", "█" } };
    static const enum style styles[] = { STYLE_NORMAL, STYLE_HEAT_1, STYLE_HEAT_2, STYLE_HEAT_3,
                                         STYLE_HEAT_4 };
    uint64_t level = max ? ((uint64_t)samples * 4 + max - 1) / max : 0;
    level = level > 4 ? 4 : level;
    if (!level && !marked)
        return;
    enum style style = marked ? STYLE_RANGE : styles[level];
    bool plain = !marked && a->theme.styles[term_depth()][style].bg >= 0;
    /* reversed, a full block would be empty */
    for (int i = 0; i < width; i++)
        draw_text(area, row, col + i, style, plain ? " " : marks[term_glyphs() && !marked][level]);
}
