// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the filter of the log. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/query/log_filter.h"

static const struct {
    const char *sign;
    enum log_test test;
} tests[] = {
    /* longer signs first */
    { "==", LOG_EQUAL }, { "!=", LOG_NOT_EQUAL }, { "<=", LOG_AT_MOST }, { ">=", LOG_AT_LEAST },
    { "=", LOG_EQUAL },  { "<", LOG_LESS },       { ">", LOG_MORE },     { "~", LOG_CONTAINS },
};

static size_t skip_spaces(const char *text)
{
    return strspn(text, " \t");
}

/* Length of a name at the start of the text; 0: none. */
static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n && !isdigit((unsigned char)*text) ? n : 0;
}

/* Decimal, hexadecimal or octal, all of the text. */
static bool parse_number(const char *text, struct log_filter *out)
{
    char *end;
    out->is_negative = *text == '-';
    if (!isdigit((unsigned char)text[out->is_negative]))
        return false;
    errno = 0;
    uint64_t number = strtoull(text + out->is_negative, &end, 0);
    out->number = out->is_negative ? -number : number;
    return !*end && !errno;
}

static void put_value(const char *text, struct log_filter *out)
{
    size_t n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    snprintf(out->value, sizeof out->value, "%.*s", (int)(n < sizeof out->value ? n : sizeof out->value - 1),
             text);
    out->is_number = parse_number(out->value, out);
}

bool log_filter_parse(const char *text, struct log_filter *out, struct error *e)
{
    *out = (struct log_filter){ .test = LOG_CONTAINS };
    text += skip_spaces(text);
    size_t n = name_length(text), sign = n + skip_spaces(text + n), i = 0,
           count = sizeof tests / sizeof *tests;
    while (n && i < count && strncmp(text + sign, tests[i].sign, strlen(tests[i].sign)) != 0)
        i++;
    if (!n || i == count) {
        put_value(text, out);
        return true;
    }
    if (n >= sizeof out->field)
        return error_set(e, ERROR_ARGUMENT, "no field has a name of %zu characters", n);
    snprintf(out->field, sizeof out->field, "%.*s", (int)n, text);
    out->test = tests[i].test;
    const char *value = text + sign + strlen(tests[i].sign);
    put_value(value + skip_spaces(value), out);
    bool ordered = out->test != LOG_CONTAINS && out->test != LOG_EQUAL && out->test != LOG_NOT_EQUAL;
    if (!ordered || out->is_number)
        return true;
    error_set(e, ERROR_ARGUMENT, "%s%s%s: a comparison by size needs a number", out->field, tests[i].sign,
              out->value);
    return error_hint(e, "%s=TEXT compares text, %s~TEXT looks for a part of it", out->field, out->field);
}

static int order(uint64_t a, bool a_negative, uint64_t b, bool b_negative)
{
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    return a < b ? -1 : a > b;
}

bool log_filter_number(const struct log_filter *f, uint64_t number, bool is_negative)
{
    int sign = order(number, is_negative, f->number, f->is_negative);
    char text[32];
    switch (f->is_number ? f->test : LOG_CONTAINS) {
    case LOG_EQUAL:
        return sign == 0;
    case LOG_NOT_EQUAL:
        return sign != 0;
    case LOG_LESS:
        return sign < 0;
    case LOG_AT_MOST:
        return sign <= 0;
    case LOG_MORE:
        return sign > 0;
    case LOG_AT_LEAST:
        return sign >= 0;
    case LOG_CONTAINS:
        break;
    }
    snprintf(text, sizeof text, is_negative ? "%lld" : "%llu", (long long)number);
    return log_filter_text(f, text);
}

bool log_filter_text(const struct log_filter *f, const char *text)
{
    if (f->test == LOG_CONTAINS)
        return text_find_nocase(text, f->value);
    bool same = !strcmp(text, f->value);
    return f->test == LOG_EQUAL ? same : f->test == LOG_NOT_EQUAL && !same;
}
