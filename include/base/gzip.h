// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing as gzip does (RFC 1952). Unpacking is base/unpack.h. */
#ifndef FLAMETOP_BASE_GZIP_H
#define FLAMETOP_BASE_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Adds n bytes to `out`, packed; the same bytes for the same input. False: this build is without zlib, or there is no
 * memory. */
bool gzip_pack(const void *bytes, size_t n, struct buf *out, struct error *e);

#endif
