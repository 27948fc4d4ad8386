// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of the counters view: events above, the parts of their sum below; one cursor goes through both. */
#ifndef FLAMETOP_UI_COUNTERS_DRAW_H
#define FLAMETOP_UI_COUNTERS_DRAW_H

#include "session/counters.h"
#include "ui/draw.h"
#include "ui/list.h"

/* Lines of the upper table: one per event that counts; without a PMU one stands for all that would need it. */
uint32_t counters_lines(const struct counters *c);
/* The event's row on a line; its first one for the line that stands for many. */
uint32_t counters_line_row(const struct counters *c, uint32_t line);
bool counters_line_is_many(const struct counters *c, uint32_t line);
/* split_key: what divides the sum otherwise, for the heading of the lower table; parts: whether that is shown. */
void counters_draw(const struct counters *c, struct list *list, bool parts, const char *split_key,
                   struct area area);

#endif
