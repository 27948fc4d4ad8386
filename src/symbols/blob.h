// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for tables from the worker or the disk: large tables are mapped, small ones copied. */
#ifndef FLAMETOP_SYMBOLS_BLOB_H
#define FLAMETOP_SYMBOLS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Return n bytes of a file, from a page-aligned offset. NULL: no memory, or the file is too short. A mapped
 * blob changes when someone with write access changes the file. */
const void *blob_read(int fd, uint64_t offset, size_t n);
void *blob_new(size_t n);                   /* to be filled; NULL: no memory */
bool blob_is_mapped(size_t n);              /* whether a blob of this size is mapped */
void blob_free(const void *blob, size_t n); /* NULL is fine */
/* Lower the limit on the bytes of all blobs together. */
void blob_limit(uint64_t bytes);
/* Whether another blob may be requested. False with e set: too many blobs or bytes. */
bool blob_has_room(struct error *e);

#endif
