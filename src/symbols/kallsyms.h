// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse /proc/kallsyms: functions of the kernel, its modules and BPF programs. */
#ifndef FLAMETOP_SYMBOLS_KALLSYMS_H
#define FLAMETOP_SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbols/table.h"

#define KALLSYMS_BYTES_MAX (64u << 20)

/* Add the functions at their addresses. Malformed lines are skipped. If there are functions but every address
 * is zero, sets TABLE_HIDDEN and adds nothing. */
void kallsyms_parse(const char *text, size_t n, struct table_builder *b);
/* Whether a CPU that runs this function is idle. */
bool kallsyms_is_idle(const char *name);

#endif
