// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/payload.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"

#define FIELDS_MAX 128
#define BYTES_MAX  64 /* of an array that is no text */

enum payload_kind { PAYLOAD_NUMBER, PAYLOAD_ADDRESS, PAYLOAD_TEXT, PAYLOAD_BYTES };

struct payload_field {
    char name[64];
    uint32_t offset, size;
    enum payload_kind kind;
    bool is_signed, located, relative; /* located: its value says where it lies, relative to itself or not */
};
struct payload_format {
    struct payload_field fields[FIELDS_MAX];
    uint32_t n;
    bool swap;
};

/* ---- the format ---- */

/* "char prev_comm[16]", "__data_loc char[] name", "const void * addr", "unsigned long long nr" */
static void read_declaration(const char *text, struct payload_field *f)
{
    size_t n = strlen(text), end;
    const char *bracket = strrchr(text, '[');
    if (bracket && text[n - 1] == ']')
        n = (size_t)(bracket - text);
    for (end = n; n && (isalnum((unsigned char)text[n - 1]) || text[n - 1] == '_'); n--)
        ;
    snprintf(f->name, sizeof f->name, "%.*s", (int)(end - n), text + n);
    f->relative = !strncmp(text, "__rel_loc ", 10);
    f->located = f->relative || !strncmp(text, "__data_loc ", 11);
    f->kind = PAYLOAD_NUMBER;
    if (bracket || f->located)
        f->kind = strstr(text, "char") ? PAYLOAD_TEXT : PAYLOAD_BYTES;
    else if (strchr(text, '*'))
        f->kind = PAYLOAD_ADDRESS;
}

static void read_line(struct payload_format *out, const char *line)
{
    char declaration[128];
    unsigned is_signed = 0;
    struct payload_field f = { .size = 0 };
    if (out->n == FIELDS_MAX || sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%u", declaration, &f.offset,
                                       &f.size, &is_signed) < 3)
        return;
    f.is_signed = is_signed;
    read_declaration(declaration, &f);
    if (*f.name && f.size && strncmp(f.name, "common_", 7))
        out->fields[out->n++] = f;
}

struct payload_format *payload_format_new(const char *text, size_t n, bool swap)
{
    struct payload_format *f = mem_zalloc(sizeof *f);
    f->swap = swap;
    for (const char *end = text + n; text < end;) {
        char line[512];
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        if (length < sizeof line) {
            memcpy(line, text, length);
            line[length] = '\0';
            read_line(f, line);
        }
        text += length + 1;
    }
    return f;
}

void payload_format_free(struct payload_format *f)
{
    mem_free(f);
}

/* ---- a payload ---- */

static uint64_t number_at(const struct payload_format *f, const uint8_t *bytes, uint32_t size, bool is_signed)
{
    struct cursor c = cursor_of(bytes, size, f->swap);
    switch (size) {
    case 1:
        return is_signed ? (uint64_t)(int8_t)cursor_u8(&c) : cursor_u8(&c);
    case 2:
        return is_signed ? (uint64_t)(int16_t)cursor_u16(&c) : cursor_u16(&c);
    case 4:
        return is_signed ? (uint64_t)(int32_t)cursor_u32(&c) : cursor_u32(&c);
    default:
        return cursor_u64(&c);
    }
}

static void put_bytes(const struct payload_field *field, const uint8_t *bytes, uint32_t n, struct buf *out)
{
    if (field->kind == PAYLOAD_TEXT) {
        char *clean = mem_alloc(n + 1);
        buf_add(out, clean, text_clean(clean, n + 1, (const char *)bytes, n));
        mem_free(clean);
        return;
    }
    for (uint32_t i = 0; i < n && i < BYTES_MAX; i++)
        buf_printf(out, "%02x", bytes[i]);
}

static void put_field(const struct payload_format *f, const struct payload_field *field, const uint8_t *raw,
                      uint32_t size, struct buf *out)
{
    uint32_t offset = field->offset, n = field->size;
    if (offset > size || n > size - offset)
        return;
    buf_printf(out, "%s%s=", out->len ? " " : "", field->name);
    if (field->kind == PAYLOAD_NUMBER || field->kind == PAYLOAD_ADDRESS) {
        uint64_t value = n == 1 || n == 2 || n == 4 || n == 8 ? number_at(f, raw + offset, n, field->is_signed) : 0;
        buf_printf(out, field->kind == PAYLOAD_ADDRESS ? "0x%llx" : field->is_signed ? "%lld" : "%llu",
                   (unsigned long long)value);
        return;
    }
    if (field->located) {
        uint64_t at = n == 4 ? number_at(f, raw + offset, 4, false) : 0;
        uint32_t start = (uint32_t)(at & 0xffff) + (field->relative ? offset + n : 0);
        n = (uint32_t)(at >> 16);
        if (start > size || n > size - start)
            return;
        offset = start;
    }
    put_bytes(field, raw + offset, n, out);
}

void payload_print(const struct payload_format *f, const void *raw, uint32_t size, struct buf *out)
{
    struct buf line = { 0 };
    for (uint32_t i = 0; i < f->n; i++)
        put_field(f, &f->fields[i], raw, size, &line);
    char *clean = mem_alloc(line.len + 1);
    buf_add(out, clean, text_clean(clean, line.len + 1, buf_str(&line), line.len));
    mem_free(clean);
    buf_done(&line);
}
