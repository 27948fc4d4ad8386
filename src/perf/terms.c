// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The end of a term: a comma outside of quotes, as names may contain commas. */
static char *end_of_term(char *s)
{
    for (bool quoted = false; *s && (quoted || *s != ','); s++)
        quoted ^= *s == '\'';
    return s;
}

static void cut(char *copy, char *s, struct term *out)
{
    *out = (struct term){ .name = s, .at = (size_t)(s - copy) };
    char *equals = strchr(s, '=');
    if (!equals)
        return;
    *equals = '\0';
    out->value = equals + 1;
    size_t n = strlen(out->value);
    if (n > 1 && *out->value == '\'' && out->value[n - 1] == '\'') {
        out->value[n - 1] = '\0';
        out->value++;
    }
    out->value_at = (size_t)(out->value - copy);
}

bool terms_each(const char *text, bool (*fn)(void *ctx, const struct term *t, struct error *e), void *ctx,
                struct error *e)
{
    char *copy = mem_strdup(text);
    bool ok = true;
    for (char *s = copy, *end; ok && *s; s = end) {
        struct term t;
        end = end_of_term(s);
        if (*end)
            *end++ = '\0';
        if (!*s)
            continue;
        cut(copy, s, &t);
        ok = fn(ctx, &t, e);
    }
    mem_free(copy);
    return ok;
}

bool terms_number(const struct term *t, uint64_t *value, struct error *e)
{
    char *end;
    errno = 0;
    *value = strtoull(t->value, &end, 0);
    if (end != t->value && !*end && !errno && !strchr("-+ \t", *t->value))
        return true;
    error_set(e, ERROR_ARGUMENT, "'%s=%s': '%s' is not a number (decimal or 0x…)", t->name, t->value,
              t->value);
    return error_at(e, t->value_at);
}

/* Terms of perf record about how to sample, and flametop's options for them. */
static const struct {
    const char *name, *instead;
} elsewhere[] = {
    { "call-graph", "--call-graph" },
    { "stack-size", "--call-graph dwarf,SIZE" },
    { "max-stack", "--call-graph" },
    { "branch_type", "--call-graph lbr" },
};
static const char *const without_sense[] = { "time",         "inherit",         "no-inherit", "overwrite",
                                             "no-overwrite", "max-events",      "percore",    "driver-config",
                                             "aux-output",   "aux-sample-size", "metric-id" };

static bool refuse(const struct term *t, bool *known, struct error *e)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (!strcmp(t->name, elsewhere[i].name)) {
            *known = true;
            error_set(e, ERROR_ARGUMENT, "'%s' is the same for all events: use %s", t->name,
                      elsewhere[i].instead);
            return error_at(e, t->at);
        }
    for (size_t i = 0; i < sizeof without_sense / sizeof *without_sense; i++)
        if (!strcmp(t->name, without_sense[i])) {
            *known = true;
            error_set(e, ERROR_UNSUPPORTED,
                      "'%s' is a term of perf that is not supported per event: leave it out", t->name);
            return error_at(e, t->at);
        }
    return false;
}

static bool take_rate(const struct term *t, uint64_t *to, struct error *e)
{
    if (!terms_number(t, to, e))
        return false;
    if (*to)
        return true;
    error_set(e, ERROR_ARGUMENT, "'%s=0': at least 1 is needed", t->name);
    return error_at(e, t->value_at);
}

bool terms_take(const struct term *t, struct event_terms *out, bool *known, struct error *e)
{
    *known = false;
    if (t->value && !strcmp(t->name, "name")) {
        *known = true;
        text_clean(out->name, sizeof out->name, t->value, strlen(t->value));
        return true;
    }
    bool period = !strcmp(t->name, "period");
    if (!t->value || (!period && strcmp(t->name, "freq")))
        return refuse(t, known, e);
    *known = true;
    if ((period && out->freq_hz) || (!period && out->period)) {
        error_set(e, ERROR_ARGUMENT, "'period=' and 'freq=' exclude each other");
        return error_at(e, t->at);
    }
    return take_rate(t, period ? &out->period : &out->freq_hz, e);
}
