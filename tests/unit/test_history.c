// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "profile/history.h"
#include "unit_test.h"

static void append_sample(struct history *h, uint64_t time_ns)
{
    struct sample s = { .time_ns = time_ns, .weight = time_ns * 2, .raw = 12345 };

    history_append(h, &s, NULL, 0);
}

struct seen {
    uint64_t n, first, last, runs;
};

static void note_samples(void *ctx, struct sample *samples, size_t n)
{
    struct seen *seen = ctx;

    for (size_t i = 0; i < n; i++) {
        if (!seen->n++)
            seen->first = samples[i].time_ns;
        seen->last = samples[i].time_ns;
        assert_int_equal(samples[i].weight, samples[i].time_ns * 2);
    }
    seen->runs++;
}

static struct seen scan_range(struct history *h, uint64_t from, uint64_t to)
{
    struct seen seen = { 0 };

    history_scan(h, from, to, note_samples, &seen);
    return seen;
}

TEST(an_empty_history_has_nothing)
{
    struct history *h = history_new();

    assert_int_equal(history_count(h), 0);
    assert_int_equal(history_dropped(h), 0);
    assert_int_equal(history_first_ns(h), 0);
    assert_int_equal(history_last_ns(h), 0);
    assert_int_equal(scan_range(h, 0, 0).runs, 0);
    assert_int_equal(history_shrink(h, 0), 0);
    history_free(h);
    history_free(NULL);
}

TEST(samples_come_back_in_order)
{
    struct history *h = history_new();
    struct seen seen;

    for (uint64_t t = 1; t <= 5000; t++)
        append_sample(h, t);
    seen = scan_range(h, 0, 0);
    assert_int_equal(history_count(h), 5000);
    assert_int_equal(seen.n, 5000);
    assert_int_equal(seen.first, 1);
    assert_int_equal(seen.last, 5000);
    assert_int_equal(history_first_ns(h), 1);
    assert_int_equal(history_last_ns(h), 5000);
    history_free(h);
}

TEST(a_late_sample_counts_for_the_first_and_last_time)
{
    struct history *h = history_new();

    append_sample(h, 100);
    append_sample(h, 90);
    append_sample(h, 200);
    append_sample(h, 150);
    assert_int_equal(history_first_ns(h), 90);
    assert_int_equal(history_last_ns(h), 200);
    history_free(h);
}

TEST(a_range_scan_skips_distant_chunks)
{
    struct history *h = history_new();
    struct seen seen;

    for (uint64_t t = 1; t <= 10000; t++)
        append_sample(h, t);
    seen = scan_range(h, 5000, 5001);
    assert_true(seen.n >= 2);
    assert_true(seen.n <= 2048);
    assert_true(seen.first <= 5000 && seen.last >= 5001);
    assert_int_equal(scan_range(h, 20000, 0).n, 0);
    assert_int_equal(scan_range(h, 10000, 0).last, 10000);
    history_free(h);
}

TEST(pinned_samples_are_dropped_last)
{
    struct history *h = history_new();
    uint64_t dropped;

    for (uint64_t t = 1; t <= 20000; t++)
        append_sample(h, t);
    history_pin(h, 5000, 10000);
    dropped = history_shrink(h, 400000);
    assert_true(dropped > 0);
    assert_int_equal(history_count(h), 20000 - dropped);
    assert_true(scan_range(h, 5000, 10000).first <= 5000);
    assert_int_equal(scan_range(h, 5000, 10000).n, 6 * 1024); /* the six chunks that overlap it */
    assert_int_equal(scan_range(h, 0, 0).last, 20000);
    history_shrink(h, 0);
    assert_int_equal(scan_range(h, 0, 0).last, 20000);
    assert_true(history_count(h) <= 1024);
    history_pin(h, 0, 0);
    history_free(h);
}

static void change_stack(void *ctx, struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        samples[i].stack = *(uint32_t *)ctx;
}

static void assert_same(void *ctx, struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(samples[i].stack, *(uint32_t *)ctx);
}

TEST(a_scan_may_change_the_samples)
{
    struct history *h = history_new();
    uint32_t stack = 77;

    for (uint64_t t = 1; t <= 3000; t++)
        append_sample(h, t);
    history_scan(h, 0, 0, change_stack, &stack);
    history_scan(h, 0, 0, assert_same, &stack);
    history_free(h);
}

TEST(shrinking_drops_the_oldest_and_counts_them)
{
    struct history *h = history_new();
    uint64_t gone;

    for (uint64_t t = 1; t <= 100000; t++)
        append_sample(h, t);
    gone = history_shrink(h, 1 << 20);
    assert_true(gone > 0);
    assert_true(history_bytes(h) <= 1 << 20);
    assert_int_equal(history_count(h) + gone, 100000);
    assert_int_equal(history_dropped(h), gone);
    assert_int_equal(history_first_ns(h), gone + 1);
    assert_int_equal(scan_range(h, 0, 0).first, gone + 1);
    assert_int_equal(scan_range(h, 0, 0).last, 100000);
    assert_int_equal(history_shrink(h, 1 << 20), 0);
    history_free(h);
}

