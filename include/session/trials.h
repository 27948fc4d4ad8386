// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which events can be opened, by opening them in a detached thread. The kernel needs tens of
 * milliseconds to release a tracepoint, and far more with many CPUs or on a busy system. */
#ifndef FLAMETOP_SESSION_TRIALS_H
#define FLAMETOP_SESSION_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum trial {
    TRIAL_NOT_MADE,
    TRIAL_OPENS,
    TRIAL_UNSUPPORTED,
    TRIAL_DENIED,
    TRIAL_COUNTS_ONLY, /* opens, but cannot be sampled: its PMU has no interrupt */
    TRIAL_FAILED,      /* another reason, e.g. not an event */
};

enum trial trial_after(const struct error *e); /* classifies a refusal */

struct trials *trials_new(void);
/* Before the start: adds a trial of the first event in the list (copied). Optional trials
 * (may_be_left_out) run for a third of a second. Trials are numbered 0, 1, ... */
void trials_add(struct trials *t, const char *events, bool may_be_left_out);
void trials_start(struct trials *t); /* no trial is made if no thread can be started */
bool trials_done(const struct trials *t);
enum trial trials_result(const struct trials *t, uint32_t number); /* call when trials_done */
void trials_leave(struct trials *t); /* results are no longer needed; NULL is fine */

#endif
