// SPDX-License-Identifier: GPL-2.0-or-later
/* An archive that flametop made (export/bundle.c), opened: a tar, packed or not, with a perf.data and what names it. Only
 * members of known names are taken, and none is unpacked to where the archive says. */
#ifndef FLAMETOP_SESSION_BUNDLE_H
#define FLAMETOP_SESSION_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbols/given.h"

#define BUNDLE_PROFILE "perf.data"
#define BUNDLE_NAMES   "symbols.txt"

struct bundle_file { /* what else is in it, as it is */
    char name[64];   /* below the archive's folder */
    struct buf bytes;
};
struct bundle {
    int fd;              /* the perf.data, a file without a name, until somebody takes it; -1 */
    struct given *given; /* NULL: none */
    struct bundle_file *files;
    size_t n_files, files_cap;
};
/* A descriptor, if the file is such an archive by its first bytes; -1: it is anything else, or not there. */
int bundle_find(const char *path);
/* From its beginning; the descriptor stays the caller's. name: for messages. */
struct bundle *bundle_open(int fd, const char *name, struct error *e);
void bundle_free(struct bundle *b); /* NULL is fine */

#endif
