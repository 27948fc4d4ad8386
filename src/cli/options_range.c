// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the options that are ranges: --diff-range, the seconds that are compared, --parallelism and --took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/options.h"
#include "session/operation_rows.h"

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

bool options_set_parallelism(struct options *o, const char *value, struct error *e)
{
    const char *dash = strchr(value, '-');
    char word[16];
    uint64_t from = 0, to = 0;
    snprintf(word, sizeof word, "%.*s", dash ? (int)(dash - value) : 15, value);
    bool ok = text_parse_u64(word, 1, SAMPLE_RUNNING - 1, &from) &&
              text_parse_u64(dash ? dash + 1 : word, from, SAMPLE_RUNNING - 1, &to);
    o->session.latency = true;
    return (ok && view_zoom_parallelism(&o->ui.query, (uint32_t)from, (uint32_t)to)) ||
           error_set(e, ERROR_ARGUMENT, "--parallelism %s: a number of threads is needed, or two: 1, or 2-8",
                     value);
}

bool options_set_took(struct options *o, const char *value, struct error *e)
{
    return operation_range_parse(value, &o->ui.query.min_ns, &o->ui.query.max_ns, e);
}
