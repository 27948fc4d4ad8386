// SPDX-License-Identifier: GPL-2.0-or-later
/* What the running kernel tells of itself. */
#ifndef FLAMETOP_SYMBOLS_MACHINE_H
#define FLAMETOP_SYMBOLS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The running kernel's build-id, from /sys/kernel/notes; its size, 0 if it does not tell. */
unsigned machine_kernel_build_id(uint8_t id[20]);
/* The build-id among ELF notes in memory (4-byte aligned, host byte order). */
unsigned machine_find_build_id(const void *notes, size_t n, uint8_t id[20]);
/* A copy of the vdso in a file descriptor, or -1. The same for all 64-bit processes of this kernel. */
int machine_open_vdso(void);

#endif
