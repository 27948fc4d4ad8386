// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a trend: eighths of a time range of which one is still running. Drawn as it stands it would grow from
 * nothing with every redraw and look like a drop; so it counts by its rate, and pictures are made anew twice per
 * eighth, where a quarter and three quarters of it are over. All times are the result's, in ns. */
#ifndef FLAMETOP_UI_TREND_H
#define FLAMETOP_UI_TREND_H

#include <stdint.h>

#include "profile/query.h"

struct trend_time {
    uint64_t from_ns, to_ns; /* the range that the eighths divide */
    uint64_t now_ns;         /* at or behind its end: no eighth is running */
};
/* Changes when pictures are to be made anew. */
uint64_t trend_beat(const struct trend_time *t);
/* The eighth that is running, or the last one. */
uint32_t trend_newest(const struct trend_time *t);
/* Samples per eighth, the running one by its rate. */
void trend_picture(uint32_t dst[QUERY_TREND], const uint32_t counts[QUERY_TREND], const struct trend_time *t);

#endif
