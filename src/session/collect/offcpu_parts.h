// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits between the records of the scheduler (offcpu.c) and the samples that they become (offcpu_parts.c). */
#ifndef FLAMETOP_SESSION_COLLECT_OFFCPU_PARTS_H
#define FLAMETOP_SESSION_COLLECT_OFFCPU_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/waits.h"

struct session;

/* What the `stack` of a wait (profile/waits.h) is, by its two highest bits. */
enum offcpu_kept {
    KEPT_STACK, /* a stack of the store */
    /* No stack, but the reason: of a thread that waited before sampling began (offcpu_scan.c). */
    KEPT_REASON,
    /* A stack that waits for an unwind table: the number of a sample of the history, whose stack is
     * corrected when the table is there (aside.c). Such samples belong to an event of their own, which is
     * never shown. */
    KEPT_HOLDER,
    KEPT_NOTHING /* WAITS_NO_STACK */
};
#define KEPT_SHIFT 62

static inline uint64_t offcpu_keep(enum offcpu_kept kept, uint64_t number)
{
    return (uint64_t)kept << KEPT_SHIFT | number;
}

static inline enum offcpu_kept offcpu_kept_in(uint64_t stack)
{
    return (enum offcpu_kept)(stack >> KEPT_SHIFT);
}

static inline uint64_t offcpu_number_in(uint64_t stack)
{
    return stack & ((UINT64_C(1) << KEPT_SHIFT) - 1);
}

/* The stack in the store; 0: none. */
uint32_t offcpu_stack_of(const struct session *s, uint64_t stack);
/* True if stacks and states come from the tracepoint, which says nothing of idle kernel workers and of
 * threads that end. */
bool offcpu_by_tracepoint(const struct session *s);
/* Callbacks of struct waits, with the session: merge the part with those of equal stacks. */
void offcpu_on_part(void *session, const struct waits_part *part);
void offcpu_on_ran(void *session, const struct waits_part *part);

#endif
