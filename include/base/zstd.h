// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef FLAMETOP_BASE_ZSTD_H
#define FLAMETOP_BASE_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends the bytes to `out` as one zstd frame; frames may follow each other. False: no memory, or a build
 * without libzstd. */
bool zstd_pack(const void *bytes, size_t n, struct buf *out, struct error *e);

#endif
