// SPDX-License-Identifier: GPL-2.0-or-later
/* The second pass: merges the runs by time; ties keep the order of the file. A run is in the heap from its
 * first time to its last, so the heap holds about one run per CPU. */
#include <stdlib.h>
#include <string.h>

#include "perfdata/perfdata_file.h"

/* Of a sample: its registers, and the part of its stack that every unwind reads. */
#define AWAITED_BYTES 1536

struct active {
    uint64_t time_ns; /* of the record at pos */
    uint64_t seq, pos, end;
};

struct merge {
    struct perfdata *p;
    struct active *heap;
    size_t n, cap, next; /* next: the first run that is not in the heap yet */
    uint64_t handed_out;
};

static bool before(const struct active *a, const struct active *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->seq < b->seq;
}

static void sift_down(struct merge *m)
{
    struct active e = m->heap[0];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= m->n)
            break;
        if (child + 1 < m->n && before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!before(&m->heap[child], &e))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = e;
}

static bool push(struct merge *m, const struct run *r)
{
    if (m->n == m->cap) {
        size_t cap = mem_next_cap(m->cap, m->n + 1);
        struct active *more = mem_try_resize(m->heap, cap, sizeof *more);
        if (!more)
            return false;
        m->heap = more;
        m->cap = cap;
    }
    struct active e = { r->first_ns, r->seq, r->start, r->end };
    size_t i = m->n++;
    for (; i && before(&e, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = e;
    return true;
}

/* Adds the runs whose first record is due to the heap. */
static bool admit(struct merge *m)
{
    while (m->next < m->p->n_runs) {
        const struct run *r = &m->p->runs[m->next];
        struct active e = { .time_ns = r->first_ns, .seq = r->seq };
        if (m->n && !before(&e, &m->heap[0]))
            break;
        if (!push(m, r))
            return false;
        m->next++;
    }
    return true;
}

static const uint8_t *record_at(struct perfdata *p, uint64_t place, uint32_t *type, uint32_t *size)
{
    const uint8_t *bytes = read_bytes_at(p, place, sizeof(struct perf_event_header));
    if (!bytes)
        return NULL;
    struct cursor c = cursor_of(bytes, sizeof(struct perf_event_header), p->swap);
    *type = cursor_u32(&c);
    cursor_skip(&c, 2);
    *size = cursor_u16(&c);
    if (*size < sizeof(struct perf_event_header))
        return NULL;
    return read_record_at(p, place, *type, *size);
}

/* Advances the first run to its next record, or removes it. */
static void advance(struct merge *m, uint32_t size)
{
    struct active *top = m->heap;
    struct perfdata *p = m->p;
    uint32_t type, next_size;
    uint64_t time_ns;
    top->pos += size;
    const uint8_t *bytes = size && top->pos < top->end ? record_at(p, top->pos, &type, &next_size) : NULL;
    if (!bytes)
        *top = m->heap[--m->n]; /* at the run's end, or the file changed */
    else if (index_time(p, bytes, next_size, type, &time_ns))
        top->time_ns = time_ns;
    if (m->n)
        sift_down(m);
}

static bool hand_out(const struct merge *m, const uint8_t *bytes, uint32_t type, uint32_t size,
                     perfdata_record_fn *fn, void *ctx)
{
    struct perfdata *p = m->p;
    struct record r;
    uint32_t event;
    if (!index_event(p, bytes, size, type, &event)) {
        damage_note(p, DAMAGE_NO_EVENT, 1);
        return true;
    }
    if (!record_parse(bytes, size, &p->layouts[event], &r, NULL) || r.type != type) {
        damage_note(p, DAMAGE_BAD_RECORD, 1);
        return true;
    }
    r.source = event;
    r.place = m->heap[0].pos;
    if (r.id.time_ns >= FORMAT_TIME_NONE)
        r.id.time_ns = 0;
    if (type == PERF_RECORD_SAMPLE && !(p->layouts[event].sample_type & PERF_SAMPLE_PERIOD))
        r.sample.period =
            p->events.items[event].attr.sample_period; /* the constant period was not recorded */
    if (type == PERF_RECORD_SAMPLE && offcpu_payload_applies(p, event) && !offcpu_payload_apply(&r)) {
        damage_note(p, DAMAGE_BAD_RECORD, 1);
        return true;
    }
    return split_applies(p, &r, event) ? split_sample(p, &r, event, fn, ctx) : fn(ctx, &r);
}

static int by_time(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

bool merge_records(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e)
{
    struct merge m = { .p = p };
    bool more = true, room = true;
    readings_clear(&p->readings);
    if (p->n_runs)
        qsort(p->runs, p->n_runs, sizeof *p->runs, by_time);
    while (more && (room = admit(&m)) && m.n) {
        uint32_t type = 0, size = 0;
        const uint8_t *bytes = record_at(p, m.heap[0].pos, &type, &size);
        if (type == PERF_RECORD_SAMPLE)
            await_bytes_at(p, m.heap[0].pos + size, AWAITED_BYTES);
        if (bytes)
            more = hand_out(&m, bytes, type, size, fn, ctx);
        advance(&m, bytes ? size : 0);
        if (progress && ++m.handed_out % 1024 == 0)
            *progress = 0.25 + 0.75 * (double)m.handed_out / (double)p->n_records;
    }
    mem_free(m.heap);
    return room ? more : error_set(e, ERROR_LIMIT, "not enough memory to sort the records by time");
}
