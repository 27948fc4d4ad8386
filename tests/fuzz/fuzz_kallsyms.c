// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the kallsyms parser: any bytes give a table with sorted, disjoint entries. */
#include <string.h>

#include "base/mem.h"
#include "symbols/kallsyms.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 };
    char *text = mem_alloc(size);

    memcpy(text, data, size);
    kallsyms_parse(text, size, &b);
    table_check(&b);
    table_builder_done(&b);
    mem_free(text);
    return 0;
}
