// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the exported symbols of a program or library in the memory of a process (64-bit).
 * Format: System V ABI, and the GNU hash table as the dynamic linker reads it. The memory is not trusted: all
 * counts are bounded, and each read may fail. */
#ifndef FLAMETOP_SYMBOLS_ELFMEMORY_H
#define FLAMETOP_SYMBOLS_ELFMEMORY_H

#include "symbols/interpreter.h"

struct elfmemory {
    const struct interpreter_memory *m; /* borrowed */
    uint64_t bias;                      /* load bias of addresses */
    uint64_t symbols, strings, hash;    /* addresses */
};

/* near: where the first bytes may be mapped; they may be some pages below. */
bool elfmemory_open(struct elfmemory *e, const struct interpreter_memory *m, uint64_t near);
/* Find the address of an exported symbol. */
bool elfmemory_find(const struct elfmemory *e, const char *name, uint64_t *address);

#endif
