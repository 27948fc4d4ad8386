// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pair_conditions.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "perf/pair_fields.h"
#include "perf/payload_field.h"
#include "perf/print_format.h"

/* ---- text ---- */

/* "a|b" */
static bool set_values(struct pair_condition *c, const char *text, size_t n)
{
    for (size_t at = 0, one;; at += one + 1) {
        const char *bar = memchr(text + at, '|', n - at);
        one = bar ? (size_t)(bar - text) - at : n - at;
        if (c->n_values == PAIR_VALUES_MAX ||
            !pair_word_set(c->values[c->n_values], PAIR_VALUE_MAX, text + at, one))
            return false;
        c->n_values++;
        if (!bar)
            return true;
    }
}

/* "field=a|b" or "field!=a" */
static bool set_condition(struct pair_condition *c, const char *text, size_t n)
{
    const char *equals = memchr(text, '=', n);
    size_t field = equals ? (size_t)(equals - text) : 0;
    c->differs = field && equals[-1] == '!';
    return equals && pair_word_set(c->field, sizeof c->field, text, field - c->differs) &&
           set_values(c, equals + 1, n - field - 1);
}

bool pair_conditions_parse(const char *text, size_t n, struct pair_conditions *out, struct error *e)
{
    bool counts = false;
    char safe[64];
    *out = (struct pair_conditions){ .n = 0 };
    for (size_t at = 0, one;; at += one + 1) {
        for (one = 0; at + one < n && text[at + one] != ',' && text[at + one] != ';';)
            one++;
        struct pair_condition c = { .counts = counts };
        bool ends_twice = counts && at + one < n && text[at + one] == ';';
        if (ends_twice || out->n == PAIR_CONDITIONS_MAX || !set_condition(&c, text + at, one)) {
            text_clean(safe, sizeof safe, text, n);
            return error_set(e, ERROR_FORMAT,
                             "\"[%s]\" is no condition: up to 4 of FIELD=VALUE or FIELD!=VALUE, separated by "
                             "commas, with up to 4 values separated by |, are needed",
                             safe);
        }
        out->items[out->n++] = c;
        if (at + one == n)
            return true;
        counts |= text[at + one] == ';';
    }
}

/* ---- a kernel's event ---- */

static uint64_t in_field(const struct payload_field *f, uint64_t number)
{
    return f->size < sizeof number ? number & ((UINT64_C(1) << 8 * f->size) - 1) : number;
}

/* A number, which may be negative, as the bytes of the field are. */
static bool parse_number(const char *text, uint64_t *number)
{
    bool negative = *text == '-';
    if (!text_parse_u64(text + negative, 0, INT64_MAX, number))
        return false;
    *number = negative ? -*number : *number;
    return true;
}

static bool find_value(const struct payload_format *format, const char *event, int32_t field,
                       const char *text, uint64_t *value, struct error *e)
{
    struct buf names = { 0 };
    const char *name = format->fields[field].name;
    if (!parse_number(text, value) && !print_format_symbol(format->print, field, text, value, &names)) {
        error_set(e, ERROR_UNSUPPORTED,
                  names.len ? "'%s' is no value of %s in %s; its values are numbers and %.300s"
                            : "'%s' is no value of %s in %s: a number is needed",
                  text, name, event, buf_str(&names));
        buf_done(&names);
        return false;
    }
    *value = in_field(&format->fields[field], *value);
    buf_done(&names);
    return true;
}

bool pair_conditions_find(const struct pair_conditions *c, const struct payload_format *format,
                          const char *event, struct pair_checks *out, struct error *e)
{
    *out = (struct pair_checks){ .n = c->n };
    for (uint32_t i = 0; i < c->n; i++) {
        const struct pair_condition *from = &c->items[i];
        out->items[i].differs = from->differs;
        out->items[i].counts = from->counts;
        out->items[i].n_values = from->n_values;
        if (!pair_field_find_number(format, event, from->field, &out->items[i].field, e))
            return false;
        for (uint32_t k = 0; k < from->n_values; k++)
            if (!find_value(format, event, out->items[i].field, from->values[k], &out->items[i].values[k], e))
                return false;
    }
    return true;
}

/* As the kernel reads a value: the numbers of signed fields have a sign. */
static size_t put_value(const struct payload_field *f, uint64_t value, char *text, size_t cap)
{
    unsigned unused = f->is_signed ? 64 - 8 * f->size : 0;
    long long number = (long long)((int64_t)(value << unused) >> unused);
    return (size_t)(f->is_signed ? snprintf(text, cap, "%lld", number)
                                 : snprintf(text, cap, "%llu", (unsigned long long)value));
}

void pair_checks_filter(const struct pair_checks *c, const struct payload_format *format, char *filter,
                        size_t cap)
{
    size_t n = 0;
    *filter = '\0';
    for (uint32_t i = 0; i < c->n; i++) {
        const struct payload_field *f = &format->fields[c->items[i].field];
        for (uint32_t k = 0; k < c->items[i].n_values && !c->items[i].counts; k++) {
            bool differs = c->items[i].differs;
            const char *between = k ? differs ? " && " : " || " : n ? " && (" : "(";
            n += (size_t)snprintf(filter + n, n < cap ? cap - n : 0, "%s%s %s ", between, f->name,
                                  differs ? "!=" : "==");
            n += n < cap ? put_value(f, c->items[i].values[k], filter + n, cap - n) : 0;
            if (k + 1 == c->items[i].n_values && n < cap)
                n += (size_t)snprintf(filter + n, cap - n, ")");
        }
        if (n >= cap) {
            *filter = '\0';
            return;
        }
    }
}

bool pair_checks_pass(const struct pair_checks *c, const struct payload *p, bool counts)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->items[i].counts != counts)
            continue;
        uint64_t number = payload_number(p, c->items[i].field);
        bool equals = false;
        for (uint32_t k = 0; k < c->items[i].n_values; k++)
            equals |= c->items[i].values[k] == number;
        if (!payload_has(p, c->items[i].field) || equals == c->items[i].differs)
            return false;
    }
    return true;
}
