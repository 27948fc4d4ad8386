// SPDX-License-Identifier: GPL-2.0-or-later
/* Decompresses gzip, xz and zstd streams; compresses as gzip and zstd. Only base/gzip.c, base/xz.c and
 * base/zstd.c use zlib, liblzma and libzstd. */
#ifndef FLAMETOP_BASE_UNPACK_H
#define FLAMETOP_BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum unpack_kind { UNPACK_NONE, UNPACK_GZIP, UNPACK_XZ, UNPACK_ZSTD, UNPACK_KINDS };

#define UNPACK_HEAD_BYTES 6
/* Returns the compression format of a stream by its first n bytes. */
enum unpack_kind unpack_kind_of(const void *head, size_t n);
const char *unpack_name(enum unpack_kind kind); /* "gzip"; "" for UNPACK_NONE */

enum unpack_state {
    UNPACK_GOES_ON, /* the input is used up, or dst is full */
    UNPACK_ENDED,   /* a stream ended; another may follow directly */
    UNPACK_BROKEN,  /* not such a stream, or damaged; also one that makes no progress */
    UNPACK_LIMIT,   /* needs more memory than 128 MiB or than is available */
};

struct unpacker;
/* NULL: a build without the library, or no memory. */
struct unpacker *unpacker_new(enum unpack_kind kind, struct error *e);
void unpacker_free(struct unpacker *u); /* NULL is allowed */
/* Decompresses from *src and advances *src and *n. Writes at most cap bytes to dst and stores their number in
 * *got. If *n is 0 and dst is not full, all output of this input was written. */
enum unpack_state unpacker_run(struct unpacker *u, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                               size_t *got);

/* Appends n bytes to `out`, compressed: in gzip format (RFC 1952), equal input gives equal output; or as one
 * zstd frame, which others may follow. False: no memory, or a build without the library. */
bool gzip_pack(const void *bytes, size_t n, struct buf *out, struct error *e);
bool zstd_pack(const void *bytes, size_t n, struct buf *out, struct error *e);

/* Internal: the operations of each format. */
struct unpack_step {
    const uint8_t *src;
    size_t n;
    uint8_t *dst;
    size_t cap; /* src, n, dst and cap advance */
};
struct unpack_ops {
    const char *name, *library;
    void *(*open)(void); /* NULL: a build without the library */
    enum unpack_state (*run)(void *stream, struct unpack_step *step);
    void (*close)(void *stream);
};
extern const struct unpack_ops unpack_gzip, unpack_xz, unpack_zstd;

#endif