TEST(shrinking_to_zero_keeps_the_newest_chunk)
{
    struct history *h = history_new();

    for (uint64_t t = 1; t <= 5000; t++)
        append_sample(h, t);
    history_shrink(h, 0);
    assert_true(history_count(h) > 0);
    assert_true(history_count(h) <= 1024);
    assert_int_equal(history_last_ns(h), 5000);
    history_free(h);
}

TEST(the_budget_is_kept_indefinitely)
{
    struct history *h = history_new();
    size_t most = 0;

    for (uint64_t t = 1; t <= 300000; t++) {
        append_sample(h, t);
        if (t % 1000 == 0)
            history_shrink(h, 200000);
        if (history_bytes(h) > most)
            most = history_bytes(h);
    }
    assert_true(most < 300000);
    assert_int_equal(history_count(h) + history_dropped(h), 300000);
    assert_int_equal(history_last_ns(h), 300000);
    history_free(h);
}

TEST(clear_removes_all_samples)
{
    struct history *h = history_new();

    for (uint64_t t = 1; t <= 5000; t++)
        append_sample(h, t);
    history_shrink(h, 100000);
    history_clear(h);
    assert_int_equal(history_count(h), 0);
    assert_int_equal(history_dropped(h), 0);
    assert_int_equal(history_first_ns(h), 0);
    append_sample(h, 7);
    assert_int_equal(scan_range(h, 0, 0).n, 1);
    assert_int_equal(history_first_ns(h), 7);
    history_free(h);
}

static void fill_payload(unsigned char *raw, uint32_t i, uint32_t *size)
{
    *size = i % 3 ? 1 + i % 200 : 0; /* every third sample has none */
    memset(raw, (int)(i & 0xff), *size);
}

static void check_payload(const struct history *h, const struct sample *s)
{
    unsigned char want[256];
    uint32_t want_size, size;
    const void *raw = history_raw(h, s, &size);

    fill_payload(want, (uint32_t)s->weight, &want_size);
    assert_int_equal(size, want_size);
    if (!want_size) {
        assert_null(raw);
        return;
    }
    assert_int_equal((uintptr_t)raw % 8, 0);
    assert_memory_equal(raw, want, size);
}

static void check_payloads(void *ctx, struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sample copy = samples[i];

        check_payload(ctx, &samples[i]);
        check_payload(ctx, &copy);
    }
}

TEST(payloads_belong_to_their_samples)
{
    struct history *h = history_new();
    unsigned char raw[256];

    for (uint32_t i = 1; i <= 10000; i++) {
        struct sample s = { .time_ns = i, .weight = i };
        uint32_t size;

        fill_payload(raw, i, &size);
        history_append(h, &s, size ? raw : NULL, size);
    }
    history_scan(h, 0, 0, check_payloads, h);
    history_shrink(h, 500000);
    assert_true(history_dropped(h) > 0);
    history_scan(h, 0, 0, check_payloads, h);
    history_free(h);
}

static void keep_first(void *ctx, struct sample *samples, size_t n)
{
    struct sample *first = ctx;

    if (n && !first->time_ns)
        *first = samples[0];
}

TEST(payloads_of_dropped_samples_are_not_found)
{
    struct history *h = history_new();
    struct sample old = { 0 };
    uint32_t size = 99;

    for (uint32_t i = 1; i <= 5000; i++) {
        struct sample s = { .time_ns = i };
        history_append(h, &s, "payload", 8);
    }
    history_scan(h, 0, 0, keep_first, &old);
    assert_string_equal(history_raw(h, &old, &size), "payload");
    assert_null(history_raw(h, &(struct sample){ .raw = 5001 }, &size)); /* never existed */
    history_shrink(h, 0);
    assert_null(history_raw(h, &old, &size));
    assert_int_equal(size, 0);
    history_clear(h);
    assert_null(history_raw(h, &old, &size));
    history_free(h);
}

TEST(large_payloads_are_dropped_in_small_steps)
{
    struct history *h = history_new();
    unsigned char *raw = mem_zalloc(60000);

    for (uint32_t i = 1; i <= 200; i++) {
        struct sample s = { .time_ns = i };
        history_append(h, &s, raw, 60000);
    }
    assert_true(history_bytes(h) > 200 * 60000);
    history_shrink(h, 4 << 20);
    assert_true(history_bytes(h) <= 4 << 20);
    assert_true(history_count(h) > 30);
    mem_free(raw);
    history_free(h);
}

