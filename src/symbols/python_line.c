// SPDX-License-Identifier: GPL-2.0-or-later
/* Read CPython's three formats of line tables. The bytes are not trusted: the reader stays within the
 * table. */
#include "symbols/python.h"

#define LINE_MAX_ INT32_MAX

static uint32_t checked(int64_t line)
{
    return line > 0 && line <= LINE_MAX_ ? (uint32_t)line : 0;
}

/* To 3.9: pairs of instruction and line increments. */
static uint32_t line_of_lnotab(const uint8_t *table, size_t n, uint32_t first_line, uint32_t at)
{
    int64_t line = first_line;
    uint64_t begin = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        begin += table[i];
        if (begin > at)
            break;
        line += (int8_t)table[i + 1];
    }
    return checked(line);
}

/* 3.10: pairs of the length of a range and the increment from the previous range's line; -128: no line. */
static uint32_t line_of_ranges(const uint8_t *table, size_t n, uint32_t first_line, uint32_t at)
{
    int64_t line = first_line;
    uint64_t end = 0;
    bool has = false;

    for (size_t i = 0; i + 1 < n; i += 2) {
        int8_t step = (int8_t)table[i + 1];
        end += table[i];
        has = step != -128;
        line += has ? step : 0;
        if (at < end)
            return has ? checked(line) : 0;
    }
    return 0;
}

/* Read a number with 6 bits per byte, lowest first. */
static bool take_number(const uint8_t *table, size_t n, size_t *i, uint32_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *i < n && shift < 30; shift += 6) {
        uint8_t byte = table[(*i)++];
        *value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            return true;
    }
    return false;
}

enum { CODE_ONE_LINE = 10, CODE_NO_COLUMNS = 13, CODE_LONG = 14, CODE_NONE = 15 };

/* Read the increment from the previous entry's line. False: the entry is damaged. */
static bool take_step(const uint8_t *table, size_t n, size_t *i, unsigned code, int64_t *step)
{
    uint32_t number;

    *step = code >= CODE_ONE_LINE && code < CODE_NO_COLUMNS ? (int64_t)code - CODE_ONE_LINE : 0;
    if (code != CODE_NO_COLUMNS && code != CODE_LONG)
        return true;
    if (!take_number(table, n, i, &number))
        return false;
    *step = number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
    return true;
}

/* From 3.11 on: entries of a first byte (128, a code, the number of instructions minus 1) and others below
 * 128. */
static uint32_t line_of_locations(const uint8_t *table, size_t n, uint32_t first_line, uint32_t at)
{
    int64_t line = first_line, step;
    uint64_t end = 0;
    size_t i = 0;

    while (i < n && table[i] & 128) {
        unsigned code = table[i] >> 3 & 15;
        end += ((table[i++] & 7) + 1u) * 2;
        if (!take_step(table, n, &i, code, &step))
            return 0;
        line += step;
        if (at < end)
            return code == CODE_NONE ? 0 : checked(line);
        while (i < n && !(table[i] & 128))
            i++;
    }
    return 0;
}

uint32_t python_line(unsigned minor, const uint8_t *table, size_t n, uint32_t first_line, uint32_t at)
{
    if (minor < 10)
        return line_of_lnotab(table, n, first_line, at);
    return minor == 10 ? line_of_ranges(table, n, first_line, at)
                       : line_of_locations(table, n, first_line, at);
}
