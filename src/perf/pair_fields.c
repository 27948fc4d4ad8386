// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pair_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "perf/payload_field.h"

bool pair_word_is(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    return n > 0;
}

bool pair_word_set(char *dst, size_t cap, const char *text, size_t n)
{
    bool ok = pair_word_is(text, n) && n < cap;
    if (ok)
        (void)snprintf(dst, cap, "%.*s", (int)n, text);
    return ok;
}

bool pair_field_find(const struct payload_format *f, const char *event, const char *name, int32_t *field,
                     struct error *e)
{
    char fields[256];
    size_t at = 0;
    *field = payload_field_find(f, name);
    if (*field >= 0)
        return true;
    for (uint32_t i = 0; i < f->n && at + sizeof f->fields[i].name + 2 < sizeof fields; i++)
        if (strncmp(f->fields[i].name, "common_", 7))
            at +=
                (size_t)snprintf(fields + at, sizeof fields - at, "%s%s", at ? ", " : "", f->fields[i].name);
    fields[at] = '\0';
    return error_set(e, ERROR_UNSUPPORTED, "%s has no field '%s'; its fields are %s", event, name, fields);
}

bool pair_field_find_number(const struct payload_format *f, const char *event, const char *name,
                            int32_t *field, struct error *e)
{
    return pair_field_find(f, event, name, field, e) &&
           (payload_is_readable(f, *field) ||
            error_set(e, ERROR_UNSUPPORTED, "the field '%s' of %s is no number", name, event));
}
