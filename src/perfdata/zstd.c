// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/zstd.h"

#ifdef HAVE_ZSTD

#include <zstd.h>

/* A frame may ask for a window of any size; perf's levels up to 22 need 128 MiB. */
#define WINDOW_LOG_MAX 27

struct decompressor *decompressor_new(void)
{
    ZSTD_DStream *d = ZSTD_createDStream();
    if (d && ZSTD_isError(ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        ZSTD_freeDStream(d);
        d = NULL;
    }
    return (struct decompressor *)d;
}

void decompressor_free(struct decompressor *d)
{
    ZSTD_freeDStream((ZSTD_DStream *)d);
}

bool decompressor_run(struct decompressor *d, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                      size_t *got, bool *done)
{
    ZSTD_inBuffer in = { *src, *n, 0 };
    ZSTD_outBuffer out = { dst, cap, 0 };
    size_t r = ZSTD_decompressStream((ZSTD_DStream *)d, &out, &in);
    *src += in.pos;
    *n -= in.pos;
    *got = out.pos;
    /* With room left in dst everything that could come out has come. */
    *done = *n == 0 && out.pos < cap;
    return !ZSTD_isError(r);
}

#else

struct decompressor *decompressor_new(void)
{
    return NULL;
}

void decompressor_free(struct decompressor *d)
{
    (void)d;
}

bool decompressor_run(struct decompressor *d, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                      size_t *got, bool *done)
{
    (void)d, (void)src, (void)n, (void)dst, (void)cap;
    *got = 0;
    *done = true;
    return false;
}

#endif
