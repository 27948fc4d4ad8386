// SPDX-License-Identifier: GPL-2.0-or-later
/* The time window: the last seconds, or since start. */
#ifndef FLAMETOP_UI_WINDOW_H
#define FLAMETOP_UI_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

#define WINDOW_CHOICES 6
extern const uint64_t window_choices_ns[WINDOW_CHOICES];     /* 0: since start */
void window_name(uint64_t window_ns, char *dst, size_t cap); /* "10s", "since start" */
/* Replaces q's window by an explicit range, for live data. Its eighths (trends) begin at fixed times, so
 * that only the newest one changes from one second to the next. The range is up to 1/8 shorter than the
 * window and ends a little after now. Frozen samples and recordings: no change. */
void window_align(struct view_query *q, const struct session_status *status);

#endif
