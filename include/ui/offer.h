// SPDX-License-Identifier: GPL-2.0-or-later
/* Choosing an event: what is sampled each time it happens is counted first, and when that would cost more than the
 * budget (perf/rate.h) a person is asked, and offered a period. */
#ifndef FLAMETOP_UI_OFFER_H
#define FLAMETOP_UI_OFFER_H

#include "ui/app.h"
#include "ui/preset.h"

/* name: as for -e; of several events the first one is sampled, the others can be switched to. how: what was asked for with it, or NULL: as all events are sampled. known: its rate, or NULL: it is counted now, and
 * the answer comes from a dialog. */
unsigned offer_event(struct app *a, const char *name, const struct session_sampling *how,
                     const struct rate *known);
/* All that a preset says: view, grouping, scope, and its events as above. */
unsigned offer_preset(struct app *a, const struct preset *p, const struct rate *known);
/* "12.4 K/s"; of a clock "1.98 CPUs". Returns dst. */
char *offer_rate_text(char *dst, size_t cap, const struct event *ev, double per_second);

#endif
