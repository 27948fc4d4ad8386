// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/linesformat.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX    8192 /* of one string; longer ones are truncated */
#define REPLY_MAX   (8u << 20)
#define STRING_SEED 0x6c696e65

_Static_assert(sizeof(struct lines_header) % 8 == 0, "rows are aligned behind it");

static bool is_text(const struct lines_view *v, uint32_t at)
{
    return at < v->header.strings_n;
}

static bool check_rows(const struct lines_view *v)
{
    const struct lines_header *h = &v->header;
    uint32_t i;

    for (i = 0; i < h->n_rows + h->n_more; i++)
        if (!is_text(v, v->rows[i].file) || v->rows[i].first > h->n_inlined ||
            v->rows[i].n > LINES_DEPTH_MAX || v->rows[i].n > h->n_inlined - v->rows[i].first)
            return false;
    for (i = 0; i < h->n_inlined; i++)
        if (!is_text(v, v->calls[i].name) || !is_text(v, v->calls[i].file))
            return false;
    return true;
}

bool lines_view(struct lines_view *v, const void *blob, size_t size, struct error *e)
{
    const struct lines_header *h = &v->header;
    uint64_t rows, calls;

    *v = (struct lines_view){ 0 };
    if (size < sizeof *h)
        return error_set(e, ERROR_FORMAT, "a reply with source lines is too short");
    memcpy(&v->header, blob, sizeof *h);
    rows = ((uint64_t)h->n_rows + h->n_more) * sizeof *v->rows;
    calls = (uint64_t)h->n_inlined * sizeof *v->calls;
    if (h->magic != LINES_MAGIC || !h->strings_n || sizeof *h + rows + calls + h->strings_n != size)
        return error_set(e, ERROR_FORMAT, "a reply with source lines has another layout");
    v->rows = (const void *)((const char *)blob + sizeof *h);
    v->calls = (const void *)((const char *)v->rows + rows);
    v->strings = (const char *)v->calls + calls;
    if (v->strings[h->strings_n - 1] || !is_text(v, h->want_folder) || !is_text(v, h->want_path) ||
        h->want_id_n > sizeof h->want_id || !check_rows(v))
        return error_set(e, ERROR_FORMAT, "a reply with source lines has offsets beyond its end");
    return true;
}

/* String 0 is "". */
static void begin_strings(struct lines_builder *b)
{
    if (!b->strings.len)
        buf_putc(&b->strings, '\0');
}

static uint32_t add_text(struct lines_builder *b, const char *text, size_t n)
{
    uint64_t hash = map_hash_bytes(text, n, STRING_SEED), known;
    uint32_t at;

    begin_strings(b);
    at = (uint32_t)b->strings.len;
    if (map_get(&b->by_text, hash, &known) && !strncmp(b->strings.data + known, text, n) &&
        !b->strings.data[known + n])
        return (uint32_t)known;
    buf_add(&b->strings, text, n);
    buf_putc(&b->strings, '\0');
    map_put(&b->by_text, hash, at);
    return at;
}

static uint32_t add_within(struct lines_builder *b, const char *text, size_t max)
{
    return text && text[0] ? add_text(b, text, strnlen(text, max)) : 0;
}

static uint32_t add(struct lines_builder *b, const char *text)
{
    return add_within(b, text, TEXT_MAX);
}

static uint32_t add_path(struct lines_builder *b, const char *folder, const char *file)
{
    char path[TEXT_MAX];
    int n;

    if (!file || file[0] == '/' || !folder || !folder[0])
        return add(b, file);
    n = snprintf(path, sizeof path, "%.4000s/%.4000s", folder, file);
    return n > 0 ? add_text(b, path, (size_t)n) : 0;
}

static bool add_row(struct lines_builder *b, struct buf *rows, const struct lines_location *location)
{
    struct lines_row row = { .low = location->low,
                             .high = location->high,
                             .line = location->line,
                             .first = b->header.n_inlined,
                             .n = location->n };
    uint32_t i;

    /* LINES_DEPTH_MAX more calls fit: the blob's limit is far above this one. */
    if (b->strings.len + b->calls.len + b->rows.len + b->more.len > REPLY_MAX)
        return false;
    row.file = add_path(b, location->folder, location->file);
    buf_add(rows, &row, sizeof row);
    for (i = 0; i < location->n; i++) {
        const struct lines_inlined *from = &location->inlined[i];
        struct lines_call call = { .name = add(b, from->name), .line = from->line };
        call.file = add_path(b, from->folder, from->file);
        buf_add(&b->calls, &call, sizeof call);
    }
    b->header.n_inlined += location->n;
    b->header.lacking += location->lacking;
    return true;
}

bool lines_build_row(struct lines_builder *b, const struct lines_location *location)
{
    bool added = add_row(b, &b->rows, location);

    b->header.n_rows += added;
    return added;
}

/* Extend the last row: most functions, and all gaps between them, have nothing inlined, so one row covers a
 * run of them. */
static bool extend_last(struct lines_builder *b, const struct lines_location *location)
{
    struct lines_row last;
    size_t at = b->more.len - sizeof last;

    if (!b->header.n_more || location->n || location->file)
        return false;
    memcpy(&last, b->more.data + at, sizeof last);
    if (last.n || last.file || last.high != location->low)
        return false;
    last.high = location->high;
    memcpy(b->more.data + at, &last, sizeof last);
    return true;
}

bool lines_build_more(struct lines_builder *b, const struct lines_location *location)
{
    if (extend_last(b, location))
        return true;
    bool added = add_row(b, &b->more, location);

    b->header.n_more += added;
    return added;
}

void lines_build_want(struct lines_builder *b, const struct lines_want *want)
{
    b->header.want_folder = add(b, want->folder);
    b->header.want_path = add_within(b, want->path, sizeof want->path);
    b->header.want_id_n = want->id_size;
    memcpy(b->header.want_id, want->id, want->id_size);
}

void lines_build(struct lines_builder *b, struct buf *blob)
{
    begin_strings(b);
    b->header.magic = LINES_MAGIC;
    b->header.strings_n = (uint32_t)b->strings.len;
    buf_add(blob, &b->header, sizeof b->header);
    buf_add(blob, buf_str(&b->rows), b->rows.len);
    buf_add(blob, buf_str(&b->more), b->more.len);
    buf_add(blob, buf_str(&b->calls), b->calls.len);
    buf_add(blob, buf_str(&b->strings), b->strings.len);
}

void lines_builder_done(struct lines_builder *b)
{
    buf_done(&b->rows);
    buf_done(&b->more);
    buf_done(&b->calls);
    buf_done(&b->strings);
    map_done(&b->by_text);
}
