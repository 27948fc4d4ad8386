// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/clock.h"
#include "ui/window.h"
#include "unit_test.h"

static struct view_query aligned(uint64_t window_s, uint64_t start_ns, uint64_t elapsed_ns)
{
    struct session_status st;
    struct view_query q = { .window_ns = window_s * NS_PER_SEC };
    memset(&st, 0, sizeof st);
    st.now_ns = start_ns + elapsed_ns;
    st.elapsed_ns = elapsed_ns;
    window_align(&q, &st);
    return q;
}

TEST(now_is_always_in_the_range)
{
    static const uint64_t windows_s[] = { 0, 5, 10, 60, 300 };
    for (size_t i = 0; i < sizeof windows_s / sizeof *windows_s; i++) {
        for (uint64_t ms = 0; ms < 700000; ms += 777) {
            uint64_t start = 123456789123, now = start + ms * NS_PER_MS;
            struct view_query q = aligned(windows_s[i], start, ms * NS_PER_MS);
            assert_true(q.from_ns >= start);
            assert_true(q.from_ns <= now && now <= q.to_ns);
            if (windows_s[i] && ms >= windows_s[i] * 1000)
                assert_true(now - q.from_ns >= windows_s[i] * NS_PER_SEC * 7 / 8);
            if (windows_s[i])
                assert_true(q.to_ns - q.from_ns <= windows_s[i] * NS_PER_SEC);
        }
    }
}

TEST(the_range_moves_by_eighths_of_the_window)
{
    struct view_query first = aligned(80, 0, 1000 * NS_PER_SEC), later = aligned(80, 0, 1009 * NS_PER_SEC);
    struct view_query next = aligned(80, 0, 1010 * NS_PER_SEC);
    assert_int_equal(first.from_ns, later.from_ns);
    assert_int_equal(first.to_ns, later.to_ns);
    assert_int_equal(next.from_ns - first.from_ns, 10 * NS_PER_SEC);
    assert_int_equal(next.to_ns - first.to_ns, 10 * NS_PER_SEC);
    assert_int_equal(query_bucket_ns(first.from_ns, first.to_ns), 10 * NS_PER_SEC);
}

TEST(the_range_moves_by_whole_buckets)
{
    static const uint64_t windows_s[] = { 0, 5, 10, 30, 60, 300 };
    for (size_t i = 0; i < sizeof windows_s / sizeof *windows_s; i++) {
        struct view_query q = aligned(windows_s[i], 123456789123, 0);
        unsigned widened = 0, moved = 0;
        for (uint64_t ms = 0; ms < 900000; ms += 501) {
            struct view_query next = aligned(windows_s[i], 123456789123, ms * NS_PER_MS);
            uint64_t bucket = query_bucket_ns(q.from_ns, q.to_ns), length = q.to_ns - q.from_ns + 1;
            assert_int_equal(bucket * QUERY_TREND, length);
            if (next.from_ns == q.from_ns && next.to_ns != q.to_ns) {
                assert_int_equal(next.to_ns - next.from_ns + 1, 2 * length);
                widened++;
            } else if (next.from_ns != q.from_ns) {
                assert_int_equal(next.from_ns - q.from_ns, next.to_ns - q.to_ns);
                assert_int_equal((next.from_ns - q.from_ns) % bucket, 0);
                moved++;
            }
            q = next;
        }
        assert_true(windows_s[i] == 0 ? widened >= 8 && !moved : moved >= 16);
    }
}

TEST(the_range_begins_at_the_start_of_sampling)
{
    const uint64_t start = 5 * NS_PER_SEC;
    assert_int_equal(aligned(60, start, 3 * NS_PER_SEC).from_ns, start);
    assert_int_equal(aligned(0, start, 500 * NS_PER_SEC).from_ns, start);
}

TEST(frozen_and_file_ranges_stay_unchanged)
{
    struct session_status st;
    struct view_query q = { .window_ns = NS_PER_SEC };
    memset(&st, 0, sizeof st);
    st.now_ns = 100 * NS_PER_SEC;
    st.elapsed_ns = 50 * NS_PER_SEC;
    st.frozen = true;
    window_align(&q, &st);
    assert_int_equal(q.from_ns | q.to_ns, 0);
    st.frozen = false;
    st.file = true;
    window_align(&q, &st);
    assert_int_equal(q.from_ns | q.to_ns, 0);
}

TEST(windows_have_names)
{
    char name[32];
    window_name(10 * NS_PER_SEC, name, sizeof name);
    assert_string_equal(name, "10s");
    window_name(300 * NS_PER_SEC, name, sizeof name);
    assert_string_equal(name, "5min");
    window_name(0, name, sizeof name);
    assert_string_equal(name, "since start");
}

TEST_MAIN(NULL, NULL)
