// SPDX-License-Identifier: GPL-2.0-or-later
/* What the running kernel tells of itself. */
#ifndef FLAMETOP_SYMBOLS_MACHINE_H
#define FLAMETOP_SYMBOLS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The running kernel's build-id, from /sys/kernel/notes; its size, 0 if it does not tell. */
unsigned machine_kernel_build_id(uint8_t id[20]);
/* A number for this boot of this machine; 0: not to be had. */
uint64_t machine_boot(void);
/* A copy of the vdso that a process has mapped there, or -1 with errno: not allowed, or the process is gone. */
int machine_open_vdso_of(uint32_t pid, uint64_t start, uint64_t end);
/* Whether the kernel is known to lie where it was linked to: KASLR is switched off, or not in it. */
bool machine_kernel_stays(void);
/* A copy of the vdso in a file descriptor, or -1. The same for all 64-bit processes of this kernel. */
int machine_open_vdso(void);

#endif
