// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/gotable.h"

#include <string.h>

#include "base/cursor.h"
#include "base/search.h"

#define MAGIC_102     0xfffffffbu
#define MAGIC_116     0xfffffffau
#define MAGIC_118     0xfffffff0u
#define MAGIC_120     0xfffffff1u
#define FUNCTIONS_MAX (1u << 22)
#define NAME_MAX_SIZE 4096
#define VARINT_BITS   35 /* of five bytes */
#define INLINED_PCS   2  /* PCDATA_InlTreeIndex */
#define INLINED_CALLS 3  /* FUNCDATA_InlTree */

static struct cursor cursor_at(const struct gotable *t, uint64_t offset)
{
    uint64_t at = offset < t->size ? offset : t->size;

    return cursor_of(t->bytes + at, t->size - at, false);
}

/* Go 1.2 has a single table: functions follow the header, and all offsets are relative to the table's
 * start. */
static void read_header_102(struct gotable *t, struct cursor *c)
{
    t->n = cursor_u64(c);
    t->functab = 16;
    t->entry_size = 8;
    t->id_at = 32;
}

static void read_header_116(struct gotable *t, struct cursor *c)
{
    t->n = cursor_u64(c);
    cursor_skip(c, 8); /* number of files */
    t->names = cursor_u64(c);
    cursor_skip(c, 2 * 8); /* units, file names */
    t->pcs = cursor_u64(c);
    t->functab = t->functions = cursor_u64(c);
    t->entry_size = 8;
    t->id_at = 40;
    t->has_flags = true;
}

static void read_header_118(struct gotable *t, struct cursor *c, bool has_line)
{
    t->n = cursor_u64(c);
    cursor_skip(c, 8); /* number of files */
    t->text = cursor_u64(c);
    t->counts_text = true;
    t->names = cursor_u64(c);
    t->units = cursor_u64(c);
    t->files = cursor_u64(c);
    t->pcs = cursor_u64(c);
    t->functab = t->functions = cursor_u64(c);
    t->entry_size = 4;
    t->id_at = has_line ? 40 : 36;
    t->has_flags = t->has_lines = true;
    t->has_start = has_line;
}

bool gotable_is_header(const void *bytes)
{
    struct cursor c = cursor_of(bytes, GOTABLE_HEADER_MIN, false);
    uint32_t magic = cursor_u32(&c);

    return (magic == MAGIC_102 || magic == MAGIC_116 || magic == MAGIC_118 || magic == MAGIC_120) &&
           !cursor_u16(&c);
}

bool gotable_open(struct gotable *t, const void *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size, false);
    uint32_t magic = cursor_u32(&c);
    uint16_t zero = cursor_u16(&c);
    uint8_t quantum = cursor_u8(&c), pointer = cursor_u8(&c);

    *t = (struct gotable){ .bytes = bytes, .size = size, .quantum = quantum };
    if (c.bad || zero || pointer != 8 || (quantum != 1 && quantum != 2 && quantum != 4))
        return false;
    switch (magic) {
    case MAGIC_102:
        read_header_102(t, &c);
        break;
    case MAGIC_116:
        read_header_116(t, &c);
        break;
    case MAGIC_118:
    case MAGIC_120:
        read_header_118(t, &c, magic == MAGIC_120);
        break;
    default:
        return false;
    }
    return !c.bad && t->functab < size && t->n && t->n <= FUNCTIONS_MAX &&
           t->n <= (size - t->functab) / t->entry_size / 2 && t->names < size && t->pcs < size;
}

static uint64_t read_entry(const struct gotable *t, struct cursor *c)
{
    return t->entry_size == 8 ? cursor_u64(c) : t->text + cursor_u32(c);
}

/* Reads the fields for lines and inlined calls. After its fixed fields a function has offsets of value
 * tables, and then offsets of data; their numbers are fields. */
static void read_lines(const struct gotable *t, uint64_t function, struct gotable_function *out)
{
    struct cursor c = cursor_at(t, function + 5 * 4);
    uint32_t n_values;
    uint8_t n_data;

    out->pcfile = cursor_u32(&c);
    out->pcln = cursor_u32(&c);
    n_values = cursor_u32(&c);
    out->unit = cursor_u32(&c);
    c = cursor_at(t, function + t->id_at + 3);
    n_data = cursor_u8(&c);
    if (n_values <= INLINED_PCS || n_data <= INLINED_CALLS)
        return;
    cursor_skip(&c, INLINED_PCS * 4);
    out->pcinlined = cursor_u32(&c);
    c = cursor_at(t, function + t->id_at + 4 + (uint64_t)n_values * 4 + INLINED_CALLS * 4);
    out->calls = cursor_u32(&c);
    if (c.bad)
        out->calls = GOTABLE_NONE;
}

