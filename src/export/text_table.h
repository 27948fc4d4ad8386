// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of tables and histograms in text. */
#ifndef FLAMETOP_EXPORT_TEXT_TABLE_H
#define FLAMETOP_EXPORT_TEXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends blanks until the text from `from` on is this many columns wide. */
void text_table_pad(struct buf *out, size_t from, int cols);
/* Appends the bar of n, which has its full length at `most`, and the end of the line: "|@@@   |". */
void text_table_bar(struct buf *out, uint64_t n, uint64_t most);

#endif
