// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the running kernel: build-id, boot, vdso, KASLR. */
#ifndef FLAMETOP_SYMBOLS_MACHINE_H
#define FLAMETOP_SYMBOLS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the size of the running kernel's build-id, from /sys/kernel/notes; 0: not available. */
unsigned machine_kernel_build_id(uint8_t id[20]);
/* Return a number for this boot of this machine; 0: not available. */
uint64_t machine_boot(void);
/* Copy the vdso that a process has mapped at [start, end) to a file descriptor. -1 with errno: not allowed,
 * or the process has ended. */
int machine_open_vdso_of(uint32_t pid, uint64_t start, uint64_t end);
/* Whether the kernel is known to run at its link address: KASLR is disabled, or not built in. */
bool machine_kernel_stays(void);
/* Copy the vdso to a file descriptor, or -1. It is the same for all 64-bit processes of this kernel. */
int machine_open_vdso(void);

#endif
