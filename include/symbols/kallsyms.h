// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of /proc/kallsyms: the kernel's functions, those of its modules and BPF programs. */
#ifndef FLAMETOP_SYMBOLS_KALLSYMS_H
#define FLAMETOP_SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbols/table.h"

#define KALLSYMS_BYTES_MAX (64u << 20)

/* Adds the functions at their addresses. Lines that are not of the format are skipped. When functions are there
 * but every address is zero, TABLE_HIDDEN is set and nothing is added. */
void kallsyms_parse(const char *text, size_t n, struct table_builder *b);
/* Does a CPU that runs this function wait for work? */
bool kallsyms_is_idle(const char *name);

#endif
