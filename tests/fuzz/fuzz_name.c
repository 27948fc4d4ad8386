// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes function names from an untrusted symbol table: shortened to any width, they fit and are
 * printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, int columns)
{
    char clean[512];
    text_clean(clean, sizeof clean, text, strlen(text));
    if (strcmp(text, clean) || text_width(text) > columns)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[512], *name = mem_alloc(size + 1);
    name[text_clean(name, size + 1, (const char *)data, size)] = '\0';
    for (int columns = 1; columns < 60; columns += 7) {
        text_shorten_name(out, sizeof out, name, columns);
        check(out, columns);
        text_elide(out, sizeof out, name, columns, columns & 1);
        check(out, columns);
    }
    mem_free(name);
    return 0;
}
