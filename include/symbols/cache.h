// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables on disk, by build-id, so that the next start need not parse what this one did. A folder of the user's own;
 * whatever is wrong with it or a file in it, the table is made anew. Any of it may be deleted at any time. */
#ifndef FLAMETOP_SYMBOLS_CACHE_H
#define FLAMETOP_SYMBOLS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cache_kind { CACHE_NAMES, CACHE_UNWIND, CACHE_INLINED, CACHE_CALLS };
/* A build-id alone is not enough: anybody can make a file that claims libc's, and would name root's libc from then on.
 * stamp: of the file that was parsed, cache_stamp(). */
struct cache_key {
    enum cache_kind kind;
    unsigned version; /* of the contents; another one is as good as none */
    uint8_t id[20], id_size;
    uint64_t stamp;
};
/* Device, inode, size and times of an open file, as one number; its ctime cannot be chosen. 0: not to be had. */
uint64_t cache_stamp(int fd);
#define CACHE_BYTES_DEFAULT (UINT64_C(256) << 20)

/* Any thread may use it. */
struct cache;
/* folder NULL: $XDG_CACHE_HOME/flametop, or ~/.cache/flametop. It is made, 0700, if it is not there; one that others
 * own or may write is refused. NULL with e set. */
struct cache *cache_open(const char *folder, uint64_t max_bytes, struct error *e);
void cache_free(struct cache *c); /* NULL is fine */
#define CACHE_NOTE_MAX 256
/* For blob_free; contents are what was put, by checksum. note: the text that was put with it; may be
 * NULL. false: not there, or damaged (then removed). c may be NULL. */
bool cache_get(struct cache *c, const struct cache_key *key, const void **bytes, size_t *n,
               char note[CACHE_NOTE_MAX]);
bool cache_has(struct cache *c, const struct cache_key *key); /* something by that name, good or bad */
/* Best effort, under a temporary name that is renamed. Makes room by removing what was not used for longest. */
void cache_put(struct cache *c, const struct cache_key *key, const void *bytes, size_t n, const char *note);

#endif
