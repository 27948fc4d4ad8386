// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF, entry by entry: the only door to libdw. For the worker. Strings and entries are borrowed from the file and
 * end with it. libdw bounds what it reads by the file's size; walks that a hostile file made endless are for the
 * caller to stop. */
#ifndef FLAMETOP_SYMBOLS_DEBUGINFO_H
#define FLAMETOP_SYMBOLS_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elffile.h"
#include "symbols/splitranges.h"

struct debuginfo { /* zero-initialised is closed */
    int fd;
    bool opened;
    struct elffile file;
    void *dwarf; /* NULL: closed */
};
struct debuginfo_entry { /* copied freely */
    void *words[4];
};
enum debuginfo_kind {
    DEBUGINFO_FUNCTION,
    DEBUGINFO_INLINED,
    DEBUGINFO_BLOCK,  /* a scope inside a function */
    DEBUGINFO_HOLDER, /* of functions: a namespace, a class */
    DEBUGINFO_OTHER,
};
struct debuginfo_unit {
    void *next; /* for debuginfo_unit(); start with zeros */
    struct debuginfo_entry top;
    bool is_skeleton; /* its entries are in another file: … */
    uint64_t id;      /* … in the unit with this id */
};
struct debuginfo_ranges { /* start with zeros */
    ptrdiff_t at;
    uint64_t base;
};

/* The descriptor may be closed afterwards. False: no debug information in it, or it cannot be unpacked: then e says why. */
bool debuginfo_open(struct debuginfo *d, int fd, struct error *e);
void debuginfo_close(struct debuginfo *d);
/* .gnu_debugaltlink: the name and build-id of the file that d shares entries with others in; 0 bytes: none. */
size_t debuginfo_alt(const struct debuginfo *d, const char **name, const void **id);
void debuginfo_set_alt(struct debuginfo *d, const struct debuginfo *alt); /* alt is to be closed after d */

/* The next unit with code (skeletons, compiled and split ones). */
bool debuginfo_unit(const struct debuginfo *d, struct debuginfo_unit *unit);
const char *debuginfo_folder(struct debuginfo_entry *top);     /* DW_AT_comp_dir, NULL: none */
const char *debuginfo_split_name(struct debuginfo_entry *top); /* of a skeleton; NULL: none */
/* What the ranges of a split unit's entries are made of; `split` is the file with its entries. */
void debuginfo_split(const struct debuginfo *d, struct debuginfo_entry *skeleton,
                     const struct debuginfo *split, struct splitranges *ranges);

bool debuginfo_child(struct debuginfo_entry *entry, struct debuginfo_entry *child);
bool debuginfo_sibling(struct debuginfo_entry *entry); /* entry becomes its next sibling */
enum debuginfo_kind debuginfo_kind(struct debuginfo_entry *entry);
/* The entry's next range of addresses; not of split units. */
bool debuginfo_range(struct debuginfo_entry *entry, struct debuginfo_ranges *ranges, uint64_t *low,
                     uint64_t *high);
void debuginfo_split_range(struct debuginfo_entry *entry, const struct splitranges *unit,
                           struct splitranges_iterator *it);
/* Of a function or an inlined one, also by what it is an instance of. NULL: none. */
const char *debuginfo_linkage_name(struct debuginfo_entry *entry);
const char *debuginfo_plain_name(
    struct debuginfo_entry *entry); /* as the source has it, without what is around it */
/* The entry becomes the one that it is an instance or the definition of. False: it is neither. */
bool debuginfo_origin(struct debuginfo_entry *entry);
bool debuginfo_is_namespace(struct debuginfo_entry *entry);
void debuginfo_top(struct debuginfo_entry *entry, struct debuginfo_entry *top); /* of its unit */
uint64_t debuginfo_key(
    const struct debuginfo_entry *entry); /* the same for the same entry of open files only */
/* Where an inlined one was called; top: of the unit that has the lines. File NULL, line 0: not known. */
void debuginfo_call(struct debuginfo_entry *entry, struct debuginfo_entry *top, const char **file,
                    uint32_t *line);
/* The source line of an address, by the unit's line table. */
void debuginfo_line(struct debuginfo_entry *top, uint64_t address, const char **file, uint32_t *line);

#endif
