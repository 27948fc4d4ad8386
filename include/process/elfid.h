// SPDX-License-Identifier: GPL-2.0-or-later
/* The build-id of an ELF file by a few small, bounded reads and without libelf, so that the resolver may
 * look for what is known already before it bothers the worker. */
#ifndef FLAMETOP_PROCESS_ELFID_H
#define FLAMETOP_PROCESS_ELFID_H

#include <stddef.h>
#include <stdint.h>

/* Its size; 0: none, or no ELF file of this machine's byte order. */
unsigned elfid_read(int fd, uint8_t id[20]);
/* The same among ELF notes in memory (4-byte aligned, host byte order). */
unsigned elfid_in_notes(const void *notes, size_t n, uint8_t id[20]);

#endif
