// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes untrusted text safe to print, measures its width, and formats numbers. */
#ifndef FLAMETOP_BASE_TEXT_H
#define FLAMETOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies n bytes of src to dst (cap bytes including the NUL). Replaces with '?' each character that must
 * never reach a terminal or a line-based format: C0, DEL, C1, bidi controls and other format characters, line
 * separators, invalid UTF-8. Stops at a NUL in src. Never splits a character when it truncates. Returns the
 * length written. dst may equal src. */
size_t text_clean(char *dst, size_t cap, const char *src, size_t n);
/* True for the characters that text_clean replaces. */
bool text_is_unsafe(uint32_t codepoint);

/* Decodes one character. Returns the bytes used (at least 1 if n > 0); invalid input gives U+FFFD and 1. */
size_t text_decode(const char *s, size_t n, uint32_t *codepoint);
int text_char_width(uint32_t codepoint); /* columns: 0, 1 or 2; independent of the locale */
int text_width(const char *s);           /* columns of a cleaned string */
/* Returns the bytes of the longest prefix at most `columns` wide; stores its width in *width (may be
 * NULL). */
size_t text_prefix(const char *s, int columns, int *width);
/* Replaces template arguments nested `level` deep (1: all) with "..". False: there are none, brackets do not
 * pair, or dst is too small. */
bool text_fold(char *dst, size_t cap, const char *s, int level);
/* Shortens to `columns` with ".." at the end, or in the middle (keeps head and tail). In the middle, template
 * arguments are replaced first. */
void text_elide(char *dst, size_t cap, const char *s, int columns, bool middle);
/* Shortens a function's name to `columns`. Drops the return type and the arguments first, then template
 * arguments, then leading namespaces or packages ("..HashMap.put"). Elides the middle of a name that is still
 * too long. */
void text_shorten_name(char *dst, size_t cap, const char *s, int columns);
bool text_begins_with(const char *text, const char *start);
bool text_ends_with(const char *text, const char *end);
const char *text_base_name(const char *path);                    /* the part after the last slash */
bool text_find_nocase(const char *haystack, const char *needle); /* ASCII case folded; "" matches */

/* Number formatting. Each function writes to dst and returns dst. */
char *text_thousands(char *dst, size_t cap, uint64_t n); /* 11,204 */
char *text_si(char *dst, size_t cap, double v);          /* 7.5 K, 5.32 G; below 1000: 312 or 1.66 */
char *text_bytes(char *dst, size_t cap, uint64_t bytes); /* 4.0M */
/* 850 ns, 12.4 us, 1.66 ms, 30 s, 12 min, 3.5 h */
char *text_length(char *dst, size_t cap, uint64_t ns);
char *text_length_within(char *dst, size_t cap, uint64_t ns, int cols); /* with fewer digits if it is wider */
/* Parses "10ms" or "1.5 s" to ns, from the start of s. Returns the rest of s; NULL: no length, or too
 * long. */
const char *text_parse_length(const char *s, uint64_t *ns);
char *text_duration(char *dst, size_t cap, uint64_t seconds); /* 00:01:42 */
/* Parses "64M", "4096" or "1.5G" to bytes. False: not a size, or overflow. */
bool text_parse_bytes(const char *s, uint64_t *bytes);
bool text_parse_bool(const char *s, bool *v); /* yes, true, on, 1; no, false, off, 0 */
bool text_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v); /* whole string, base 10 */
bool text_parse_seconds(const char *s, double *seconds);                     /* finite, > 0 */
/* Returns the index of the nearest of `count` names by edit distance, for "did you mean"; -1 if none is
 * near. */
int text_nearest(const char *word, const char *const *names, size_t count);

#endif
