// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats and parses numbers. printf's and strtod's decimal point follows the locale; here it is always
 * '.'. */
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *text_thousands(char *dst, size_t cap, uint64_t n)
{
    char digits[21], out[28];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    int i;

    for (i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    snprintf(dst, cap, "%s", out);
    return dst;
}

/* Formats v (0 to 999.5) with three significant digits and no trailing zeros: 312, 12.4, 1.66, 7.5. */
static void three_digits(char *dst, size_t cap, double v)
{
    int decimals = v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
    unsigned scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    unsigned fixed = (unsigned)(v * scale + 0.5);

    while (decimals > 0 && fixed % 10 == 0) {
        fixed /= 10;
        scale /= 10;
        decimals--;
    }
    if (decimals)
        snprintf(dst, cap, "%u.%0*u", fixed / scale, decimals, fixed % scale);
    else
        snprintf(dst, cap, "%u", fixed);
}

char *text_si(char *dst, size_t cap, double v)
{
    static const char *const units[] = { "", " K", " M", " G", " T", " P", " E" };
    const size_t last = sizeof units / sizeof *units - 1;
    double magnitude = fabs(v);
    char digits[16];
    size_t unit = 0;

    if (!isfinite(v)) {
        snprintf(dst, cap, "n/a");
        return dst;
    }
    while (magnitude >= 999.5 && unit < last) {
        magnitude /= 1000;
        unit++;
    }
    if (magnitude >= 999.5) {
        snprintf(dst, cap, "%s>999 E", v < 0 ? "-" : "");
        return dst;
    }
    three_digits(digits, sizeof digits, magnitude);
    snprintf(dst, cap, "%s%s%s", v < 0 && strcmp(digits, "0") != 0 ? "-" : "", digits, units[unit]);
    return dst;
}

static const struct {
    double ns; /* of the unit; the unit serves below the next one */
    const char *name;
} length_units[] = {
    { 1, "ns" }, { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" }, { 60e9, "min" }, { 3600e9, "h" }
};
#define LENGTH_UNITS (sizeof length_units / sizeof *length_units)

static size_t length_unit(uint64_t ns)
{
    size_t unit = 0;
    /* 999.5 us are 1 ms; 60 s and 60 min begin the next unit */
    while (unit + 1 < LENGTH_UNITS && (double)ns >= length_units[unit + 1].ns * (unit < 3 ? 0.9995 : 1))
        unit++;
    return unit;
}

char *text_length(char *dst, size_t cap, uint64_t ns)
{
    size_t unit = length_unit(ns);
    double v = (double)ns / length_units[unit].ns;
    char digits[16];
    if (v < 999.5)
        three_digits(digits, sizeof digits, v);
    else
        snprintf(digits, sizeof digits, "%.0f", v);
    snprintf(dst, cap, "%s %s", digits, length_units[unit].name);
    return dst;
}

char *text_length_within(char *dst, size_t cap, uint64_t ns, int cols)
{
    size_t unit = length_unit(ns);
    double v = (double)ns / length_units[unit].ns;
    unsigned tenths = v < 999.5 ? (unsigned)(v * 10 + 0.5) : 0;
    text_length(dst, cap, ns);
    if ((int)strlen(dst) > cols && tenths)
        snprintf(dst, cap, "%u.%u %s", tenths / 10, tenths % 10, length_units[unit].name);
    if ((int)strlen(dst) > cols)
        snprintf(dst, cap, "%.0f %s", v, length_units[unit].name);
    return dst;
}

/* One decimal below ten of a unit, as in ls -h. */
char *text_bytes(char *dst, size_t cap, uint64_t bytes)
{
    static const char units[] = "BKMGTPE";
    double v = (double)bytes;
    size_t unit = 0;
    unsigned tenths;

    while (v >= 1023.5 && unit + 2 < sizeof units) {
        v /= 1024;
        unit++;
    }
    tenths = (unsigned)(v * 10 + 0.5);
    if (unit && tenths < 100)
        snprintf(dst, cap, "%u.%u%c", tenths / 10, tenths % 10, units[unit]);
    else
        snprintf(dst, cap, "%u%c", (unsigned)(v + 0.5), units[unit]);
    return dst;
}

char *text_duration(char *dst, size_t cap, uint64_t seconds)
{
    snprintf(dst, cap, "%02" PRIu64 ":%02u:%02u", seconds / 3600, (unsigned)(seconds / 60 % 60),
             (unsigned)(seconds % 60));
    return dst;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses digits at *s and advances *s. False: no digits, or overflow. */
static bool parse_digits(const char **s, uint64_t *v)
{
    const char *p = *s;

    for (*v = 0; is_digit(*p); p++)
        if (__builtin_mul_overflow(*v, (uint64_t)10, v) ||
            __builtin_add_overflow(*v, (uint64_t)(*p - '0'), v))
            return false;
    if (p == *s)
        return false;
    *s = p;
    return true;
}

/* Parses ".25" at *s as 0.25. Without a fraction, returns 0 and leaves *s. */
static double parse_fraction(const char **s)
{
    const char *p = *s;
    double v = 0, scale = 1;

    if (p[0] != '.' || !is_digit(p[1]))
        return 0;
    for (p++; is_digit(*p); p++) {
        scale /= 10;
        v += (*p - '0') * scale;
    }
    *s = p;
    return v;
}

const char *text_parse_length(const char *s, uint64_t *ns)
{
    uint64_t whole = 0;
    if (*s != '.' && !parse_digits(&s, &whole))
        return NULL;
    double v = (double)whole + parse_fraction(&s);
    s += strspn(s, " ");
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < LENGTH_UNITS; i++)
        if (n && strlen(length_units[i].name) == n && !strncmp(s, length_units[i].name, n)) {
            v *= length_units[i].ns;
            *ns = v < 0x1p63 ? (uint64_t)(v + 0.5) : 0;
            return v < 0x1p63 ? s + n : NULL;
        }
    return NULL;
}

/* Returns the power of two of K, M, G…, KB or KiB; -1: not a unit. */
static int unit_shift(const char *s)
{
    static const char units[] = "kmgtpe";
    const char *at;

    if (!*s || !strcmp(s, "B"))
        return 0;
    at = strchr(units, *s | 0x20);
    if (!at)
        return -1;
    s++;
    if (*s && strcmp(s, "B") != 0 && strcmp(s, "iB") != 0)
        return -1;
    return (int)(at - units + 1) * 10;
}

bool text_parse_bytes(const char *s, uint64_t *bytes)
{
    uint64_t whole, extra;
    double fraction;
    int shift;

    if (!parse_digits(&s, &whole))
        return false;
    fraction = parse_fraction(&s);
    shift = unit_shift(s);
    if (shift < 0 || (shift == 0 && fraction != 0))
        return false;
    extra = (uint64_t)(fraction * (double)(UINT64_C(1) << shift));
    if (__builtin_mul_overflow(whole, UINT64_C(1) << shift, &whole))
        return false;
    return !__builtin_add_overflow(whole, extra, bytes);
}

bool text_parse_bool(const char *s, bool *v)
{
    static const char *const words[] = { "yes", "true", "on", "1", "no", "false", "off", "0" };
    for (int i = 0; i < 8; i++)
        if (!strcmp(s, words[i])) {
            *v = i < 4;
            return true;
        }
    return false;
}

bool text_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
    uint64_t n;

    if (!parse_digits(&s, &n) || *s || n < min || n > max)
        return false;
    *v = n;
    return true;
}

bool text_parse_seconds(const char *s, double *seconds)
{
    uint64_t whole = 0;
    double v;

    if (*s != '.' && !parse_digits(&s, &whole))
        return false;
    v = (double)whole + parse_fraction(&s);
    if (*s || !(v > 0))
        return false;
    *seconds = v;
    return true;
}
