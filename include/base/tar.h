// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes POSIX ustar(5) archives: only regular files with short names. Never extracts to a path
 * from an archive. */
#ifndef FLAMETOP_BASE_TAR_H
#define FLAMETOP_BASE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TAR_BLOCK    512
#define TAR_NAME_MAX 99
#define TAR_SIZE_MAX ((UINT64_C(1) << 33) - 1) /* eleven octal digits */

/* Fills the header of a member. The member's bytes and tar_pad(size) zeros follow it. False: name or size
 * does not fit. */
bool tar_head(const char *name, uint64_t size, uint64_t mtime_s, uint8_t head[TAR_BLOCK]);
size_t tar_pad(uint64_t size);        /* zeros to the next block */
#define TAR_END_BYTES (2 * TAR_BLOCK) /* zeros that follow the last member */

/* Reads an archive in pieces. Skips members that are not regular files. */
struct tar_reader {
    /* The caller sets the callbacks and ctx; the rest starts as zeros. */
    /* Return false to stop. name: of a regular file, printable. bytes: called in order. */
    bool (*member)(void *ctx, const char *name, uint64_t size);
    bool (*bytes)(void *ctx, const void *bytes, size_t n);
    void *ctx;
    uint8_t head[TAR_BLOCK];
    size_t head_n;
    uint64_t left, pad;
    bool wanted, ended;
};
/* False: not an archive, or a callback returned false. Ignores data after the end. */
bool tar_read(struct tar_reader *t, const uint8_t *bytes, size_t n);
/* True if these TAR_BLOCK bytes are an archive's header. */
bool tar_is_head(const uint8_t head[TAR_BLOCK]);

#endif
