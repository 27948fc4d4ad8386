// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/remote_go.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "unwind/gorows.h"

#define TABLE_ALIGN 32
#define TABLE_MAX   (UINT64_C(256) << 20)
#define CHUNK       (256u << 10)
#define CODE_MAX    (256u << 10) /* of a function */
#define CHECKED     64           /* functions of a table that was found */

struct remote_go {
    struct gotable table;
    uint8_t *bytes, *code;
};

/* Whether the first functions are code and have names: other data may look like a header. */
static bool is_sane(const struct gotable *t, uint64_t code, uint64_t code_end)
{
    struct gotable_function f;
    for (uint64_t i = 0; i < t->n && i < CHECKED; i++)
        if (!gotable_function(t, i, &f) || !f.name_n || f.entry < code || f.entry >= code_end)
            return false;
    return true;
}

/* Reads all that is readable from an address on: the table does not say how large it is. */
static size_t read_all(remote_go_read_fn *read, void *ctx, uint64_t from, uint64_t to, uint8_t *bytes)
{
    size_t n = 0;
    while (from + n < to) {
        size_t part = to - from - n < CHUNK ? (size_t)(to - from - n) : CHUNK;
        if (!read(ctx, from + n, bytes + n, part))
            break;
        n += part;
    }
    return n;
}

static bool open_at(struct remote_go *go, const uint8_t *bytes, size_t n, uint64_t code, uint64_t code_end)
{
    return gotable_open(&go->table, bytes, n) && (!go->table.counts_text || go->table.text) &&
           is_sane(&go->table, code, code_end);
}

struct remote_go *remote_go_find(remote_go_read_fn *read, void *ctx, uint64_t from, uint64_t to,
                                 uint64_t code, uint64_t code_end)
{
    if (to <= from || to - from > TABLE_MAX)
        return NULL;
    struct remote_go *go = mem_zalloc(sizeof *go);
    go->bytes = mem_alloc((size_t)(to - from));
    size_t n = read_all(read, ctx, from, to, go->bytes);
    for (size_t at = -from % TABLE_ALIGN; at < n && n - at >= GOTABLE_HEADER_MIN; at += TABLE_ALIGN)
        if (gotable_is_header(go->bytes + at) && open_at(go, go->bytes + at, n - at, code, code_end))
            return go;
    remote_go_free(go);
    return NULL;
}

void remote_go_free(struct remote_go *go)
{
    mem_free(go->bytes);
    mem_free(go->code);
    mem_free(go);
}

struct wanted {
    uint64_t at; /* relative to the function's rows */
    bool found;
    struct unwind_entry *entry;
};

/* Rows come in the order of their addresses. */
static void keep_last(void *ctx, uint64_t at, const struct unwind_entry *entry)
{
    struct wanted *w = ctx;
    if (at > w->at)
        return;
    *w->entry = *entry;
    w->found = true;
}

static uint64_t entry_of(const struct gotable *t, uint64_t i)
{
    struct gotable_function f;
    return gotable_function(t, i, &f) ? f.entry : 0;
}

/* Reads the code of a function, and gets its row for an address. */
static bool row_of(struct remote_go *go, remote_go_read_fn *read, void *ctx, uint64_t i, uint64_t address,
                   struct unwind_entry *out)
{
    struct gorows rows;
    uint64_t begin, end;
    gorows_begin(&rows, &go->table);
    if (!gorows_range(&rows, i, &begin, &end) || address < begin || address >= end)
        return false;
    rows.code_size = end - begin < CODE_MAX ? (size_t)(end - begin) : CODE_MAX;
    rows.code = go->code;
    rows.code_addr = begin;
    if (!read(ctx, begin, go->code, rows.code_size))
        return false;
    struct wanted w = { .at = address - begin, .entry = out };
    gorows_add(&rows, i, keep_last, &w);
    return w.found;
}

bool remote_go_row(struct remote_go *go, remote_go_read_fn *read, void *ctx, uint64_t address,
                   struct unwind_entry *out)
{
    uint64_t next = SEARCH_FIRST(i, 0, go->table.n, entry_of(&go->table, i) > address);
    go->code = go->code ? go->code : mem_alloc(CODE_MAX);
    /* the rows of some functions begin one byte early */
    return row_of(go, read, ctx, next, address, out) ||
           (next && row_of(go, read, ctx, next - 1, address, out));
}
