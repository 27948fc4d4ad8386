// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the demangling of symbol names: all output is short enough and printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[DEMANGLE_OUTPUT_MAX], again[DEMANGLE_OUTPUT_MAX], *name;
    if (size >= 512) /* the demanglers are the library's; the worker limits the cost of longer names */
        return 0;
    name = mem_alloc(size + 1);
    memcpy(name, data, size);
    name[size] = '\0';
    (void)demangle_language(name);
    if (demangle_name(name, out, sizeof out)) {
        if (!memchr(out, 0, sizeof out))
            abort();
        text_clean(again, sizeof again, out, strlen(out));
        if (strcmp(out, again))
            abort();
    }
    mem_free(name);
    return 0;
}
