// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the definition of a probe. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "perf/probe.h"
#include "perf/tracepoint.h"

#define BETWEEN   " \t;"
#define AT_RETURN "%return"
#define FORM      "probe:FILE:FUNCTION[%return] [NAME=]VALUE[:TYPE] ..."

bool probe_is_definition(const char *text)
{
    bool marker = text_begins_with(text, PROBE_MARKER_PREFIX);
    if (!marker && !text_begins_with(text, PROBE_PREFIX))
        return false;
    const char *rest = strchr(text, ':') + 1;
    size_t n = strcspn(rest, ":");
    char name[PROBE_NAME_MAX];
    if (!rest[n] && strpbrk(rest, "*?["))
        return false;
    /* perf probe calls its probes of the kernel probe:NAME */
    (void)snprintf(name, sizeof name, "%.*s", (int)n, rest);
    return !tracepoint_exists(marker ? "sdt" : "probe", name);
}

static bool wrong(const char *text, const char *at, const char *what, struct error *e)
{
    error_set(e, ERROR_ARGUMENT, "'%s': %s", text, what);
    return error_at(e, (size_t)(at - text));
}

static bool copy(char *dst, size_t cap, const char *from, size_t n)
{
    if (!n || n >= cap)
        return false;
    memcpy(dst, from, n);
    dst[n] = '\0';
    return true;
}

static bool parse_number(const char *from, size_t n, uint64_t *number)
{
    char word[32], *end;
    if (!copy(word, sizeof word, from, n) || !isdigit((unsigned char)*word))
        return false;
    errno = 0;
    *number = strtoull(word, &end, 0);
    return !*end && !errno;
}

/* ---- places ---- */

/* "main.c:12" */
static bool parse_line(const char *text, const char *at, size_t n, struct probe_spec *out, struct error *e)
{
    const char *colon = memchr(at, ':', n);
    uint64_t line;
    if (!parse_number(colon + 1, n - (size_t)(colon + 1 - at), &line) || !line || line > UINT32_MAX)
        return wrong(text, colon + 1, "a line is a number: probe:FILE:SOURCE:LINE", e);
    out->kind = PROBE_LINE;
    out->line = (uint32_t)line;
    if (out->at_return)
        return wrong(text, at, "a line has no return: name its function", e);
    return copy(out->name, sizeof out->name, at, (size_t)(colon - at)) ||
           wrong(text, at, "the name of the source file is missing or too long", e);
}

/* "0x1139" or "0x1139(0x4010)" */
static bool parse_offset(const char *text, const char *at, size_t n, struct probe_spec *out, struct error *e)
{
    const char *open = memchr(at, '(', n);
    size_t offset_n = open ? (size_t)(open - at) : n;
    out->kind = PROBE_OFFSET;
    if (!parse_number(at, offset_n, &out->offset) || !copy(out->name, sizeof out->name, at, n))
        return wrong(text, at, "an offset in the file is a number: 0x1139", e);
    return !open || (at[n - 1] == ')' && parse_number(open + 1, n - offset_n - 2, &out->semaphore)) ||
           wrong(text, open, "the offset of a marker's semaphore is a number in brackets: 0x1139(0x4010)", e);
}

/* "main", "main+0x10", "main|work" or "0x1139" */
static bool parse_function(const char *text, const char *at, size_t n, struct probe_spec *out,
                           struct error *e)
{
    const char *plus = memchr(at, '+', n);
    size_t name = plus ? (size_t)(plus - at) : n;
    out->kind = PROBE_FUNCTION;
    if (isdigit((unsigned char)*at))
        return parse_offset(text, at, n, out, e);
    if (plus && !parse_number(plus + 1, n - name - 1, &out->offset))
        return wrong(text, plus + 1, "the offset from the start of the function is a number: main+0x10", e);
    if (out->offset && out->at_return)
        return wrong(text, plus, "a return has no offset", e);
    return copy(out->name, sizeof out->name, at, name) ||
           wrong(text, at, "the name of the function is missing or too long; a probe is " FORM, e);
}

