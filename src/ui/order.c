// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/order.h"

#include <string.h>

#include "base/mem.h"

struct sorting {
    size_t size;
    bool (*before)(const void *a, const void *b, int order);
    int order;
};

static void merge_sort(const struct sorting *s, char *rows, char *spare, size_t n)
{
    size_t half = n / 2, a = 0, b = half;
    if (n < 2)
        return;
    merge_sort(s, rows, spare, half);
    merge_sort(s, rows + half * s->size, spare, n - half);
    for (size_t i = 0; i < n; i++) {
        bool first = a < half && (b == n || !s->before(rows + b * s->size, rows + a * s->size, s->order));
        memcpy(spare + i * s->size, rows + (first ? a++ : b++) * s->size, s->size);
    }
    memcpy(rows, spare, n * s->size);
}

void order_rows(void *rows, size_t n, size_t size, bool (*before)(const void *a, const void *b, int order),
                int order)
{
    char *spare = mem_array(n + 1, size);
    merge_sort(&(struct sorting){ size, before, order }, rows, spare, n);
    mem_free(spare);
}
