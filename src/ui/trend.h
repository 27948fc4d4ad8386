// SPDX-License-Identifier: GPL-2.0-or-later
/* Trends: sparklines of eight parts of a time range, of which the newest may still be running.
 * Drawn as counted, that part would look like a drop and grow with every redraw. So it is scaled to its
 * full length, and sparklines are rebuilt twice per eighth, at its quarter and three quarters. All times
 * are the result's, in ns. */
#ifndef FLAMETOP_UI_TREND_H
#define FLAMETOP_UI_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/query.h"

struct trend_time {
    uint64_t from_ns, to_ns; /* range, divided into eighths */
    uint64_t now_ns;         /* at or after to_ns: no eighth is running */
};
/* Returns a number that changes when sparklines are to be rebuilt. */
uint64_t trend_beat(const struct trend_time *t);
/* Returns the running eighth, or the last one. */
uint32_t trend_newest(const struct trend_time *t);
/* Returns in dst the weights per eighth, with the running one scaled. */
void trend_picture(uint64_t dst[QUERY_TREND], const uint64_t weights[QUERY_TREND],
                   const struct trend_time *t);
/* Writes what trend_picture returned as a sparkline, see bar_spark. */
void trend_spark(char *dst, size_t cap, const uint64_t picture[QUERY_TREND], bool glyphs);

#endif
