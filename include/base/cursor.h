// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads untrusted bytes with bounds checks. A read past the end sets `bad` for good and returns zeros, so a
 * parser may check once at the end. Inline for speed: input files hold hundreds of megabytes. */
#ifndef FLAMETOP_BASE_CURSOR_H
#define FLAMETOP_BASE_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *p, *end;
    bool swap; /* the data has the other byte order */
    bool bad;
};

static inline struct cursor cursor_of(const void *data, size_t size, bool swap)
{
    const uint8_t *p = data;

    return (struct cursor){ .p = p, .end = size ? p + size : p, .swap = swap };
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* Returns the next n bytes, borrowed. NULL, and sets bad, if fewer are left. A bad cursor has no bytes left,
 * so every later read fails as well. */
static inline const void *cursor_bytes(struct cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if (c->bad || n > cursor_left(c)) {
        c->bad = true;
        c->p = c->end;
        return NULL;
    }
    if (n)
        c->p += n;
    return p;
}

static inline void cursor_skip(struct cursor *c, size_t n)
{
    (void)cursor_bytes(c, n);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_bytes(c, 1);

    return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    const void *p = cursor_bytes(c, sizeof(uint16_t));
    uint16_t v = 0;

    if (p)
        memcpy(&v, p, sizeof v);
    return c->swap ? bswap_16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    const void *p = cursor_bytes(c, sizeof(uint32_t));
    uint32_t v = 0;

    if (p)
        memcpy(&v, p, sizeof v);
    return c->swap ? bswap_32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    const void *p = cursor_bytes(c, sizeof(uint64_t));
    uint64_t v = 0;

    if (p)
        memcpy(&v, p, sizeof v);
    return c->swap ? bswap_64(v) : v;
}

/* Returns the NUL-terminated string in a field of n bytes, borrowed. NULL, and sets bad, if the field is
 * short or unterminated. */
const char *cursor_str(struct cursor *c, size_t n);

#endif
