// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cursor.h"

#include <byteswap.h>
#include <string.h>

struct cursor cursor_of(const void *data, size_t size, bool swap)
{
    const uint8_t *p = data;

    return (struct cursor){ .p = p, .end = size ? p + size : p, .swap = swap };
}

size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* Once bad, nothing is left: that is what makes every later read fail as well. */
static const uint8_t *take(struct cursor *c, size_t n)
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

static void read_into(struct cursor *c, void *v, size_t n)
{
    const uint8_t *p = take(c, n);

    if (p)
        memcpy(v, p, n);
}

uint8_t cursor_u8(struct cursor *c)
{
    uint8_t v = 0;

    read_into(c, &v, sizeof v);
    return v;
}

uint16_t cursor_u16(struct cursor *c)
{
    uint16_t v = 0;

    read_into(c, &v, sizeof v);
    return c->swap ? bswap_16(v) : v;
}

uint32_t cursor_u32(struct cursor *c)
{
    uint32_t v = 0;

    read_into(c, &v, sizeof v);
    return c->swap ? bswap_32(v) : v;
}

uint64_t cursor_u64(struct cursor *c)
{
    uint64_t v = 0;

    read_into(c, &v, sizeof v);
    return c->swap ? bswap_64(v) : v;
}

const void *cursor_bytes(struct cursor *c, size_t n)
{
    return take(c, n);
}

void cursor_skip(struct cursor *c, size_t n)
{
    take(c, n);
}

const char *cursor_str(struct cursor *c, size_t n)
{
    const uint8_t *p = take(c, n);

    if (p && n && memchr(p, '\0', n))
        return (const char *)p;
    c->bad = true;
    c->p = c->end;
    return NULL;
}
