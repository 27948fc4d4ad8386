// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads Go's function table (pclntab), which each Go program has for its own tracebacks.
 *
 * For 64-bit programs since Go 1.2. Sources: debug/gosym and runtime/symtab.go of Go. The bytes are not
 * trusted. For the worker. */
#ifndef FLAMETOP_UNWIND_GOTABLE_H
#define FLAMETOP_UNWIND_GOTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOTABLE_HEADER_MIN 16 /* bytes of the shortest header */
#define GOTABLE_TEXT_AT    24 /* offset of the code's address in the header, since Go 1.18 */

struct gotable {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    /* Base address of function entries. 0 before Go 1.18, where entries are absolute addresses. */
    uint64_t text;
    /* Entries are relative to text. text is 0 if it is only filled in when the program is loaded. */
    bool counts_text;
    uint8_t quantum; /* smallest instruction size in bytes; pc deltas are multiples */
    /* Bytes (4 or 8) of an entry, and of the offset of its function. */
    uint8_t entry_size;
    uint8_t id_at; /* offset of a function's id, one byte before its flags */
    bool has_flags;
    bool has_lines; /* functions have lines and inlined calls: since Go 1.18 */
    bool has_start; /* functions and inlined calls have a start line: since Go 1.20 */
    uint64_t n;     /* number of functions */
    /* Offsets in bytes; a function's offset is relative to `functions`. */
    uint64_t names, pcs, functab, functions;
    /* Offsets of the file lists of the units (u32), and of the file names. */
    uint64_t units, files;
};

/* Flags of a function. */
enum {
    GOTABLE_TOP = 1,      /* outermost function of a stack for Go's tracebacks */
    GOTABLE_SP_WRITE = 2, /* sets the stack pointer to a value that is not in the table */
};

struct gotable_function {
    uint64_t entry, end; /* addresses; end is the start of the next function */
    const char *name;    /* name_n bytes without a NUL */
    size_t name_n;
    uint32_t pcsp; /* offset of its frame sizes; 0: none */
    uint8_t flags; /* 0 if the table has no flags */
    /* The fields below need has_lines; without it they are empty. */
    uint32_t pcfile, pcln; /* like pcsp: its file numbers within the unit; its lines */
    uint32_t pcinlined;    /* like pcsp: its inlined call numbers; negative: no inlined call */
    uint32_t unit;         /* index of the unit's first entry in the file lists */
    uint32_t calls;        /* offset of its inlined calls from runtime.gofunc, or GOTABLE_NONE */
};
#define GOTABLE_NONE UINT32_MAX

/* Returns true if GOTABLE_HEADER_MIN bytes look like the header of a table. */
bool gotable_is_header(const void *bytes);
/* Returns false if `bytes` does not start with a supported table. */
bool gotable_open(struct gotable *t, const void *bytes, size_t size);
/* Gets function i in order of addresses. Returns false if it is damaged. */
bool gotable_function(const struct gotable *t, uint64_t i, struct gotable_function *out);

/* Returns the file with this number in the function's unit; NULL: damaged. */
const char *gotable_file(const struct gotable *t, const struct gotable_function *f, uint32_t number);
/* Finds the function that contains an address. Returns false if there is none. */
bool gotable_find(const struct gotable *t, uint64_t address, struct gotable_function *out);

/* A call that was inlined into a function.
 *
 * Source: inlinedCall in runtime/symtab.go, since Go 1.20 in symtabinl.go. Go's linker puts all inlined
 * calls next to the table, from runtime.gofunc on. */
struct gotable_call {
    const char *name; /* of the inlined function; NULL: damaged */
    uint32_t pc;      /* an instruction of the call site, relative to the function's entry */
};
/* Gets inlined call i of a function from `size` bytes at runtime.gofunc. Returns false if it is not
 * there. */
bool gotable_call(const struct gotable *t, const struct gotable_function *f, const uint8_t *bytes,
                  size_t size, uint32_t i, struct gotable_call *out);

/* Iterates over a function's values in one table. Each value holds for an address range. */
struct gotable_values {
    const uint8_t *p, *end;
    uint64_t from, to; /* addresses */
    uint64_t limit;
    int32_t value;
    uint8_t quantum;
    bool first;
};
/* Starts the iteration. `at` is an offset like pcsp. */
void gotable_values_of(struct gotable_values *v, const struct gotable *t, const struct gotable_function *f,
                       uint32_t at);
/* Gets the next value. Returns false at the end or on damage. `from` < `to` <= the function's end. */
bool gotable_next_value(struct gotable_values *v);

#endif
