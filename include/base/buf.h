// SPDX-License-Identifier: GPL-2.0-or-later
/* A growable byte string, always followed by a NUL byte. Zero-initialised is empty. */
#ifndef FLAMETOP_BASE_BUF_H
#define FLAMETOP_BASE_BUF_H

#include <stddef.h>

struct buf {
    char *data; /* NULL while nothing has been added: use buf_str() */
    size_t len, cap;
};

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *b);            /* keeps the memory */
const char *buf_str(const struct buf *b); /* "" when empty */
char *buf_take(struct buf *b);            /* transfers ownership: free with mem_free; b becomes empty */
void buf_done(struct buf *b);

#endif
