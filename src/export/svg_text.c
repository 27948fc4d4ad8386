// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/text.h"
#include "export/svg.h"

#define REPLACEMENT   "\xef\xbf\xbd"
#define ELLIPSIS      "\xe2\x80\xa6"
#define COLUMNS_LEAST 3

/* XML 1.0, Char; of C1 and its like only what cannot be seen is left out, too. */
static bool xml_allows(uint32_t c)
{
    return c == '\t' || c == '\n' || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c != 0xfffd && c != 0xfffe && c != 0xffff);
}

static const char *entity_of(uint32_t c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

static void put_text(struct buf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = text_decode(text + i, n - i, &c);
        const char *entity = entity_of(c);
        if (entity)
            buf_puts(out, entity);
        else if (xml_allows(c))
            buf_add(out, text + i, len);
        else
            buf_puts(out, REPLACEMENT);
        i += len;
    }
}

void svg_put_text(struct buf *out, const char *text)
{
    put_text(out, text, strlen(text));
}

void svg_put_json(struct buf *out, const char *text)
{
    size_t n = strlen(text);
    buf_putc(out, '"');
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = text_decode(text + i, n - i, &c);
        if (!xml_allows(c))
            buf_puts(out, "\\ufffd");
        else if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029)
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_add(out, text + i, len);
        i += len;
    }
    buf_putc(out, '"');
}

void svg_put_label(struct buf *out, const char *text, int columns)
{
    if (columns < COLUMNS_LEAST)
        return;
    size_t n = strlen(text), whole = text_prefix(text, columns, NULL);
    if (whole == n) {
        put_text(out, text, n);
        return;
    }
    put_text(out, text, text_prefix(text, columns - 1, NULL));
    buf_puts(out, ELLIPSIS);
}
