// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON values (RFC 8259). */
#ifndef FLAMETOP_EXPORT_JSON_H
#define FLAMETOP_EXPORT_JSON_H

#include <stdint.h>

#include "base/buf.h"

/* Appends a quoted string in valid UTF-8; invalid bytes become U+FFFD. */
void json_string(struct buf *out, const char *s);
/* Appends "key": before a value, with a comma if one is needed. That depends on the end of `out`, so `out`
 * must not be emptied after a value. */
void json_key(struct buf *out, const char *key);
void json_number(struct buf *out, const char *key, uint64_t value);
void json_id(struct buf *out, const char *key, uint64_t id); /* a pid, tid, …; WORLD_ENDED: null */
void json_text(struct buf *out, const char *key, const char *value);
/* Appends an opening bracket; an object starts a new line. */
void json_open(struct buf *out, char bracket);

#endif