static bool parse_place(const char *text, const char *at, size_t n, struct probe_spec *out, struct error *e)
{
    size_t suffix = strlen(AT_RETURN);
    const char *percent = memchr(at, '%', n);
    if (out->kind == PROBE_MARKER) {
        const char *colon = memchr(at, ':', n);
        return (colon && colon > at && colon + 1 < at + n && copy(out->name, sizeof out->name, at, n)) ||
               wrong(text, at, "a marker is sdt:FILE:PROVIDER:NAME", e);
    }
    out->at_return = percent != NULL;
    if (percent && (n - (size_t)(percent - at) != suffix || memcmp(percent, AT_RETURN, suffix)))
        return wrong(text, percent, "only %return may follow a function", e);
    n = percent ? (size_t)(percent - at) : n;
    /* "ns::work" is a function */
    return memchr(at, ':', n) && !memmem(at, n, "::", 2) ? parse_line(text, at, n, out, e)
                                                         : parse_function(text, at, n, out, e);
}

/* ---- arguments ---- */

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    return !*s;
}

/* The colon before the type; offsets of nested memory contain none. */
static const char *type_of(const char *at, size_t n)
{
    for (size_t i = n; i-- > 0;)
        if (at[i] == ':')
            return at + i;
    return NULL;
}

static bool is_type(const char *s)
{
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("[]@/_", *s))
            return false;
    return true;
}

static bool parse_argument(const char *text, const char *at, size_t n, struct probe_argument *out,
                           struct error *e)
{
    const char *equals = memchr(at, '=', n), *value = equals ? equals + 1 : at;
    if (equals && (!copy(out->name, sizeof out->name, at, (size_t)(equals - at)) || !is_name(out->name)))
        return wrong(text, at, "the name of an argument has at most 31 letters, digits and _", e);
    size_t value_n = n - (size_t)(value - at);
    const char *colon = type_of(value, value_n);
    if (colon && (!copy(out->type, sizeof out->type, colon + 1, (size_t)(value + value_n - colon - 1)) ||
                  !is_type(out->type)))
        return wrong(text, colon + 1, "a type is u8 to u64, s8 to s64, x8 to x64 or string", e);
    if (!copy(out->value, sizeof out->value, value, colon ? (size_t)(colon - value) : value_n))
        return wrong(text, value, "the value of the argument is missing or too long", e);
    if (!strchr("%@+-$\\", *out->value) && !is_name(out->value))
        return wrong(text, value,
                     "a value is a register (%di), memory (+8(%sp)), $argN, $retval or a parameter", e);
    return true;
}

static bool parse_arguments(const char *text, const char *at, struct probe_spec *out, struct error *e)
{
    for (size_t n; at += strspn(at, BETWEEN), *at; at += n) {
        n = strcspn(at, BETWEEN);
        if (out->kind == PROBE_MARKER)
            return wrong(text, at, "a marker has its own arguments: leave these out", e);
        if (out->n_arguments == PROBE_ARGUMENTS_MAX)
            return wrong(text, at, "at most 48 arguments are allowed", e);
        if (!parse_argument(text, at, n, &out->arguments[out->n_arguments++], e))
            return false;
    }
    return true;
}

bool probe_parse(const char *text, struct probe_spec *out, struct error *e)
{
    bool marker = text_begins_with(text, PROBE_MARKER_PREFIX);
    *out = (struct probe_spec){ .kind = marker ? PROBE_MARKER : PROBE_FUNCTION };
    if (strlen(text) >= PROBE_TEXT_MAX)
        return error_set(e, ERROR_ARGUMENT, "the definition of a probe has at most %d bytes",
                         PROBE_TEXT_MAX - 1);
    const char *file = text + (marker ? strlen(PROBE_MARKER_PREFIX) : strlen(PROBE_PREFIX));
    const char *colon = strchr(file, ':');
    if (!colon || !copy(out->file, sizeof out->file, file, (size_t)(colon - file)))
        return wrong(text, file,
                     marker ? "a marker is sdt:FILE:PROVIDER:NAME" : "a file and a place are needed: " FORM,
                     e);
    const char *place = colon + 1;
    size_t n = strcspn(place, BETWEEN);
    return parse_place(text, place, n, out, e) && parse_arguments(text, place + n, out, e);
}

void probe_display_name(const char *text, char *dst, size_t cap)
{
    char whole[PROBE_TEXT_MAX];
    const char *file = strchr(text, ':') + 1;
    if (text_begins_with(file, PROBE_PREFIX)) /* "latency:probe:..." */
        file += strlen(PROBE_PREFIX);
    size_t file_n = strcspn(file, ":"), n = file_n + strcspn(file + file_n, BETWEEN), base = file_n;
    while (base && file[base - 1] != '/')
        base--;
    int len =
        snprintf(whole, sizeof whole, "%.*s%.*s", (int)(file - text), text, (int)(n - base), file + base);
    text_clean(dst, cap, whole, len > 0 ? strlen(whole) : 0);
}
