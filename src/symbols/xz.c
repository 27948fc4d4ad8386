// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/xz.h"

#include "base/mem.h"

#ifdef HAVE_LZMA
#include <lzma.h>

#define UNPACKED_MAX ((size_t)256 << 20)
#define FIRST_SIZE   ((size_t)1 << 20)
#define MEMORY_MAX   (UINT64_C(128) << 20) /* of the dictionary, which the file chooses; xz -9 wants 65 MB */

static bool grow(lzma_stream *s, unsigned char **bytes, size_t *cap, struct error *e)
{
    size_t more = *cap ? *cap * 2 : FIRST_SIZE;
    unsigned char *grown = more <= UNPACKED_MAX ? mem_try_resize(*bytes, more, 1) : NULL;

    if (!grown)
        return error_set(e, ERROR_LIMIT, "its packed symbols become too large");
    s->next_out = grown + *cap;
    s->avail_out = more - *cap;
    *bytes = grown;
    *cap = more;
    return true;
}

static bool unpack(lzma_stream *s, unsigned char **bytes, struct error *e)
{
    lzma_ret ret = LZMA_OK;
    size_t cap = 0;

    while (ret == LZMA_OK) {
        if (!s->avail_out && !grow(s, bytes, &cap, e))
            return false;
        ret = lzma_code(s, LZMA_FINISH);
    }
    if (ret == LZMA_STREAM_END)
        return true;
    return error_set(e, ret == LZMA_MEM_ERROR || ret == LZMA_MEMLIMIT_ERROR ? ERROR_LIMIT : ERROR_FORMAT,
                     "its packed symbols cannot be unpacked");
}

bool xz_unpack(const void *packed, size_t n, void **out, size_t *out_n, struct error *e)
{
    lzma_stream s = LZMA_STREAM_INIT;
    unsigned char *bytes = NULL;
    bool ok = lzma_stream_decoder(&s, MEMORY_MAX, 0) == LZMA_OK;

    s.next_in = packed;
    s.avail_in = n;
    ok = ok ? unpack(&s, &bytes, e) : error_set(e, ERROR_LIMIT, "no memory to unpack its symbols");
    *out_n = ok ? (size_t)s.total_out : 0;
    lzma_end(&s);
    if (!ok) {
        mem_free(bytes);
        bytes = NULL;
    }
    *out = bytes;
    return ok;
}
#else
bool xz_unpack(const void *packed, size_t n, void **out, size_t *out_n, struct error *e)
{
    (void)packed;
    (void)n;
    (void)out;
    (void)out_n;
    return error_set(e, ERROR_UNSUPPORTED, "its symbols are packed by xz, and this build is without liblzma");
}
#endif