/* The table has a sorted pair {entry, function} per function, and after the last one the end of its
 * code. */
bool gotable_function(const struct gotable *t, uint64_t i, struct gotable_function *out)
{
    struct cursor c = cursor_at(t, t->functab + i * 2 * t->entry_size), f, name;
    uint64_t at;

    *out = (struct gotable_function){ .entry = read_entry(t, &c), .calls = GOTABLE_NONE };
    at = t->entry_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    out->end = read_entry(t, &c);
    if (i >= t->n || c.bad || out->end <= out->entry || at > t->size)
        return false;
    f = cursor_at(t, t->functions + at);
    cursor_skip(&f, t->entry_size);
    name = cursor_at(t, t->names + cursor_u32(&f));
    cursor_skip(&f, 2 * 4); /* arguments, deferreturn */
    out->pcsp = cursor_u32(&f);
    out->name = (const char *)name.p;
    out->name_n = strnlen(out->name, cursor_left(&name) < NAME_MAX_SIZE ? cursor_left(&name) : NAME_MAX_SIZE);
    if (t->has_flags) {
        f = cursor_at(t, t->functions + at + t->id_at + 1);
        out->flags = cursor_u8(&f);
    }
    if (t->has_lines)
        read_lines(t, t->functions + at, out);
    return !f.bad;
}

/* Returns a NUL-terminated string in the table; NULL: none. */
static const char *text_at(const struct gotable *t, uint64_t at)
{
    struct cursor c = cursor_at(t, at);
    size_t left = cursor_left(&c);

    return memchr(c.p, 0, left < NAME_MAX_SIZE ? left : NAME_MAX_SIZE) ? (const char *)c.p : NULL;
}

const char *gotable_file(const struct gotable *t, const struct gotable_function *f, uint32_t number)
{
    struct cursor c = cursor_at(t, t->units + ((uint64_t)f->unit + number) * 4);
    uint32_t at = cursor_u32(&c);

    return c.bad || at == GOTABLE_NONE ? NULL : text_at(t, t->files + at);
}

static uint64_t entry_of(const struct gotable *t, uint64_t i)
{
    struct cursor c = cursor_at(t, t->functab + i * 2 * t->entry_size);

    return read_entry(t, &c);
}

bool gotable_find(const struct gotable *t, uint64_t address, struct gotable_function *out)
{
    uint64_t after = SEARCH_FIRST(i, 1, t->n, entry_of(t, i) > address);

    return gotable_function(t, after - 1, out) && address >= out->entry && address < out->end;
}

/* Before Go 1.20 a call starts with parent, kind, file and line; since then with its kind. Name and pc
 * follow, and since Go 1.20 the function's start line. */
bool gotable_call(const struct gotable *t, const struct gotable_function *f, const uint8_t *bytes,
                  size_t size, uint32_t i, struct gotable_call *out)
{
    unsigned call_size = t->has_start ? 16 : 20;
    uint64_t at = f->calls + (uint64_t)i * call_size;
    struct cursor c;
    uint32_t name;

    if (f->calls == GOTABLE_NONE || at > size || size - at < call_size)
        return false;
    c = cursor_of(bytes + at, call_size, false);
    cursor_skip(&c, t->has_start ? 4 : 12);
    name = cursor_u32(&c);
    out->pc = cursor_u32(&c);
    out->name = text_at(t, t->names + name);
    return out->pc < f->end - f->entry;
}

void gotable_values_of(struct gotable_values *v, const struct gotable *t, const struct gotable_function *f,
                       uint32_t at)
{
    struct cursor c = cursor_at(t, at ? t->pcs + at : t->size);

    *v = (struct gotable_values){
        .p = c.p,
        .end = c.end,
        .from = f->entry,
        .to = f->entry,
        .limit = f->end,
        .value = -1,
        .quantum = t->quantum,
        .first = true,
    };
}

static bool read_varint(struct gotable_values *v, uint32_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; v->p < v->end && shift < VARINT_BITS; shift += 7) {
        uint8_t byte = *v->p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *out = (uint32_t)value;
        return true;
    }
    return false;
}

/* Reads a pair of varint deltas: of the value (the lowest bit is its sign) and of the address. A value
 * delta of 0 ends the table, except in the first pair. */
bool gotable_next_value(struct gotable_values *v)
{
    uint32_t up, on;

    if (!read_varint(v, &up) || (!up && !v->first) || !read_varint(v, &on) || !on)
        return false;
    v->first = false;
    v->value = (int32_t)((uint32_t)v->value + ((up >> 1) ^ -(up & 1)));
    v->from = v->to;
    if (v->limit - v->from < (uint64_t)on * v->quantum)
        return false;
    v->to += (uint64_t)on * v->quantum;
    return true;
}
