// SPDX-License-Identifier: GPL-2.0-or-later
/* Escapes texts for SVG and JSON, and shortens the labels of frames. */
#include <string.h>

#include "base/text.h"
#include "export/svg.h"

#define REPLACEMENT   "\xef\xbf\xbd"
#define ELLIPSIS      "\xe2\x80\xa6"
#define COLUMNS_LEAST 3

/* True for characters of XML 1.0 (Char), except those that change how the text around them is shown. */
static bool xml_allows(uint32_t c)
{
    return c == '\t' || c == '\n' || (!text_is_unsafe(c) && c != 0xfffd);
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
        if (c == '\t' || c == '\n' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
            c == 0x2028 || c == 0x2029)
            buf_printf(out, "\\u%04x", (unsigned)c);
        else if (!xml_allows(c))
            buf_puts(out, "\\ufffd");
        else
            buf_add(out, text + i, len);
        i += len;
    }
    buf_putc(out, '"');
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* True if the '<' at `at` opens template arguments: it follows a name that is not operator (operator<). */
static bool opens_arguments(const char *text, size_t at)
{
    return at && is_name_char(text[at - 1]) && !(at >= 8 && !strncmp(text + at - 8, "operator", 8));
}

/* Returns the position of the '>' that closes the '<' before `at`; 0: none. */
static size_t closing(const char *text, size_t at)
{
    for (int depth = 1; text[at]; at++) {
        if (text[at] == '<')
            depth++;
        else if (text[at] == '>' && text[at - 1] != '-' && !--depth)
            return at;
    }
    return 0;
}

/* Puts a name with its template arguments shortened: "Map<int, Set<int> >::get" becomes "Map<…>::get". */
static void squeeze(struct buf *out, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        size_t end = text[i] == '<' && opens_arguments(text, i) ? closing(text, i + 1) : 0;
        if (!end) {
            buf_putc(out, text[i]);
            continue;
        }
        buf_puts(out, "<" ELLIPSIS ">");
        i = end;
    }
}

void svg_put_label(struct buf *out, const char *text, int columns)
{
    struct buf squeezed = { 0 };
    if (columns < COLUMNS_LEAST)
        return;
    if (text_width(text) > columns) {
        squeeze(&squeezed, text);
        text = buf_str(&squeezed);
    }
    size_t n = strlen(text), fits = text_prefix(text, columns, NULL);
    put_text(out, text, fits == n ? n : text_prefix(text, columns - 1, NULL));
    if (fits < n)
        buf_puts(out, ELLIPSIS);
    buf_done(&squeezed);
}
