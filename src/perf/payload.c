// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/payload.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/payload_field.h"
#include "perf/print_format.h"

#define BYTES_MAX 64 /* printed at most, of an array that is not text */

#define MINOR_BITS 20 /* of a dev_t: MINORBITS of the kernel's include/linux/kdev_t.h */

/* ---- the format ---- */

/* Parse a declaration: "char prev_comm[16]", "__data_loc char[] name", "const void * addr", "unsigned long
 * long nr". */
static void read_declaration(const char *text, struct payload_field *f)
{
    size_t n = strlen(text), end;
    const char *bracket = strrchr(text, '[');
    if (bracket && text[n - 1] == ']')
        n = (size_t)(bracket - text);
    for (end = n; n && (isalnum((unsigned char)text[n - 1]) || text[n - 1] == '_'); n--)
        ;
    snprintf(f->name, sizeof f->name, "%.*s", (int)(end - n), text + n);
    f->is_device = text_begins_with(text, "dev_t ");
    f->relative = !strncmp(text, "__rel_loc ", 10);
    f->located = f->relative || !strncmp(text, "__data_loc ", 11);
    f->kind = PAYLOAD_NUMBER;
    uint32_t elements =
        bracket && isdigit((unsigned char)bracket[1]) ? (uint32_t)strtoul(bracket + 1, NULL, 10) : 0;
    f->element = elements && f->size % elements == 0 ? f->size / elements : 0;
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
    if (out->n == PAYLOAD_FIELDS_MAX || sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%u",
                                               declaration, &f.offset, &f.size, &is_signed) < 3)
        return;
    f.is_signed = is_signed;
    read_declaration(declaration, &f);
    if (*f.name && f.size)
        out->fields[out->n++] = f;
}

static void read_print(struct payload_format *out, const char *text, size_t n)
{
    const char *print = memmem(text, n, "\nprint fmt:", strlen("\nprint fmt:"));
    if (!print)
        return;
    print += strlen("\nprint fmt:");
    /* strings in it may contain newlines */
    out->print = print_format_new(print, (size_t)(text + n - print), out);
}

struct payload_format *payload_format_new(const char *text, size_t n, bool swap)
{
    struct payload_format *f = mem_zalloc(sizeof *f);
    const char *whole = text;
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
    read_print(f, whole, n);
    return f;
}

void payload_format_free(struct payload_format *f)
{
    if (f)
        print_format_free(f->print);
    mem_free(f);
}

/* ---- a payload ---- */

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

static int64_t sign_extend(const struct payload_field *f, uint64_t value)
{
    unsigned unused = f->size < 8 ? 64 - 8 * f->size : 0;
    return (int64_t)(value << unused) >> unused;
}

static void put_number(const struct payload_field *f, uint64_t value, struct buf *out)
{
    if (f->kind == PAYLOAD_ADDRESS)
        buf_printf(out, "0x%llx", (unsigned long long)value);
    else if (f->is_device)
        buf_printf(out, "%llu,%llu", (unsigned long long)(value >> MINOR_BITS),
                   (unsigned long long)(value & ((1u << MINOR_BITS) - 1)));
    else if (f->is_signed)
        buf_printf(out, "%lld", (long long)sign_extend(f, value));
    else
        buf_printf(out, "%llu", (unsigned long long)value);
}

enum payload_value payload_value(const struct payload *p, int32_t field, uint64_t *number, bool *is_negative,
                                 struct buf *text)
{
    const uint8_t *bytes;
    uint32_t n;
    if (field < 0 || !payload_has(p, field))
        return PAYLOAD_VALUE_NONE;
    const struct payload_field *f = &p->format->fields[field];
    if (payload_is_number(p->format, field)) {
        *number = payload_number(p, field);
        if (f->is_signed)
            *number = (uint64_t)sign_extend(f, *number);
        *is_negative = f->is_signed && (int64_t)*number < 0;
        return PAYLOAD_VALUE_NUMBER;
    }
    if (!payload_bytes(p, field, &bytes, &n))
        return PAYLOAD_VALUE_NONE;
    put_bytes(f, bytes, n, text);
    return PAYLOAD_VALUE_TEXT;
}

/* Append "name=value" if the payload is long enough. */
static void put_field(const struct payload *p, int32_t i, struct buf *out)
{
    const struct payload_field *f = &p->format->fields[i];
    const uint8_t *bytes;
    uint32_t n;
    if (!strncmp(f->name, "common_", 7) || !payload_has(p, i)) /* fields of all tracepoints */
        return;
    buf_printf(out, "%s%s=", out->len ? " " : "", f->name);
    if (payload_is_number(p->format, i))
        put_number(f, payload_number(p, i), out);
    else if (payload_bytes(p, i, &bytes, &n))
        put_bytes(f, bytes, n, out);
}

/* Append the text, cleaned and without the blanks before it. */
static void put_clean(const struct buf *line, struct buf *out)
{
    const char *text = buf_str(line);
    size_t from = 0, n = line->len;
    while (from < n && isspace((unsigned char)text[from]))
        from++;
    char *clean = mem_alloc(n - from + 1);
    buf_add(out, clean, text_clean(clean, n - from + 1, text + from, n - from));
    mem_free(clean);
}

bool payload_put_field(const struct payload *p, int32_t field, struct buf *out)
{
    struct buf line = { 0 };
    const uint8_t *bytes;
    uint32_t n;
    if (field < 0 || !payload_has(p, field))
        return false;
    const struct payload_field *f = &p->format->fields[field];
    if (p->format->print && print_format_put_field(p->format->print, p, field, &line)) {
        while (line.len && line.data[line.len - 1] == ' ') /* of a width */
            line.len--;
        put_clean(&line, out);
    } else if (payload_is_number(p->format, field))
        put_number(f, payload_number(p, field), out);
    else if (payload_bytes(p, field, &bytes, &n))
        put_bytes(f, bytes, n, out);
    buf_done(&line);
    return true;
}

const char *payload_field_name(const struct payload_format *f, int32_t field)
{
    return field >= 0 && (uint32_t)field < f->n ? f->fields[field].name : NULL;
}

void payload_print(const struct payload *p, struct buf *out)
{
    struct buf line = { 0 };
    if (p->format->print)
        print_format_put(p->format->print, p, &line);
    for (uint32_t i = 0; i < p->format->n && !p->format->print; i++)
        put_field(p, (int32_t)i, &line);
    put_clean(&line, out);
    buf_done(&line);
}
