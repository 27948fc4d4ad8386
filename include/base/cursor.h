// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading bytes from elsewhere: every read is bounds-checked; past the end `bad` is set for good and
 * zeros come back, so that a parser may check once at the end. */
#ifndef FLAMETOP_BASE_CURSOR_H
#define FLAMETOP_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const uint8_t *p, *end;
    bool swap; /* the other byte order */
    bool bad;
};

struct cursor cursor_of(const void *data, size_t size, bool swap);
size_t cursor_left(const struct cursor *c);
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
const void *cursor_bytes(struct cursor *c, size_t n); /* borrowed; NULL and bad when short */
void cursor_skip(struct cursor *c, size_t n);
/* A NUL-terminated string in a field of n bytes: borrowed; NULL and bad when short or unterminated. */
const char *cursor_str(struct cursor *c, size_t n);

#endif
