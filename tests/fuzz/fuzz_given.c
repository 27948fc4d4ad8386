// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes supplied symbols: any bytes give names that can be looked up everywhere and are printable. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbols/supplied.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct module modules[] = { { .kind = MODULE_FILE, .path = "/a" },
                                      { .kind = MODULE_KERNEL, .path = "[k]" } };
    struct supplied_symbols *g = supplied_parse((const char *)data, size, NULL);
    struct symbol symbol;
    struct symbol_lines lines;

    for (size_t i = 0; g && i < sizeof modules / sizeof *modules; i++) {
        const struct supplied_module *m = supplied_module(g, &modules[i]);
        for (unsigned offset = 0; m && offset < 0x40; offset++) {
            if (supplied_symbol(m, offset, &symbol))
                check_text(symbol.name);
            if (supplied_lines(m, offset, &lines)) {
                check_text(lines.file);
                for (uint32_t k = 0; k < lines.n_inlines; k++)
                    check_text(lines.inlines[k].name);
            }
        }
    }
    supplied_free(g);
    return 0;
}
