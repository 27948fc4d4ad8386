// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores samples and payloads in chunks.
 *
 * Payloads are numbered through the whole history, and each chunk has the number of its first one. So a
 * handle finds its payload from a copy of the sample as well, as long as the chunk exists. */
#include "profile/history.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/serial.h"

#define CHUNK_SAMPLES 1024
/* A chunk with much payload ends early; else the budget could only be kept in steps of many megabytes. */
#define CHUNK_RAW_BYTES ((size_t)1 << 20)

struct raw_location {
    uint32_t offset, size;
};

struct chunk {
    struct sample *samples;
    uint32_t n;
    uint64_t first;     /* number of samples[0] */
    uint32_t raw_first; /* handle of payloads[0] */
    uint64_t min_ns, max_ns;
    VEC(struct raw_location) payloads;
    unsigned char *raw;
    size_t raw_len, raw_cap;
};

struct history {
    struct chunk *chunks; /* chunks in use are [head, head + n) */
    size_t chunks_cap, head, n;
    uint64_t count, dropped, epoch;
    uint64_t pin_from_ns, pin_to_ns; /* pin_to_ns 0: nothing is pinned */
    size_t bytes;                    /* of all chunks */
    uint32_t raw_next;
    uint64_t next;                  /* number of the next sample */
    struct history_change *changes; /* a ring; NULL: no changes yet */
    uint64_t n_changes;
};

struct history *history_new(void)
{
    struct history *h = mem_zalloc(sizeof *h);

    h->raw_next = 1;
    h->epoch = serial_next();
    return h;
}

static size_t chunk_bytes(const struct chunk *c)
{
    return CHUNK_SAMPLES * sizeof *c->samples + c->payloads.cap * sizeof *c->payloads.items + c->raw_cap;
}

/* Frees a chunk and moves up those before it. */
static void drop_chunk(struct history *h, size_t at)
{
    struct chunk *c = &h->chunks[at];

    h->bytes -= chunk_bytes(c);
    h->count -= c->n;
    h->epoch = serial_next();
    mem_free(c->samples);
    mem_free(c->payloads.items);
    mem_free(c->raw);
    memmove(&h->chunks[h->head + 1], &h->chunks[h->head], (at - h->head) * sizeof *h->chunks);
    h->head++;
    h->n--;
}

static bool pinned(const struct history *h, const struct chunk *c)
{
    return h->pin_to_ns && c->max_ns >= h->pin_from_ns && c->min_ns <= h->pin_to_ns;
}

/* Returns the oldest chunk that is not pinned and not the newest; else the oldest one. */
static size_t next_to_drop(const struct history *h)
{
    for (size_t i = h->head; i + 1 < h->head + h->n; i++) {
        if (!pinned(h, &h->chunks[i]))
            return i;
    }
    return h->head;
}

void history_pin(struct history *h, uint64_t from_ns, uint64_t to_ns)
{
    h->pin_from_ns = from_ns;
    h->pin_to_ns = to_ns;
}

void history_clear(struct history *h)
{
    while (h->n)
        drop_chunk(h, h->head);
    mem_free(h->chunks);
    h->chunks = NULL;
    h->chunks_cap = h->head = 0;
    h->dropped = 0;
}

void history_free(struct history *h)
{
    if (!h)
        return;
    history_clear(h);
    mem_free(h->changes);
    mem_free(h);
}

/* Shrinks the payload memory of a chunk that is no longer the newest, because nothing more is added to
 * it. */
static void seal(struct history *h, struct chunk *c)
{
    h->bytes -= chunk_bytes(c);
    if (c->payloads.n) {
        c->payloads.items = mem_resize(c->payloads.items, c->payloads.n, sizeof *c->payloads.items);
        c->payloads.cap = c->payloads.n;
        c->raw = mem_resize(c->raw, c->raw_len, 1);
        c->raw_cap = c->raw_len;
    }
    h->bytes += chunk_bytes(c);
}

/* Makes room after the last chunk: moves to the front if half of the array is unused there. */
static void make_room(struct history *h)
{
    if (h->head && h->head >= h->n) {
        memmove(h->chunks, h->chunks + h->head, h->n * sizeof *h->chunks);
        h->head = 0;
    }
    MEM_GROW(h->chunks, h->chunks_cap, h->head + h->n + 1);
}

static struct chunk *add_chunk(struct history *h)
{
    struct chunk *c;

