// SPDX-License-Identifier: GPL-2.0-or-later
/* /tmp/perf-PID.map: what a JIT tells of its code. Lines of "START SIZE NAME", hexadecimal. */
#ifndef FLAMETOP_SYMBOLS_PERFMAP_H
#define FLAMETOP_SYMBOLS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/table.h"

/* Of a larger map a quarter of this is read from its beginning (code that stays), the rest from its end (the latest). */
#define PERFMAP_BYTES_MAX (128u << 20)

/* Opens the map of a live process where that process sees it: by its pid inside its own pid namespace, below
 * its own root. It must be a regular file, no link, and belong to the process's user or to root. -1 with e set:
 * ERROR_MISSING when there is none. */
int perfmap_open(uint32_t pid, struct error *e);
/* The map that a process of this machine and our namespaces left behind when it ended. It must belong to us or to
 * root, as nobody can say any more whose the process was. */
int perfmap_open_left(uint32_t pid, struct error *e);

/* Adds the entries at their addresses, for TABLE_REPLACED. Lines that are not of the format are skipped, and so
 * is a last line without its end, which is still being written. */
void perfmap_parse(const char *text, size_t n, struct table_builder *b);
/* The same from a file, in pieces. Sets TABLE_CUT where a part of it was left out. */
bool perfmap_read(int fd, struct table_builder *b, struct error *e);

#endif
