// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind rows of Go code, for which libunwind finds no table, from the copy of Go's function table in the
 * program's memory. */
#ifndef FLAMETOP_UNWIND_REMOTE_GO_H
#define FLAMETOP_UNWIND_REMOTE_GO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rowformat.h"

/* Reads n bytes of the process's memory. False: not all are readable. */
typedef bool remote_go_read_fn(void *ctx, uint64_t address, void *to, size_t n);

struct remote_go;
/* Searches [from, to) for a table whose functions are in [code, code_end). NULL: none. */
struct remote_go *remote_go_find(remote_go_read_fn *read, void *ctx, uint64_t from, uint64_t to,
                                 uint64_t code, uint64_t code_end);
void remote_go_free(struct remote_go *go);
/* The row for an address in an instruction. False: none. */
bool remote_go_row(struct remote_go *go, remote_go_read_fn *read, void *ctx, uint64_t address,
                   struct unwind_entry *out);

#endif
