// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the wire format of protocol buffers (protobuf.dev/programming-guides/encoding): numbers, texts and
 * nested messages. */
#ifndef FLAMETOP_EXPORT_PROTOBUF_H
#define FLAMETOP_EXPORT_PROTOBUF_H

#include <stdint.h>

#include "base/buf.h"

void protobuf_varint(struct buf *out, uint64_t value);
/* Appends a number, except 0, which is the default. */
void protobuf_number(struct buf *out, unsigned field, uint64_t value);
/* Appends a text, a packed array or a message. */
void protobuf_bytes(struct buf *out, unsigned field, const void *bytes, size_t n);
/* Appends the message collected in `from`, and empties `from`. */
void protobuf_message(struct buf *out, unsigned field, struct buf *from);

#endif
