// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/minidebug.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/unpack.h"

#define UNPACKED_MAX ((size_t)256 << 20)
#define FIRST_SIZE   ((size_t)1 << 20) /* then it doubles */

static bool unpack(struct unpacker *u, const uint8_t *packed, size_t n, uint8_t **bytes, size_t *out_n,
                   struct error *e)
{
    enum unpack_state state = UNPACK_GOES_ON;
    size_t cap = 0, got;

    for (*out_n = 0; state == UNPACK_GOES_ON; *out_n += got) {
        if (*out_n == cap && (cap == UNPACKED_MAX || !MEM_TRY_GROW(*bytes, cap, cap ? cap + 1 : FIRST_SIZE)))
            return error_set(e, ERROR_LIMIT, "its compressed symbols become too large");
        state = unpacker_run(u, &packed, &n, *bytes + *out_n, cap - *out_n, &got);
        if (state == UNPACK_GOES_ON && !n && *out_n + got < cap)
            break; /* truncated */
    }
    return state == UNPACK_ENDED || error_set(e, state == UNPACK_LIMIT ? ERROR_LIMIT : ERROR_FORMAT,
                                              "its compressed symbols cannot be decompressed");
}

bool xz_unpack(const void *packed, size_t n, void **out, size_t *out_n, struct error *e)
{
    struct unpacker *u = unpacker_new(UNPACK_XZ, e);
    uint8_t *bytes = NULL;
    bool ok = u && unpack(u, packed, n, &bytes, out_n, e);

    unpacker_free(u);
    if (!ok) {
        mem_free(bytes);
        bytes = NULL;
        *out_n = 0;
    }
    *out = bytes;
    return ok;
}
