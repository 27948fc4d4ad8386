// SPDX-License-Identifier: GPL-2.0-or-later
/* The only user of zlib. */
#include "base/unpack.h"

#ifdef HAVE_ZLIB

#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

#define GZIP_WINDOW (16 + MAX_WBITS) /* gzip header, checksum verified */

static void *gzip_open(void)
{
    z_stream *z = mem_zalloc(sizeof *z);
    if (inflateInit2(z, GZIP_WINDOW) == Z_OK)
        return z;
    mem_free(z);
    return NULL;
}

static unsigned fitting(size_t n)
{
    return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

static enum unpack_state gzip_run(void *stream, struct unpack_step *step)
{
    z_stream *z = stream;
    z->next_in = (Bytef *)(uintptr_t)step->src;
    z->avail_in = fitting(step->n);
    z->next_out = step->dst;
    z->avail_out = fitting(step->cap);
    int r = inflate(z, Z_NO_FLUSH);
    step->n -= (size_t)(z->next_in - step->src);
    step->cap -= (size_t)(z->next_out - step->dst);
    step->src = z->next_in;
    step->dst = z->next_out;
    if (r == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? UNPACK_ENDED : UNPACK_BROKEN;
    if (r == Z_MEM_ERROR)
        return UNPACK_LIMIT;
    return r == Z_OK || r == Z_BUF_ERROR ? UNPACK_GOES_ON : UNPACK_BROKEN;
}

static void gzip_close(void *stream)
{
    inflateEnd(stream);
    mem_free(stream);
}

const struct unpack_ops unpack_gzip = { "gzip", "zlib", gzip_open, gzip_run, gzip_close };

#define PACK_STEP 65536

bool gzip_pack(const void *bytes, size_t n, struct buf *out, struct error *e)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes };
    unsigned char step[PACK_STEP];
    const unsigned char *end = (const unsigned char *)bytes + n;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return error_set(e, ERROR_LIMIT, "not enough memory to compress the file");
    for (int r = Z_OK; r == Z_OK;) {
        size_t left = (size_t)(end - z.next_in);
        z.avail_in = fitting(left);
        z.next_out = step;
        z.avail_out = sizeof step;
        r = deflate(&z, left == z.avail_in ? Z_FINISH : Z_NO_FLUSH);
        buf_add(out, step, sizeof step - z.avail_out);
    }
    deflateEnd(&z);
    return true;
}

#else

bool gzip_pack(const void *bytes, size_t n, struct buf *out, struct error *e)
{
    (void)bytes;
    (void)n;
    (void)out;
    return error_set(e, ERROR_UNSUPPORTED, "this flametop was built without zlib, which this format needs");
}

const struct unpack_ops unpack_gzip = { "gzip", "zlib", NULL, NULL, NULL };

#endif
