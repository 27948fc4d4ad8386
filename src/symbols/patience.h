// SPDX-License-Identifier: GPL-2.0-or-later
/* The time limit of a traversal that a hostile file may have made endless. For the worker. */
#ifndef FLAMETOP_SYMBOLS_PATIENCE_H
#define FLAMETOP_SYMBOLS_PATIENCE_H

#include <stdbool.h>

#include "base/clock.h"

#define PATIENCE_STEPS 256 /* between checks of the clock */

struct patience {
    uint64_t deadline_ns;
    unsigned steps;
    bool over; /* too late; a traversal may also set it for another reason */
};

/* Call it at each step. False: the traversal is to end. */
static inline bool patience_lasts(struct patience *p)
{
    if (!p->over && ++p->steps % PATIENCE_STEPS == 0)
        p->over = clock_now_ns() > p->deadline_ns;
    return !p->over;
}

#endif
