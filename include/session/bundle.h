// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a bundle that flametop made (export/bundle_file.c): a tar, compressed or not, with a perf.data and
 * its symbols. Only members with known names are read, and no member is extracted to a path from the
 * archive. */
#ifndef FLAMETOP_SESSION_BUNDLE_H
#define FLAMETOP_SESSION_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "symbols/supplied.h"

#define BUNDLE_PROFILE "perf.data"
#define BUNDLE_NAMES   "symbols.txt"

struct bundle_file { /* another member, unchanged */
    char name[64];   /* below the archive's folder */
    struct buf bytes;
};
struct bundle {
    int fd;                            /* the perf.data, an unnamed file; -1: none, or its reader owns it */
    struct supplied_symbols *supplied; /* NULL: none */
    VEC(struct bundle_file) files;
};
/* Opens the file and returns its descriptor if its first bytes are those of a bundle. -1: something else,
 * or missing. */
int bundle_find(const char *path);
/* Reads the bundle from the start of fd, which stays the caller's. name: for messages. */
struct bundle *bundle_open(int fd, const char *name, struct error *e);
void bundle_free(struct bundle *b); /* NULL is fine */

#endif