    if (h->n)
        seal(h, &h->chunks[h->head + h->n - 1]);
    make_room(h);
    c = &h->chunks[h->head + h->n++];
    *c = (struct chunk){ .first = h->next, .raw_first = h->raw_next, .min_ns = UINT64_MAX };
    c->samples = mem_alloc(CHUNK_SAMPLES * sizeof *c->samples);
    h->bytes += chunk_bytes(c);
    return c;
}

static struct chunk *chunk_for(struct history *h, uint32_t raw_size)
{
    struct chunk *c;

    if (!h->n)
        return add_chunk(h);
    c = &h->chunks[h->head + h->n - 1];
    if (c->n == CHUNK_SAMPLES || (c->raw_len && c->raw_len + raw_size > CHUNK_RAW_BYTES))
        return add_chunk(h);
    return c;
}

static uint32_t add_raw(struct history *h, struct chunk *c, const void *raw, uint32_t size)
{
    size_t padded = ((size_t)size + 7) & ~(size_t)7; /* each payload starts aligned */

    h->bytes -= chunk_bytes(c);
    MEM_GROW(c->raw, c->raw_cap, c->raw_len + padded);
    h->bytes += chunk_bytes(c);
    *VEC_PUSH(&c->payloads) = (struct raw_location){ (uint32_t)c->raw_len, size };
    if (size)
        memcpy(c->raw + c->raw_len, raw, size);
    c->raw_len += padded;
    return h->raw_next++;
}

uint64_t history_append(struct history *h, const struct sample *s, const void *raw, uint32_t raw_size)
{
    struct chunk *c = chunk_for(h, raw ? raw_size : 0);
    struct sample *to = &c->samples[c->n++];

    *to = *s;
    to->raw = 0;
    if (raw && raw_size) {
        if (!h->raw_next)
            /* After 2^32 payloads: skips handle 0, which means "none". */
            add_raw(h, c, NULL, 0);
        to->raw = add_raw(h, c, raw, raw_size);
    }
    if (to->time_ns < c->min_ns)
        c->min_ns = to->time_ns;
    if (to->time_ns > c->max_ns)
        c->max_ns = to->time_ns;
    h->count++;
    return h->next++;
}

static struct sample *find_sample(const struct history *h, uint64_t number)
{
    size_t after = SEARCH_FIRST(i, h->head, h->head + h->n, h->chunks[i].first > number);
    const struct chunk *c;

    if (after == h->head)
        return NULL;
    c = &h->chunks[after - 1];
    return number - c->first < c->n ? &c->samples[number - c->first] : NULL;
}

const struct sample *history_sample(const struct history *h, uint64_t number)
{
    return find_sample(h, number);
}

void history_set_stack(struct history *h, uint64_t number, uint32_t stack, uint8_t flags)
{
    struct sample *s = find_sample(h, number);

    if (!s || (s->stack == stack && s->flags == flags))
        return;
    if (!h->changes)
        h->changes = mem_array(HISTORY_CHANGES, sizeof *h->changes);
    h->changes[h->n_changes++ % HISTORY_CHANGES] =
        (struct history_change){ number, s->stack, stack, s->flags, flags };
    s->stack = stack;
    s->flags = flags;
}

uint64_t history_changes(const struct history *h)
{
    return h->n_changes;
}

const struct history_change *history_change(const struct history *h, uint64_t i)
{
    return &h->changes[i % HISTORY_CHANGES];
}

struct change {
    uint64_t from_ns, to_ns;
    uint32_t (*stack)(void *ctx, const struct sample *s);
    void *ctx;
    bool changed;
};

static void change_run(void *ctx, struct sample *samples, size_t n)
{
    struct change *c = ctx;

    for (size_t i = 0; i < n; i++) {
        uint32_t stack = samples[i].stack;
        if (samples[i].time_ns >= c->from_ns && samples[i].time_ns <= c->to_ns)
            stack = c->stack(c->ctx, &samples[i]);
        if (stack != samples[i].stack)
            c->changed = true;
        samples[i].stack = stack;
    }
}

void history_change_stacks(struct history *h, uint64_t from_ns, uint64_t to_ns,
                           uint32_t (*stack)(void *ctx, const struct sample *s), void *ctx)
{
    struct change c = { from_ns, to_ns, stack, ctx, false };

    history_scan(h, from_ns, to_ns, change_run, &c);
    if (c.changed)
        h->epoch = serial_next();
}

