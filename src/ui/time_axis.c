// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/time_axis.h"

#include <stdio.h>

#include "base/clock.h"
#include "profile/timeline.h"

/* maximum of buckets per column; above it, buckets get longer, and columns have fewer than half */
#define FINE   32
#define MINUTE (60 * NS_PER_SEC)
/* two years: times in a file may be wrong, and sums must not overflow */
#define LONGEST (UINT64_C(1) << 56)

uint64_t time_round(uint64_t ns)
{
    static const uint64_t longer[] = { 10 * NS_PER_SEC, 20 * NS_PER_SEC, 30 * NS_PER_SEC, MINUTE,
                                       2 * MINUTE,      5 * MINUTE,      10 * MINUTE,     20 * MINUTE,
                                       30 * MINUTE,     60 * MINUTE,     120 * MINUTE,    360 * MINUTE,
                                       720 * MINUTE,    1440 * MINUTE };
    if (ns <= 5 * NS_PER_SEC) {
        uint64_t power = 1;
        while (power * 10 <= ns)
            power *= 10;
        return ns <= power ? power : ns <= 2 * power ? 2 * power : ns <= 5 * power ? 5 * power : 10 * power;
    }
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (ns <= longer[i])
            return longer[i];
    return (ns + 1440 * MINUTE - 1) / (1440 * MINUTE) * (1440 * MINUTE);
}

/* Rounds up to two digits: such times have short names, and the screen stays full. */
static uint64_t two_digits(uint64_t ns)
{
    uint64_t unit = 1;
    while (ns / unit >= 100)
        unit *= 10;
    return (ns + unit - 1) / unit * unit;
}

void time_axis_fit(struct time_axis *x, uint64_t from_ns, uint64_t to_ns, uint32_t columns, bool grows)
{
    uint64_t span = to_ns > from_ns ? to_ns - from_ns : 0, n;
    bool same = x->bucket_ns && x->grows && grows && x->from_ns == from_ns;
    columns = columns ? columns : 1;
    span = span < LONGEST ? span : LONGEST;
    x->from_ns = from_ns;
    x->to_ns = from_ns + span;
    x->grows = grows;
    if (!grows) {
        x->bucket_ns = two_digits(span / columns + 1);
        x->per = 1;
        x->columns = (uint32_t)(span / x->bucket_ns + 1);
        return;
    }
    if (!same || span / x->bucket_ns / columns >= FINE)
        x->bucket_ns = time_round(span / columns / (FINE / 4) + NS_PER_MS);
    n = span / x->bucket_ns + 1;
    x->per = (uint32_t)((n + columns - 1) / columns);
    x->columns = (uint32_t)((n + x->per - 1) / x->per);
}

uint64_t time_axis_step(const struct time_axis *x)
{
    return x->bucket_ns * x->per;
}

uint64_t time_axis_ns(const struct time_axis *x, uint32_t column)
{
    return x->from_ns + column * time_axis_step(x);
}

uint32_t time_axis_column(const struct time_axis *x, uint64_t time_ns)
{
    uint64_t column = time_ns > x->from_ns ? (time_ns - x->from_ns) / time_axis_step(x) : 0;
    return column < x->columns ? (uint32_t)column : x->columns - 1;
}

char *time_text(char *dst, size_t cap, uint64_t ns, uint64_t step_ns)
{
    int digits = 0;
    uint64_t unit = NS_PER_SEC;
    for (; digits < 6 && step_ns < unit; digits++)
        unit /= 10;
    uint64_t s = ns / NS_PER_SEC, rest = ns % NS_PER_SEC / unit;
    char fraction[16] = "";
    if (digits)
        (void)snprintf(fraction, sizeof fraction, ".%0*llu", digits, (unsigned long long)rest);
    if (s < 100)
        (void)snprintf(dst, cap, "%llu%ss", (unsigned long long)s, fraction);
    else if (s < 3600)
        (void)snprintf(dst, cap, "%llu:%02llu%s", (unsigned long long)(s / 60), (unsigned long long)(s % 60),
                       fraction);
    else
        (void)snprintf(dst, cap, "%llu:%02llu:%02llu%s", (unsigned long long)(s / 3600),
                       (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60), fraction);
    return dst;
}

char *time_length_text(char *dst, size_t cap, uint64_t ns)
{
    if (!ns)
        (void)snprintf(dst, cap, "0");
    else if (ns < NS_PER_MS)
        (void)snprintf(dst, cap, "%.3gus", (double)ns / 1e3);
    else if (ns < NS_PER_SEC)
        (void)snprintf(dst, cap, "%.3gms", (double)ns / 1e6);
    else if (ns < 100 * NS_PER_SEC)
        (void)snprintf(dst, cap, "%.3gs", (double)ns / 1e9);
    else
        (void)time_text(dst, cap, ns, NS_PER_SEC);
    return dst;
}
