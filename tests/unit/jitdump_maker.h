// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes valid and damaged jitdumps in either byte order. */
#ifndef FLAMETOP_TESTS_JITDUMP_MAKER_H
#define FLAMETOP_TESTS_JITDUMP_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

struct jitdump_maker {
    struct buf b;
    bool swap;
    uint64_t time_ns; /* time of the records; 0: 1000 */
    uint64_t flags;
    size_t record; /* offset of the last record */
};

static inline void maker_u32(struct jitdump_maker *m, uint32_t v)
{
    v = m->swap ? __builtin_bswap32(v) : v;
    buf_add(&m->b, &v, sizeof v);
}

static inline void maker_u64(struct jitdump_maker *m, uint64_t v)
{
    v = m->swap ? __builtin_bswap64(v) : v;
    buf_add(&m->b, &v, sizeof v);
}

static inline void maker_header(struct jitdump_maker *m, uint32_t version)
{
    maker_u32(m, 0x4a695444);
    maker_u32(m, version);
    maker_u32(m, 40);
    maker_u32(m, 62); /* EM_X86_64 */
    maker_u32(m, 0);
    maker_u32(m, 1234);
    maker_u64(m, 1);
    maker_u64(m, m->flags);
}

/* Sets the size of the last record. */
static inline void maker_size(struct jitdump_maker *m, uint32_t size)
{
    size = m->swap ? __builtin_bswap32(size) : size;
    memcpy(m->b.data + m->record + 4, &size, sizeof size);
}

static inline void maker_begin(struct jitdump_maker *m, uint32_t id)
{
    m->record = m->b.len;
    maker_u32(m, id);
    maker_u32(m, 0);
    maker_u64(m, m->time_ns ? m->time_ns : 1000);
}

static inline void maker_end(struct jitdump_maker *m)
{
    maker_size(m, (uint32_t)(m->b.len - m->record));
}

/* code: the number of code bytes in the record. */
static inline void maker_load(struct jitdump_maker *m, uint64_t at, uint64_t size, uint64_t index,
                              const char *name, size_t code)
{
    maker_begin(m, 0);
    maker_u32(m, 1234);
    maker_u32(m, 1234);
    maker_u64(m, at);
    maker_u64(m, at);
    maker_u64(m, size);
    maker_u64(m, index);
    buf_add(&m->b, name, strlen(name) + 1);
    for (size_t i = 0; i < code; i++)
        buf_putc(&m->b, (char)0xc3);
    maker_end(m);
}

static inline void maker_move(struct jitdump_maker *m, uint64_t from, uint64_t to, uint64_t size,
                              uint64_t index)
{
    maker_begin(m, 1);
    maker_u32(m, 1234);
    maker_u32(m, 1234);
    maker_u64(m, to);
    maker_u64(m, from);
    maker_u64(m, to);
    maker_u64(m, size);
    maker_u64(m, index);
    maker_end(m);
}

static inline void maker_other(struct jitdump_maker *m, uint32_t id, size_t bytes)
{
    maker_begin(m, id);
    for (size_t i = 0; i < bytes; i++)
        buf_putc(&m->b, (char)i);
    maker_end(m);
}

#endif
