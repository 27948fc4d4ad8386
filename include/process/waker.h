// SPDX-License-Identifier: GPL-2.0-or-later
/* What ended a wait. Tells who woke a thread by the kernel functions of the waker: a thread, or an interrupt,
 * which only interrupted the thread that ran on the CPU. */
#ifndef FLAMETOP_PROCESS_WAKER_H
#define FLAMETOP_PROCESS_WAKER_H

#include <stdbool.h>
#include <stddef.h>

enum waker {
    WAKER_THREAD,
    WAKER_TIMER,
    WAKER_DISK,
    WAKER_NETWORK,
    WAKER_INTERRUPT, /* of any other kind */
    WAKER_UNKNOWN,   /* a thread or an interrupt */
    /* Of a wait for a CPU: what ran on it meanwhile. */
    WAKER_RAN, /* a thread */
    WAKER_IDLE,
    WAKER_UNSEEN,
    WAKERS
};
/* Names of functions, innermost first, with or without a suffix of the compiler (".isra.0"). *own: how
 * many of them, from the innermost on, belong to an interrupt; the others were interrupted. */
enum waker waker_of(const char *const *function, size_t n, size_t *own);
bool waker_is_interrupt(enum waker w);
const char *waker_name(enum waker w); /* "a timer"; "": it has none */

#endif
