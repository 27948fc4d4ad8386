// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/codeformat.h"

#include <string.h>

#include "base/search.h"

#define TEXT_SEED 0x636f6465

static bool rows_are_right(const struct code_view *v)
{
    const struct code_header *h = &v->header;
    uint64_t at = h->start, end = h->start + h->bytes_n;
    uint32_t i;

    for (i = 0; i < h->n_rows; i++) {
        const struct code_row *r = &v->rows[i];
        if (r->offset < at || !r->size || r->size > end - r->offset || r->offset >= end ||
            r->text >= h->strings_n || r->kind >= CODE_KINDS)
            return false;
        at = r->offset + r->size;
    }
    return true;
}

bool code_view(struct code_view *v, const void *blob, size_t size, struct error *e)
{
    struct code_header *h = &v->header;
    size_t rest;

    memset(v, 0, sizeof *v);
    if (size < sizeof *h)
        return error_set(e, ERROR_FORMAT, "the symbol worker's instructions are truncated");
    memcpy(h, blob, sizeof *h);
    rest = size - sizeof *h;
    if (h->magic != CODE_MAGIC || h->n_rows > CODE_ROWS_MAX || h->bytes_n > CODE_BYTES_MAX || !h->strings_n ||
        h->start + h->bytes_n < h->start || h->n_rows * sizeof(struct code_row) > rest ||
        rest - h->n_rows * sizeof(struct code_row) != (size_t)h->strings_n + h->bytes_n)
        goto wrong;
    v->rows = (const void *)((const char *)blob + sizeof *h);
    v->strings = (const char *)(v->rows + h->n_rows);
    v->bytes = (const uint8_t *)v->strings + h->strings_n;
    if (v->strings[h->strings_n - 1] || !rows_are_right(v))
        goto wrong;
    return true;
wrong:
    memset(v, 0, sizeof *v);
    return error_set(e, ERROR_FORMAT, "the symbol worker's instructions are malformed");
}

int64_t code_find(const struct code_view *v, uint64_t offset)
{
    uint32_t n = SEARCH_FIRST(i, 0, v->header.n_rows, v->rows[i].offset > offset);

    return n && offset - v->rows[n - 1].offset < v->rows[n - 1].size ? (int64_t)n - 1 : -1;
}

/* Add a text, or find the same text added before. */
static uint32_t add_text(struct code_builder *b, const char *text)
{
    size_t n = strlen(text) + 1;
    bool created;
    uint64_t *at = map_at(&b->by_text, map_hash_bytes(text, n, TEXT_SEED), b->strings.len, &created);

    if (created || strcmp(b->strings.data + *at, text)) {
        *at = b->strings.len;
        buf_add(&b->strings, text, n);
    }
    return (uint32_t)*at;
}

bool code_build_row(struct code_builder *b, const struct code_row *row, const char *text)
{
    struct code_row r = *row;

    if (b->header.n_rows >= CODE_ROWS_MAX)
        return false;
    r.text = add_text(b, text);
    buf_add(&b->rows, &r, sizeof r);
    b->header.n_rows++;
    return true;
}

void code_build(struct code_builder *b, const uint8_t *bytes, size_t n, struct buf *blob)
{
    if (!b->strings.len)
        buf_putc(&b->strings, '\0');
    b->header.magic = CODE_MAGIC;
    b->header.strings_n = (uint32_t)b->strings.len;
    b->header.bytes_n = (uint32_t)n;
    buf_add(blob, &b->header, sizeof b->header);
    if (b->rows.len)
        buf_add(blob, b->rows.data, b->rows.len);
    buf_add(blob, b->strings.data, b->strings.len);
    buf_add(blob, bytes, n);
}

void code_builder_done(struct code_builder *b)
{
    buf_done(&b->rows);
    buf_done(&b->strings);
    map_done(&b->by_text);
}
