// SPDX-License-Identifier: GPL-2.0-or-later
/* The only user of liblzma. */
#include "base/unpack.h"

#ifdef HAVE_LZMA

#include <lzma.h>

#include "base/mem.h"

/* for the dictionary, whose size the file chooses; xz -9 needs 65 MB */
#define MEMORY_MAX (UINT64_C(128) << 20)

static void *xz_open(void)
{
    lzma_stream *s = mem_alloc(sizeof *s);
    *s = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(s, MEMORY_MAX, 0) == LZMA_OK)
        return s;
    mem_free(s);
    return NULL;
}

static enum unpack_state xz_run(void *stream, struct unpack_step *step)
{
    lzma_stream *s = stream;
    s->next_in = step->src;
    s->avail_in = step->n;
    s->next_out = step->dst;
    s->avail_out = step->cap;
    lzma_ret r = lzma_code(s, LZMA_RUN);
    *step = (struct unpack_step){ s->next_in, s->avail_in, s->next_out, s->avail_out };
    if (r == LZMA_STREAM_END)
        return lzma_stream_decoder(s, MEMORY_MAX, 0) == LZMA_OK ? UNPACK_ENDED : UNPACK_LIMIT;
    if (r == LZMA_MEM_ERROR || r == LZMA_MEMLIMIT_ERROR)
        return UNPACK_LIMIT;
    return r == LZMA_OK || r == LZMA_BUF_ERROR ? UNPACK_GOES_ON : UNPACK_BROKEN;
}

static void xz_close(void *stream)
{
    lzma_end(stream);
    mem_free(stream);
}

const struct unpack_ops unpack_xz = { "xz", "liblzma", xz_open, xz_run, xz_close };

#else

const struct unpack_ops unpack_xz = { "xz", "liblzma", NULL, NULL, NULL };

#endif
