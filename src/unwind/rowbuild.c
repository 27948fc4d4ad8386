// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/rowbuild.h"

#include <string.h>

#include "base/mem.h"

static bool grow_rows(struct rowbuild *b)
{
    size_t cap = b->rows_cap; /* of both arrays */

    return b->n < UNWIND_ROWS_MAX && MEM_TRY_GROW(b->pcs, cap, b->n + 1) &&
           MEM_TRY_GROW(b->rows, b->rows_cap, b->n + 1);
}

/* The hash is computed for each row, so its products are independent of each other. */
static uint64_t hash_of(const struct unwind_entry *entry)
{
    uint64_t w[4];
    uint32_t rest;

    _Static_assert(sizeof *entry == sizeof w + sizeof rest, "an entry is hashed as five words");
    memcpy(w, entry, sizeof w);
    memcpy(&rest, (const char *)entry + sizeof w, sizeof rest);
    return w[0] * UINT64_C(0x9fb21c651e98df25) + w[1] * UINT64_C(0xd6e8feb86659fd93) +
           w[2] * UINT64_C(0xa0761d6478bd642f) + w[3] * UINT64_C(0xe7037ed1a0b428db) +
           rest * UINT64_C(0x8ebc6af09c88c6e3);
}

/* Of two entries with the same hash, the later is stored repeatedly. */
static bool number_of(struct rowbuild *b, const struct unwind_entry *entry, uint32_t *number)
{
    uint64_t *known = map_at(&b->by_entry, hash_of(entry), b->n_entries, NULL);

    if (*known < b->n_entries && !memcmp(&b->entries[*known], entry, sizeof *entry)) {
        *number = (uint32_t)*known;
        return true;
    }
    if (b->n_entries == UNWIND_ENTRIES_MAX || !MEM_TRY_GROW(b->entries, b->entries_cap, b->n_entries + 1))
        return false;
    b->entries[b->n_entries] = *entry;
    *number = (uint32_t)b->n_entries++;
    return true;
}

void rowbuild_none(struct unwind_entry *out)
{
    *out = (struct unwind_entry){ .kind = UNWIND_ROW_NONE };
    for (unsigned i = 0; i < UNWIND_SAVED_MAX; i++)
        out->saved[i] = UNWIND_NOT_SAVED;
}

/* The first entry is of kind NONE, so that it exists when no more entries fit. */
bool rowbuild_number(struct rowbuild *b, const struct unwind_entry *entry, uint32_t *number)
{
    struct unwind_entry none;

    if (!b->n_entries) {
        rowbuild_none(&none);
        if (!number_of(b, &none, number))
            return false;
    }
    return number_of(b, entry, number);
}

void rowbuild_stop(struct rowbuild *b)
{
    b->full = true;
    if (b->n)
        b->rows[b->n - 1] = 0;
}

void rowbuild_add_number(struct rowbuild *b, uint64_t offset, uint32_t number, bool function)
{
    uint16_t flag = function ? UNWIND_ROW_FUNCTION : 0;
    uint32_t at;

    if (b->full || (!function && b->n && (b->rows[b->n - 1] & UNWIND_ROW_ENTRY) == number))
        return;
    if (!b->n)
        b->base = offset;
    if (offset - b->base > UINT32_MAX || !grow_rows(b)) {
        rowbuild_stop(b);
        return;
    }
    at = (uint32_t)(offset - b->base);
    if (b->n && b->pcs[b->n - 1] == at)
        flag |= b->rows[--b->n] & UNWIND_ROW_FUNCTION;
    b->pcs[b->n] = at;
    b->rows[b->n++] = (uint16_t)(number | flag);
}

const struct unwind_entry *rowbuild_last(const struct rowbuild *b)
{
    return &b->entries[b->rows[b->n - 1] & UNWIND_ROW_ENTRY];
}

void rowbuild_add(struct rowbuild *b, uint64_t offset, const struct unwind_entry *entry, bool function)
{
    uint32_t number;

    if (b->full)
        return;
    if (rowbuild_number(b, entry, &number))
        rowbuild_add_number(b, offset, number, function);
    else
        rowbuild_stop(b);
}

