// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing of the counters view: the table of events, followed by the rows of load and pressure, above; the
 * events' parts (CPUs, processes, …) below. One cursor moves through both. */
#ifndef FLAMETOP_UI_COUNTERS_DRAW_H
#define FLAMETOP_UI_COUNTERS_DRAW_H

#include "session/counters.h"
#include "session/machine_load.h"
#include "ui/draw.h"
#include "ui/list.h"

/* Returns the lines of the events: one per counted event. Without a PMU, all hardware events share one
 * line. 0: nothing is counted. */
uint32_t counters_lines(const struct counters *c);
/* Returns the event row of a line; the first one for a line that many events share. */
uint32_t counters_line_row(const struct counters *c, uint32_t line);
/* l: its rows follow the events; if they do not all fit, two lines at the top have their numbers too.
 * split_key: the key that changes the parts, for the heading of the lower table. parts: the lower table is
 * shown. */
void counters_draw(const struct counters *c, const struct machine_load *l, struct list *list, bool parts,
                   const char *split_key, struct area area);

#endif
