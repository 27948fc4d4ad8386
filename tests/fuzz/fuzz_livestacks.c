// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the report of the process that unwinds threads, and the ELF headers in a process's memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/livestacks.h"
#include "unwind/ehframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *data;
    size_t size;
};

#define START 0x10000u

static bool read_bytes(void *ctx, uint64_t address, void *to, size_t n)
{
    const struct bytes *b = ctx;
    if (address < START || address - START > b->size || n > b->size - (address - START))
        return false;
    if (n)
        memcpy(to, b->data + (address - START), n);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct livestacks s = { 0 };
    struct error e = { 0 };
    struct ehframe f;
    struct bytes b = { data, size };
    if (ehframe_find(read_bytes, &b, START, &f) && !f.entries)
        abort();
    livestacks_parse(data, size, &s, &e);
    for (uint32_t i = 0; i < s.n; i++) {
        if (!livestacks_of(&s, s.items[i].tid) || s.items[i].end >= REMOTE_ENDS)
            abort();
        if (s.items[i].path && strpbrk(s.items[i].path, "\033\n"))
            abort();
        for (uint32_t k = 0; k < s.items[i].n_scripts; k++)
            if (s.items[i].scripts[k].group >= s.items[i].n_groups ||
                strpbrk(s.items[i].scripts[k].text, "\033\n"))
                abort();
    }
    livestacks_done(&s);
    return 0;
}
