// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the return address by the instructions ahead: a function undoes its stack changes before it
 * returns.
 *
 * So the start of the function need not be known. x86-64, for the worker. */
#ifndef FLAMETOP_UNWIND_CODEAHEAD_H
#define FLAMETOP_UNWIND_CODEAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rowformat.h"

#define CODEAHEAD_STEPS 4000 /* limit of instructions to follow */

/* Computes the frame before the instruction at code[at], as an entry marked as deduced. Returns false if
 * no path to a return was found on which the stack pointer stays known. */
bool codeahead_entry(const uint8_t *code, size_t size, size_t at, struct unwind_entry *out);

#endif
