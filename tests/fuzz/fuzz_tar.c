// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes archives in pieces of any size: a member yields at most its size in bytes, and its name is
 * printable. */
#include <stdlib.h>

#include "base/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_member(void *ctx, const char *name, uint64_t size)
{
    *(uint64_t *)ctx = size;
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            abort();
    return true;
}

static bool on_bytes(void *ctx, const void *bytes, size_t n)
{
    uint64_t *left = ctx;
    (void)bytes;
    if (n > *left)
        abort();
    *left -= n;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t left = 0;
    struct tar_reader t = { .member = on_member, .bytes = on_bytes, .ctx = &left };
    size_t step = size ? 1 + data[0] * 4u : 1;
    for (size_t at = 0; at < size; at += step)
        if (!tar_read(&t, data + at, size - at < step ? size - at : step))
            break;
    return 0;
}
