// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol tables as flat blobs, sorted by start and position-independent.
 * The symbol worker makes them, or they are read from disk, so they are not trusted. A reader checks bounds:
 * a hostile blob gives wrong names but never a wild read. Finding a name touches few pages of the blob.
 *
 * Layout, in host byte order: struct table_header; n starts (u32 relative to base, or u64 when wide), padded
 * to 8 bytes; n times {u32 size, u32 name}; names_size bytes of NUL-terminated names. Entries do not overlap.
 * A dated table (code of a JIT) has two more arrays between infos and names: n u64 times since when each
 * entry is valid; then n_older struct table_older, the replaced entries, sorted by start. */
#ifndef FLAMETOP_SYMBOLS_TABLE_H
#define FLAMETOP_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TABLE_WIDE = 1,    /* starts are u64 */
    TABLE_FULL = 2,    /* from a full symbol table, not from exported names only */
    TABLE_HIDDEN = 4,  /* kallsyms: every address was zero */
    TABLE_CUT = 8,     /* truncated at a limit: entries are missing */
    TABLE_PACKED = 16, /* has .gnu_debugdata that could not be decompressed */
    TABLE_DATED = 32,
};
#define TABLE_NAME_MAX     8192 /* longer names are truncated */
#define TABLE_ENTRIES_MAX  (4u << 20)
#define TABLE_BUILD_ID_MAX 20
/* Only this number of the latest entries is remembered when they are replaced. */
#define TABLE_OLDER_MAX (1u << 18)

struct table_header {
    uint32_t magic;
    uint16_t version, flags;
    uint64_t size; /* of the whole blob */
    uint64_t base; /* added to narrow starts */
    /* Kernel: address of _text (or _stext), to relocate a table to another boot. */
    uint64_t reference;
    /* Kernel: everything from reference to here keeps its address until the next boot. */
    uint64_t core_end;
    uint64_t names_size;
    uint32_t n;
    uint32_t link_name; /* .gnu_debuglink: offset of its name; 0: none */
    uint8_t build_id_size, build_id[TABLE_BUILD_ID_MAX];
    uint8_t zero[7];
    uint32_t n_older; /* 0 unless TABLE_DATED */
};
struct table_older {
    uint64_t start, since_ns, until_ns;
    uint64_t reach; /* highest end of all entries up to this one */
    uint32_t size, name;
};

/* A checked view of a blob, which must stay mapped and unchanged. Zero-initialised finds nothing. */
struct table {
    const struct table_header *header; /* NULL: empty */
    const void *starts;
    const uint32_t *infos;
    const uint64_t *since; /* NULL: not dated */
    const struct table_older *older;
    const char *names;
};
struct table_entry {
    uint32_t index; /* UINT32_MAX: a replaced (older) entry */
    uint64_t start, size;
    const char *name; /* raw, borrowed from the blob */
};

bool table_view(struct table *t, const void *blob, size_t size, struct error *e);
/* Find the entry that covers offset. */
bool table_find(const struct table *t, uint64_t offset, struct table_entry *out);
/* Find the entry that covered offset at a time (CLOCK_MONOTONIC). Code that ran before its record was written
 * gets the first entry at its address. *until_ns: when this name ended; UINT64_MAX: it is the current name,
 * as table_find finds it. */
bool table_find_at(const struct table *t, uint64_t offset, uint64_t time_ns, struct table_entry *out,
                   uint64_t *until_ns);
bool table_has_older(const struct table *t, uint64_t offset); /* something else was there before */
bool table_entry_at(const struct table *t, uint32_t index, struct table_entry *out);
const char *table_debuglink(const struct table *t); /* NULL: none */

/* Builder, in the worker. Zero-initialised is empty. */
struct table_raw;
struct table_builder {
    struct table_raw *raws;
    size_t n, cap;
    char *names;
    size_t names_n, names_cap;
    uint64_t since_ns; /* of the entries added now; with TABLE_DATED */
    /* flags, reference and build_id are copied to the blob. */
    struct table_header header;
    char debuglink[256]; /* "": none */
    /* Choose names as perf does, with symbol versions. */
    bool as_perf;
};
enum table_rank { TABLE_WEAK, TABLE_LOCAL, TABLE_GLOBAL };
enum table_overlap {
    TABLE_NESTED,   /* an inner entry hides the part of the outer one that it covers */
    TABLE_REPLACED, /* a later entry replaces all that it overlaps (code of a JIT) */
};

/* Add an entry [start, start + size), clipped at limit. Size 0: up to the next entry. The name has n bytes
 * and ends at a NUL. Entries beyond the limits or the memory set TABLE_CUT. */
void table_add(struct table_builder *b, uint64_t start, uint64_t size, uint64_t limit, const char *name,
               size_t n, enum table_rank rank);
/* Build the blob. *blob is the caller's, for mem_free.
 * Of entries with the same start, the best name is kept: one with a size, then by rank, then with fewer
 * leading underscores, then the longer one, then the first added. This is perf's order, so that reports
 * agree. */
bool table_build(struct table_builder *b, enum table_overlap overlap, void **blob, size_t *size,
                 struct error *e);
void table_builder_done(struct table_builder *b);

#endif
