// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse /tmp/perf-PID.map, a JIT's symbols. Lines of "START SIZE NAME", hexadecimal. */
#ifndef FLAMETOP_SYMBOLS_PERFMAP_H
#define FLAMETOP_SYMBOLS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/table.h"

/* Of a larger map, a quarter of this is read from its beginning (permanent code), the rest from its end (the
 * latest). */
#define PERFMAP_BYTES_MAX (128u << 20)

/* Open the map of a live process as that process sees it: by its pid inside its own pid namespace, below its
 * own root. It must be a regular file, no link, of the process's user or root. -1 with e set: ERROR_MISSING
 * when there is none. */
int perfmap_open(uint32_t pid, struct error *e);
/* Open the map that an ended process of this machine and these namespaces left behind. It must belong to
 * flametop's user or root, as the process's user is not known any more. */
int perfmap_open_left(uint32_t pid, struct error *e);

/* Add the entries at their addresses, for TABLE_REPLACED. Malformed lines are skipped, and so is a last line
 * without a newline, which is still being written. */
void perfmap_parse(const char *text, size_t n, struct table_builder *b);
/* Parse a file in chunks. Sets TABLE_CUT if a part was left out. */
bool perfmap_read(int fd, struct table_builder *b, struct error *e);

#endif
