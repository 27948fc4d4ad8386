// SPDX-License-Identifier: GPL-2.0-or-later
/* A recording is read at any offset. What comes through a pipe, or is packed by gzip, xz or zstd, goes into a file without
 * a name first, in $TMPDIR or /var/tmp. */
#ifndef FLAMETOP_PERFDATA_SPOOL_H
#define FLAMETOP_PERFDATA_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPOOL_STANDARD_INPUT "-"

enum spool_wish {
    SPOOL_GO_ON,
    SPOOL_END,  /* of a pipe: when its writer ends, which the same ^C may have told; else as SPOOL_STOP */
    SPOOL_STOP, /* at once, with what has come */
};
/* Asked some times a second while it goes on; of_bytes 0: not known. */
struct spool_wait {
    enum spool_wish (*look)(void *ctx, const char *name, uint64_t read_bytes, uint64_t of_bytes);
    void *ctx;
};

struct spool {
    int fd; /* a regular file, a folder, or whatever else cannot be read at once: the caller's to close */
    const char *name;  /* for messages: the path, or "standard input" */
    bool archive;      /* a tar: it is in the file as it is */
    char trouble[240]; /* it is not all there: why; else "" */
};
/* wait may be NULL. Fails when nothing of use comes; what breaks off, becomes too large or fills the disk is kept up to
 * there. A FIFO is read if somebody writes to it. */
bool spool_open(struct spool *s, const char *path, const struct spool_wait *wait, struct error *e);

#endif
