// SPDX-License-Identifier: GPL-2.0-or-later
/* Build symbol tables: sort, choose among aliases, resolve overlaps.
 * Runs in the worker on untrusted data, so that every size is bounded and memory may be refused. */
#include "symbols/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbols/tableformat.h"

#define NAMES_MAX    (UINT32_C(1) << 29)
#define NESTING_MAX  32
#define OVERLAPS_MAX 64 /* later entries that are checked for overlaps */

struct table_raw {
    uint64_t start, end, limit; /* end == start: up to the next entry */
    uint64_t since_ns;
    uint32_t name, name_n;
    uint32_t order;
    uint8_t rank, underscores;
};

struct piece { /* entry of the blob */
    uint64_t start, end;
    uint64_t since_ns;
    uint32_t name; /* still the builder's offset */
};
struct pieces {
    struct piece *all;
    size_t n;
    struct table_older *older; /* their names are still the builder's offsets, too */
    size_t n_older;
};

static bool make_room(struct table_builder *b, size_t name_bytes)
{
    return b->n < TABLE_ENTRIES_MAX && b->names_n + name_bytes <= NAMES_MAX &&
           MEM_TRY_GROW(b->raws, b->cap, b->n + 1) &&
           MEM_TRY_GROW(b->names, b->names_cap, b->names_n + name_bytes);
}

static uint8_t leading_underscores(const char *name, size_t n)
{
    size_t i = 0;

    while (i < n && i < UINT8_MAX && name[i] == '_')
        i++;
    return (uint8_t)i;
}

void table_add(struct table_builder *b, uint64_t start, uint64_t size, uint64_t limit, const char *name,
               size_t n, enum table_rank rank)
{
    struct table_raw *r;

    n = strnlen(name, n < TABLE_NAME_MAX ? n : TABLE_NAME_MAX);
    if (!n || start >= limit)
        return;
    if (!make_room(b, n + 1)) {
        b->header.flags |= TABLE_CUT;
        return;
    }
    r = &b->raws[b->n];
    *r = (struct table_raw){ .start = start,
                             .end = size < limit - start ? start + size : limit,
                             .limit = limit,
                             .since_ns = b->since_ns,
                             .name = (uint32_t)b->names_n,
                             .name_n = (uint32_t)n,
                             .order = (uint32_t)b->n,
                             .rank = (uint8_t)rank,
                             .underscores = leading_underscores(name, n) };
    memcpy(b->names + b->names_n, name, n);
    b->names[b->names_n + n] = '\0';
    b->names_n += n + 1;
    b->n++;
}

static int by_order(const struct table_raw *a, const struct table_raw *b)
{
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sort by start, the best name first. */
static int by_start_and_merit(const void *left, const void *right)
{
    const struct table_raw *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if ((a->end == a->start) != (b->end == b->start))
        return a->end == a->start ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->underscores != b->underscores)
        return a->underscores < b->underscores ? -1 : 1;
    if (a->name_n != b->name_n)
        return a->name_n > b->name_n ? -1 : 1;
    return by_order(a, b);
}

static int by_start_latest_first(const void *left, const void *right)
{
    const struct table_raw *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return by_order(b, a);
}

/* Keep the first entry of each start. Entries without a size extend to the next one. */
static void keep_first_of_each_start(struct table_builder *b)
{
    size_t i, n = 0;

    for (i = 0; i < b->n; i++)
        if (!n || b->raws[i].start != b->raws[n - 1].start)
            b->raws[n++] = b->raws[i];
    b->n = n;
    for (i = 0; i < n; i++) {
        struct table_raw *r = &b->raws[i];
        uint64_t next = i + 1 < n ? r[1].start : (r->start | 4095) + 1;
        if (r->end == r->start)
            r->end = next > r->start && next < r->limit ? next : r->limit;
    }
}

static void sort(struct table_builder *b, int (*order)(const void *, const void *))
{
    if (b->n)
        qsort(b->raws, b->n, sizeof *b->raws, order);
}

static void emit(struct pieces *out, uint64_t start, const struct table_raw *r)
{
    struct piece *last = out->n ? &out->all[out->n - 1] : NULL;

    if (last && last->end > start)
        last->end = start;
    if (last && last->end <= last->start)
        out->n--;
    out->all[out->n++] = (struct piece){ start, r->end, r->since_ns, r->name };
}

