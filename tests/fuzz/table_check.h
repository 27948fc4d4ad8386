// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks that any input must pass if it becomes a symbol table. */
#ifndef FLAMETOP_FUZZ_TABLE_CHECK_H
#define FLAMETOP_FUZZ_TABLE_CHECK_H

#include <stdlib.h>

#include "base/mem.h"
#include "symbols/table.h"

/* Checks that the table can be built and viewed, and that its entries are sorted, disjoint and found. */
static inline void table_check(struct table_builder *b)
{
    struct table_entry entry, found;
    struct table t;
    uint64_t end = 0, until;
    void *blob;
    size_t n;

    if (!table_build(b, TABLE_REPLACED, &blob, &n, NULL) || !table_view(&t, blob, n, NULL))
        abort();
    for (uint32_t i = 0; table_entry_at(&t, i, &entry); i++) {
        if (!entry.size || entry.start < end || !entry.name[0])
            abort();
        if (!table_find(&t, entry.start, &found) || found.index != i)
            abort();
        if (table_find_at(&t, entry.start, entry.size, &found, &until) && !found.name)
            abort();
        end = entry.start + entry.size;
    }
    mem_free(blob);
}

#endif
