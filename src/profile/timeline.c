// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/timeline.h"

#include <string.h>

#include "base/mem.h"

void timeline_begin(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns)
{
    t->from_ns = from_ns;
    t->to_ns = to_ns;
    t->bucket_ns = bucket_ns ? bucket_ns : 1;
    t->samples = 0;
    t->n_rows = 0;
    map_clear(&t->index);
}

/* The memory of a row of before is used again. */
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

/* The first cell whose bucket is not below. */
static uint32_t find_cell(const struct timeline_row *row, uint32_t bucket)
{
    uint32_t low = 0, high = row->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (row->cells[mid].bucket < bucket)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
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

void timeline_add(struct timeline *t, uint32_t row, uint64_t time_ns)
{
    uint64_t bucket = (time_ns - t->from_ns) / t->bucket_ns;

    if (time_ns < t->from_ns || (t->to_ns && time_ns > t->to_ns) || bucket >= TIMELINE_BUCKETS_MAX)
        return;
    cell_of(&t->rows[row], (uint32_t)bucket)->count++;
    t->rows[row].samples++;
    t->samples++;
}

uint32_t timeline_sums(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst, uint32_t n)
{
    uint32_t max = 0;

    memset(dst, 0, n * sizeof *dst);
    for (uint32_t i = find_cell(row, first); i < row->n; i++) {
        uint32_t at = (row->cells[i].bucket - first) / per;
        if (at >= n)
            break;
        dst[at] += row->cells[i].count;
        max = dst[at] > max ? dst[at] : max;
    }
    return max;
}

void timeline_done(struct timeline *t)
{
    for (size_t i = 0; i < t->rows_cap; i++)
        mem_free(t->rows[i].cells);
    mem_free(t->rows);
    map_done(&t->index);
    *t = (struct timeline){ 0 };
}
