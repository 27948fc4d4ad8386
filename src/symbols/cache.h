// SPDX-License-Identifier: GPL-2.0-or-later
/* Disk cache of tables, by build-id, so that the next start need not parse the files again.
 * The folder belongs to the user. If the folder or a file in it is bad, the table is made anew. Any part may
 * be deleted at any time. */
#ifndef FLAMETOP_SYMBOLS_CACHE_H
#define FLAMETOP_SYMBOLS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cache_kind { CACHE_NAMES, CACHE_UNWIND, CACHE_INLINED, CACHE_CALLS };
/* The build-id alone is not enough: anybody can make a file with the build-id of libc, and would name root's
 * libc from then on. stamp: cache_stamp() of the file that was parsed. */
struct cache_key {
    enum cache_kind kind;
    unsigned version; /* of the contents; any other version is unusable */
    uint8_t id[20], id_size;
    uint64_t stamp;
};
/* Return device, inode, size and times of an open file as one number. The ctime in it cannot be forged. 0:
 * unavailable. */
uint64_t cache_stamp(int fd);
#define CACHE_BYTES_DEFAULT (UINT64_C(256) << 20)

/* Thread-safe. */
struct cache;
/* Open the cache. folder NULL: $XDG_CACHE_HOME/flametop, or ~/.cache/flametop. A missing folder is created
 * with mode 0700; one that others own or may write is refused. NULL with e set. */
struct cache *cache_open(const char *folder, uint64_t max_bytes, struct error *e);
void cache_free(struct cache *c); /* NULL is fine */
/* Make the folders of a path, with mode 0700. False with errno. */
bool cache_make_parents(char *path);
#define CACHE_NOTE_MAX 256
/* Get the entry of a key. The bytes match those put, by checksum; free them with blob_free. note: the text
 * put with them; may be NULL. False: missing, or damaged (then removed). c may be NULL. */
bool cache_get(struct cache *c, const struct cache_key *key, const void **bytes, size_t *n,
               char note[CACHE_NOTE_MAX]);
/* whether a file of this name exists, intact or not */
bool cache_has(struct cache *c, const struct cache_key *key);
/* Write an entry, best effort: to a temporary file that is then renamed. Evicts the least recently used
 * entries. */
void cache_put(struct cache *c, const struct cache_key *key, const void *bytes, size_t n, const char *note);

#endif