TEST(samples_are_found_by_number_until_they_are_dropped)
{
    struct history *h = history_new();

    for (uint64_t i = 0; i < 5000; i++) {
        struct sample s = { .time_ns = i + 1, .weight = 1 };
        assert_int_equal(history_append(h, &s, NULL, 0), i);
    }
    assert_int_equal(history_sample(h, 4321)->time_ns, 4322);
    assert_null(history_sample(h, 5000));
    history_pin(h, 1, 1024); /* the oldest stay, the next ones are dropped */
    assert_true(history_shrink(h, history_bytes(h) / 2) > 0);
    assert_int_equal(history_sample(h, 1000)->time_ns, 1001);
    assert_null(history_sample(h, 1500));
    assert_int_equal(history_sample(h, 4999)->time_ns, 5000);
    history_clear(h);
    assert_null(history_sample(h, 4999));
    history_free(h);
}

TEST(setting_a_stack_later_is_recorded_as_a_change)
{
    struct history *h = history_new();
    struct sample s = { .time_ns = 1, .stack = 3, .flags = SAMPLE_BROKEN };
    uint64_t number = history_append(h, &s, NULL, 0), epoch = history_epoch(h);
    const struct history_change *change;

    history_set_stack(h, number, 3, SAMPLE_BROKEN);
    history_set_stack(h, number + 1, 4, 0);
    assert_int_equal(history_changes(h), 0);
    history_set_stack(h, number, 4, 0);
    assert_int_equal(history_sample(h, number)->stack, 4);
    assert_int_equal(history_sample(h, number)->flags, 0);
    assert_int_equal(history_changes(h), 1);
    change = history_change(h, 0);
    assert_int_equal(change->number, number);
    assert_int_equal(change->old_stack, 3);
    assert_int_equal(change->stack, 4);
    assert_int_equal(change->old_flags, SAMPLE_BROKEN);
    assert_int_equal(change->flags, 0);
    assert_int_equal(history_epoch(h), epoch);
    history_free(h);
}

TEST(the_latest_changes_are_kept)
{
    struct history *h = history_new();
    struct sample s = { .time_ns = 1 };
    uint64_t number = history_append(h, &s, NULL, 0);

    for (uint32_t i = 1; i <= HISTORY_CHANGES + 10; i++)
        history_set_stack(h, number, i, 0);
    assert_int_equal(history_changes(h), HISTORY_CHANGES + 10);
    assert_int_equal(history_change(h, 10)->stack, 11);
    assert_int_equal(history_change(h, HISTORY_CHANGES + 9)->stack, HISTORY_CHANGES + 10);
    history_free(h);
}

TEST(scan_after_starts_in_any_chunk)
{
    static const uint64_t counts[] = { 0, 1, 1023, 1024, 1025, 2048, 2999, 3000 };
    struct history *h = history_new();

    for (uint64_t t = 1; t <= 3000; t++)
        append_sample(h, t);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct seen seen = { 0 };

        history_scan_after(h, counts[i], note_samples, &seen);
        assert_int_equal(seen.n, 3000 - counts[i]);
        assert_int_equal(seen.first, seen.n ? counts[i] + 1 : 0);
        assert_int_equal(seen.last, seen.n ? 3000 : 0);
    }
    history_free(h);
}

TEST(dropping_samples_changes_the_epoch)
{
    struct history *h = history_new();
    uint64_t epoch = history_epoch(h);

    for (uint64_t t = 1; t <= 3000; t++)
        append_sample(h, t);
    assert_int_equal(history_epoch(h), epoch);
    history_shrink(h, history_bytes(h) - 1);
    assert_int_not_equal(history_epoch(h), epoch);
    epoch = history_epoch(h);
    history_clear(h);
    assert_int_not_equal(history_epoch(h), epoch);
    history_free(h);
}

TEST(scans_can_be_limited_by_number_and_time)
{
    struct history *h = history_new();
    struct seen seen;

    for (uint64_t i = 1; i <= 5000; i++)
        append_sample(h, i);
    seen = (struct seen){ 0 };
    history_scan_between(h, 0, 5000, 0, 0, note_samples, &seen);
    assert_int_equal(seen.n, 5000);
    seen = (struct seen){ 0 };
    history_scan_between(h, 1500, 3600, 0, 0, note_samples, &seen);
    assert_int_equal(seen.n, 2100);
    assert_int_equal(seen.first, 1501);
    assert_int_equal(seen.last, 3600);
    seen = (struct seen){ 0 };
    history_scan_between(h, 1500, 3600, 2000, 2000, note_samples, &seen); /* only the chunk of time 2000 */
    assert_int_equal(seen.runs, 1);
    assert_true(seen.first <= 2000 && seen.last >= 2000);
    seen = (struct seen){ 0 };
    history_scan_between(h, 3600, 3600, 0, 0, note_samples, &seen);
    history_scan_between(h, 5000, 9000, 0, 0, note_samples, &seen);
    assert_int_equal(seen.n, 0);
    history_free(h);
}

TEST_MAIN(NULL, NULL)
