// SPDX-License-Identifier: GPL-2.0-or-later
/* Text from elsewhere made safe, and text for people: cleaning, UTF-8 width, numbers. */
#ifndef FLAMETOP_BASE_TEXT_H
#define FLAMETOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies n bytes of src to dst (cap bytes with the NUL), replacing what must never reach a terminal or
 * a line-based format: C0, DEL, C1, bidi controls and other format characters, line separators, invalid
 * UTF-8: each becomes '?'. Stops at a NUL in src. Never splits a character when it truncates.
 * Returns the length written. dst may equal src. */
size_t text_clean(char *dst, size_t cap, const char *src, size_t n);
/* True for the characters that text_clean replaces. */
bool text_is_unsafe(uint32_t codepoint);

/* Decodes one character; returns the bytes taken (at least 1 if n > 0); invalid input gives U+FFFD, 1. */
size_t text_decode(const char *s, size_t n, uint32_t *codepoint);
int text_char_width(uint32_t codepoint); /* columns: 0, 1 or 2; independent of the locale */
int text_width(const char *s);           /* columns of a cleaned string */
/* Bytes of the longest prefix that is at most `columns` wide; its width in *width (may be NULL). */
size_t text_prefix(const char *s, int columns, int *width);
/* s with ".." for the arguments of templates that lie `level` deep (1: all). False: there are none, brackets do not pair, or
 * there is no room. */
bool text_fold(char *dst, size_t cap, const char *s, int level);
/* Shortens to `columns`, ".." at the end or in the middle (keeps head and tail), there first for arguments of templates. */
void text_elide(char *dst, size_t cap, const char *s, int columns, bool middle);
/* Shortens a function's name to `columns`: without return type and arguments, then without arguments of templates, then
 * without leading namespaces or packages ("..HashMap.put"). What is still too long is elided in the middle. */
void text_shorten_name(char *dst, size_t cap, const char *s, int columns);
bool text_begins_with(const char *text, const char *start);
bool text_find_nocase(const char *haystack, const char *needle); /* ASCII case folded; "" matches */

/* Numbers. Each writes to dst and returns dst. */
char *text_thousands(char *dst, size_t cap, uint64_t n);      /* 11,204 */
char *text_si(char *dst, size_t cap, double v);               /* 7.5 K, 5.32 G; below 1000: 312 or 1.66 */
char *text_bytes(char *dst, size_t cap, uint64_t bytes);      /* 4.0M */
char *text_duration(char *dst, size_t cap, uint64_t seconds); /* 00:01:42 */
/* "64M", "4096", "1.5G" → bytes; false when it is no size or overflows. */
bool text_parse_bytes(const char *s, uint64_t *bytes);
bool text_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v); /* whole string, base 10 */
bool text_parse_seconds(const char *s, double *seconds);                     /* finite, > 0 */
/* Index of the nearest of `count` names by edit distance, or -1 when nothing is near (for "did you mean"). */
int text_nearest(const char *word, const char *const *names, size_t count);

#endif
