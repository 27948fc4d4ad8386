// SPDX-License-Identifier: GPL-2.0-or-later
/* The instructions of a function and the text of a source file: what an annotated function is made of. Shared by
 * reference count (atomic), immutable. */
#ifndef FLAMETOP_SYMBOLS_CODE_H
#define FLAMETOP_SYMBOLS_CODE_H

#include "symbols/codeformat.h"
#include "symbols/symbolizer.h"

struct code {
    uint64_t start, size;  /* as asked for, in the module's offsets */
    struct code_view view; /* no rows: `trouble` says why */
    char note[160];        /* where the code is from, if not from the module's file: "from /proc/kcore"; "" */
    char trouble[480];     /* a sentence; "" */
    const void *blob;      /* of symbols/blob.h; private */
    size_t blob_size;
    int refs;
};
struct code *code_get(struct code *c);
void code_put(struct code *c); /* NULL is fine */
/* Instructions at [start, start + size) of the module, at most CODE_BYTES_MAX bytes of them. Never blocks: SYMBOL_PENDING (*out
 * NULL) until it is known; then a reference in *out, with instructions (SYMBOL_FOUND) or without. intel: syntax. */
enum symbol_state symbolizer_code(struct symbolizer *sy, struct module *m, uint64_t start, uint64_t size,
                                  bool intel, struct code **out);

#define SOURCE_BYTES_MAX (8u << 20)
struct source {
    char *text; /* NULL: `trouble` says why */
    size_t n;
    uint32_t *lines; /* offset in the text of each line, and one for its end */
    uint32_t n_lines;
    char trouble[256]; /* "prime.c is newer than the program: not shown" */
    int refs;
};
struct source *source_get(struct source *s);
void source_put(struct source *s); /* NULL is fine */
/* The text of a line (from 1 on), cleaned, without its end; tabs are blanks. "": there is none. */
const char *source_line(const struct source *s, uint32_t line, char *dst, size_t cap);
/* The text of a source file of the module, as symbolizer_lines names it; as symbolizer_code. */
enum symbol_state symbolizer_source(struct symbolizer *sy, struct module *m, const char *path,
                                    struct source **out);

#endif
