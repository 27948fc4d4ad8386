// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reader of symbol tables: no blob leads outside. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbols/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct table *t)
{
    struct table_entry entry;
    size_t bytes = 0;

    for (uint32_t i = 0; i < 1000 && table_entry_at(t, i, &entry); i++) {
        bytes += strlen(entry.name);
        table_find(t, entry.start, &entry);
        table_find(t, entry.start + entry.size, &entry);
    }
    if (table_debuglink(t))
        bytes += strlen(table_debuglink(t));
    if (t->header->build_id_size > sizeof t->header->build_id || (bytes && !t->names))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = mem_alloc(size); /* exact size, and aligned like a mapping */
    struct table t;

    memcpy(copy, data, size);
    if (table_view(&t, copy, size, NULL))
        read_all(&t);
    mem_free(copy);
    return 0;
}
