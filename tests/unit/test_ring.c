// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "perf/ring.h"
#include "unit_test.h"

/* Rings in plain memory: write_record() replaces the kernel. */
#define RING_BYTES 1024
#define RINGS_MAX  8

struct fixture {
    struct ring rings[RINGS_MAX], *all[RINGS_MAX];
    struct order order;
    uint64_t out[256]; /* the times received, in order */
    uint32_t n_out, stop_after;
};

static const struct record_layout layout = {
    .sample_type = PERF_SAMPLE_TIME,
    .id_all = true,
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < RINGS_MAX; i++) {
        f->rings[i] = (struct ring){ .page = calloc(1, sizeof *f->rings[i].page),
                                     .data = calloc(1, RING_BYTES),
                                     .size_bytes = RING_BYTES };
        f->all[i] = &f->rings[i];
    }
    f->stop_after = UINT32_MAX;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < RINGS_MAX; i++) {
        free(f->rings[i].page);
        free((void *)(uintptr_t)f->rings[i].data);
    }
    order_done(&f->order);
    free(f);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void write_bytes(struct ring *r, const void *bytes, size_t n)
{
    uint8_t *data = (uint8_t *)(uintptr_t)r->data;
    for (size_t i = 0; i < n; i++)
        data[(r->page->data_head + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
    r->page->data_head += n;
}

/* A sample of 8 * words bytes whose only field is its time. */
static void write_record(struct ring *r, uint64_t time_ns, uint16_t words)
{
    uint64_t record[64] = { 0 };
    struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = (uint16_t)(8 * words) };
    memcpy(record, &h, sizeof h);
    record[1] = time_ns;
    for (int i = 2; i < words; i++)
        record[i] = time_ns;
    write_bytes(r, record, h.size);
}

static bool collect(void *ctx, const void *bytes, uint32_t size)
{
    struct fixture *f = ctx;
    uint64_t t = 0, v;
    if (!record_time(bytes, size, &layout, &t))
        t = 0;
    for (uint32_t i = 16; i < size; i += 8) { /* in one piece, all of it */
        memcpy(&v, (const char *)bytes + i, sizeof v);
        assert_int_equal(v, t);
    }
    assert_true(f->n_out < 256);
    f->out[f->n_out++] = t;
    return f->n_out < f->stop_after;
}

static uint32_t drain(struct fixture *f, uint32_t rings, uint64_t until_ns)
{
    struct order_rule rule = { .layout = &layout, .until_ns = until_ns, .absurd_ns = 1000000 };
    f->n_out = 0;
    order_drain(&f->order, f->all, rings, &rule, collect, f);
    return f->n_out;
}

FIXTURE_TEST(records_of_many_rings_are_delivered_in_time_order)
{
    struct fixture *f = *state;
    for (uint64_t t = 1; t <= 200; t++)
        write_record(&f->rings[(t * 7919) % RINGS_MAX], t, 2);
    assert_int_equal(drain(f, RINGS_MAX, 1000), 200);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(f->out[i], i + 1);
    for (int i = 0; i < RINGS_MAX; i++)
        assert_int_equal(f->rings[i].page->data_tail, f->rings[i].page->data_head);
}

FIXTURE_TEST(records_that_are_too_new_stay_for_the_next_drain)
{
    struct fixture *f = *state;
    write_record(&f->rings[0], 10, 2);
    write_record(&f->rings[0], 30, 2);
    write_record(&f->rings[1], 20, 2);
    write_record(&f->rings[1], 40, 2);
    assert_int_equal(drain(f, 2, 25), 2);
    assert_int_equal(f->out[1], 20);
    assert_int_equal(f->rings[0].page->data_tail, 16);
    assert_int_equal(drain(f, 2, 100), 2);
    assert_int_equal(f->out[0], 30);
    assert_int_equal(f->out[1], 40);
}

FIXTURE_TEST(a_record_across_the_rings_end_is_delivered_in_one_piece)
{
    struct fixture *f = *state;
    for (uint64_t t = 1; t < 300; t++) {
        write_record(&f->rings[0], t, 13); /* 1024 is not a multiple of 104 */
        write_record(&f->rings[1], t, 7);
        assert_int_equal(drain(f, 2, 1000), 2);
        assert_int_equal(f->out[0], t);
    }
    assert_int_equal(f->order.errors, 0);
}

FIXTURE_TEST(a_full_ring_is_emptied_whatever_the_time)
{
    struct fixture *f = *state;
    for (int i = 0; i < 7; i++)
        write_record(&f->rings[0], 500 + i, 16);
    write_record(&f->rings[1], 500, 2);
    assert_int_equal(drain(f, 2, 100), 7);
    assert_true(f->order.fill > 0.8);
    assert_int_equal(f->rings[1].page->data_tail, 0);
}

FIXTURE_TEST(a_record_of_size_zero_drops_the_rest_of_its_ring_only)
{
    struct fixture *f = *state;
    static const uint16_t sizes[] = { 0, 7, 12, 2048 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct perf_event_header bad = { .type = PERF_RECORD_SAMPLE, .size = sizes[i] };
        write_record(&f->rings[0], 1, 2);
        write_bytes(&f->rings[0], &bad, sizeof bad);
        write_record(&f->rings[0], 2, 2);
        write_record(&f->rings[1], 3, 2);
        assert_int_equal(drain(f, 2, 100), 2);
        assert_int_equal(f->out[1], 3);
        assert_int_equal(f->order.errors, i + 1);
        assert_int_equal(f->rings[0].page->data_tail, f->rings[0].page->data_head);
    }
}

FIXTURE_TEST(a_head_beyond_the_ring_is_an_error_and_not_read)
{
    struct fixture *f = *state;
    f->rings[0].page->data_head = UINT64_C(1) << 40;
    write_record(&f->rings[1], 3, 2);
    assert_int_equal(drain(f, 2, 100), 1);
    assert_int_equal(f->order.errors, 1);
    write_record(&f->rings[0], 5, 2);
    assert_int_equal(drain(f, 2, 100), 1);
    assert_int_equal(f->out[0], 5);
}

FIXTURE_TEST(an_older_record_behind_a_newer_one_does_not_stall)
{
    struct fixture *f = *state;
    write_record(&f->rings[0], 20, 2);
    write_record(&f->rings[0], 10, 2); /* an NMI interrupted */
    write_record(&f->rings[0], 30, 2);
    write_record(&f->rings[1], 25, 2);
    assert_int_equal(drain(f, 2, 100), 4);
    assert_int_equal(f->out[0], 20);
    assert_int_equal(f->out[1], 10);
    assert_int_equal(f->out[3], 30);
}

FIXTURE_TEST(absurd_time_does_not_stall)
{
    struct fixture *f = *state;
    write_record(&f->rings[0], UINT64_MAX - 5, 2);
    write_record(&f->rings[0], 10, 2);
    assert_int_equal(drain(f, 1, 100), 2);
}

FIXTURE_TEST(a_record_without_time_is_delivered_at_once)
{
    struct fixture *f = *state;
    struct perf_event_header h = { .type = 70, .size = 8 };
    write_record(&f->rings[0], 50, 2);
    write_bytes(&f->rings[1], &h, sizeof h);
    assert_int_equal(drain(f, 2, 10), 1);
    assert_int_equal(f->out[0], 0);
}

FIXTURE_TEST(stopping_early_keeps_the_rest)
{
    struct fixture *f = *state;
    for (uint64_t t = 1; t <= 5; t++)
        write_record(&f->rings[t % 2], t, 2);
    f->stop_after = 2;
    assert_int_equal(drain(f, 2, 100), 2);
    f->stop_after = UINT32_MAX;
    assert_int_equal(drain(f, 2, 100), 3);
    assert_int_equal(f->out[0], 3);
}

FIXTURE_TEST(a_foreign_clock_delays_records_by_one_drain)
{
    struct fixture *f = *state;
    struct order_rule rule = { .layout = &layout, .foreign_clock = true };
    write_record(&f->rings[0], 10, 2);
    write_record(&f->rings[1], 20, 2);
    order_drain(&f->order, f->all, 2, &rule, collect, f);
    assert_int_equal(f->n_out, 0);
    write_record(&f->rings[0], 15, 2);
    write_record(&f->rings[0], 30, 2);
    order_drain(&f->order, f->all, 2, &rule, collect, f);
    assert_int_equal(f->n_out, 3);
    assert_int_equal(f->out[1], 15);
    assert_int_equal(f->out[2], 20);
}

/* The kernel reports lost records only in front of the next one that fits. */
FIXTURE_TEST(a_ring_that_was_full_may_lack_records_until_its_next_one_is_read)
{
    struct fixture *f = *state;
    for (uint64_t t = 1; t <= 32; t++) /* half a ring */
        write_record(&f->rings[0], t, 2);
    drain(f, 2, 1000);
    assert_false(f->order.gap);
    for (uint64_t t = 101; t <= 162; t++)
        write_record(&f->rings[0], t, 2);
    write_record(&f->rings[1], 300, 2); /* ring 0 may lack records of this time */
    drain(f, 2, 1000);
    assert_true(f->order.gap);
    write_record(&f->rings[1], 400, 2);
    drain(f, 2, 1000);
    assert_true(f->order.gap);
    write_record(&f->rings[0], 500, 2); /* or the report of lost records */
    write_record(&f->rings[1], 450, 2);
    drain(f, 2, 1000);
    assert_true(f->order.gap);
    drain(f, 2, 1000);
    assert_false(f->order.gap);
}

static void write_lost(struct ring *r)
{
    uint64_t record[3] = { 0 };
    struct perf_event_header h = { .type = PERF_RECORD_LOST, .size = sizeof record };
    memcpy(record, &h, sizeof h);
    write_bytes(r, record, h.size);
}

/* Not all is read at once, so that the ring fills again in front of its reader. */
FIXTURE_TEST(a_second_gap_does_not_hide_the_first)
{
    struct ring *r = &((struct fixture *)*state)->rings[0];
    for (uint64_t t = 1; t <= 62; t++)
        write_record(r, t, 2);
    assert_true(ring_begin(r));
    ring_look_for_gap(r, 1000);
    ring_skip(r, 32 * 16);
    assert_false(ring_is_at_gap(r));
    ring_end(r);
    write_lost(r);
    for (uint64_t t = 101; t <= 130; t++)
        write_record(r, t, 2);
    assert_true(ring_begin(r));
    ring_look_for_gap(r, 2000);
    ring_skip(r, 30 * 16);
    assert_true(r->has_gap && ring_is_at_gap(r));
    ring_skip(r, 24);
    assert_false(ring_is_at_gap(r));
    ring_skip(r, 30 * 16);
    assert_true(r->has_gap && ring_is_at_gap(r));
}

/* It filled while others were read, and is not full any more. */
FIXTURE_TEST(a_reported_loss_is_a_gap_without_a_full_ring)
{
    struct fixture *f = *state;
    write_record(&f->rings[0], 1, 2);
    drain(f, 2, 1000);
    assert_false(f->order.gap);
    write_record(&f->rings[0], 2, 2);
    write_lost(&f->rings[0]);
    write_record(&f->rings[1], 3, 2);
    drain(f, 2, 1000);
    assert_true(f->order.gap);
    drain(f, 2, 1000);
    assert_false(f->order.gap);
}

FIXTURE_TEST(a_ring_that_stays_empty_lacks_nothing_after_a_while)
{
    struct ring *r = &((struct fixture *)*state)->rings[0];
    for (uint64_t t = 1; t <= 60; t++)
        write_record(r, t, 2);
    assert_true(ring_begin(r));
    ring_look_for_gap(r, 1000);
    r->tail = r->head;
    ring_end(r);
    for (uint64_t now_ns = 2000; now_ns < 10 * NS_PER_SEC; now_ns += NS_PER_SEC) {
        assert_true(ring_begin(r));
        ring_look_for_gap(r, now_ns);
        assert_true(r->has_gap == (now_ns < 3 * NS_PER_SEC));
    }
}

TEST_MAIN(NULL, NULL)
