// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <string.h>

#define WORD_MAX 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: an insertion, deletion, replacement or swap of neighbours costs one
 * each. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    size_t i, j;

    for (j = 0; j <= nb; j++)
        last[j] = j;
    for (i = 1; i <= na; i++) {
        size_t *recycled = before;
        now[0] = i;
        for (j = 1; j <= nb; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = recycled;
    }
    return last[nb];
}

/* Up to a third of the word, and at least one letter, may differ. */
int text_nearest(const char *word, const char *const *names, size_t count)
{
    size_t len = strlen(word), best = (len < 3 ? 1 : len / 3) + 1;
    int nearest = -1;
    size_t i;

    /* a single letter is too short to recognise */
    if (len < 2 || len > WORD_MAX)
        return -1;
    for (i = 0; i < count; i++) {
        size_t n = strlen(names[i]), d;
        if (n > WORD_MAX)
            continue;
        d = distance(word, len, names[i], n);
        if (d < best) {
            best = d;
            nearest = (int)i;
        }
    }
    return nearest;
}
