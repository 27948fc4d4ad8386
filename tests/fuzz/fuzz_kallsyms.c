// SPDX-License-Identifier: GPL-2.0-or-later
/* The parser of kallsyms: any bytes give a table whose entries lie apart and in order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbols/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct table *t)
{
    struct table_entry entry, found;
    uint64_t end = 0;

    for (uint32_t i = 0; table_entry_at(t, i, &entry); i++) {
        if (!entry.size || entry.start < end || !entry.name[0])
            abort();
        if (!table_find(t, entry.start, &found) || found.index != i)
            abort();
        end = entry.start + entry.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 };
    char *text = mem_alloc(size);
    struct table t;
    void *blob;
    size_t n;

    memcpy(text, data, size);
    kallsyms_parse(text, size, &b);
    if (!table_build(&b, TABLE_REPLACED, &blob, &n, NULL) || !table_view(&t, blob, n, NULL))
        abort();
    check(&t);
    table_builder_done(&b);
    mem_free(blob);
    mem_free(text);
    return 0;
}
