// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads INI files (config, themes). The only user of inih. */
#ifndef FLAMETOP_BASE_INI_H
#define FLAMETOP_BASE_INI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/* Receives one setting. Returns false with *e set to stop; the file's name and line are prepended to the
 * message. */
typedef bool ini_handler(void *ctx, const char *section, const char *key, const char *value, struct error *e);
/* Reads a file. It must be a regular file of at most 256 KiB, owned by root or by the user, and not writable
 * by others. */
bool ini_read(const char *path, ini_handler *handler, void *ctx, struct error *e);
/* Path of the user's settings with this name: $XDG_CONFIG_HOME/flametop/NAME, or ~/.config/flametop/NAME.
 * False: neither folder is known. */
bool ini_user_path(const char *name, char *path, size_t cap);
/* Reads the text of such a file, with the same checks. */
bool ini_read_file(const char *path, struct buf *text, struct error *e);
/* Same for text in memory; `name` is for messages. */
bool ini_read_text(const char *name, const char *text, ini_handler *handler, void *ctx, struct error *e);

#endif
