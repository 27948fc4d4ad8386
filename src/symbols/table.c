// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/table.h"

#include "symbols/tableformat.h"

/* The parts must fill the blob exactly; names end in a NUL, so that every name in them ends. */
static bool parts_fit(const struct table_header *h, size_t size)
{
    uint64_t left = size - sizeof *h;
    uint64_t fixed = table_starts_bytes(h->n, h->flags & TABLE_WIDE) + (uint64_t)h->n * TABLE_INFO_BYTES;

    return h->n <= TABLE_PIECES_MAX && fixed <= left && h->names_size == left - fixed && h->names_size > 0 &&
           ((const char *)h)[size - 1] == '\0';
}

bool table_view(struct table *t, const void *blob, size_t size, struct error *e)
{
    const struct table_header *h = blob;

    *t = (struct table){ 0 };
    if (size < sizeof *h || (uintptr_t)blob % 8 || h->magic != TABLE_MAGIC || h->version != TABLE_VERSION ||
        h->size != size || h->build_id_size > TABLE_BUILD_ID_MAX || !parts_fit(h, size))
        return error_set(e, ERROR_FORMAT, "the symbol table is not in the form that this version makes");
    t->header = h;
    t->starts = h + 1;
    t->infos = (const void *)((const char *)t->starts + table_starts_bytes(h->n, h->flags & TABLE_WIDE));
    t->names = (const char *)(t->infos + (size_t)h->n * 2);
    return true;
}

static uint64_t start_of(const struct table *t, uint32_t i)
{
    if (t->header->flags & TABLE_WIDE)
        return ((const uint64_t *)t->starts)[i];
    return t->header->base + ((const uint32_t *)t->starts)[i];
}

static const char *name_of(const struct table *t, uint32_t offset)
{
    return offset < t->header->names_size ? t->names + offset : "";
}

bool table_entry_at(const struct table *t, uint32_t index, struct table_entry *out)
{
    if (!t->header || index >= t->header->n)
        return false;
    out->index = index;
    out->start = start_of(t, index);
    out->size = t->infos[(size_t)index * 2];
    out->name = name_of(t, t->infos[(size_t)index * 2 + 1]);
    return true;
}

bool table_find(const struct table *t, uint64_t offset, struct table_entry *out)
{
    uint32_t low = 0, high = t->header ? t->header->n : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (start_of(t, middle) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && table_entry_at(t, low - 1, out) && offset - out->start < out->size;
}

const char *table_debuglink(const struct table *t, uint32_t *crc)
{
    if (!t->header || !t->header->link_name)
        return NULL;
    *crc = t->header->link_crc;
    return name_of(t, t->header->link_name);
}
