// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables as they come from the worker or the disk: large ones are mappings, small ones copies, for a process may have
 * 65,530 mappings (vm.max_map_count), and a box may have more modules than that. */
#ifndef FLAMETOP_SYMBOLS_BLOB_H
#define FLAMETOP_SYMBOLS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* n bytes of a file, from a whole page on. If they are mapped, whoever may write to the file may change them.
 * NULL: no memory, or the file has not so many. */
const void *blob_read(int fd, uint64_t offset, size_t n);
void *blob_new(size_t n);                   /* to be filled; NULL: no memory */
bool blob_is_mapped(size_t n);              /* one of this size */
void blob_free(const void *blob, size_t n); /* NULL is fine */
void blob_limit(uint64_t bytes);            /* what all may take together, where that is less than usual */
/* False with e set: so many, or so large, that no more should be asked for. */
bool blob_has_room(struct error *e);

#endif
