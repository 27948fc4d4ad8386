// SPDX-License-Identifier: GPL-2.0-or-later
/* The wire format of protocol buffers (protobuf.dev/programming-guides/encoding): what a message of numbers, texts and
 * messages needs. */
#ifndef FLAMETOP_EXPORT_PROTOBUF_H
#define FLAMETOP_EXPORT_PROTOBUF_H

#include <stdint.h>

#include "base/buf.h"

void protobuf_varint(struct buf *out, uint64_t value);
void protobuf_number(struct buf *out, unsigned field,
                     uint64_t value); /* 0 is the default: nothing is added */
/* A text, a packed array or a message. */
void protobuf_bytes(struct buf *out, unsigned field, const void *bytes, size_t n);
/* The message that was gathered in `from`, which is emptied. */
void protobuf_message(struct buf *out, unsigned field, struct buf *from);

#endif
