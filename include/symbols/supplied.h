// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols supplied with a profile, as text: samples get the names of the machine that recorded them, without
 * its files.
 * A line begins with its kind. Numbers are hexadecimal. In text, '%' and what is not printable ASCII are
 * written as %XX.
 *
 *   flametop names 1
 *   m KIND MAJ MIN INO GENERATION BUILD-ID PATH    a module (KIND of enum module_kind; "-": no build-id),
 *   then its lines
 *   f START SIZE KEY CLASS IDLE NAME               a function, offsets as in struct symbol; no NAME: no name
 *   known
 *   l OFFSET LINE FILE                             the source line of an address
 *   i KEY LINE FILE%09NAME                         a function that is inlined there, innermost first */
#ifndef FLAMETOP_SYMBOLS_SUPPLIED_H
#define FLAMETOP_SYMBOLS_SUPPLIED_H

#include "base/buf.h"
#include "symbols/symbolizer.h"

struct supplied_symbols;
struct supplied_module;
/* Parse the text, which may be freed afterwards. NULL: another format. Damaged lines are skipped. */
struct supplied_symbols *supplied_parse(const char *text, size_t n, struct error *e);
void supplied_free(struct supplied_symbols *g); /* NULL is fine */
/* NULL: nothing is known about this module. */
const struct supplied_module *supplied_module(const struct supplied_symbols *g, const struct module *m);
/* Look up an offset. False: nothing is known about it. out->name is "" for code without a name; strings are
 * valid as long as g. */
bool supplied_symbol(const struct supplied_module *m, uint64_t offset, struct symbol *out);
bool supplied_lines(const struct supplied_module *m, uint64_t offset, struct symbol_lines *out);

/* Build a set from raw symbols of modules known only by their path (the kernel: only by its kind), as the
 * recording tool put them into the file. Call supplied_sort last. A size of 0 extends to the next symbol. */
struct supplied_symbols *supplied_new(void);
struct supplied_module *supplied_add_module(struct supplied_symbols *g, bool kernel, const char *path,
                                            size_t path_n);
void supplied_add_symbol(struct supplied_symbols *g, struct supplied_module *m, uint64_t start, uint64_t size,
                         const char *name, size_t name_n);
void supplied_sort(struct supplied_symbols *g);
/* NULL: none. */
const struct supplied_module *supplied_module_by_path(const struct supplied_symbols *g,
                                                      const struct module *m);

void supplied_put_head(struct buf *out);
void supplied_put_module(struct buf *out, const struct module *m, const uint8_t *build_id,
                         unsigned build_id_size);
void supplied_put_symbol(struct buf *out, uint64_t offset, const struct symbol *symbol);
void supplied_put_lines(struct buf *out, uint64_t offset, const struct symbol_lines *lines);

#endif
