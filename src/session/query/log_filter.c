// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the filter of the log. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/query/log_reader.h"

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
static bool parse_number(const char *text, struct log_condition *out)
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

/* The value, without quotes around it. */
static void put_value(const char *text, size_t n, struct log_condition *out)
{
    size_t length = 0;
    bool quoted = n > 1 && *text == '"' && text[n - 1] == '"';
    for (size_t i = quoted; i < n - quoted && length + 1 < sizeof out->value; i++) {
        i += quoted && text[i] == '\\' && i + 1 < n - quoted;
        out->value[length++] = text[i];
    }
    out->value[length] = '\0';
    out->is_number = !quoted && parse_number(out->value, out);
}

/* "!dev": samples without the field. False: another condition. */
static bool put_absent(const char *text, struct log_condition *out)
{
    size_t n = *text == '!' ? name_length(text + 1) : 0;
    if (!n || text[1 + n] || n >= sizeof out->field)
        return false;
    (void)snprintf(out->field, sizeof out->field, "%s", text + 1);
    out->test = LOG_ABSENT;
    return true;
}

/* One condition, in n bytes of text. */
static bool parse_condition(const char *text, size_t n, struct log_condition *out, struct error *e)
{
    char part[512];
    snprintf(part, sizeof part, "%.*s", (int)(n < sizeof part ? n : sizeof part - 1), text);
    size_t name = name_length(part), sign = name + skip_spaces(part + name), i = 0,
           count = sizeof tests / sizeof *tests;
    *out = (struct log_condition){ .test = LOG_CONTAINS };
    if (put_absent(part, out))
        return true;
    while (name && i < count && strncmp(part + sign, tests[i].sign, strlen(tests[i].sign)) != 0)
        i++;
    if (!name || i == count) {
        put_value(part, strlen(part), out);
        return true;
    }
    if (name >= sizeof out->field)
        return error_set(e, ERROR_ARGUMENT, "no field has a name of %zu characters", name);
    snprintf(out->field, sizeof out->field, "%.*s", (int)name, part);
    out->test = tests[i].test;
    const char *value = part + sign + strlen(tests[i].sign);
    value += skip_spaces(value);
    put_value(value, strlen(value), out);
    bool ordered = out->test != LOG_CONTAINS && out->test != LOG_EQUAL && out->test != LOG_NOT_EQUAL;
    if (!ordered || out->is_number)
        return true;
    error_set(e, ERROR_ARGUMENT, "%s%s%s: a comparison by size needs a number", out->field, tests[i].sign,
              out->value);
    return error_hint(e, "%s=TEXT compares text, %s~TEXT looks for a part of it", out->field, out->field);
}

/* Length of a condition: up to "&&" that is not in quotes. */
static size_t condition_length(const char *text)
{
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (quoted || strncmp(text + n, "&&", 2) != 0); n++)
        if (quoted && text[n] == '\\' && text[n + 1])
            n++;
        else if (text[n] == '"')
            quoted = !quoted;
    return n;
}

bool log_filter_parse(const char *text, struct log_filter *out, struct error *e)
{
    *out = (struct log_filter){ .n = 0 };
    for (bool more = true; more;) {
        text += skip_spaces(text);
        size_t length = condition_length(text), n = length;
        while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
            n--;
        if (n && out->n == LOG_CONDITIONS_MAX)
            return error_set(e, ERROR_ARGUMENT, "no more than %d conditions: %s", LOG_CONDITIONS_MAX, text);
        if (n && !parse_condition(text, n, &out->of[out->n++], e))
            return false;
        more = text[length];
        text += more ? length + 2 : length;
    }
    return true;
}

static int order(uint64_t a, bool a_negative, uint64_t b, bool b_negative)
{
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    return a < b ? -1 : a > b;
}

bool log_filter_number(const struct log_condition *c, uint64_t number, bool is_negative)
{
    int sign = order(number, is_negative, c->number, c->is_negative);
    char text[32];
    switch (c->is_number ? c->test : LOG_CONTAINS) {
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
    case LOG_ABSENT:
        return false;
    case LOG_CONTAINS:
        break;
    }
    snprintf(text, sizeof text, is_negative ? "%lld" : "%llu", (long long)number);
    return log_filter_text(c, text);
}

bool log_filter_text(const struct log_condition *c, const char *text)
{
    if (c->test == LOG_CONTAINS)
        return text_find_nocase(text, c->value);
    bool same = !strcmp(text, c->value);
    return c->test == LOG_EQUAL ? same : c->test == LOG_NOT_EQUAL && !same;
}
