// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies input that cannot be read at any offset (from a pipe, or compressed with gzip, xz or zstd) to an
 * unnamed file in $TMPDIR or /var/tmp. */
#ifndef FLAMETOP_PERFDATA_SPOOL_H
#define FLAMETOP_PERFDATA_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPOOL_STANDARD_INPUT "-"

enum spool_wish {
    SPOOL_GO_ON,
    /* Of a pipe: end when its writer ends, which may have got the same ^C; else like SPOOL_STOP. */
    SPOOL_END,
    SPOOL_STOP, /* end at once with the data so far */
};
/* look is called several times a second during the copy. of_bytes 0: size unknown. */
struct spool_wait {
    enum spool_wish (*look)(void *ctx, const char *name, uint64_t read_bytes, uint64_t of_bytes);
    void *ctx;
};

struct spool {
    int fd;            /* a regular file, a folder, or a file that needs no copy: the caller closes it */
    const char *name;  /* for messages: the path, or "standard input" */
    bool archive;      /* a tar archive; the file contains it unchanged */
    char trouble[240]; /* why the copy is incomplete; else "" */
};
/* wait may be NULL. Fails if no usable data arrives. Keeps the data so far if the input ends early, grows too
 * large or fills the disk. Reads a FIFO only if it has a writer. */
bool spool_open(struct spool *s, const char *path, const struct spool_wait *wait, struct error *e);

#endif
