// SPDX-License-Identifier: GPL-2.0-or-later
/* The time that is looked at: the last so many seconds, or since start. */
#ifndef FLAMETOP_UI_WINDOW_H
#define FLAMETOP_UI_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

#define WINDOW_CHOICES 6
extern const uint64_t window_choices_ns[WINDOW_CHOICES];     /* 0: since start */
void window_name(uint64_t window_ns, char *dst, size_t cap); /* "10s", "since start" */
/* Sets an explicit range for q's window, over time that goes on, so that the eighths of its trends begin at fixed
 * moments: only the newest one changes from one second to the next. The range is up to an eighth shorter than the
 * window, and ends a little after now. A query of what stands still (frozen, a file) is left as it is. */
void window_align(struct view_query *q, const struct session_status *status);

#endif