struct nest {
    const struct table_raw *open[NESTING_MAX];
    unsigned n;
};

/* Close the entries that end at or before `at`: an enclosing entry continues after all entries that hid
 * it. */
static void close_until(struct nest *nest, uint64_t at, struct pieces *out)
{
    while (nest->n && nest->open[nest->n - 1]->end <= at) {
        uint64_t hidden_until = nest->open[--nest->n]->end;
        if (out->all[out->n - 1].end > hidden_until)
            hidden_until = out->all[out->n - 1].end;
        if (nest->n && nest->open[nest->n - 1]->end > hidden_until)
            emit(out, hidden_until, nest->open[nest->n - 1]);
    }
}

static void take_apart_nested(struct table_builder *b, struct pieces *out)
{
    struct nest nest = { .n = 0 };
    size_t i;

    sort(b, by_start_and_merit);
    keep_first_of_each_start(b);
    for (i = 0; i < b->n; i++) {
        close_until(&nest, b->raws[i].start, out);
        emit(out, b->raws[i].start, &b->raws[i]);
        if (nest.n < NESTING_MAX)
            nest.open[nest.n++] = &b->raws[i];
    }
    close_until(&nest, UINT64_MAX, out);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Find for each entry, in order of their starts, when another one replaced it; UINT64_MAX: never. */
static void find_ends(const struct table_builder *b, uint64_t *until)
{
    size_t i, j;

    for (i = 0; i < b->n; i++)
        until[i] = UINT64_MAX;
    for (i = 0; i < b->n; i++)
        for (j = i + 1; j < b->n && j - i <= OVERLAPS_MAX && b->raws[j].start < b->raws[i].end; j++)
            if (b->raws[i].order < b->raws[j].order)
                until[i] = earlier(until[i], b->raws[j].since_ns);
            else if (b->raws[j].end > b->raws[j].start)
                until[j] = earlier(until[j], b->raws[i].since_ns);
}

static void keep_older(const struct table_builder *b, const uint64_t *until, struct pieces *out)
{
    uint64_t reach = 0;
    size_t i;

    for (i = 0; i < b->n; i++) {
        const struct table_raw *r = &b->raws[i];
        if (!r->since_ns || until[i] == UINT64_MAX || until[i] <= r->since_ns ||
            (uint64_t)r->order + TABLE_OLDER_MAX < b->n || out->n_older >= TABLE_OLDER_MAX)
            continue;
        reach = r->end > reach ? r->end : reach;
        out->older[out->n_older++] =
            (struct table_older){ .start = r->start,
                                  .since_ns = r->since_ns,
                                  .until_ns = until[i],
                                  .reach = reach,
                                  .size = (uint32_t)earlier(r->end - r->start, UINT32_MAX),
                                  .name = r->name };
    }
}

/* Keep replaced entries with the times when they were valid, except those without a time. */
static bool set_older_aside(struct table_builder *b, struct pieces *out)
{
    uint64_t *until = mem_try_array(b->n + 1, sizeof *until);

    out->older = mem_try_array((b->n < TABLE_OLDER_MAX ? b->n : TABLE_OLDER_MAX) + 1, sizeof *out->older);
    sort(b, by_start_latest_first);
    if (until && out->older) {
        find_ends(b, until);
        keep_older(b, until, out);
    }
    mem_free(until);
    return until && out->older;
}

/* Remove replaced parts. Surviving entries are on a stack, disjoint and sorted, so that a new one can overlap
 * only the top one. */
static void take_apart_replaced(struct table_builder *b, struct pieces *out)
{
    size_t i, n = 0;

    sort(b, by_start_latest_first);
    keep_first_of_each_start(b);
    for (i = 0; i < b->n; i++) {
        const struct table_raw r = b->raws[i];
        while (n && b->raws[n - 1].end > r.start && b->raws[n - 1].order < r.order)
            n--;
        if (!n || b->raws[n - 1].end <= r.start)
            b->raws[n++] = r;
    }
    for (i = 0; i < n; i++)
        emit(out, b->raws[i].start, &b->raws[i]);
}

static size_t put_name(char *names, size_t at, const char *name)
{
    size_t n = strlen(name) + 1;

    memcpy(names + at, name, n);
    return at + n;
}

static uint64_t names_bytes(const struct table_builder *b, const struct pieces *p)
{
    uint64_t bytes = 1 + (b->debuglink[0] ? strlen(b->debuglink) + 1 : 0);
    size_t i;

    for (i = 0; i < p->n; i++)
        bytes += strlen(b->names + p->all[i].name) + 1;
    for (i = 0; i < p->n_older; i++)
        bytes += strlen(b->names + p->older[i].name) + 1;
    return bytes;
}

static void write_entries(char *blob, const struct table_builder *b, const struct pieces *p)
{
    struct table_header *h = (void *)blob;
    bool wide = h->flags & TABLE_WIDE;
    char *starts = blob + sizeof *h;
    uint32_t *infos = (void *)(starts + table_starts_bytes(h->n, wide));
    uint64_t *since = (void *)(infos + (size_t)h->n * 2);
    struct table_older *older = (void *)(since + h->n);
    char *names = (char *)since + table_dates_bytes(h);
    size_t i, at = 1;

    if (b->debuglink[0]) {
        h->link_name = 1;
        at = put_name(names, at, b->debuglink);
    }
    for (i = 0; i < p->n; i++) {
        const struct piece *q = &p->all[i];
        uint64_t size = q->end - q->start;
        if (wide)
            ((uint64_t *)(void *)starts)[i] = q->start;
        else
            ((uint32_t *)(void *)starts)[i] = (uint32_t)(q->start - h->base);
        infos[i * 2] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
        infos[i * 2 + 1] = (uint32_t)at;
        if (h->flags & TABLE_DATED)
            since[i] = q->since_ns;
        at = put_name(names, at, b->names + q->name);
    }
    for (i = 0; i < p->n_older; i++) {
        older[i] = p->older[i];
        older[i].name = (uint32_t)at;
        at = put_name(names, at, b->names + p->older[i].name);
    }
}

static bool write_blob(const struct table_builder *b, const struct pieces *p, void **blob, size_t *size)
{
    struct table_header h = b->header;
    char *bytes;

    h.magic = TABLE_MAGIC;
    h.version = TABLE_VERSION;
    h.n = (uint32_t)p->n;
    h.n_older = (uint32_t)p->n_older;
    h.link_name = 0;
    h.base = p->n ? p->all[0].start : 0;
    h.flags &= (uint16_t)~TABLE_WIDE;
    if (p->n && p->all[p->n - 1].start - h.base > UINT32_MAX)
        h.flags |= TABLE_WIDE;
    h.names_size = names_bytes(b, p);
    h.size = sizeof h + table_starts_bytes(h.n, h.flags & TABLE_WIDE) + (uint64_t)h.n * TABLE_INFO_BYTES +
             table_dates_bytes(&h) + h.names_size;
    if (h.names_size > UINT32_MAX || !(bytes = mem_try_array(1, h.size)))
        return false;
    memcpy(bytes, &h, sizeof h);
    write_entries(bytes, b, p);
    *blob = bytes;
    *size = h.size;
    return true;
}

bool table_build(struct table_builder *b, enum table_overlap overlap, void **blob, size_t *size,
                 struct error *e)
{
    struct pieces p = { .all = mem_try_array(b->n * 2 + 1, sizeof *p.all) };
    bool dated = overlap == TABLE_REPLACED && b->header.flags & TABLE_DATED;
    bool ok = p.all != NULL;

    if (!dated)
        b->header.flags &= (uint16_t)~TABLE_DATED;
    if (ok && dated)
        ok = set_older_aside(b, &p);
    if (ok) {
        if (overlap == TABLE_NESTED)
            take_apart_nested(b, &p);
        else
            take_apart_replaced(b, &p);
        ok = write_blob(b, &p, blob, size);
    }
    mem_free(p.all);
    mem_free(p.older);
    return ok || error_set(e, ERROR_LIMIT, "no memory for a table of %zu symbols", b->n);
}

void table_builder_done(struct table_builder *b)
{
    mem_free(b->raws);
    mem_free(b->names);
    *b = (struct table_builder){ 0 };
}
