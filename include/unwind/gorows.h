// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind rows of Go functions on x86-64, from the function table of the program (unwind/gotable.h): the size of the
 * frame at every address, also in prologues, where the frame pointer is kept, and where a function changes to another
 * stack. For the worker. */
#ifndef FLAMETOP_UNWIND_GOROWS_H
#define FLAMETOP_UNWIND_GOROWS_H

#include "unwind/gotable.h"
#include "unwind/rowformat.h"

struct gorows {
    const struct gotable *table;
    uint64_t budget;     /* values that may still be read, for the whole table */
    const uint8_t *code; /* borrowed; code_size bytes at the address code_addr */
    size_t code_size;
    uint64_t code_addr;
    uint64_t entry; /* where the program begins, 0: nowhere */
};

void gorows_begin(struct gorows *g, const struct gotable *table);
/* Which addresses the i-th function has rows for; false: none. */
bool gorows_range(struct gorows *g, uint64_t i, uint64_t *begin, uint64_t *end);
/* Adds the rows of the i-th function; `at` counts from its beginning, as gorows_range has it. */
void gorows_add(struct gorows *g, uint64_t i,
                void (*add)(void *ctx, uint64_t at, const struct unwind_entry *entry), void *ctx);

#endif
