// SPDX-License-Identifier: GPL-2.0-or-later
/* CPython 3.8 to 3.13: its frames, code objects and line tables.
 *
 * Source of the offsets: the headers of each version (Include/cpython, Include/internal), x86-64 and arm64
 * builds with a GIL; a minor version keeps them. 3.13 publishes them itself (struct _Py_DebugOffsets at the
 * start of _PyRuntime).
 * Source of the line tables: Objects/lnotab_notes.txt (to 3.9), PEP 626 (3.10), Objects/locations.md (from
 * 3.11 on). */
#ifndef FLAMETOP_SYMBOLS_PYTHON_H
#define FLAMETOP_SYMBOLS_PYTHON_H

#include "symbols/interpreter.h"

extern const struct interpreter python_interpreter;

#define PYTHON_MINOR_FIRST 8
#define PYTHON_MINOR_LAST  13

const struct python_offsets *python_offsets_of(unsigned minor); /* NULL: unknown version */

/* Parse "python3.9", "libpython3.11.so.1.0", "python3" (minor 0: not given). */
bool python_module(const char *name, unsigned *minor);

/* Look up an instruction's line in a line table of this version; at: its offset in bytes. 0: no line. */
uint32_t python_line(unsigned minor, const uint8_t *table, size_t n, uint32_t first_line, uint32_t at);

/* python_object.c: read a str as UTF-8; of one too long, the last characters. False: not a str. */
bool python_text(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t address,
                 char *to, size_t cap);
bool python_code(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t address,
                 struct interpreter_code *out);

#endif
