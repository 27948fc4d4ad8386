// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events can be opened here, found out by trying, in a thread that nobody waits for: the kernel takes tens of
 * milliseconds to let go of a tracepoint, and many times that with many CPUs or a busy machine. */
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
    TRIAL_FAILED,      /* for another reason; it is no event, for one */
};

enum trial trial_after(const struct error *e); /* what a refusal comes to */

struct trials *trials_new(void);
/* Before the start: the first event of such a list is to be tried (the text is copied). Those that may be left out are tried
 * for a third of a second. Trials have the numbers 0, 1, ... */
void trials_add(struct trials *t, const char *events, bool may_be_left_out);
void trials_start(
    struct trials *t); /* where no thread can be started, they are done without one that was made */
bool trials_done(const struct trials *t);
enum trial trials_result(const struct trials *t, uint32_t number); /* when they are done */
void trials_leave(struct trials *t);                               /* nobody asks any more; NULL is fine */

#endif
