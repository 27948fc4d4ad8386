// SPDX-License-Identifier: GPL-2.0-or-later
/* Switching events, with a dialog when each-event sampling would be too expensive.
 * An event to be sampled on each occurrence is counted first. If that would exceed the budget
 * (perf/rate.h), the dialog offers a period. */
#ifndef FLAMETOP_UI_OFFER_H
#define FLAMETOP_UI_OFFER_H

#include "ui/app.h"
#include "ui/preset.h"

/* Samples an event, or asks first.
 * name: as for -e; of several events the first is sampled, and the others can be switched to.
 * how: the requested sampling, or NULL: as all events.
 * known: its rate, or NULL: it is counted now, and a dialog reports the result. */
unsigned offer_event(struct app *a, const char *name, const struct session_sampling *how,
                     const struct rate *known);
/* Applies a preset: view, grouping, scope, and its events as above. */
unsigned offer_preset(struct app *a, const struct preset *p, const struct rate *known);
/* Writes "12.4 K/s"; for a clock "1.98 CPUs". Returns dst. */
char *offer_rate_text(char *dst, size_t cap, const struct event *ev, double per_second);

#endif
