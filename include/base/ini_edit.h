// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes settings into an INI file that people edit too. Everything else in the file stays as it is, comments
 * included. */
#ifndef FLAMETOP_BASE_INI_EDIT_H
#define FLAMETOP_BASE_INI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct ini_pair {
    const char *key, *value;
};
/* Appends text to out, with these settings in [section]. An existing key gets its new value in place, also
 * before any section, where settings belong to the first section that is read. Other keys are added at the
 * end of the section, which is created if it is missing. */
void ini_edit(struct buf *out, const char *text, const char *section, const struct ini_pair *pairs, size_t n);
/* Same for a settings file, which is created (0600, its folders 0700) if it is missing. A new file starts as
 * a copy of the file `model`, if that exists (NULL: none). Replaces the whole file or nothing. Fails if the
 * result could not be read again: wrong owner, too large, or a value that would be read differently. */
bool ini_write(const char *path, const char *model, const char *section, const struct ini_pair *pairs,
               size_t n, struct error *e);

#endif