struct change_events {
    uint32_t (*event)(void *ctx, uint32_t of);
    void *ctx;
};

static void change_events(void *ctx, struct sample *samples, size_t n)
{
    const struct change_events *c = ctx;
    for (size_t i = 0; i < n; i++)
        samples[i].event = c->event(c->ctx, samples[i].event) % SAMPLE_EVENTS;
}

void history_change_events(struct history *h, uint32_t (*event)(void *ctx, uint32_t of), void *ctx)
{
    struct change_events c = { event, ctx };
    history_scan(h, 0, 0, change_events, &c);
    h->epoch = serial_next();
}

uint64_t history_next(const struct history *h)
{
    return h->next;
}

uint64_t history_count(const struct history *h)
{
    return h->count;
}

uint64_t history_dropped(const struct history *h)
{
    return h->dropped;
}

uint64_t history_first_ns(const struct history *h)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = h->head; i < h->head + h->n; i++) {
        if (h->chunks[i].min_ns < first)
            first = h->chunks[i].min_ns;
    }
    return h->n ? first : 0;
}

uint64_t history_last_ns(const struct history *h)
{
    uint64_t last = 0;

    for (size_t i = h->head; i < h->head + h->n; i++) {
        if (h->chunks[i].max_ns > last)
            last = h->chunks[i].max_ns;
    }
    return last;
}

size_t history_bytes(const struct history *h)
{
    return sizeof *h + h->chunks_cap * sizeof *h->chunks + h->bytes +
           (h->changes ? HISTORY_CHANGES * sizeof *h->changes : 0);
}

uint64_t history_shrink(struct history *h, size_t max_bytes)
{
    uint64_t before = h->count;

    while (h->n > 1 && history_bytes(h) > max_bytes)
        drop_chunk(h, next_to_drop(h));
    h->dropped += before - h->count;
    return before - h->count;
}

static bool overlaps(const struct chunk *c, uint64_t from_ns, uint64_t to_ns)
{
    return c->max_ns >= from_ns && (!to_ns || c->min_ns <= to_ns);
}

void history_scan(struct history *h, uint64_t from_ns, uint64_t to_ns,
                  void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx)
{
    for (size_t i = h->head; i < h->head + h->n; i++) {
        struct chunk *c = &h->chunks[i];

        if (overlaps(c, from_ns, to_ns))
            run(ctx, c->samples, c->n);
    }
}

void history_scan_after(struct history *h, uint64_t count,
                        void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx)
{
    /* Samples before the chunk. */
    uint64_t first = h->count;
    size_t i = h->head + h->n;

    while (first > count)
        first -= h->chunks[--i].n;
    for (; i < h->head + h->n; i++) {
        struct chunk *c = &h->chunks[i];
        uint64_t skip = count > first ? count - first : 0;

        run(ctx, c->samples + skip, c->n - skip);
        first += c->n;
    }
}

void history_scan_between(struct history *h, uint64_t count, uint64_t end, uint64_t from_ns, uint64_t to_ns,
                          void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx)
{
    uint64_t first = h->count; /* as above */
    size_t i = h->head + h->n;

    while (first > count)
        first -= h->chunks[--i].n;
    for (; i < h->head + h->n && first < end; i++) {
        struct chunk *c = &h->chunks[i];
        uint64_t skip = count > first ? count - first : 0, stop = end - first < c->n ? end - first : c->n;

        if (stop > skip && overlaps(c, from_ns, to_ns))
            run(ctx, c->samples + skip, stop - skip);
        first += c->n;
    }
}

uint64_t history_epoch(const struct history *h)
{
    return h->epoch;
}

const void *history_raw(const struct history *h, const struct sample *s, uint32_t *size)
{
    return history_raw_of((struct history *)(uintptr_t)h, s, size);
}

void *history_raw_of(struct history *h, const struct sample *s, uint32_t *size)
{
    const struct chunk *c;
    uint32_t index;

    *size = 0;
    if (!s->raw || !h->n)
        return NULL;
    c = h->chunks + h->head;
    /* Compares distances from the oldest, because handles wrap around. */
    c += SEARCH_FIRST(i, 1, h->n, c[i].raw_first - c->raw_first > s->raw - c->raw_first) - 1;
    index = s->raw - c->raw_first;
    if (index >= c->payloads.n)
        return NULL;
    *size = c->payloads.items[index].size;
    return c->raw + c->payloads.items[index].offset;
}
