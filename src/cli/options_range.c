// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the option --diff-range: the seconds that are compared. */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

/* Parses decimal seconds up to `end`. */
static bool seconds_of(const char *text, const char *end, double *to)
{
    char word[32], *rest;
    size_t n = (size_t)(end - text);
    if (!n || n >= sizeof word || strspn(text, "0123456789.") < n)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    *to = strtod(word, &rest);
    return !*rest && *to <= 1e9;
}

/* Parses "A..B" up to `end`; B must be greater than A. */
static bool range_of(const char *text, const char *end, double *from, double *to)
{
    const char *dots = strstr(text, "..");
    return dots && dots < end && seconds_of(text, dots, from) && seconds_of(dots + 2, end, to) && *to > *from;
}

bool options_set_diff_range(struct options *o, const char *value, struct error *e)
{
    const char *comma = strchrnul(value, ',');
    o->diff_range = value;
    return (range_of(value, comma, &o->exports.baseline.from_s, &o->exports.baseline.to_s) &&
            (!*comma || range_of(comma + 1, comma + strlen(comma), &o->from_s, &o->to_s))) ||
           error_set(e, ERROR_ARGUMENT, "--diff-range %s: seconds are needed, such as 0..10 or 0..10,20..30",
                     value);
}
