// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/sample_stack.h"

#include <stdio.h>

#include "base/clock.h"
#include "ui/view_ops.h"

unsigned sample_stack_show(struct app *a, const struct log_row *row)
{
    uint64_t time_ns = row->time_ns;
    unsigned flags = row->number == a->status.event_index ? 0 : app_show_event(a, row->number);
    return flags | range_set(a, time_ns, time_ns, false) | app_show_view(a, APP_VIEW_CALLGRAPH, false);
}

void sample_time_draw(const struct app *a, const struct log_row *row, struct area area, int y, int cols)
{
    uint64_t base_ns = range_base(a), us = (row->time_ns > base_ns ? row->time_ns - base_ns : 0) / NS_PER_US;
    char text[40];
    snprintf(text, sizeof text, "%llu.%06llu", (unsigned long long)(us / 1000000),
             (unsigned long long)(us % 1000000));
    draw_right(area, y, 0, cols, STYLE_NORMAL, text);
}
