// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks that are kept until what they are about has ended: of waits (profile/waits.h) and of operations
 * (profile/pairs.h). All functions: under the store's lock, by the collector. */
#ifndef FLAMETOP_SESSION_COLLECT_KEPT_STACK_H
#define FLAMETOP_SESSION_COLLECT_KEPT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct record;
struct sample;
struct session;
struct stack_result;

/* What the number is, by its two highest bits. */
enum kept_kind {
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

static inline uint64_t kept_make(enum kept_kind kind, uint64_t number)
{
    return (uint64_t)kind << KEPT_SHIFT | number;
}

static inline enum kept_kind kept_kind_of(uint64_t kept)
{
    return (enum kept_kind)(kept >> KEPT_SHIFT);
}

static inline uint64_t kept_number(uint64_t kept)
{
    return kept & ((UINT64_C(1) << KEPT_SHIFT) - 1);
}

/* Before the first stack is kept: adds the event of stacks that wait for unwind tables. */
void kept_stack_prepare(struct session *s);
/* Keeps the stack of a record, which became this sample. */
uint64_t kept_stack_put(struct session *s, const struct record *r, const struct sample *sample,
                        const struct stack_result *stack);
/* The stack in the store; 0: none. */
uint32_t kept_stack_of(const struct session *s, uint64_t kept);
/* The stack of the sample with this number of the history begins with the kept stack, or (ends) ends with it:
 * it is corrected with it. */
void kept_stack_follow(struct session *s, uint64_t kept, uint64_t number, bool ends);
/* For bounds.c: old samples are about to be dropped, or all. Returns what is kept from now on. */
uint64_t kept_stack_before_drop(struct session *s, uint64_t kept, bool all);
uint64_t kept_stack_renumber(uint64_t kept, const uint32_t *new_stack);

#endif
