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
    int fd;              /* the perf.data, a file without a name */
    struct given *given; /* NULL: none */
    struct bundle_file *files;
    size_t n_files, files_cap;
};
/* Whether a file is such an archive, by its first bytes; anything else, or nothing, is not. */
bool bundle_is(const char *path);
struct bundle *bundle_open(const char *path, const char *name, struct error *e); /* name: for messages */
void bundle_free(struct bundle *b); /* NULL is fine */

#endif
