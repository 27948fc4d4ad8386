// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of a tracepoint in tracefs, for tracepoint*.c only. */
#ifndef FLAMETOP_PERF_TRACEPOINT_PATH_H
#define FLAMETOP_PERF_TRACEPOINT_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

/* False without tracefs, or if a name leads out of it. */
bool tracepoint_path(char path[PATH_MAX], const char *system, const char *name, const char *file);
/* tracefs.c: explain why tracepoint_root returned NULL, and how to fix it. Returns false. */
bool tracefs_explain(struct error *e);

#endif
