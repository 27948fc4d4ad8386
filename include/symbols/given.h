// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that came with a profile, as text: what was sampled is called as on the machine that recorded it, without that
 * machine's files. A line begins with what it is, numbers are hexadecimal, and of text what is no printable ASCII, and
 * '%', is written %XX:
 *
 *   flametop names 1
 *   m KIND MAJ MIN INO GENERATION BUILD-ID PATH    a module (KIND of enum module_kind; "-": no build-id); the rest is of it
 *   f START SIZE KEY CLASS IDLE NAME               a function, offsets as in struct symbol; without a NAME: nobody knows it
 *   l OFFSET LINE FILE                             where an address lies in the source
 *   i KEY LINE FILE%09NAME                         a function that was inlined there, innermost first
 */
#ifndef FLAMETOP_SYMBOLS_GIVEN_H
#define FLAMETOP_SYMBOLS_GIVEN_H

#include "base/buf.h"
#include "symbols/symbolizer.h"

struct given;
struct given_module;
/* The text need not live on. NULL: it is no such text; lines that are damaged are left out. */
struct given *given_parse(const char *text, size_t n, struct error *e);
void given_free(struct given *g); /* NULL is fine */
/* NULL: nothing is known of it. */
const struct given_module *given_module(const struct given *g, const struct module *m);
/* False: nothing is known of that offset. out->name is "" for code that has no name; all is valid as long as g. */
bool given_symbol(const struct given_module *m, uint64_t offset, struct symbol *out);
bool given_lines(const struct given_module *m, uint64_t offset, struct symbol_lines *out);

/* Names as raw symbols of modules that are known by their path alone, the kernel's by being that: what the
 * recording tool put into the file. given_sort comes last; a size of 0 is up to the next symbol. */
struct given *given_new(void);
struct given_module *given_add_module(struct given *g, bool kernel, const char *path, size_t path_n);
void given_add_symbol(struct given *g, struct given_module *m, uint64_t start, uint64_t size,
                      const char *name, size_t name_n);
void given_sort(struct given *g);
const struct given_module *given_module_by_path(const struct given *g,
                                                const struct module *m); /* NULL: none */

void given_put_head(struct buf *out);
void given_put_module(struct buf *out, const struct module *m, const uint8_t *build_id,
                      unsigned build_id_size);
void given_put_symbol(struct buf *out, uint64_t offset, const struct symbol *symbol);
void given_put_lines(struct buf *out, uint64_t offset, const struct symbol_lines *lines);

#endif
