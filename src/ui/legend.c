// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/legend.h"

#include <stdio.h>

#include "base/text.h"

void legend_draw(struct area area, int row, int col, const struct view *v,
                 enum style (*style_of)(enum symbol_class class))
{
    bool there[SYMBOL_CLASSES] = { false };
    char text[SYMBOL_CLASSES][32];
    int width = 0;
    for (uint32_t i = 1; i < v->result.n_nodes; i++)
        there[v->funcs[v->frame_func[v->result.frame[i]]].class] = true;
    for (int i = 0; i < SYMBOL_CLASSES; i++) {
        (void)snprintf(text[i], sizeof text[i], " %s ", symbol_class_names[i]);
        width += there[i] ? text_width(text[i]) : 0;
    }
    if (!term_colors() || col + width > area.cols)
        return;
    col = area.cols - width;
    for (int i = 0; i < SYMBOL_CLASSES; i++)
        col += there[i] ? draw_text(area, row, col, style_of((enum symbol_class)i), text[i]) : 0;
}