bool rowbuild_rules(struct rowbuild *b, const uint8_t *bytes, size_t n, uint32_t *at)
{
    uint64_t hash = map_hash_bytes(bytes, n, 0), known;

    if (map_get(&b->by_rules, hash, &known) && known + n <= b->general_size &&
        !memcmp(b->general + known, bytes, n)) {
        *at = (uint32_t)known;
        return true;
    }
    if (b->general_size + n > UNWIND_GENERAL_MAX ||
        !MEM_TRY_GROW(b->general, b->general_cap, b->general_size + n))
        return false;
    *at = (uint32_t)b->general_size;
    memcpy(b->general + b->general_size, bytes, n);
    map_put(&b->by_rules, hash, b->general_size);
    b->general_size += n;
    return true;
}

#define INDEX_SHIFT_MAX 31 /* of 32 bits: two blocks remain */

/* Returns the shift for at most a quarter as many blocks as rows; with fewer than four rows, two blocks. */
static uint32_t index_shift(const struct rowbuild *b)
{
    uint32_t shift = 4;

    while (shift < INDEX_SHIFT_MAX && (b->pcs[b->n - 1] >> shift) > b->n / 4)
        shift++;
    return shift;
}

static void write_index(const struct rowbuild *b, const struct unwind_rows_header *h, uint32_t *index)
{
    uint32_t row = 0;

    for (uint32_t block = 0; block < h->n_index; block++) {
        while (row < b->n && b->pcs[row] >> h->index_shift < block)
            row++;
        index[block] = row;
    }
}

static void write_parts(const struct rowbuild *b, const struct unwind_rows_header *h, void *blob)
{
    uint32_t *index = (void *)((char *)blob + sizeof *h), *pcs = index + h->n_index;
    struct unwind_entry *entries = (void *)(pcs + h->n_rows);
    uint16_t *rows = (void *)(entries + h->n_entries);

    memcpy(blob, h, sizeof *h);
    write_index(b, h, index);
    memcpy(pcs, b->pcs, b->n * sizeof *pcs);
    memcpy(rows, b->rows, b->n * sizeof *rows);
    memcpy(entries, b->entries, b->n_entries * sizeof *entries);
    if (b->general_size)
        memcpy(rows + b->n, b->general, b->general_size);
}

bool rowbuild_finish(struct rowbuild *b, enum unwind_arch arch, const uint8_t *build_id,
                     unsigned build_id_size, void **blob, size_t *size, struct error *e)
{
    struct unwind_rows_header h = {
        .magic = UNWIND_ROWS_MAGIC,
        .version = UNWIND_ROWS_VERSION,
        .arch = (uint8_t)arch,
        .base = b->base,
        .n_rows = (uint32_t)b->n,
        .n_entries = (uint32_t)b->n_entries,
        .general_size = (uint32_t)b->general_size,
    };

    if (!b->n)
        return error_set(e, ERROR_MISSING, "there is no call-frame information");
    h.index_shift = index_shift(b);
    h.n_index = (b->pcs[b->n - 1] >> h.index_shift) + 2;
    if (build_id_size <= sizeof h.build_id) {
        h.build_id_size = (uint8_t)build_id_size;
        if (build_id_size)
            memcpy(h.build_id, build_id, build_id_size);
    }
    h.size = unwind_rows_size(&h);
    *size = (size_t)h.size;
    *blob = mem_try_array(1, *size);
    if (!*blob)
        return error_set(e, ERROR_LIMIT, "no memory for an unwind table of %zu bytes", *size);
    write_parts(b, &h, *blob);
    return true;
}

void rowbuild_done(struct rowbuild *b)
{
    mem_free(b->pcs);
    mem_free(b->rows);
    mem_free(b->entries);
    mem_free(b->general);
    map_done(&b->by_entry);
    map_done(&b->by_rules);
    *b = (struct rowbuild){ 0 };
}
