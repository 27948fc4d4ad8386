// SPDX-License-Identifier: GPL-2.0-or-later
/* jit-PID.dump: binary records of a JIT's code, which grow while the JIT runs.
 * Format: version 1 of tools/perf/Documentation/jitdump-specification.txt in the kernel, in either byte
 * order. */
#ifndef FLAMETOP_SYMBOLS_JITDUMP_H
#define FLAMETOP_SYMBOLS_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbols/table.h"

/* Whether a path is called jit-NUMBER.dump. */
bool jitdump_is_name(const char *path, uint32_t *number);

/* Open the dump of a live process. The JIT maps a page of it, executable, so that profilers find it.
 * Of several dumps, prefers the process's own (by its pid inside its pid namespace) to one of its parent
 * before a fork. The mapping decides which file it is; it must be a regular file of the process's user or
 * root. -1: ERROR_MISSING when none is mapped, or e says why it was not read. */
int jitdump_open(uint32_t pid, struct error *e);

/* Whether the file begins like a jitdump. */
bool jitdump_is_one(int fd);

/* Add the code at its addresses, for TABLE_REPLACED: loaded code, and moved code at its new address. An
 * incomplete record at the end is still being written. Sets TABLE_CUT if it stops at damage or a limit, and
 * TABLE_DATED if its times can be CLOCK_MONOTONIC. */
bool jitdump_read(int fd, struct table_builder *b, struct error *e);
/* Append to out the last code loaded at or moved to this address, at most `size` bytes; *machine: EM_…. */
bool jitdump_find_code(int fd, uint64_t address, uint64_t size, struct buf *out, uint16_t *machine,
                       bool *swapped, struct error *e);

#endif
