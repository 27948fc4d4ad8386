// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <string.h>

#define FOLD_DEEPEST 4 /* deepest nesting of template arguments that is tried */

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Returns the length of a sequence by its first byte, and its smallest codepoint in *least; 0: not a first
 * byte. */
static size_t sequence_length(unsigned char first, uint32_t *bits, uint32_t *least)
{
    if (first >= 0xc2 && first <= 0xdf) {
        *bits = first & 0x1f;
        *least = 0x80;
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        *bits = first & 0x0f;
        *least = 0x800;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        *bits = first & 0x07;
        *least = 0x10000;
        return 4;
    }
    return 0;
}

/* Follows RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
static size_t decode_multibyte(const unsigned char *s, size_t n, uint32_t *codepoint)
{
    uint32_t cp = 0, least = 0;
    size_t len = sequence_length(s[0], &cp, &least);
    size_t i;

    if (!len || len > n)
        return 0;
    for (i = 1; i < len; i++) {
        if (!is_continuation(s[i]))
            return 0;
        cp = cp << 6 | (s[i] & 0x3f);
    }
    if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0;
    *codepoint = cp;
    return len;
}

size_t text_decode(const char *s, size_t n, uint32_t *codepoint)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len;

    *codepoint = 0;
    if (!n)
        return 0;
    if (u[0] < 0x80) {
        *codepoint = u[0];
        return 1;
    }
    len = decode_multibyte(u, n, codepoint);
    if (!len)
        *codepoint = 0xfffd;
    return len ? len : 1;
}

/* Control characters, bidi controls, line separators and other invisible characters that change the text
 * around them (Unicode categories Cf, Zl, Zp). */
bool text_is_unsafe(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
    } unsafe[] = {
        { 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad }, { 0x0600, 0x0605 },
        { 0x061c, 0x061c },   { 0x06dd, 0x06dd },   { 0x070f, 0x070f }, { 0x180e, 0x180e },
        { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f }, { 0xfdd0, 0xfdef },
        { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0xfffe, 0xffff }, { 0x1bca0, 0x1bca3 },
        { 0x1d173, 0x1d17a }, { 0xe0000, 0xe007f },
    };
    size_t i;

    for (i = 0; i < sizeof unsafe / sizeof *unsafe && cp >= unsafe[i].first; i++)
        if (cp <= unsafe[i].last)
            return true;
    return false;
}

static bool is_plain_ascii(unsigned char c)
{
    return c >= 0x20 && c < 0x7f;
}

/* A replacement is never longer, so writing stays behind reading if dst is src. */
size_t text_clean(char *dst, size_t cap, const char *src, size_t n)
{
    size_t in = 0, out = 0;

    if (!cap)
        return 0;
    while (in < n && src[in] && out + 1 < cap) {
        uint32_t cp;
        size_t len;

        if (is_plain_ascii((unsigned char)src[in])) {
            dst[out++] = src[in++];
            continue;
        }
        len = text_decode(src + in, strnlen(src + in, n - in < 4 ? n - in : 4), &cp);
        if (text_is_unsafe(cp) || (cp == 0xfffd && len == 1)) {
            dst[out++] = '?';
        } else {
            if (out + len >= cap)
                break;
            memmove(dst + out, src + in, len);
            out += len;
        }
        in += len;
    }
    dst[out] = '\0';
    return out;
}

int text_width(const char *s)
{
    int width = 0;

    text_prefix(s, INT32_MAX, &width);
    return width;
}

size_t text_prefix(const char *s, int columns, int *width)
{
    size_t n = strlen(s), at = 0;
    int used = 0;

    while (at < n) {
        uint32_t cp;
        size_t len = text_decode(s + at, n - at, &cp);
        int w = text_char_width(cp);

        if (w > columns - used)
            break;
        used += w;
        at += len;
    }
    if (width)
        *width = used;
    return at;
}

/* Returns the longest tail of s that is at most `columns` wide and does not start with a combining mark. */
static const char *suffix(const char *s, int columns)
{
    int left = text_width(s);
    size_t n = strlen(s), at = 0;

    while (at < n) {
        uint32_t cp;
        size_t len = text_decode(s + at, n - at, &cp);
        int w = text_char_width(cp);

        if (w && left <= columns)
            break;
        left -= w;
        at += len;
    }
    return s + at;
}

/* Appends n bytes, or as many whole characters of them as fit. */
static void append(char *dst, size_t cap, const char *s, size_t n)
{
    size_t at = 0, out = strlen(dst);

    while (at < n) {
        uint32_t cp;
        size_t len = text_decode(s + at, n - at, &cp);

        if (out + at + len >= cap)
            break;
        at += len;
    }
    memcpy(dst + out, s, at);
    dst[out + at] = '\0';
}

/* Replaces as few template arguments as needed to fit, or all of them. */
static const char *without_arguments(char *dst, size_t cap, const char *s, int columns)
{
    int level;

    for (level = FOLD_DEEPEST; level; level--)
        if (text_fold(dst, cap, s, level) && (level == 1 || text_prefix(dst, columns, NULL) == strlen(dst)))
            return dst;
    return s;
}

void text_elide(char *dst, size_t cap, const char *s, int columns, bool middle)
{
    int room = columns - 2, head;
    char folded[1024];

    if (!cap)
        return;
    dst[0] = '\0';
    if (text_prefix(s, columns, NULL) == strlen(s)) {
        append(dst, cap, s, strlen(s));
        return;
    }
    if (room <= 0) {
        append(dst, cap, "..", columns < 0 ? 0 : (size_t)columns);
        return;
    }
    if (middle) {
        s = without_arguments(folded, sizeof folded, s, columns);
        if (text_prefix(s, columns, NULL) == strlen(s)) {
            append(dst, cap, s, strlen(s));
            return;
        }
    }
    head = middle ? (room + 1) / 2 : room;
    append(dst, cap, s, text_prefix(s, head, NULL));
    append(dst, cap, "..", 2);
    if (middle) {
        const char *tail = suffix(s, room - head);
        append(dst, cap, tail, strlen(tail));
    }
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool starts_nocase(const char *s, const char *prefix)
{
    while (*prefix && fold(*s) == fold(*prefix)) {
        s++;
        prefix++;
    }
    return !*prefix;
}

bool text_begins_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

bool text_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool text_find_nocase(const char *haystack, const char *needle)
{
    for (; *haystack; haystack++)
        if (starts_nocase(haystack, needle))
            return true;
    return !*needle;
}
