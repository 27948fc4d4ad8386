// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits between the records of the scheduler (offcpu.c) and the samples that they become (offcpu_parts.c). */
#ifndef FLAMETOP_SESSION_COLLECT_OFFCPU_PARTS_H
#define FLAMETOP_SESSION_COLLECT_OFFCPU_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/waits.h"
#include "session/collect/kept_stack.h"

struct session;

/* True if stacks and states come from the tracepoint, which says nothing of idle kernel workers and of
 * threads that end. */
bool offcpu_by_tracepoint(const struct session *s);
/* Callbacks of struct waits, with the session: merge the part with those of equal stacks. */
void offcpu_on_part(void *session, const struct waits_part *part);
void offcpu_on_ran(void *session, const struct waits_part *part);

#endif
