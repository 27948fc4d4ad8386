// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols of ELF files, by file offset. The only door to libelf; for the worker. */
#ifndef FLAMETOP_SYMBOLS_ELF_H
#define FLAMETOP_SYMBOLS_ELF_H

#include <stdbool.h>

#include "base/error.h"
#include "symbols/table.h"

/* Adds the functions of .symtab, or else of .dynsym, at their offsets in the file `fd`; tells the build-id, the
 * debug link and whether there was a .symtab (TABLE_FULL). */
bool elf_read(int fd, struct table_builder *b, struct error *e);
/* As well the functions of a separate debug file, if it belongs to `fd`: equal build-ids or, where one has
 * none, the checksum of the debug link. */
bool elf_read_with_debug(int fd, int debug_fd, struct table_builder *b, struct error *e);
/* Only whether it belongs to `fd`. */
bool elf_belongs(int fd, int debug_fd);

#endif
