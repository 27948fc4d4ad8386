// SPDX-License-Identifier: GPL-2.0-or-later
/* The function table that every Go program carries for its own tracebacks (pclntab, as debug/gosym and runtime/symtab.go
 * of Go describe it), of 64-bit programs since Go 1.2. The bytes are not to be trusted; for the worker. */
#ifndef FLAMETOP_UNWIND_GOTABLE_H
#define FLAMETOP_UNWIND_GOTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOTABLE_HEADER_MIN 16 /* bytes of the shortest header */
#define GOTABLE_TEXT_AT    24 /* since Go 1.18 the header has the address of the code here */

struct gotable {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    uint64_t text;    /* address that entries count from; before Go 1.18 they are addresses: 0 */
    bool counts_text; /* … and this is such a table. text is 0 in one that is filled in when it is loaded */
    uint8_t quantum;  /* bytes that the least instruction has: counters of code are multiples */
    uint8_t entry_size; /* 4 or 8 bytes each for an entry and for where its function is */
    uint8_t id_at;      /* where a function has its id, a byte before its flags */
    bool has_flags;
    bool has_lines; /* functions tell lines and inlined calls: since Go 1.18 */
    bool has_start; /* functions and inlined calls have the line where they start: since Go 1.20 */
    uint64_t n;     /* functions */
    uint64_t names, pcs, functab, functions; /* offsets in bytes; functions count from the last one */
    uint64_t units,
        files; /* offsets of the lists of the files of each unit (u32), and of the names of files */
};

enum {                       /* flags of a function */
       GOTABLE_TOP = 1,      /* nobody called it, as Go's own tracebacks see it */
       GOTABLE_SP_WRITE = 2, /* it sets the stack pointer to what the table does not tell */
};

struct gotable_function {
    uint64_t entry, end; /* addresses; the end is where the next one begins */
    const char *name;    /* name_n bytes, without a 0 among them */
    size_t name_n;
    uint32_t pcsp; /* where the sizes of its frame are told; 0: nowhere */
    uint8_t flags; /* 0 where the table has none */
    /* With has_lines; else as if nothing was told. */
    uint32_t pcfile, pcln; /* as pcsp: the numbers of its files within its unit, and its lines */
    uint32_t pcinlined;    /* as pcsp: the numbers of its inlined calls; negative values: not in one */
    uint32_t unit;         /* number of the first entry of its unit in the lists of files */
    uint32_t calls;        /* offset of its inlined calls from runtime.gofunc; GOTABLE_NONE: none */
};
#define GOTABLE_NONE UINT32_MAX

/* Whether GOTABLE_HEADER_MIN bytes may be the beginning of a table. */
bool gotable_is_header(const void *bytes);
/* False: no such table begins there. */
bool gotable_open(struct gotable *t, const void *bytes, size_t size);
/* The i-th function in order of addresses; false: damaged. */
bool gotable_function(const struct gotable *t, uint64_t i, struct gotable_function *out);

/* The file of that number in the function's unit; NULL: damaged. */
const char *gotable_file(const struct gotable *t, const struct gotable_function *f, uint32_t number);
/* The function that an address is in; false: none. */
bool gotable_find(const struct gotable *t, uint64_t address, struct gotable_function *out);

/* A call that was inlined into a function (inlinedCall in runtime/symtab.go, since Go 1.20 symtabinl.go). Go's
 * linker puts all of them beside the table, from runtime.gofunc on. */
struct gotable_call {
    const char *name; /* of the function that was called; NULL: damaged */
    uint32_t pc;      /* an instruction of the place of the call, from the entry of the function on */
};
/* The i-th of a function's calls, from `size` bytes at runtime.gofunc; false: it is not there. */
bool gotable_call(const struct gotable *t, const struct gotable_function *f, const uint8_t *bytes,
                  size_t size, uint32_t i, struct gotable_call *out);

/* The values of one table of a function over its code: each holds from one address up to another. */
struct gotable_values {
    const uint8_t *p, *end;
    uint64_t from, to; /* addresses */
    uint64_t limit;
    int32_t value;
    uint8_t quantum;
    bool first;
};
/* at: as pcsp. */
void gotable_values_of(struct gotable_values *v, const struct gotable *t, const struct gotable_function *f,
                       uint32_t at);
/* The next value; false: there is no more, or it is damaged. `from` < `to` <= the function's end. */
bool gotable_next_value(struct gotable_values *v);

#endif
