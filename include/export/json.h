// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of JSON (RFC 8259) for the formats that are made of it. */
#ifndef FLAMETOP_EXPORT_JSON_H
#define FLAMETOP_EXPORT_JSON_H

#include <stdint.h>

#include "base/buf.h"

/* A string with its quotes: whatever is in it becomes valid UTF-8, what is none becomes U+FFFD. */
void json_string(struct buf *out, const char *s);
/* "key": before the value. A comma before it where one is needed: that is seen by what `out` ends with, so it must not
 * have been emptied behind a value. */
void json_key(struct buf *out, const char *key);
void json_number(struct buf *out, const char *key, uint64_t value);
void json_text(struct buf *out, const char *key, const char *value);
void json_open(struct buf *out, char bracket); /* on a line of its own if it is an object */

#endif
