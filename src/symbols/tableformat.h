// SPDX-License-Identifier: GPL-2.0-or-later
/* What the reader and the builder of symbol tables share. */
#ifndef FLAMETOP_SYMBOLS_TABLEFORMAT_H
#define FLAMETOP_SYMBOLS_TABLEFORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/table.h"

#define TABLE_MAGIC      0x54535446u /* FTST */
#define TABLE_VERSION    3           /* of the layout and of the entries' meaning */
#define TABLE_INFO_BYTES 8
#define TABLE_PIECES_MAX (2 * TABLE_ENTRIES_MAX) /* an outer entry continues after each inner one */

static inline uint64_t table_dates_bytes(const struct table_header *h)
{
    return h->flags & TABLE_DATED ? (uint64_t)h->n * 8 + (uint64_t)h->n_older * sizeof(struct table_older)
                                  : 0;
}

static inline uint64_t table_starts_bytes(uint32_t n, bool wide)
{
    return ((uint64_t)n * (wide ? 8 : 4) + 7) & ~UINT64_C(7);
}

#endif
