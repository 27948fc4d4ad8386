// SPDX-License-Identifier: GPL-2.0-or-later
/* INI files (config, themes), read with inih; this is the only door to it. */
#ifndef FLAMETOP_BASE_INI_H
#define FLAMETOP_BASE_INI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/* One setting; return false with *e set to stop: the file's name and line are put before the message. */
typedef bool ini_handler(void *ctx, const char *section, const char *key, const char *value, struct error *e);
/* Reads a file that must be regular, at most 256 KiB, owned by root or by us and not writable by others. */
bool ini_read(const char *path, ini_handler *handler, void *ctx, struct error *e);
/* Its text, under the same conditions. */
bool ini_read_file(const char *path, struct buf *text, struct error *e);
/* The same over text in memory; `name` stands in messages. */
bool ini_read_text(const char *name, const char *text, ini_handler *handler, void *ctx, struct error *e);

#endif
