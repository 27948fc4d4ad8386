// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/unpack.h"

#include <string.h>

#include "base/mem.h"

struct unpacker {
    const struct unpack_ops *ops;
    void *stream;
};

static const struct unpack_ops *const kinds[UNPACK_KINDS] = {
    [UNPACK_GZIP] = &unpack_gzip,
    [UNPACK_XZ] = &unpack_xz,
    [UNPACK_ZSTD] = &unpack_zstd,
};

enum unpack_kind unpack_kind_of(const void *head, size_t n)
{
    static const struct {
        const char *magic;
        size_t n;
    } magics[UNPACK_KINDS] = {
        [UNPACK_GZIP] = { "\x1f\x8b", 2 },
        [UNPACK_XZ] = { "\xfd\x37\x7a\x58\x5a\x00", 6 },
        [UNPACK_ZSTD] = { "\x28\xb5\x2f\xfd", 4 },
    };
    for (int kind = UNPACK_NONE + 1; kind < UNPACK_KINDS; kind++)
        if (n >= magics[kind].n && !memcmp(head, magics[kind].magic, magics[kind].n))
            return (enum unpack_kind)kind;
    return UNPACK_NONE;
}

const char *unpack_name(enum unpack_kind kind)
{
    return kinds[kind] ? kinds[kind]->name : "";
}

struct unpacker *unpacker_new(enum unpack_kind kind, struct error *e)
{
    const struct unpack_ops *ops = kinds[kind];
    void *stream = ops->open ? ops->open() : NULL;
    if (!ops->open)
        error_set(e, ERROR_UNSUPPORTED, "compressed with %s, but this build lacks %s", ops->name,
                  ops->library);
    else if (!stream)
        error_set(e, ERROR_LIMIT, "not enough memory to decompress %s data", ops->name);
    if (!stream)
        return NULL;
    struct unpacker *u = mem_alloc(sizeof *u);
    *u = (struct unpacker){ ops, stream };
    return u;
}

void unpacker_free(struct unpacker *u)
{
    if (u)
        u->ops->close(u->stream);
    mem_free(u);
}

enum unpack_state unpacker_run(struct unpacker *u, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                               size_t *got)
{
    struct unpack_step step = { *src, *n, dst, cap };
    enum unpack_state state = u->ops->run(u->stream, &step);
    if (state == UNPACK_GOES_ON && *n && cap && step.n == *n && step.cap == cap)
        state = UNPACK_BROKEN; /* no progress now means no progress ever */
    *src = step.src;
    *n = step.n;
    *got = cap - step.cap;
    return state;
}
