// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams that gzip, xz or zstd packed. The doors to zlib, liblzma and libzstd are base/gzip.c, base/xz.c and base/zstd.c. */
#ifndef FLAMETOP_BASE_UNPACK_H
#define FLAMETOP_BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum unpack_kind { UNPACK_NONE, UNPACK_GZIP, UNPACK_XZ, UNPACK_ZSTD, UNPACK_KINDS };

#define UNPACK_HEAD_BYTES 6
/* What packed a stream, by its first bytes (as many as there are). */
enum unpack_kind unpack_kind_of(const void *head, size_t n);
const char *unpack_name(enum unpack_kind kind); /* "gzip"; of UNPACK_NONE "" */

enum unpack_state {
    UNPACK_GOES_ON, /* what was given is used up, or dst is full */
    UNPACK_ENDED,   /* a stream ended; another may follow at once */
    UNPACK_BROKEN, /* this is no such stream, or a damaged one; also one that neither takes nor gives anything any more */
    UNPACK_LIMIT, /* it wants more memory than 128 MiB, or than there is */
};

struct unpacker;
/* NULL: this build is without the library, or there is no memory. */
struct unpacker *unpacker_new(enum unpack_kind kind, struct error *e);
void unpacker_free(struct unpacker *u); /* NULL is allowed */
/* Unpacks from *src on, which it moves with *n: at most cap bytes into dst, *got of them. Once *n is 0 and dst did not
 * become full, all that can come out of what was given has come. */
enum unpack_state unpacker_run(struct unpacker *u, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                               size_t *got);

/* The inside: one of each kind. */
struct unpack_step {
    const uint8_t *src;
    size_t n;
    uint8_t *dst;
    size_t cap; /* both move on */
};
struct unpack_ops {
    const char *name, *library;
    void *(*open)(void); /* NULL: this build is without it */
    enum unpack_state (*run)(void *stream, struct unpack_step *step);
    void (*close)(void *stream);
};
extern const struct unpack_ops unpack_gzip, unpack_xz, unpack_zstd;

#endif
