// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the address ranges of an entry in a split unit (.dwo), in 32-bit DWARF.
 * The ranges are indices into sections of the skeleton's file and of its own. DWARF 5, sections 2.17, 7.3.2
 * and 7.25; for DWARF 4 the GNU extension (https://gcc.gnu.org/wiki/DebugFission). Bytes are not trusted. */
#ifndef FLAMETOP_SYMBOLS_SPLITRANGES_H
#define FLAMETOP_SYMBOLS_SPLITRANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct splitranges_bytes {
    const void *data;
    size_t size;
};
struct splitranges { /* of a unit */
    unsigned version, address_size;
    bool swap;                          /* byte order differs from this machine's */
    uint64_t low;                       /* DW_AT_low_pc of the skeleton */
    struct splitranges_bytes info;      /* .debug_info.dwo, which contains the attributes */
    struct splitranges_bytes lists;     /* .debug_rnglists.dwo */
    struct splitranges_bytes old_lists; /* .debug_ranges of the skeleton's file */
    struct splitranges_bytes addresses; /* .debug_addr of the skeleton's file */
    uint64_t addresses_base, old_lists_base;
};
struct splitranges_attribute { /* zero: the entry has none */
    unsigned form;             /* DW_FORM_… */
    const uint8_t *bytes;
    bool is_number; /* a constant: `number` */
    uint64_t number;
};
struct splitranges_pair {
    uint64_t low, high;
};
struct splitranges_iterator { /* private, except `seen`, the number of ranges so far */
    const struct splitranges *unit;
    struct splitranges_pair only;
    bool has_only, done;
    struct cursor list;
    uint64_t base;
    unsigned seen;
};

/* Begin, with the values of DW_AT_low_pc, DW_AT_high_pc and DW_AT_ranges. */
void splitranges_begin(struct splitranges_iterator *it, const struct splitranges *unit,
                       const struct splitranges_attribute *low, const struct splitranges_attribute *high,
                       const struct splitranges_attribute *list);
/* False: no more ranges, or the rest cannot be read. */
bool splitranges_next(struct splitranges_iterator *it, struct splitranges_pair *pair);

#endif
