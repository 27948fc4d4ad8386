// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/table.h"

#include <string.h>

#include "base/search.h"
#include "symbols/tableformat.h"

#define SAME_AGAIN_MAX 64

/* Whether the parts fill the blob exactly. The names' last byte is a NUL, so that every name in them ends. */
static bool parts_fit(const struct table_header *h, size_t size)
{
    uint64_t left = size - sizeof *h;
    uint64_t fixed = table_starts_bytes(h->n, h->flags & TABLE_WIDE) + (uint64_t)h->n * TABLE_INFO_BYTES +
                     table_dates_bytes(h);

    return h->n <= TABLE_PIECES_MAX && h->n_older <= (h->flags & TABLE_DATED ? TABLE_OLDER_MAX : 0) &&
           fixed <= left && h->names_size == left - fixed && h->names_size > 0 &&
           ((const char *)h)[size - 1] == '\0';
}

bool table_view(struct table *t, const void *blob, size_t size, struct error *e)
{
    const struct table_header *h = blob;

    *t = (struct table){ 0 };
    if (size < sizeof *h || (uintptr_t)blob % 8 || h->magic != TABLE_MAGIC || h->version != TABLE_VERSION ||
        h->size != size || h->build_id_size > TABLE_BUILD_ID_MAX || !parts_fit(h, size))
        return error_set(e, ERROR_FORMAT, "the symbol table is not in this version's format");
    t->header = h;
    t->starts = h + 1;
    t->infos = (const void *)((const char *)t->starts + table_starts_bytes(h->n, h->flags & TABLE_WIDE));
    t->names = (const char *)(t->infos + (size_t)h->n * 2) + table_dates_bytes(h);
    if (h->flags & TABLE_DATED) {
        t->since = (const void *)(t->infos + (size_t)h->n * 2);
        t->older = (const void *)(t->since + h->n);
    }
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
    uint32_t n = SEARCH_FIRST(i, 0, t->header ? t->header->n : 0, start_of(t, i) > offset);

    return n && table_entry_at(t, n - 1, out) && offset - out->start < out->size;
}

/* Return the number of older entries that begin at or before offset. */
static uint32_t older_until(const struct table *t, uint64_t offset)
{
    return SEARCH_FIRST(i, 0, t->since ? t->header->n_older : 0, t->older[i].start > offset);
}

/* Return the previous older entry that covers offset, before i, and update i. NULL: no more. */
static const struct table_older *older_before(const struct table *t, uint32_t *i, uint64_t offset)
{
    const struct table_older *o;

    while (*i && t->older[*i - 1].reach > offset) {
        o = &t->older[--*i];
        if (offset - o->start < o->size)
            return o;
    }
    return NULL;
}

bool table_has_older(const struct table *t, uint64_t offset)
{
    uint32_t i = older_until(t, offset);

    return older_before(t, &i, offset) != NULL;
}

/* Return the older entry that covered the offset at that time. For a time before all entries, return the
 * first one. *is: the latest entry covers the offset; cleared unless it is the result, which is then NULL. */
static const struct table_older *choose(const struct table *t, uint64_t offset, uint64_t time_ns,
                                        uint64_t latest_ns, bool *is)
{
    const struct table_older *o, *best = NULL, *first = NULL;
    uint32_t i = older_until(t, offset);
    bool before = false; /* there was an entry by that time */

    while ((o = older_before(t, &i, offset))) {
        before |= o->since_ns <= time_ns;
        if (o->since_ns <= time_ns && time_ns < o->until_ns && (!best || o->since_ns > best->since_ns))
            best = o;
        if (!first || o->since_ns < first->since_ns)
            first = o;
    }
    if (*is && (latest_ns <= time_ns || (!before && (!first || latest_ns < first->since_ns))))
        return NULL;
    *is = false;
    return best || before ? best : first;
}

static bool find_once(const struct table *t, uint64_t offset, uint64_t time_ns, struct table_entry *out,
                      uint64_t *until_ns)
{
    bool latest = table_find(t, offset, out);
    const struct table_older *o =
        t->since ? choose(t, offset, time_ns, latest ? t->since[out->index] : UINT64_MAX, &latest) : NULL;

    *until_ns = UINT64_MAX;
    if (o) {
        *out = (struct table_entry){ UINT32_MAX, o->start, o->size, name_of(t, o->name) };
        *until_ns = o->until_ns;
    }
    return o || latest;
}

bool table_find_at(const struct table *t, uint64_t offset, uint64_t time_ns, struct table_entry *out,
                   uint64_t *until_ns)
{
    struct table_entry next;
    uint64_t until;
    unsigned again;

    if (!find_once(t, offset, time_ns, out, until_ns))
        return false;
    /* skip repeated records of the same code */
    for (again = 0; again < SAME_AGAIN_MAX && *until_ns != UINT64_MAX; again++) {
        if (!find_once(t, offset, *until_ns, &next, &until) || strcmp(next.name, out->name) ||
            until <= *until_ns)
            break;
        *until_ns = until;
    }
    return true;
}

const char *table_debuglink(const struct table *t)
{
    return t->header && t->header->link_name ? name_of(t, t->header->link_name) : NULL;
}
