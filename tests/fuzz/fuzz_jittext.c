// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes JIT names saved in a profile: the lines of the epochs are inside the text, one after the other, and
 * form perf maps. */
#include <stdint.h>
#include <stdlib.h>

#include "symbols/jittext.h"
#include "symbols/perfmap.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that names are inside the text of their epoch. */
static void take_lines(struct jit_epoch epoch)
{
    const char *begin = epoch.text, *end = epoch.text + epoch.n, *name;
    uint64_t start;
    size_t n;
    while (jittext_line(&epoch, &start, &name, &n))
        if (name < begin || name > end || n > (size_t)(end - name))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size, *last = text;
    struct jit_epoch epoch;
    size_t n = size;
    while (jittext_next(&text, &n, &epoch)) {
        struct table_builder b = { 0 };
        if (epoch.text < last || epoch.n > (size_t)(end - epoch.text) || text + n != end)
            abort();
        last = epoch.text + epoch.n;
        take_lines(epoch);
        perfmap_parse(epoch.text, epoch.n, &b);
        table_check(&b);
        table_builder_done(&b);
    }
    return 0;
}
