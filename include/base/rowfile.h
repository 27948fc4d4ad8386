// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files of rows, such as the users' presets: a row per line, columns separated by blanks. The last
 * column is the rest of the line. Empty lines and lines that start with # are ignored. */
#ifndef FLAMETOP_BASE_ROWFILE_H
#define FLAMETOP_BASE_ROWFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define ROWFILE_COLUMNS_MAX 12

struct rowfile {
    const char *names; /* of the columns, in capitals, for messages: "NAME EVENTS DESCRIPTION" */
    int n_columns;     /* at most ROWFILE_COLUMNS_MAX */
    /* Receives a row. from: "FILE:LINE: ", which is prepended to the error of a refused row. */
    bool (*row)(void *ctx, const char *const *columns, const char *from, struct error *e);
    void *ctx;
};
/* Reads a text; label is its name in messages. Stops at the first row that is refused: false. */
bool rowfile_read_text(const struct rowfile *f, const char *label, const char *text, struct error *e);
/* Reads SYSCONFDIR/flametop/NAME, then $XDG_CONFIG_HOME/flametop/NAME or ~/.config/flametop/NAME; a missing
 * file is empty. The owner and mode are checked as in base/ini.h. */
bool rowfile_read(const struct rowfile *f, const char *name, struct error *e);

#endif
