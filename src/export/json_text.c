// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON values. */
#include "export/json.h"

#include <string.h>

#include "base/text.h"
#include "process/world.h"

/* Puts a character as \uXXXX. Characters above U+FFFF are a surrogate pair (RFC 8259, section 7). */
static void put_escaped(struct buf *out, uint32_t c)
{
    if (c > 0xffff) {
        buf_printf(out, "\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)));
        c = 0xdc00 + ((c - 0x10000) & 0x3ff);
    }
    buf_printf(out, "\\u%04x", (unsigned)c);
}

static void put_string(struct buf *out, const char *s)
{
    size_t left = strlen(s);
    buf_putc(out, '"');
    while (left) {
        uint32_t c;
        size_t n = text_decode(s, left, &c);
        if (*s == '"' || *s == '\\')
            buf_printf(out, "\\%c", *s);
        else if (text_is_unsafe(c))
            put_escaped(out, c);
        else if (c == 0xfffd)
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_add(out, s, n);
        s += n;
        left -= n;
    }
    buf_putc(out, '"');
}

static void comma(struct buf *out)
{
    size_t n = out->len;
    while (n && out->data[n - 1] == '\n')
        n--;
    if (n && !strchr("[{:,", out->data[n - 1]))
        buf_putc(out, ',');
}

void json_open(struct buf *out, char bracket)
{
    comma(out);
    if (bracket == '{' && out->len && out->data[out->len - 1] != ':')
        buf_putc(out, '\n');
    buf_putc(out, bracket);
}

void json_open_key(struct buf *out, const char *key, char bracket)
{
    json_key(out, key);
    json_open(out, bracket);
}

void json_item(struct buf *out, const char *text)
{
    comma(out);
    if (text)
        put_string(out, text);
    else
        buf_puts(out, "null");
}

void json_key(struct buf *out, const char *key)
{
    json_item(out, key);
    buf_putc(out, ':');
}

void json_number(struct buf *out, const char *key, uint64_t value)
{
    json_key(out, key);
    buf_printf(out, "%llu", (unsigned long long)value);
}

void json_id(struct buf *out, const char *key, uint64_t id)
{
    json_key(out, key);
    if (id == WORLD_ENDED)
        buf_puts(out, "null");
    else
        buf_printf(out, "%llu", (unsigned long long)id);
}

void json_text(struct buf *out, const char *key, const char *value)
{
    json_key(out, key);
    put_string(out, value);
}
