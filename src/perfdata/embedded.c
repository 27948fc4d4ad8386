// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads embedded symbols. In simpleperf's sections the data to convert addresses to offsets follows the
 * symbols, so each file is read twice. */
#include "perfdata/embedded.h"

#include <string.h>

#include "base/cursor.h"
#include "perfdata/format.h"

enum { TYPE_KERNEL, TYPE_KERNEL_MODULE, TYPE_ELF, TYPE_DEX }; /* the same numbers in both tools' files */
#define NO_ADDRESS UINT64_MAX

struct file {
    struct embedded_symbol symbol; /* path and kernel are set */
    uint64_t address, offset;      /* an address in the file and its offset */
    bool placed;                   /* address and offset are known */
    embedded_symbol_fn *fn;
    void *ctx;
};

static void begin_file(struct file *f, const char *path, size_t path_n, uint32_t type)
{
    f->symbol.path = path;
    f->symbol.path_n = path_n;
    f->symbol.kernel = type == TYPE_KERNEL;
    f->placed = type == TYPE_KERNEL || type == TYPE_DEX; /* addresses are offsets */
    f->address = f->offset = 0;
}

static void place_file(struct file *f, uint64_t address, uint64_t offset)
{
    f->address = address;
    f->offset = offset;
    f->placed = true;
}

static void report_symbol(const struct file *f, uint64_t address, uint32_t size, const char *name,
                          size_t name_n)
{
    struct embedded_symbol s = f->symbol;

    if (!f->fn || !f->placed || !s.path_n)
        return;
    s.offset = address - f->address + f->offset;
    s.size = size;
    s.name = name;
    s.name_n = name_n;
    f->fn(f->ctx, &s);
}

/* Reads a NUL-terminated string; NULL: no end. */
static const char *take_text(struct cursor *c, size_t *n)
{
    size_t left = cursor_left(c);
    const char *end = left ? memchr(c->p, '\0', left) : NULL, *text = (const char *)c->p;

    *n = end ? (size_t)(end - text) : 0;
    cursor_skip(c, end ? *n + 1 : left + 1);
    return end ? text : NULL;
}

/* ---- FILE of simpleperf ---- */

static void read_symbols(struct cursor *c, uint32_t n, const struct file *f)
{
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        uint64_t address = cursor_u64(c);
        uint32_t size = cursor_u32(c);
        size_t name_n;
        const char *name = take_text(c, &name_n);
        if (f && name)
            report_symbol(f, address, size, name, name_n);
    }
}

/* Files from before 2019 do not contain the offset of the lowest address. If that address is 0, the offset is
 * 0. */
static void read_place(struct cursor c, uint64_t address, struct file *f)
{
    if (cursor_left(&c) >= sizeof(uint64_t))
        place_file(f, address, cursor_u64(&c));
    else if (!address)
        place_file(f, 0, 0);
}

static bool read_simpleperf_file(struct cursor *c, struct file *f)
{
    size_t path_n;
    const char *path = take_text(c, &path_n);
    uint32_t type = cursor_u32(c);
    uint64_t address = cursor_u64(c);
    uint32_t n = cursor_u32(c);
    struct cursor symbols = *c;

    if (c->bad)
        return false;
    begin_file(f, path, path_n, type);
    read_symbols(c, n, NULL);
    if (type == TYPE_ELF)
        read_place(*c, address, f);
    read_symbols(&symbols, n, f);
    return !c->bad;
}

static bool read_simpleperf(struct cursor *c, struct file *f)
{
    bool whole = true;

    while (cursor_left(c) && !c->bad) {
        uint32_t size = cursor_u32(c);
        const void *bytes = cursor_bytes(c, size);
        struct cursor file = cursor_of(bytes, bytes ? size : 0, c->swap);
        whole &= read_simpleperf_file(&file, f);
    }
    return whole && !c->bad;
}

/* ---- FILE2 of simpleperf: one protocol buffer per file ---- */

struct field {
    uint32_t number, kind; /* VARINT or BYTES; others are skipped */
    uint64_t value;
    struct cursor bytes;
};
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

static uint64_t take_varint(struct cursor *c)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;

    for (unsigned shift = 0; shift < 64 && byte & 0x80; shift += 7) {
        byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    c->bad |= byte & 0x80;
    return value;
}

static bool take_field(struct cursor *c, struct field *f)
{
    if (!cursor_left(c) || c->bad)
        return false;
    uint64_t key = take_varint(c);
    *f = (struct field){ .number = (uint32_t)(key >> 3), .kind = key & 7 };
    if (f->kind == VARINT) {
        f->value = take_varint(c);
    } else if (f->kind == BYTES) {
        uint64_t n = take_varint(c);
        const void *bytes = cursor_bytes(c, n > cursor_left(c) ? cursor_left(c) + 1 : (size_t)n);
        f->bytes = cursor_of(bytes, bytes ? (size_t)n : 0, false);
    } else if (f->kind == FIXED64 || f->kind == FIXED32) {
        cursor_skip(c, f->kind == FIXED64 ? 8 : 4);
    } else {
        c->bad = true;
    }
    return !c->bad;
}

static bool is_number(const struct field *f, uint32_t number)
{
    return f->number == number && f->kind == VARINT;
}

