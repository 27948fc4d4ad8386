// SPDX-License-Identifier: GPL-2.0-or-later
/* Deduces unwind rows for x86-64 code without a table (assembly, runtimes) from its instructions.
 *
 * All paths through a function are followed from its start. Such rows are marked (UNWIND_ENTRY_DEDUCED),
 * because code may be entered in ways that its instructions do not show. For the worker. */
#ifndef FLAMETOP_UNWIND_CODEROWS_H
#define FLAMETOP_UNWIND_CODEROWS_H

#include "unwind/rowbuild.h"

struct coderows_input {
    const uint8_t *code; /* contiguous bytes without a table */
    size_t size;
    uint64_t offset; /* of the first byte, in the module */
    /* Sorted offsets of function starts in the module; those outside of `code` are ignored. */
    const uint64_t *functions;
    size_t n_functions;
};
/* Input for one row, from the prologue of a Java method or from the instructions ahead (codeahead.h). */
struct codeahead_input {
    const uint8_t *code;
    size_t size;
    /* Offsets in the module of the first byte and of the row. */
    uint64_t offset, at;
    bool exact; /* at is a thread's pc; else a return address */
};

#define CODEROWS_LEAST 16          /* bytes; shorter gaps are padding between functions */
#define CODEROWS_MOST  (16u << 20) /* bytes; nothing is deduced from longer code */

/* Adds the rows of this code to b, in order. none: number of the entry without information. */
void coderows_add(const struct coderows_input *in, struct rowbuild *b, uint32_t none);
/* Build a table of n pieces of code, which are sorted by offset, do not overlap, and lie within 4 GB.
 * The caller frees *blob with mem_free. */
bool coderows_build_ahead(const struct codeahead_input *in, unsigned n, void **blob, size_t *size,
                          struct error *e);
bool coderows_build(const struct coderows_input *in, unsigned n, void **blob, size_t *size, struct error *e);

#endif
