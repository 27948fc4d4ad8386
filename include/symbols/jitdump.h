// SPDX-License-Identifier: GPL-2.0-or-later
/* jit-PID.dump: what a JIT tells of its code as binary records, while it goes on writing. Format: version 1 of
 * tools/perf/Documentation/jitdump-specification.txt in the kernel; of either byte order. */
#ifndef FLAMETOP_SYMBOLS_JITDUMP_H
#define FLAMETOP_SYMBOLS_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbols/table.h"

/* Whether a path is called jit-NUMBER.dump. */
bool jitdump_is_name(const char *path, uint32_t *number);

/* Opens the dump of a live process: the JIT has mapped a page of it, executable, for that it be found. Of several its
 * own (by its pid inside its pid namespace) is taken rather than one of the process that it was forked from. The
 * mapping decides which file it is; it must be a regular one and belong to the process's user or to root. -1:
 * ERROR_MISSING when none is mapped, or e says why it was not read. */
int jitdump_open(uint32_t pid, struct error *e);

/* Does the file begin as a jitdump does? */
bool jitdump_is_one(int fd);

/* Adds the code at its addresses, for TABLE_REPLACED: what was loaded, and what was moved, where it is now. A record at
 * the end that is not all there is still being written. Sets TABLE_CUT where damage or a limit ends it, and TABLE_DATED
 * where its times can be those of CLOCK_MONOTONIC. */
bool jitdump_read(int fd, struct table_builder *b, struct error *e);
/* Adds to out the code that was loaded, or moved, to this address last, at most `size` bytes of it; *machine: EM_…. */
bool jitdump_find_code(int fd, uint64_t address, uint64_t size, struct buf *out, uint16_t *machine,
                       bool *swapped, struct error *e);

#endif
