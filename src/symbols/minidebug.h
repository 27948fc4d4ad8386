// SPDX-License-Identifier: GPL-2.0-or-later
/* Decompress xz in memory, for .gnu_debugdata. For the worker. */
#ifndef FLAMETOP_SYMBOLS_MINIDEBUG_H
#define FLAMETOP_SYMBOLS_MINIDEBUG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* *out is the caller's, for mem_free. Refuses what would decompress to more than 256 MB. */
bool xz_unpack(const void *packed, size_t n, void **out, size_t *out_n, struct error *e);

#endif
