// SPDX-License-Identifier: GPL-2.0-or-later
/* Archives of files as POSIX ustar(5) has them: regular files with short names and no more. Nothing is ever unpacked to
 * where an archive says. */
#ifndef FLAMETOP_BASE_TAR_H
#define FLAMETOP_BASE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TAR_BLOCK    512
#define TAR_NAME_MAX 99
#define TAR_SIZE_MAX ((UINT64_C(1) << 33) - 1) /* eleven octal digits */

/* The head of a member; its bytes, and tar_pad of their number, come behind it. False: name or size do not fit. */
bool tar_head(const char *name, uint64_t size, uint64_t mtime_s, uint8_t head[TAR_BLOCK]);
size_t tar_pad(uint64_t size);        /* zeros to the next block */
#define TAR_END_BYTES (2 * TAR_BLOCK) /* of zeros, behind the last member */

/* Reads what comes piece by piece. Whatever is no regular file is stepped over. */
struct tar_reader {
    /* zero-initialised but for these */
    /* False: no more is wanted. name: of a regular file, printable; its bytes come in order. */
    bool (*member)(void *ctx, const char *name, uint64_t size);
    bool (*bytes)(void *ctx, const void *bytes, size_t n);
    void *ctx;
    uint8_t head[TAR_BLOCK];
    size_t head_n;
    uint64_t left, pad;
    bool wanted, ended;
};
/* False: it is no archive, or a callback said so. What stands behind the end is ignored. */
bool tar_read(struct tar_reader *t, const uint8_t *bytes, size_t n);
/* Is this, TAR_BLOCK bytes, the head of an archive? */
bool tar_is_head(const uint8_t head[TAR_BLOCK]);

#endif
