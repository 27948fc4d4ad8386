// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol tables as flat blobs: sorted by start, position-independent, made by the symbol worker (or read from
 * disk) and therefore not trusted: a reader checks bounds, so that a hostile blob gives wrong names but never a
 * wild read. Finding a name touches few pages of the blob.
 *
 * Layout, in host byte order: struct table_header; n starts (u32 relative to base, or u64 when wide), padded to
 * 8 bytes; n times {u32 size, u32 name}; names_size bytes of NUL-terminated names. Entries do not overlap.
 * A dated one (code of a JIT) has between infos and names: n times u64, since when; then n_older struct table_older, what
 * was there before, sorted by start. */
#ifndef FLAMETOP_SYMBOLS_TABLE_H
#define FLAMETOP_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TABLE_WIDE = 1,    /* starts are u64 */
    TABLE_FULL = 2,    /* made from a full symbol table, not from exported names only */
    TABLE_HIDDEN = 4,  /* kallsyms: every address was zero */
    TABLE_CUT = 8,     /* a limit was met: entries are missing */
    TABLE_PACKED = 16, /* it has .gnu_debugdata that could not be unpacked */
    TABLE_DATED = 32,
};
#define TABLE_NAME_MAX     8192 /* longer names are cut */
#define TABLE_ENTRIES_MAX  (4u << 20)
#define TABLE_BUILD_ID_MAX 20
#define TABLE_OLDER_MAX                                                                                      \
    (1u << 18) /* only so many of the latest entries are remembered when they are replaced */

struct table_header {
    uint32_t magic;
    uint16_t version, flags;
    uint64_t size;      /* of the whole blob */
    uint64_t base;      /* added to narrow starts */
    uint64_t reference; /* kernel: address of _text (or _stext), by which a table is moved to another boot */
    uint64_t core_end;  /* kernel: what lies from reference to here stays as it is until the next boot */
    uint64_t names_size;
    uint32_t n;
    uint32_t link_name, link_crc; /* .gnu_debuglink: offset of its name; 0: none */
    uint8_t build_id_size, build_id[TABLE_BUILD_ID_MAX];
    uint8_t zero[3];
    uint32_t n_older; /* 0 unless TABLE_DATED */
};
struct table_older {
    uint64_t start, since_ns, until_ns;
    uint64_t reach; /* where the last of those up to this one ends */
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
    uint32_t index; /* UINT32_MAX: it is an older one */
    uint64_t start, size;
    const char *name; /* raw, borrowed from the blob */
};

bool table_view(struct table *t, const void *blob, size_t size, struct error *e);
/* The entry that covers offset. */
bool table_find(const struct table *t, uint64_t offset, struct table_entry *out);
/* The entry that covered it at a time (by CLOCK_MONOTONIC). Of code that runs before it was told of, as of that which is
 * the first at its place. *until_ns: then it had another name, or none; UINT64_MAX: it is what table_find finds. */
bool table_find_at(const struct table *t, uint64_t offset, uint64_t time_ns, struct table_entry *out,
                   uint64_t *until_ns);
bool table_has_older(const struct table *t, uint64_t offset); /* something else was there before */
bool table_entry_at(const struct table *t, uint32_t index, struct table_entry *out);
const char *table_debuglink(const struct table *t, uint32_t *crc); /* NULL: none */

/* Building, in the worker. Zero-initialised is empty. */
struct table_raw;
struct table_builder {
    struct table_raw *raws;
    size_t n, cap;
    char *names;
    size_t names_n, names_cap;
    uint64_t since_ns;          /* of the entries that are added now; with TABLE_DATED */
    struct table_header header; /* flags, reference, link_crc and build_id are copied to the blob */
    char debuglink[256];        /* "": none */
    bool as_perf;               /* names as perf chooses them, with the versions of symbols */
};
enum table_rank { TABLE_WEAK, TABLE_LOCAL, TABLE_GLOBAL };
enum table_overlap {
    TABLE_NESTED,   /* an inner entry hides the outer one where it lies */
    TABLE_REPLACED, /* an entry added later has replaced all that it overlaps (code of a JIT) */
};

/* An entry [start, start + size), at most up to limit. Size 0: up to the next entry. Names of n bytes, cut at a
 * NUL. What does not fit in the limits or memory sets TABLE_CUT. */
void table_add(struct table_builder *b, uint64_t start, uint64_t size, uint64_t limit, const char *name,
               size_t n, enum table_rank rank);
/* Of entries with one start the best name stays: one with a size, then by rank, then with fewer leading
 * underscores, then the longer, then the first added (the order that perf uses, so that reports agree).
 * *blob is the caller's, for mem_free. */
bool table_build(struct table_builder *b, enum table_overlap overlap, void **blob, size_t *size,
                 struct error *e);
void table_builder_done(struct table_builder *b);

#endif
