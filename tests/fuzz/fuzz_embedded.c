// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes symbols that other tools store in perf.data: any bytes give symbols inside those bytes, and names
 * that can be looked up. The first byte selects the section and the byte order. */
#include <stdlib.h>

#include "perfdata/embedded.h"
#include "perfdata/format.h"
#include "symbols/supplied.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const uint8_t *data;
    size_t size;
    struct supplied_symbols *supplied;
};

static void check_inside(const struct seen *seen, const char *text, size_t n)
{
    const uint8_t *p = (const uint8_t *)text;

    if (n && (p < seen->data || n > seen->size || (size_t)(p - seen->data) > seen->size - n))
        abort();
}

static void take_symbol(void *ctx, const struct embedded_symbol *s)
{
    const struct seen *seen = ctx;

    check_inside(seen, s->path, s->path_n);
    check_inside(seen, s->name, s->name_n);
    supplied_add_symbol(seen->supplied, supplied_add_module(seen->supplied, s->kernel, s->path, s->path_n),
                        s->offset, s->size, s->name, s->name_n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned features[] = { FORMAT_SIMPLEPERF_FILE, FORMAT_SIMPLEPERF_FILE2,
                                         FORMAT_HIPERF_SYMBOLS };
    const struct module modules[] = { { .kind = MODULE_FILE, .path = "/a" },
                                      { .kind = MODULE_KERNEL, .path = "[kernel]" } };
    struct seen seen = { data, size, supplied_new() };
    struct symbol symbol;

    if (size)
        embedded_read(features[(data[0] & 0x7f) % 3], data + 1, size - 1, data[0] & 0x80, take_symbol, &seen);
    supplied_sort(seen.supplied);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const struct supplied_module *m = supplied_module_by_path(seen.supplied, &modules[i]);
        for (unsigned offset = 0; m && offset < 0x40; offset++)
            if (supplied_symbol(m, offset, &symbol) &&
                (offset < symbol.start || offset - symbol.start >= symbol.size))
                abort();
    }
    supplied_free(seen.supplied);
    return 0;
}
