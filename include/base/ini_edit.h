// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings written into an INI file that people write, too: what else is in it stays as it is, comments included. */
#ifndef FLAMETOP_BASE_INI_EDIT_H
#define FLAMETOP_BASE_INI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct ini_pair {
    const char *key, *value;
};
/* text with these settings in [section], appended to out. A key that is there gets its new value in its place (also
 * before any section, where settings belong to the first one that is read); others are added to the end of the
 * section, which is made when it is not there. */
void ini_edit(struct buf *out, const char *text, const char *section, const struct ini_pair *pairs, size_t n);
/* The same for a file of ours, which is made (0600, its folders 0700) when it is not there, beginning with what `model`
 * says, if there is such a file (NULL: none). Replaced as a whole or not at all. Refused where it could not be read
 * again: by its owner, by its size, by a value that is no value. */
bool ini_write(const char *path, const char *model, const char *section, const struct ini_pair *pairs,
               size_t n, struct error *e);

#endif
