// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/rows.h"

#include <string.h>

#include "base/search.h"
#include "unwind/rowformat.h"

/* Rows to search for one function's bounds: limits the time with a damaged blob. */
#define FUNCTION_ROWS_MAX 65536

bool unwind_rows_view(struct unwind_rows *t, const void *blob, size_t size, struct error *e)
{
    const struct unwind_rows_header *h = blob;

    *t = (struct unwind_rows){ 0 };
    /* unwind_rows_size() is below 2^39, because each part has a u32 count. */
    if (size < sizeof *h || (uintptr_t)blob % 8 || h->magic != UNWIND_ROWS_MAGIC ||
        h->version != UNWIND_ROWS_VERSION || h->size != size || h->build_id_size > sizeof h->build_id ||
        h->index_shift >= 32 || unwind_rows_size(h) != size)
        return error_set(e, ERROR_FORMAT, "the unwind table is damaged or of another version");
    t->header = h;
    t->index = (const void *)(h + 1);
    t->pcs = t->index + h->n_index;
    t->entries = (const void *)(t->pcs + h->n_rows);
    t->rows = (const void *)(t->entries + h->n_entries);
    t->general = (const void *)(t->rows + h->n_rows);
    return true;
}

/* Returns the number of rows at or below offset: the last one covers it. */
static uint32_t rows_up_to(const struct unwind_rows *t, uint64_t offset)
{
    const struct unwind_rows_header *h = t->header;
    uint64_t at = h ? offset - h->base : 0, block;
    uint32_t low = 0, high;

    if (!h || offset < h->base || at > UINT32_MAX)
        return 0;
    high = h->n_rows;
    block = at >> h->index_shift;
    if (block < h->n_index && t->index[block] < high)
        low = t->index[block];
    if (block + 1 < h->n_index && t->index[block + 1] < high)
        high = t->index[block + 1];
    return SEARCH_FIRST(i, low, high, t->pcs[i] > at);
}

static const struct unwind_entry *entry_of(const struct unwind_rows *t, uint32_t row)
{
    uint32_t entry = t->rows[row] & UNWIND_ROW_ENTRY;

    return entry < t->header->n_entries ? &t->entries[entry] : NULL;
}

const struct unwind_entry *unwind_rows_entry(const struct unwind_rows *t, uint64_t offset)
{
    uint32_t n = rows_up_to(t, offset);

    return n ? entry_of(t, n - 1) : NULL;
}

enum unwind_arch unwind_rows_arch(const struct unwind_rows *t)
{
    return t->header && t->header->arch <= UNWIND_ARCH_I386 ? (enum unwind_arch)t->header->arch
                                                            : UNWIND_ARCH_NONE;
}

static bool ends_function(const struct unwind_rows *t, uint32_t row)
{
    const struct unwind_entry *entry = entry_of(t, row);

    return t->rows[row] & UNWIND_ROW_FUNCTION || !entry || entry->kind == UNWIND_ROW_NONE;
}

/* A function without information has an entry of kind NONE and the function flag; a gap has no flag. */
bool unwind_rows_function(const struct unwind_rows *t, uint64_t offset, uint64_t *start, uint64_t *size)
{
    uint32_t n = rows_up_to(t, offset), first, next;

    if (!n)
        return false;
    for (first = n - 1; first && n - first < FUNCTION_ROWS_MAX && !ends_function(t, first); first--)
        ;
    for (next = n; next < t->header->n_rows && next - n < FUNCTION_ROWS_MAX && !ends_function(t, next);
         next++)
        ;
    if (!(t->rows[first] & UNWIND_ROW_FUNCTION) || next == t->header->n_rows || t->pcs[next] <= t->pcs[first])
        return false;
    *start = t->header->base + t->pcs[first];
    *size = t->pcs[next] - t->pcs[first];
    return true;
}

unsigned unwind_rows_build_id(const struct unwind_rows *t, uint8_t id[20])
{
    if (!t->header)
        return 0;
    memcpy(id, t->header->build_id, sizeof t->header->build_id);
    return t->header->build_id_size;
}
