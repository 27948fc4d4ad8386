// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads an ELF file's build-id with a few small, bounded reads and without libelf. The resolver can so check
 * its caches before it starts a worker. */
#ifndef FLAMETOP_PROCESS_ELFID_H
#define FLAMETOP_PROCESS_ELFID_H

#include <stddef.h>
#include <stdint.h>

/* Returns the build-id's size; 0: none, or not an ELF file of this machine's byte order. */
unsigned elfid_read(int fd, uint8_t id[20]);
/* Same for ELF notes in memory (4-byte aligned, host byte order). */
unsigned elfid_in_notes(const void *notes, size_t n, uint8_t id[20]);

#endif
