// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind rows for x86-64 code that no table describes (assembly, runtimes), deduced from its instructions: all ways
 * through a function are followed from where it begins. Such rows are marked (UNWIND_ENTRY_DEDUCED): code may be entered
 * in ways that its instructions do not show. For the worker. */
#ifndef FLAMETOP_UNWIND_CODEROWS_H
#define FLAMETOP_UNWIND_CODEROWS_H

#include "unwind/rowbuild.h"

struct coderows_input {
    const uint8_t *code; /* bytes without a table, next to each other */
    size_t size;
    uint64_t offset; /* of the first one in the module */
    /* Offsets in the module where functions begin, sorted: those in `code` are taken. */
    const uint64_t *functions;
    size_t n_functions;
};
struct
    codeahead_input { /* one row, by the prologue of a Java method, or by the instructions that come next */
    const uint8_t *code;
    size_t size;
    uint64_t offset, at; /* of the first byte, of the row */
    bool exact;          /* a thread is there; else a call returns there */
};

#define CODEROWS_LEAST 16          /* bytes: less is padding between functions */
#define CODEROWS_MOST  (16u << 20) /* bytes: of more nothing is deduced */

/* Adds the rows of this code to b, in order. none: the number of the entry that says nothing. */
void coderows_add(const struct coderows_input *in, struct rowbuild *b, uint32_t none);
/* A table of n pieces of code, sorted by offset, that do not overlap and lie within 4 GB. *blob is the caller's, for
 * mem_free. */
bool coderows_build_ahead(const struct codeahead_input *in, unsigned n, void **blob, size_t *size,
                          struct error *e);
bool coderows_build(const struct coderows_input *in, unsigned n, void **blob, size_t *size, struct error *e);

#endif
