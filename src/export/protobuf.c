// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the wire format of protocol buffers. */
#include "export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void protobuf_varint(struct buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_putc(out, (char)(value | 0x80));
    buf_putc(out, (char)value);
}

void protobuf_number(struct buf *out, unsigned field, uint64_t value)
{
    if (!value)
        return;
    protobuf_varint(out, field << 3 | WIRE_VARINT);
    protobuf_varint(out, value);
}

void protobuf_bytes(struct buf *out, unsigned field, const void *bytes, size_t n)
{
    protobuf_varint(out, field << 3 | WIRE_BYTES);
    protobuf_varint(out, n);
    buf_add(out, bytes, n);
}

void protobuf_message(struct buf *out, unsigned field, struct buf *from)
{
    protobuf_bytes(out, field, buf_str(from), from->len);
    buf_clear(from);
}
