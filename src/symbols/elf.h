// SPDX-License-Identifier: GPL-2.0-or-later
/* Read symbols and call-frame information from ELF files, by file offset. For the worker. */
#ifndef FLAMETOP_SYMBOLS_ELF_H
#define FLAMETOP_SYMBOLS_ELF_H

#include <stdbool.h>

#include "base/error.h"
#include "symbols/elffile.h"
#include "symbols/golines.h"
#include "symbols/table.h"
#include "unwind/gotable.h"

/* Add the functions of .symtab, or else of .gnu_debugdata (or .gopclntab) and .dynsym, and the stubs of the
 * procedure linkage table, at their offsets in the file `fd`. Sets the build-id, the debug link and
 * TABLE_FULL (from a full symbol table). */
bool elf_read(int fd, struct table_builder *b, struct error *e);
/* Add the functions of a separate debug file as well, if it belongs to `fd`: equal build-ids or, if one has
 * none, the checksum of the debug link. */
bool elf_read_with_debug(int fd, int debug_fd, struct table_builder *b, struct error *e);
/* Whether the debug file belongs to `fd`. */
bool elf_belongs(int fd, int debug_fd);

/* Add the functions of a vmlinux at their link addresses, for MODULE_KERNEL. */
bool elf_read_kernel(int fd, struct table_builder *b, struct error *e);
/* Add the stubs of the procedure linkage table (x86-64 and arm64) as "name@plt". */
void elf_add_plt(const struct elffile *f, struct table_builder *b);
/* Add _start and main of a program without a symbol table, found from the code at its entry point (x86-64 and
 * arm64, glibc). */
void elf_add_start(const struct elffile *f, struct table_builder *b);

/* Find the function table of a Go program, borrowed from the file. False: none. */
bool elf_go_table(const struct elffile *f, struct gotable *out);
/* Find the same table with its lines and inlined functions. False: it has none. */
bool elf_go_lines(const struct elffile *f, struct golines *out);
/* Add the functions of that table. False: there is no table. */
bool elf_add_go(const struct elffile *f, struct table_builder *b);

/* Compile the file's call-frame information (unwind/cfi.h); *blob is the caller's, for mem_free. debug_fd >=
 * 0: also from .debug_frame of a separate debug file; refused if it has none or belongs to another build. */
bool elf_read_unwind(int fd, int debug_fd, void **blob, size_t *size, char link[ELF_LINK_MAX],
                     struct error *e);

/* Find the calls in the file's machine code (unwind/calls.h); *blob is the caller's, for mem_free. */
bool elf_read_calls(int fd, void **blob, size_t *size, struct error *e);

/* elf_belongs for two open files. */
bool elf_is_debug_of(const struct elffile *f, const struct elffile *debug);

#endif
