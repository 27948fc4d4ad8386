// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF: constants, those of libdw's header, and a reader of LEB128. */
#ifndef FLAMETOP_UNWIND_DWARFREAD_H
#define FLAMETOP_UNWIND_DWARFREAD_H

#include <dwarf.h>

#include "base/cursor.h"

/* Call-frame instructions of the Arm 64-bit ABI, which older versions of libdw lack. */
enum { DW_CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c, DW_CFA_AARCH64_NEGATE_RA_STATE = 0x2d };

/* Read LEB128. Bits beyond the 64th are dropped. More than ten bytes, or bytes past the end, make the
 * cursor bad. */
uint64_t dwarf_uleb(struct cursor *c);
int64_t dwarf_sleb(struct cursor *c);
/* Returns true for the expression "register + offset", followed by a dereference if `deref`. */
bool dwarf_is_register_plus(struct cursor expression, unsigned reg, bool deref, int64_t *offset);

#endif
