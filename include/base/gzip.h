// SPDX-License-Identifier: GPL-2.0-or-later
/* Compresses in gzip format (RFC 1952). For decompression see base/unpack.h. */
#ifndef FLAMETOP_BASE_GZIP_H
#define FLAMETOP_BASE_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends n bytes to `out`, compressed; equal input gives equal output. False: no memory, or a build without
 * zlib. */
bool gzip_pack(const void *bytes, size_t n, struct buf *out, struct error *e);

#endif
