// SPDX-License-Identifier: GPL-2.0-or-later
/* Guards mapped files that another process may truncate. Reading a page past the new end raises SIGBUS, which
 * kills a program. In a guarded range such a page reads as zeros from then on, and the guard records the
 * hit. */
#ifndef FLAMETOP_BASE_GUARD_H
#define FLAMETOP_BASE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard {
    atomic_uintptr_t start, end; /* address range; both 0: free for reuse */
    atomic_bool hit;             /* a page was replaced */
    struct guard *next;
};

/* Guards all pages of start[0..size) until guard_remove. The content of a page may be replaced by a new
 * mapping at any time. */
struct guard *guard_add(const void *start, size_t size);
void guard_remove(struct guard *g); /* NULL is allowed */
/* True once after pages were replaced. */
static inline bool guard_was_hit(struct guard *g)
{
    return atomic_load_explicit(&g->hit, memory_order_relaxed) && atomic_exchange(&g->hit, false);
}
/* Sets the function to run before a SIGBUS outside all guards ends the process. */
void guard_on_crash(void (*last_words)(void));

#endif
