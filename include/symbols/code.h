// SPDX-License-Identifier: GPL-2.0-or-later
/* The instructions of a function and the text of a source file, as an annotated function shows them.
 * Immutable, shared by an atomic reference count. */
#ifndef FLAMETOP_SYMBOLS_CODE_H
#define FLAMETOP_SYMBOLS_CODE_H

#include "symbols/codeformat.h"
#include "symbols/symbolizer.h"

struct code {
    uint64_t start, size;  /* as requested, in the module's offsets */
    struct code_view view; /* no rows: `trouble` says why */
    /* The source of the code, if not the module's file: "from /proc/kcore". "": the file. */
    char note[160];
    char trouble[480]; /* a sentence; "": none */
    const void *blob;  /* from symbols/blob.h; private */
    size_t blob_size;
    int refs;
};
void code_put(struct code *c); /* NULL is fine */
/* Get the instructions at [start, start + size) of the module, at most CODE_BYTES_MAX bytes. Never blocks.
 * SYMBOL_PENDING: not known yet, *out is NULL. SYMBOL_FOUND: a reference with instructions in *out.
 * SYMBOL_NONE: a reference without instructions. intel: Intel syntax. */
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
/* Return a line (from 1 on), cleaned, without its newline, with tabs as blanks. "": no such line. */
const char *source_line(const struct source *s, uint32_t line, char *dst, size_t cap);
/* Get the text of a source file of the module, by its path from symbolizer_lines. Results as of
 * symbolizer_code. */
enum symbol_state symbolizer_source(struct symbolizer *sy, struct module *m, const char *path,
                                    struct source **out);

#endif
