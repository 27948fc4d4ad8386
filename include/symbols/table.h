// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol tables as flat blobs: sorted by start, position-independent, made by the symbol worker (or read from
 * disk) and therefore not trusted: a reader checks bounds, so that a hostile blob gives wrong names but never a
 * wild read. Finding a name touches few pages of the blob.
 *
 * Layout, in host byte order: struct table_header; n starts (u32 relative to base, or u64 when wide), padded to
 * 8 bytes; n times {u32 size, u32 name}; names_size bytes of NUL-terminated names. Entries do not overlap. */
#ifndef FLAMETOP_SYMBOLS_TABLE_H
#define FLAMETOP_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TABLE_WIDE = 1,   /* starts are u64 */
    TABLE_FULL = 2,   /* made from a full symbol table, not from exported names only */
    TABLE_HIDDEN = 4, /* kallsyms: every address was zero */
    TABLE_CUT = 8,    /* a limit was met: entries are missing */
    TABLE_PACKED = 16, /* it has .gnu_debugdata that could not be unpacked */
};
#define TABLE_NAME_MAX     8192 /* longer names are cut */
#define TABLE_ENTRIES_MAX  (4u << 20)
#define TABLE_BUILD_ID_MAX 20

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
    uint8_t zero[7];
};

/* A checked view of a blob, which must stay mapped and unchanged. Zero-initialised finds nothing. */
struct table {
    const struct table_header *header; /* NULL: empty */
    const void *starts;
    const uint32_t *infos;
    const char *names;
};
struct table_entry {
    uint32_t index;
    uint64_t start, size;
    const char *name; /* raw, borrowed from the blob */
};

bool table_view(struct table *t, const void *blob, size_t size, struct error *e);
/* The entry that covers offset. */
bool table_find(const struct table *t, uint64_t offset, struct table_entry *out);
bool table_entry_at(const struct table *t, uint32_t index, struct table_entry *out);
const char *table_debuglink(const struct table *t, uint32_t *crc); /* NULL: none */

/* Building, in the worker. Zero-initialised is empty. */
struct table_raw;
struct table_builder {
    struct table_raw *raws;
    size_t n, cap;
    char *names;
    size_t names_n, names_cap;
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
