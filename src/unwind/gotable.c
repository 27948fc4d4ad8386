// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/gotable.h"

#include <string.h>

#include "base/cursor.h"

#define MAGIC_102     0xfffffffbu
#define MAGIC_116     0xfffffffau
#define MAGIC_118     0xfffffff0u
#define MAGIC_120     0xfffffff1u
#define FUNCTIONS_MAX (1u << 22)
#define NAME_MAX_SIZE 4096
#define VARINT_BITS   35 /* that five bytes have */

static struct cursor cursor_at(const struct gotable *t, uint64_t offset)
{
    uint64_t at = offset < t->size ? offset : t->size;

    return cursor_of(t->bytes + at, t->size - at, false);
}

/* One table: the functions behind the header, and all offsets count from its beginning. */
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
    cursor_skip(c, 8); /* files */
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
    cursor_skip(c, 8); /* files */
    t->text = cursor_u64(c);
    t->counts_text = true;
    t->names = cursor_u64(c);
    cursor_skip(c, 2 * 8); /* units, file names */
    t->pcs = cursor_u64(c);
    t->functab = t->functions = cursor_u64(c);
    t->entry_size = 4;
    t->id_at = has_line ? 40 : 36;
    t->has_flags = true;
}

bool gotable_is_header(const void *bytes)
{
    struct cursor c = cursor_of(bytes, GOTABLE_HEADER_MIN, false);
    uint32_t magic = cursor_u32(&c);

    return (magic == MAGIC_102 || magic == MAGIC_116 || magic == MAGIC_118 || magic == MAGIC_120) && !cursor_u16(&c);
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

/* The tab has {entry, function} for each, sorted, and behind the last one the entry that would follow. */
bool gotable_function(const struct gotable *t, uint64_t i, struct gotable_function *out)
{
    struct cursor c = cursor_at(t, t->functab + i * 2 * t->entry_size), f, name;
    uint64_t at;

    *out = (struct gotable_function){ .entry = read_entry(t, &c) };
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
    return !f.bad;
}

void gotable_values_of(struct gotable_values *v, const struct gotable *t, const struct gotable_function *f, uint32_t at)
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

/* Pairs of differences: of the value, its lowest bit the sign, and of the address. A 0 ends them, but for the first. */
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
