// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "symbols/linesformat.h"
#include "unit_test.h"

static struct lines_location make_example(void)
{
    struct lines_location place = { .folder = "/src", .file = "lib/a.c", .line = 7, .n = 2 };

    place.inlined[0] =
        (struct lines_inlined){ .name = "inner", .folder = "/src", .file = "/abs/b.h", .line = 3 };
    place.inlined[1] = (struct lines_inlined){ .name = NULL, .file = NULL, .line = 0 };
    return place;
}

static void build_rows(struct buf *blob, unsigned rows)
{
    struct lines_builder b = { 0 };
    struct lines_location place = make_example();

    while (rows--)
        assert_true(lines_build_row(&b, &place));
    lines_build(&b, blob);
    lines_builder_done(&b);
}

static const char *text(const struct lines_view *v, uint32_t at)
{
    return v->strings + at;
}

TEST(built_locations_are_read_back)
{
    struct buf blob = { 0 };
    struct lines_view v;

    build_rows(&blob, 2);
    assert_true(lines_view(&v, blob.data, blob.len, NULL));
    assert_int_equal(v.header.n_rows, 2);
    assert_string_equal(text(&v, v.rows[1].file), "/src/lib/a.c");
    assert_int_equal(v.rows[1].line, 7);
    assert_int_equal(v.rows[1].n, 2);
    assert_string_equal(text(&v, v.calls[v.rows[1].first].name), "inner");
    assert_string_equal(text(&v, v.calls[v.rows[1].first].file), "/abs/b.h");
    assert_int_equal(v.calls[v.rows[1].first].line, 3);
    assert_string_equal(text(&v, v.calls[v.rows[1].first + 1].name), "");
    buf_done(&blob);
}

TEST(adjacent_ranges_without_inlining_are_merged)
{
    struct lines_builder b = { 0 };
    struct buf blob = { 0 };
    struct lines_view v;
    struct lines_location inlined = make_example();

    inlined.low = 0x30, inlined.high = 0x40;
    assert_true(lines_build_more(&b, &(struct lines_location){ .low = 0x10, .high = 0x20 }));
    assert_true(lines_build_more(&b, &(struct lines_location){ .low = 0x20, .high = 0x30 }));
    assert_true(lines_build_more(&b, &inlined));
    assert_true(lines_build_more(&b, &(struct lines_location){ .low = 0x40, .high = 0x50 }));
    assert_true(
        lines_build_more(&b, &(struct lines_location){ .low = 0x60, .high = 0x70 })); /* follows a gap */
    lines_build(&b, &blob);
    assert_true(lines_view(&v, blob.data, blob.len, NULL));
    assert_int_equal(v.header.n_more, 4);
    assert_int_equal(v.rows[0].low, 0x10);
    assert_int_equal(v.rows[0].high, 0x30);
    assert_int_equal(v.rows[1].n, 2);
    assert_int_equal(v.rows[2].low, 0x40);
    assert_int_equal(v.rows[3].low, 0x60);
    lines_builder_done(&b);
    buf_done(&blob);
}

TEST(equal_strings_are_stored_once)
{
    struct buf one = { 0 }, many = { 0 };
    struct lines_view first, second;

    build_rows(&one, 1);
    build_rows(&many, 50);
    assert_true(lines_view(&first, one.data, one.len, NULL));
    assert_true(lines_view(&second, many.data, many.len, NULL));
    assert_int_equal(first.header.strings_n, second.header.strings_n);
    buf_done(&one);
    buf_done(&many);
}

TEST(the_size_of_a_reply_is_bounded)
{
    struct lines_builder b = { 0 };
    struct lines_location place = make_example();
    char name[4096];
    unsigned rows = 0;

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    place.inlined[0].name = name;
    do {
        snprintf(name, 12, "%011u", rows);
        name[11] = 'x';
    } while (lines_build_row(&b, &place) && ++rows < 100000);
    assert_in_range(rows, 100, 99999);
    lines_builder_done(&b);
}

TEST(a_truncated_reply_is_refused)
{
    struct buf blob = { 0 };
    struct lines_view v;
    size_t n;

    build_rows(&blob, 2);
    for (n = 0; n < blob.len; n++)
        assert_false(lines_view(&v, blob.data, n, NULL));
    buf_done(&blob);
}

/* With any byte changed the reply is refused, or everything it refers to is within it. */
TEST(a_damaged_reply_never_leads_outside_its_bounds)
{
    struct buf blob = { 0 };
    struct lines_view v;
    size_t at, sum = 0;
    uint32_t i, k;
    int value;

    build_rows(&blob, 2);
    for (at = 0; at < blob.len; at++)
        for (value = 0; value < 256; value += 51) {
            char *copy = mem_alloc(blob.len); /* exact size, for sanitizers */
            memcpy(copy, blob.data, blob.len);
            copy[at] = (char)value;
            if (lines_view(&v, copy, blob.len, NULL)) {
                sum += strlen(text(&v, v.header.want_folder)) + strlen(text(&v, v.header.want_path));
                for (i = 0; i < v.header.n_rows; i++)
                    for (k = 0; k < v.rows[i].n; k++)
                        sum += strlen(text(&v, v.calls[v.rows[i].first + k].name)) +
                               strlen(text(&v, v.rows[i].file));
            }
            mem_free(copy);
        }
    assert_true(sum > 0);
    buf_done(&blob);
}

TEST(requests_with_an_inconsistent_size_are_refused)
{
    struct lines_server server = { 0 };
    struct {
        struct lines_ask ask;
        uint64_t offsets[2];
    } payload = { .ask = { .key = 1, .n = 2 } };
    struct buf blob = { 0 };
    struct lines_view v;

    assert_false(lines_serve(&server, &payload, 3, NULL, 0, &blob, NULL));
    assert_false(lines_serve(&server, &payload, sizeof payload - 1, NULL, 0, &blob, NULL));
    payload.ask.n = UINT32_MAX;
    assert_false(lines_serve(&server, &payload, sizeof payload, NULL, 0, &blob, NULL));
    payload.ask.n = 2;
    assert_true(lines_serve(&server, &payload, sizeof payload, NULL, 0, &blob, NULL));
    assert_true(lines_view(&v, blob.data, blob.len, NULL));
    assert_int_equal(v.header.status, LINES_NOT_OPEN);
    buf_done(&blob);
    lines_server_done(&server);
}

TEST_MAIN(NULL, NULL)
