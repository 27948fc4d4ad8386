// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the fields of a payload. Nothing in it is trusted: it may be shorter than its format says. */
#include "perf/payload_field.h"

#include <string.h>

#include "base/cursor.h"

static uint64_t number_at(const struct payload_format *f, const uint8_t *bytes, uint32_t size)
{
    struct cursor c = cursor_of(bytes, size, f->swap);
    switch (size) {
    case 1:
        return cursor_u8(&c);
    case 2:
        return cursor_u16(&c);
    case 4:
        return cursor_u32(&c);
    default:
        return cursor_u64(&c);
    }
}

int32_t payload_field_find(const struct payload_format *f, const char *name)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (!strcmp(f->fields[i].name, name))
            return (int32_t)i;
    return -1;
}

static bool is_number(const struct payload_field *field)
{
    return field->kind == PAYLOAD_NUMBER || field->kind == PAYLOAD_ADDRESS;
}

static bool is_readable(const struct payload_field *field)
{
    uint32_t n = field->size;
    return is_number(field) && (n == 1 || n == 2 || n == 4 || n == 8);
}

static bool is_within(uint64_t offset, uint64_t n, uint32_t size)
{
    return offset <= size && n <= size - offset;
}

uint64_t payload_number(const struct payload *p, int32_t field)
{
    const struct payload_field *f = &p->format->fields[field];
    if (!is_readable(f) || !is_within(f->offset, f->size, p->size))
        return 0;
    return number_at(p->format, (const uint8_t *)p->raw + f->offset, f->size);
}

uint64_t payload_element(const struct payload *p, int32_t field, uint64_t index)
{
    const struct payload_field *f = &p->format->fields[field];
    uint64_t n = f->element, offset = f->offset + index * n;
    if (f->located || (n != 1 && n != 2 && n != 4 && n != 8) || index >= f->size / n ||
        !is_within(offset, n, p->size))
        return 0;
    return number_at(p->format, (const uint8_t *)p->raw + offset, (uint32_t)n);
}

uint64_t payload_number_at(const struct payload *p, const uint8_t *bytes, uint32_t size)
{
    return number_at(p->format, bytes, size);
}

bool payload_is_address(const struct payload_format *f, int32_t field)
{
    return f->fields[field].kind == PAYLOAD_ADDRESS;
}

bool payload_is_device(const struct payload_format *f, int32_t field)
{
    return f->fields[field].is_device && payload_is_readable(f, field);
}

bool payload_is_number(const struct payload_format *f, int32_t field)
{
    return is_number(&f->fields[field]);
}

bool payload_is_readable(const struct payload_format *f, int32_t field)
{
    return is_readable(&f->fields[field]);
}

int32_t payload_number_find(const struct payload_format *f, const char *name)
{
    int32_t field = payload_field_find(f, name);
    return field >= 0 && payload_is_readable(f, field) ? field : -1;
}

bool payload_bytes(const struct payload *p, int32_t field, const uint8_t **bytes, uint32_t *n)
{
    const struct payload_field *f = &p->format->fields[field];
    const uint8_t *raw = p->raw;
    uint32_t offset = f->offset;
    *n = f->size;
    if (is_number(f) || !is_within(offset, *n, p->size))
        return false;
    if (f->located) {
        uint64_t at = *n == 4 ? number_at(p->format, raw + offset, 4) : 0;
        offset = (uint32_t)(at & 0xffff) + (f->relative ? offset + *n : 0);
        *n = (uint32_t)(at >> 16);
    }
    *bytes = raw + offset;
    return is_within(offset, *n, p->size);
}

bool payload_has(const struct payload *p, int32_t field)
{
    const struct payload_field *f = &p->format->fields[field];
    return is_within(f->offset, f->size, p->size);
}
