// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF entries: the only interface to libdw. For the worker.
 * Strings and entries are borrowed from the file and valid while it is open. libdw bounds its reads by the
 * file's size. A hostile file can make a traversal endless: the caller must bound it. */
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
    DEBUGINFO_HOLDER, /* contains functions: a namespace, a class */
    DEBUGINFO_OTHER,
};
struct debuginfo_unit {
    void *next; /* for debuginfo_unit(); start with zeros */
    struct debuginfo_entry top;
    bool is_skeleton; /* its entries are in another file, */
    uint64_t id;      /* in the unit with this id */
};
struct debuginfo_ranges { /* start with zeros */
    ptrdiff_t at;
    uint64_t base;
};

/* Open the debug information of a file. The descriptor may be closed afterwards. False: the file has none, or
 * it cannot be decompressed; then e says why. */
bool debuginfo_open(struct debuginfo *d, int fd, struct error *e);
void debuginfo_close(struct debuginfo *d);
/* Return the size of the build-id in .gnu_debugaltlink, and set its name and build-id: the file with entries
 * that d shares with other files. 0: none. */
size_t debuginfo_alt(const struct debuginfo *d, const char **name, const void **id);
void debuginfo_set_alt(struct debuginfo *d, const struct debuginfo *alt); /* close d before alt */

/* Read the next unit with code (skeleton, compiled or split unit). */
bool debuginfo_unit(const struct debuginfo *d, struct debuginfo_unit *unit);
const char *debuginfo_folder(struct debuginfo_entry *top);     /* DW_AT_comp_dir; NULL: none */
const char *debuginfo_split_name(struct debuginfo_entry *top); /* of a skeleton; NULL: none */
/* Set `ranges` for the entries of a split unit; `split` is the file with its entries. */
void debuginfo_split(const struct debuginfo *d, struct debuginfo_entry *skeleton,
                     const struct debuginfo *split, struct splitranges *ranges);

bool debuginfo_child(struct debuginfo_entry *entry, struct debuginfo_entry *child);
bool debuginfo_sibling(struct debuginfo_entry *entry); /* entry becomes its next sibling */
enum debuginfo_kind debuginfo_kind(struct debuginfo_entry *entry);
/* Read the entry's next range of addresses; not for split units. */
bool debuginfo_range(struct debuginfo_entry *entry, struct debuginfo_ranges *ranges, uint64_t *low,
                     uint64_t *high);
void debuginfo_split_range(struct debuginfo_entry *entry, const struct splitranges *unit,
                           struct splitranges_iterator *it);
/* Return the linkage name of a function or inlined call, also through its abstract origin. NULL: none. */
const char *debuginfo_linkage_name(struct debuginfo_entry *entry);
/* Return the name as in the source, without its scopes. */
const char *debuginfo_plain_name(struct debuginfo_entry *entry);
/* Replace the entry by its abstract origin or its specification. False: it has neither. */
bool debuginfo_origin(struct debuginfo_entry *entry);
bool debuginfo_is_namespace(struct debuginfo_entry *entry);
/* top entry of its unit */
void debuginfo_top(struct debuginfo_entry *entry, struct debuginfo_entry *top);
/* Return a key of the entry, unique while the files are open. */
uint64_t debuginfo_key(const struct debuginfo_entry *entry);
/* Read the call site of an inlined call. top: the top entry of the unit with the lines. File NULL, line 0:
 * not known. */
void debuginfo_call(struct debuginfo_entry *entry, struct debuginfo_entry *top, const char **file,
                    uint32_t *line);
/* True if the function was inlined somewhere. */
bool debuginfo_is_inlined(struct debuginfo_entry *entry);
/* Read the address of a function's entry. False: it has no code of its own. */
bool debuginfo_entry_address(struct debuginfo_entry *entry, uint64_t *address);

enum debuginfo_value_kind {
    DEBUGINFO_NOTHING, /* void, or not known */
    DEBUGINFO_SIGNED,
    DEBUGINFO_UNSIGNED,
    DEBUGINFO_POINTER,
    DEBUGINFO_FLOAT,
    DEBUGINFO_TEXT,      /* an array of characters */
    DEBUGINFO_AGGREGATE, /* a structure, a union, a class, another array */
};
struct debuginfo_value {
    const char *name; /* NULL: none */
    enum debuginfo_value_kind kind;
    unsigned size;     /* bytes; 0: not known */
    bool by_reference; /* an aggregate that is never in registers */
};
/* Read a parameter of a function. False: the entry is no parameter. */
bool debuginfo_parameter(struct debuginfo_entry *entry, struct debuginfo_value *out);
/* Find a variable or parameter by its name, as seen at an address. False: there is none. */
bool debuginfo_variable(struct debuginfo_entry *top, uint64_t address, const char *name,
                        struct debuginfo_entry *out);
/* Read the type of a variable or parameter, or of a function's result. */
void debuginfo_value(struct debuginfo_entry *entry, struct debuginfo_value *out);
enum debuginfo_location_kind { DEBUGINFO_REGISTER, DEBUGINFO_MEMORY, DEBUGINFO_STATIC };
struct debuginfo_location {
    enum debuginfo_location_kind kind;
    unsigned number; /* DWARF's number of the register: the value, or what `offset` is added to */
    int64_t offset;  /* of DEBUGINFO_MEMORY; of DEBUGINFO_STATIC: the address */
};
/* Find where a variable is when the code at the address runs. code: the file with that code. False: it is
 * nowhere, or in several parts, or computed. */
bool debuginfo_location(struct debuginfo_entry *variable, const struct debuginfo *d,
                        const struct elffile *code, uint64_t address, struct debuginfo_location *out);
/* Visit the unit's line table: the first address of each statement, where debuggers stop. The callback
 * returns false to stop. */
void debuginfo_statements(struct debuginfo_entry *top,
                          bool (*each)(void *ctx, const char *file, uint32_t line, uint64_t address),
                          void *ctx);
/* Look up the source line of an address in the unit's line table. */
void debuginfo_line(struct debuginfo_entry *top, uint64_t address, const char **file, uint32_t *line);

#endif
