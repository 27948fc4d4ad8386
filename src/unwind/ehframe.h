// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the search table of unwind information (.eh_frame_hdr) of an ELF file in the memory of a process.
 * Private to src/unwind, and for its fuzz target. */
#ifndef FLAMETOP_UNWIND_EHFRAME_H
#define FLAMETOP_UNWIND_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ehframe {
    uint64_t header;  /* address of .eh_frame_hdr */
    uint64_t table;   /* address of its table */
    uint64_t entries; /* of two 32-bit numbers each */
};
/* Reads n bytes of memory; false: not readable. */
typedef bool (*ehframe_read)(void *ctx, uint64_t address, void *to, size_t n);
/* `start`: where the beginning of the file is mapped. False: no ELF file of this machine, or no table in the
 * encoding that all linkers write. */
bool ehframe_find(ehframe_read read, void *ctx, uint64_t start, struct ehframe *out);

#endif
