// SPDX-License-Identifier: GPL-2.0-or-later
/* The only user of libzstd. */
#include "base/unpack.h"

#ifdef HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

/* A frame may request a window of any size; levels up to 22 need 128 MiB. */
#define WINDOW_LOG_MAX 27

static void *zstd_open(void)
{
    ZSTD_DStream *d = ZSTD_createDStream();
    if (d && ZSTD_isError(ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        ZSTD_freeDStream(d);
        d = NULL;
    }
    return d;
}

static enum unpack_state zstd_run(void *stream, struct unpack_step *step)
{
    ZSTD_inBuffer in = { step->src, step->n, 0 };
    ZSTD_outBuffer out = { step->dst, step->cap, 0 };
    size_t r = ZSTD_decompressStream(stream, &out, &in);
    step->src += in.pos;
    step->n -= in.pos;
    step->dst += out.pos;
    step->cap -= out.pos;
    if (!ZSTD_isError(r))
        return r ? UNPACK_GOES_ON : UNPACK_ENDED;
    return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ||
                   ZSTD_getErrorCode(r) == ZSTD_error_frameParameter_windowTooLarge
               ? UNPACK_LIMIT
               : UNPACK_BROKEN;
}

static void zstd_close(void *stream)
{
    ZSTD_freeDStream(stream);
}

const struct unpack_ops unpack_zstd = { "zstd", "libzstd", zstd_open, zstd_run, zstd_close };

/* A file is read only once or twice: speed matters more than size. */
#define PACK_LEVEL 3

bool zstd_pack(const void *bytes, size_t n, struct buf *out, struct error *e)
{
    size_t cap = ZSTD_compressBound(n);
    char *packed = mem_try_array(cap, 1);
    size_t got = packed ? ZSTD_compress(packed, cap, bytes, n, PACK_LEVEL) : 0;
    bool ok = packed && !ZSTD_isError(got);
    if (ok)
        buf_add(out, packed, got);
    mem_free(packed);
    return ok || error_set(e, ERROR_LIMIT, "not enough memory to compress the file");
}

#else

bool zstd_pack(const void *bytes, size_t n, struct buf *out, struct error *e)
{
    (void)bytes, (void)n, (void)out;
    return error_set(e, ERROR_UNSUPPORTED,
                     "this flametop was built without libzstd: name it .tar.gz or .tar");
}

const struct unpack_ops unpack_zstd = { "zstd", "libzstd", NULL, NULL, NULL };

#endif
