// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes by name: the comm (15 characters) or the name of the file that they run, each in full. */
#ifndef FLAMETOP_PERF_SCOPE_NAMES_H
#define FLAMETOP_PERF_SCOPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

bool scope_is_name(const char *word); /* not a number */
/* Calls back with each process of that name but flametop itself, until that returns false. False: so it did, or there is none. */
typedef bool scope_found_fn(void *ctx, uint32_t pid, struct error *e);
bool scope_find_processes(const char *name, scope_found_fn *found, void *ctx, struct error *e);

#endif
