// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorted, owned lists of names from kernel folders (PMUs, tracepoints). Zero-initialised is empty. */
#ifndef FLAMETOP_PERF_NAMELIST_H
#define FLAMETOP_PERF_NAMELIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"

struct namelist {
    VEC(char *);
};

void namelist_add(struct namelist *names, const char *name); /* copies the name */
/* Add the folder's entries, except dot files, and sort. False if it cannot be read. */
bool namelist_add_dir(struct namelist *names, const char *dir, bool only_folders, struct error *e);
/* The name nearest to `word` by edit distance, else the first that begins with it, else NULL. Borrowed. */
const char *namelist_nearest(const struct namelist *names, const char *word);
/* "one, two, three", as many as fit. */
void namelist_join(const struct namelist *names, char *dst, size_t cap);
void namelist_done(struct namelist *names);

#endif
