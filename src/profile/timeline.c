// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/timeline.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"

void timeline_begin(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns)
{
    t->from_ns = from_ns;
    t->to_ns = to_ns;
    t->bucket_ns = bucket_ns ? bucket_ns : 1;
    t->samples = 0;
    t->n_rows = 0;
    map_clear(&t->index);
}

/* Adds a row. Reuses the memory of a previous row. */
static uint32_t add_row(struct timeline *t, uint64_t key)
{
    size_t old = t->rows_cap;
    struct timeline_row *row;

    MEM_GROW(t->rows, t->rows_cap, (size_t)t->n_rows + 1);
    if (t->rows_cap > old)
        memset(t->rows + old, 0, (t->rows_cap - old) * sizeof *t->rows);
    row = &t->rows[t->n_rows];
    row->key = key;
    row->samples = 0;
    row->n = 0;
    return t->n_rows++;
}

uint32_t timeline_row(struct timeline *t, uint64_t key)
{
    bool created;
    uint64_t *at = map_at(&t->index, key, t->n_rows, &created);

    return created ? add_row(t, key) : (uint32_t)*at;
}

/* Returns the first cell at or after the bucket. */
static uint32_t find_cell(const struct timeline_row *row, uint32_t bucket)
{
    return SEARCH_FIRST(i, 0, row->n, row->cells[i].bucket >= bucket);
}

static struct timeline_cell *cell_of(struct timeline_row *row, uint32_t bucket)
{
    uint32_t at = row->n;

    if (at && row->cells[at - 1].bucket >= bucket)
        at = row->cells[at - 1].bucket == bucket ? at - 1 : find_cell(row, bucket);
    if (at < row->n && row->cells[at].bucket == bucket)
        return &row->cells[at];
    MEM_GROW(row->cells, row->cap, (size_t)row->n + 1);
    memmove(row->cells + at + 1, row->cells + at, (row->n - at) * sizeof *row->cells);
    row->cells[at] = (struct timeline_cell){ .bucket = bucket };
    row->n++;
    return &row->cells[at];
}

static bool is_in(const struct timeline *t, uint64_t time_ns)
{
    return time_ns >= t->from_ns && (!t->to_ns || time_ns <= t->to_ns) &&
           (time_ns - t->from_ns) / t->bucket_ns < TIMELINE_BUCKETS_MAX;
}

static void add_parts(struct timeline *t, uint32_t row, uint64_t bucket, uint64_t parts)
{
    struct timeline_cell *cell = parts ? cell_of(&t->rows[row], (uint32_t)bucket) : NULL;
    if (cell)
        cell->parts = parts < UINT32_MAX - cell->parts ? cell->parts + (uint32_t)parts : UINT32_MAX;
}

/* Spreads the parts of a sample over its buckets. Their sum is one sample, less the parts before from_ns
 * and after to_ns. */
static void spread(struct timeline *t, uint32_t row, uint64_t time_ns, uint64_t hold_ns)
{
    uint64_t begin = time_ns > hold_ns ? time_ns - hold_ns : 0, held = time_ns - begin;
    uint64_t first = begin > t->from_ns ? (begin - t->from_ns) / t->bucket_ns : 0;
    for (uint64_t bucket = first; bucket < TIMELINE_BUCKETS_MAX; bucket++) {
        uint64_t from = t->from_ns + bucket * t->bucket_ns, to = from + t->bucket_ns;
        from = from > begin ? from : begin;
        if (from >= time_ns || (t->to_ns && from > t->to_ns))
            return;
        to = to < time_ns ? to : time_ns;
        add_parts(t, row, bucket,
                  (to - begin) * TIMELINE_PARTS / held - (from - begin) * TIMELINE_PARTS / held);
    }
}

static void count_samples(struct timeline *t, uint32_t row, uint64_t time_ns, uint32_t n)
{
    struct timeline_cell *cell = cell_of(&t->rows[row], (uint32_t)((time_ns - t->from_ns) / t->bucket_ns));
    cell->count = n < UINT32_MAX - cell->count ? cell->count + n : UINT32_MAX;
    t->rows[row].samples += n;
    t->samples += n;
}

void timeline_add_many(struct timeline *t, uint32_t row, uint64_t time_ns, uint32_t n)
{
    if (time_ns < t->from_ns || !is_in(t, time_ns))
        return;
    count_samples(t, row, time_ns, n);
    add_parts(t, row, (time_ns - t->from_ns) / t->bucket_ns, (uint64_t)n * TIMELINE_PARTS);
}

void timeline_add(struct timeline *t, uint32_t row, uint64_t time_ns, uint64_t hold_ns)
{
    bool in = is_in(t, time_ns);
    if (time_ns < t->from_ns)
        return;
    if (in)
        count_samples(t, row, time_ns, 1);
    if (hold_ns && hold_ns / TIMELINE_HOLD_BUCKETS < t->bucket_ns)
        spread(t, row, time_ns, hold_ns);
    else if (in)
        add_parts(t, row, (time_ns - t->from_ns) / t->bucket_ns, TIMELINE_PARTS);
}

static uint32_t sum(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst, uint32_t n,
                    bool parts)
{
    uint32_t max = 0;

    memset(dst, 0, n * sizeof *dst);
    for (uint32_t i = find_cell(row, first); i < row->n; i++) {
        uint32_t at = (row->cells[i].bucket - first) / per;
        if (at >= n)
            break;
        uint32_t more = parts ? row->cells[i].parts : row->cells[i].count;
        dst[at] = more < UINT32_MAX - dst[at] ? dst[at] + more : UINT32_MAX;
        max = dst[at] > max ? dst[at] : max;
    }
    return max;
}

uint32_t timeline_sums(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                       uint32_t n)
{
    return sum(row, first, per, dst, n, false);
}

uint32_t timeline_parts(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                        uint32_t n)
{
    return sum(row, first, per, dst, n, true);
}

void timeline_done(struct timeline *t)
{
    for (size_t i = 0; i < t->rows_cap; i++)
        mem_free(t->rows[i].cells);
    mem_free(t->rows);
    map_done(&t->index);
    *t = (struct timeline){ 0 };
}
