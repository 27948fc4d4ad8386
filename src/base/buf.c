// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Makes room for n more bytes and the NUL after them. */
static void make_room(struct buf *b, size_t n)
{
    size_t need;

    /* mem_resize rejects an impossible size like any other lack of memory */
    if (__builtin_add_overflow(b->len + 1, n, &need))
        need = SIZE_MAX;
    MEM_GROW(b->data, b->cap, need);
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    make_room(b, n);
    if (n)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    make_room(b, (size_t)n);
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
    char *data = b->data ? b->data : mem_strdup("");

    *b = (struct buf){ 0 };
    return data;
}

void buf_done(struct buf *b)
{
    mem_free(b->data);
    *b = (struct buf){ 0 };
}
