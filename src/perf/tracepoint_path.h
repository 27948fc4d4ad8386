// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of a tracepoint in tracefs, for tracepoint*.c only. */
#ifndef FLAMETOP_PERF_TRACEPOINT_PATH_H
#define FLAMETOP_PERF_TRACEPOINT_PATH_H

#include <limits.h>
#include <stdbool.h>

/* False without tracefs, or if a name leads out of it. */
bool tracepoint_path(char path[PATH_MAX], const char *system, const char *name, const char *file);

#endif
