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
    uint64_t text;     /* address that entries count from; before Go 1.18 they are addresses: 0 */
    bool counts_text;  /* … and this is such a table. text is 0 in one that is filled in when it is loaded */
    uint8_t quantum;   /* bytes that the least instruction has: counters of code are multiples */
    uint8_t entry_size; /* 4 or 8 bytes each for an entry and for where its function is */
    uint8_t id_at;     /* where a function has its id, a byte before its flags */
    bool has_flags;
    uint64_t n;        /* functions */
    uint64_t names, pcs, functab, functions; /* offsets in bytes; functions count from the last one */
};

enum { /* flags of a function */
    GOTABLE_TOP = 1,      /* nobody called it, as Go's own tracebacks see it */
    GOTABLE_SP_WRITE = 2, /* it sets the stack pointer to what the table does not tell */
};

struct gotable_function {
    uint64_t entry, end; /* addresses; the end is where the next one begins */
    const char *name;    /* name_n bytes, without a 0 among them */
    size_t name_n;
    uint32_t pcsp;       /* where the sizes of its frame are told; 0: nowhere */
    uint8_t flags;       /* 0 where the table has none */
};

/* Whether GOTABLE_HEADER_MIN bytes may be the beginning of a table. */
bool gotable_is_header(const void *bytes);
/* False: no such table begins there. */
bool gotable_open(struct gotable *t, const void *bytes, size_t size);
/* The i-th function in order of addresses; false: damaged. */
bool gotable_function(const struct gotable *t, uint64_t i, struct gotable_function *out);

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
void gotable_values_of(struct gotable_values *v, const struct gotable *t, const struct gotable_function *f, uint32_t at);
/* The next value; false: there is no more, or it is damaged. `from` < `to` <= the function's end. */
bool gotable_next_value(struct gotable_values *v);

#endif
