// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes unwind rows of Go functions on x86-64 from the program's function table (unwind/gotable.h).
 *
 * The rows have the frame size at each address, also in prologues, where the frame pointer is saved, and
 * where a function switches to another stack. For the worker. */
#ifndef FLAMETOP_UNWIND_GOROWS_H
#define FLAMETOP_UNWIND_GOROWS_H

#include "unwind/gotable.h"
#include "unwind/rowformat.h"

struct gorows {
    const struct gotable *table;
    uint64_t budget;     /* table values that may still be read */
    const uint8_t *code; /* borrowed; code_size bytes at address code_addr */
    size_t code_size;
    uint64_t code_addr;
    uint64_t entry; /* the program's entry point; 0: unknown */
};

void gorows_begin(struct gorows *g, const struct gotable *table);
/* Gets the address range of the rows of function i. Returns false if it has none. */
bool gorows_range(struct gorows *g, uint64_t i, uint64_t *begin, uint64_t *end);
/* Adds the rows of function i. `at` is relative to the start of gorows_range. */
void gorows_add(struct gorows *g, uint64_t i,
                void (*add)(void *ctx, uint64_t at, const struct unwind_entry *entry), void *ctx);

#endif
