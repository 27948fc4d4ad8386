// SPDX-License-Identifier: GPL-2.0-or-later
/* Source lines and inlined functions of a Go program without debug information. For the worker.
 * They are read from the function table that Go's own tracebacks use (unwind/gotable.h), since Go 1.18. */
#ifndef FLAMETOP_SYMBOLS_GOLINES_H
#define FLAMETOP_SYMBOLS_GOLINES_H

#include "symbols/lines.h"
#include "unwind/gotable.h"

struct golines { /* borrowed */
    struct gotable table;
    const uint8_t *calls; /* inlined calls, from runtime.gofunc on; NULL: not found */
    size_t calls_n;
};

/* Look up an address. In *location, low, high, unit_low and unit_high are addresses, and a function is a
 * unit. Strings are of the table. Returns LINES_FIND_LATE or LINES_FIND_DONE. */
enum lines_find_result golines_find(const struct golines *g, uint64_t address, bool only_inlined,
                                    uint64_t deadline_ns, struct lines_location *location);

#endif