static bool is_bytes(const struct field *f, uint32_t number)
{
    return f->number == number && f->kind == BYTES;
}

enum { FILE_PATH = 1, FILE_TYPE, FILE_MIN_ADDRESS, FILE_SYMBOL, FILE_DEX, FILE_ELF };
enum { SYMBOL_ADDRESS = 1, SYMBOL_SIZE, SYMBOL_NAME };

static bool read_proto_symbol(struct cursor c, const struct file *f)
{
    struct cursor name = { 0 };
    uint64_t address = 0, size = 0;
    struct field field;

    while (take_field(&c, &field))
        if (is_number(&field, SYMBOL_ADDRESS))
            address = field.value;
        else if (is_number(&field, SYMBOL_SIZE))
            size = field.value;
        else if (is_bytes(&field, SYMBOL_NAME))
            name = field.bytes;
    if (!c.bad && name.p)
        report_symbol(f, address, (uint32_t)size, (const char *)name.p, cursor_left(&name));
    return !c.bad;
}

/* Returns the number in a message of one optional field; 0 if the field is absent. */
static uint64_t number_in(struct cursor c)
{
    struct field field;
    uint64_t value = 0;

    while (take_field(&c, &field))
        if (is_number(&field, 1))
            value = field.value;
    return value;
}

static bool read_proto_file(struct cursor c, struct file *f)
{
    struct cursor again = c, path = { 0 };
    uint64_t type = 0, address = 0, offset = NO_ADDRESS;
    struct field field;
    bool whole = true;

    while (take_field(&c, &field))
        if (is_bytes(&field, FILE_PATH))
            path = field.bytes;
        else if (is_number(&field, FILE_TYPE))
            type = field.value;
        else if (is_number(&field, FILE_MIN_ADDRESS))
            address = field.value;
        else if (is_bytes(&field, FILE_ELF))
            offset = number_in(field.bytes);
    if (c.bad)
        return false;
    begin_file(f, (const char *)path.p, cursor_left(&path), type > TYPE_DEX ? UINT32_MAX : (uint32_t)type);
    if (type == TYPE_ELF && offset != NO_ADDRESS)
        place_file(f, address, offset);
    while (take_field(&again, &field))
        whole &= !is_bytes(&field, FILE_SYMBOL) || read_proto_symbol(field.bytes, f);
    return whole;
}

static bool read_simpleperf_proto(struct cursor *c, struct file *f)
{
    bool whole = true;

    while (cursor_left(c) && !c->bad) {
        uint32_t size = cursor_u32(c);
        const void *bytes = cursor_bytes(c, size);
        whole &= read_proto_file(cursor_of(bytes, bytes ? size : 0, false), f);
    }
    return whole && !c->bad;
}

/* ---- hiperf ---- */

/* Reads a size and a string of that many bytes, the NUL included. */
static const char *take_sized(struct cursor *c, size_t *n)
{
    uint32_t size = cursor_u32(c);
    const char *text = cursor_bytes(c, size);

    *n = text ? strnlen(text, size) : 0;
    return text;
}

/* $a, $t and $d are not functions: they mark the start of code that has no name. */
static bool is_mark(const char *name, size_t n)
{
    return n == 2 && name[0] == '$';
}

static void read_hiperf_file(struct cursor *c, struct file *f)
{
    size_t n;
    const char *path = take_sized(c, &n);
    uint32_t type = cursor_u32(c);
    uint64_t address = cursor_u64(c), offset = cursor_u64(c);

    begin_file(f, path, n, type);
    if (type == TYPE_ELF && address != NO_ADDRESS)
        place_file(f, address, offset);
    f->placed &= type == TYPE_KERNEL || type == TYPE_ELF;
    (void)take_sized(c, &n); /* the build-id, as text */
    uint32_t symbols = cursor_u32(c);
    for (uint32_t i = 0; i < symbols && !c->bad; i++) {
        uint64_t at = cursor_u64(c);
        uint32_t size = cursor_u32(c);
        const char *name = take_sized(c, &n);
        if (name)
            report_symbol(f, at, size, name, is_mark(name, n) ? 0 : n);
    }
}

static bool read_hiperf(struct cursor *c, struct file *f)
{
    uint32_t files = cursor_u32(c);

    for (uint32_t i = 0; i < files && !c->bad; i++)
        read_hiperf_file(c, f);
    return !c->bad;
}

bool embedded_is(unsigned feature)
{
    return feature == FORMAT_SIMPLEPERF_FILE || feature == FORMAT_SIMPLEPERF_FILE2 ||
           feature == FORMAT_HIPERF_SYMBOLS;
}

bool embedded_read(unsigned feature, const void *bytes, size_t n, bool swap, embedded_symbol_fn *fn,
                   void *ctx)
{
    struct cursor c = cursor_of(bytes, n, swap);
    struct file f = { .fn = fn, .ctx = ctx };

    switch (feature) {
    case FORMAT_SIMPLEPERF_FILE:
        return read_simpleperf(&c, &f);
    case FORMAT_SIMPLEPERF_FILE2:
        return read_simpleperf_proto(&c, &f);
    case FORMAT_HIPERF_SYMBOLS:
        return read_hiperf(&c, &f);
    default:
        return true;
    }
}
