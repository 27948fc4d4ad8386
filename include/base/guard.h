// SPDX-License-Identifier: GPL-2.0-or-later
/* Mapped files that somebody else may cut short. Reading a page behind the new end raises SIGBUS, which ends a program; in a
 * range that is guarded such a page reads as zeros from then on, and the guard says that it happened. */
#ifndef FLAMETOP_BASE_GUARD_H
#define FLAMETOP_BASE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard {
    atomic_uintptr_t start, end; /* of the addresses; both 0: free for the next */
    atomic_bool hit;             /* a page was replaced */
    struct guard *next;
};

/* From here to guard_remove all pages of start[0..size) are guarded. What a page holds may be mapped anew at any time. */
struct guard *guard_add(const void *start, size_t size);
void guard_remove(struct guard *g); /* NULL is fine */
/* True once after pages were replaced. */
static inline bool guard_was_hit(struct guard *g)
{
    return atomic_load_explicit(&g->hit, memory_order_relaxed) && atomic_exchange(&g->hit, false);
}
/* Runs before a SIGBUS that is none of ours ends the process. */
void guard_on_crash(void (*last_words)(void));

#endif
