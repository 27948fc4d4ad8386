// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the return address is, by the instructions that come next: whatever a function has done to the stack, it undoes it
 * before it returns. So nothing need be known of where the function begins. x86-64, for the worker. */
#ifndef FLAMETOP_UNWIND_CODEAHEAD_H
#define FLAMETOP_UNWIND_CODEAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rowformat.h"

#define CODEAHEAD_STEPS 4000 /* instructions that are followed at most */

/* The frame before the instruction at code[at] as an entry, marked as deduced. False: no way to a return was found on which
 * the stack is followed. */
bool codeahead_entry(const uint8_t *code, size_t size, size_t at, struct unwind_entry *out);

#endif
