// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts rows of any type. */
#ifndef FLAMETOP_UI_ORDER_H
#define FLAMETOP_UI_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts n rows of `size` bytes each. before: true if row a belongs before row b. Equal rows keep their
 * order. */
void order_rows(void *rows, size_t n, size_t size, bool (*before)(const void *a, const void *b, int order),
                int order);

#endif
