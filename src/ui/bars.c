// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/bars.h"

#include <string.h>

#include "base/text.h"

#define SPARK_MAX 7 /* eighths: full blocks of adjacent lines would touch */
static const char *const levels[9] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const levels_ascii[9] = { " ", ".", ":", "-", "=", "+", "*", "#", "#" };
static const char *const parts[9] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
static const char *const glyphs_unicode[GLYPH_COUNT] = {
    "…", "─", "│", "┌", "┐", "└", "┘", "├", "└", "→", "←"
};
static const char *const glyphs_ascii[GLYPH_COUNT] = {
    "~", "-", "|", "+", "+", "+", "+", "|", "`", ">", "<"
};

const char *glyph_text(enum glyph g, bool glyphs)
{
    return glyphs ? glyphs_unicode[g] : glyphs_ascii[g];
}

static size_t append(char *dst, size_t cap, size_t n, const char *s)
{
    size_t len = strlen(s);
    if (n + len >= cap)
        return n;
    memcpy(dst + n, s, len + 1);
    return n + len;
}

static uint32_t largest(const uint32_t *values, size_t n)
{
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = values[i] > max ? values[i] : max;
    return max;
}

void bar_eighths(char *dst, size_t cap, const uint32_t *eighths, size_t n, bool glyphs)
{
    size_t len = 0;
    if (cap)
        dst[0] = '\0';
    for (size_t i = 0; i < n; i++)
        len = append(dst, cap, len, glyphs ? levels[eighths[i]] : levels_ascii[eighths[i]]);
}

void bar_spark(char *dst, size_t cap, const uint32_t *values, size_t n, uint32_t max, bool glyphs)
{
    uint32_t level[512];
    n = n > 512 ? 512 : n;
    if (!max)
        max = largest(values, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = max ? ((uint64_t)values[i] * SPARK_MAX + max / 2) / max : 0;
        level[i] = at > SPARK_MAX ? SPARK_MAX : values[i] && !at ? 1 : (uint32_t)at;
    }
    bar_eighths(dst, cap, level, n, glyphs);
}

void bar_horizontal(char *dst, size_t cap, double share, int cols, bool glyphs)
{
    size_t len = 0;
    if (cap)
        dst[0] = '\0';
    if (!(share > 0) || cols <= 0)
        return;
    share = share > 1 ? 1 : share;
    long eighths = (long)(share * cols * 8 + 0.5);
    if (eighths == 0)
        eighths = 1;
    for (; eighths >= 8; eighths -= 8)
        len = append(dst, cap, len, glyphs ? parts[8] : "#");
    if (glyphs)
        (void)append(dst, cap, len, parts[eighths]);
    else if (eighths >= 4)
        (void)append(dst, cap, len, "#");
}
