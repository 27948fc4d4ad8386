// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the running kernel that a written file needs. */
#ifndef FLAMETOP_SESSION_SAVE_KERNEL_H
#define FLAMETOP_SESSION_SAVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the addresses of _text (or _stext) and _etext from /proc/kallsyms. False: they are hidden. */
bool kernel_text_range(uint64_t *start, uint64_t *end);

#endif
