// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read of ELF files: symbols and call-frame information, by file offset. For the worker. */
#ifndef FLAMETOP_SYMBOLS_ELF_H
#define FLAMETOP_SYMBOLS_ELF_H

#include <stdbool.h>

#include "base/error.h"
#include "symbols/elffile.h"
#include "symbols/golines.h"
#include "symbols/table.h"
#include "unwind/gotable.h"

/* Adds the functions of .symtab, or else of .gnu_debugdata (or .gopclntab) and .dynsym, and the stubs of the procedure linkage table
 * at their offsets in the file `fd`; tells the build-id, the debug link and whether that is all (TABLE_FULL). */
bool elf_read(int fd, struct table_builder *b, struct error *e);
/* As well the functions of a separate debug file, if it belongs to `fd`: equal build-ids or, where one has
 * none, the checksum of the debug link. */
bool elf_read_with_debug(int fd, int debug_fd, struct table_builder *b, struct error *e);
/* Only whether it belongs to `fd`. */
bool elf_belongs(int fd, int debug_fd);

/* The functions of a vmlinux at the addresses it was linked to, for MODULE_KERNEL. */
bool elf_read_kernel(int fd, struct table_builder *b, struct error *e);
/* Adds the stubs of the procedure linkage table (x86-64 and arm64) as "name@plt". */
void elf_add_plt(const struct elffile *f, struct table_builder *b);
/* Adds _start and main of a program without a symbol table, by the code at its entry point (x86-64 and arm64,
 * glibc). */
void elf_add_start(const struct elffile *f, struct table_builder *b);

/* The function table of a Go program, borrowed from the file; false: it has none. */
bool elf_go_table(const struct elffile *f, struct gotable *out);
/* The same, with its lines and inlined functions; false: it tells none. */
bool elf_go_lines(const struct elffile *f, struct golines *out);
/* Adds the functions of that table; false: there is none. */
bool elf_add_go(const struct elffile *f, struct table_builder *b);

/* The file's call-frame information, compiled (unwind/cfi.h): *blob is the caller's, for mem_free. debug_fd >= 0: with
 * what a separate debug file has in .debug_frame; refused if it has none or belongs to another build. */
bool elf_read_unwind(int fd, int debug_fd, void **blob, size_t *size, char link[ELF_LINK_MAX],
                     struct error *e);

/* The calls in the file's machine code (unwind/calls.h): *blob is the caller's, for mem_free. */
bool elf_read_calls(int fd, void **blob, size_t *size, struct error *e);

/* The same of two files that are open already. */
bool elf_is_debug_of(const struct elffile *f, const struct elffile *debug);

#endif
