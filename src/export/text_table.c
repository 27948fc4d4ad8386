// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/text_table.h"

#include "base/text.h"

#define BAR 40

void text_table_pad(struct buf *out, size_t from, int cols)
{
    for (int n = text_width(buf_str(out) + from); n < cols; n++)
        buf_putc(out, ' ');
}

void text_table_bar(struct buf *out, uint64_t n, uint64_t most)
{
    uint64_t columns = most ? (n * BAR + most - 1) / most : 0;
    buf_putc(out, '|');
    for (uint64_t i = 0; i < BAR; i++)
        buf_putc(out, i < columns ? '@' : ' ');
    buf_puts(out, "|\n");
}
