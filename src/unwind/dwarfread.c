// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/dwarfread.h"

#define LEB_BYTES_MAX 10

static uint64_t leb(struct cursor *c, bool extend)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;

    do {
        if (shift >= LEB_BYTES_MAX * 7) {
            c->bad = true;
            return 0;
        }
        byte = cursor_u8(c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (extend && byte & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

uint64_t dwarf_uleb(struct cursor *c)
{
    return leb(c, false);
}

int64_t dwarf_sleb(struct cursor *c)
{
    return (int64_t)leb(c, true);
}

bool dwarf_is_register_plus(struct cursor expression, unsigned reg, bool deref, int64_t *offset)
{
    if (cursor_u8(&expression) != DW_OP_breg0 + reg)
        return false;
    *offset = dwarf_sleb(&expression);
    if (deref && cursor_u8(&expression) != DW_OP_deref)
        return false;
    return !expression.bad && !cursor_left(&expression);
}
