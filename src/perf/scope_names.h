// SPDX-License-Identifier: GPL-2.0-or-later
/* Find processes by name: the comm (15 characters) or the file name of the executable, matched in full. */
#ifndef FLAMETOP_PERF_SCOPE_NAMES_H
#define FLAMETOP_PERF_SCOPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

bool scope_is_name(const char *word); /* not a number */
/* Call back for each process of that name except flametop itself, until the callback returns false. False:
 * it did, or there is no such process. */
typedef bool scope_found_fn(void *ctx, uint32_t pid, struct error *e);
bool scope_find_processes(const char *name, scope_found_fn *found, void *ctx, struct error *e);

#endif
