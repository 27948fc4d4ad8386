// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "unit_test.h"

TEST(an_empty_buffer_reads_as_an_empty_string)
{
    struct buf b = { 0 };
    char *taken;

    assert_string_equal(buf_str(&b), "");
    taken = buf_take(&b);
    assert_string_equal(taken, "");
    mem_free(taken);
    buf_done(&b);
}

TEST(appended_bytes_are_in_order_and_nul_terminated)
{
    struct buf b = { 0 };

    buf_puts(&b, "a;");
    buf_add(&b, "bcd", 2);
    buf_putc(&b, ';');
    buf_printf(&b, "%d %s", 42, "x");
    assert_string_equal(buf_str(&b), "a;bc;42 x");
    assert_int_equal(b.len, 9);
    assert_int_equal(b.data[b.len], '\0');
    buf_done(&b);
    assert_null(b.data);
}

TEST(bytes_may_contain_nul)
{
    struct buf b = { 0 };

    buf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
    buf_done(&b);
}

TEST(buffers_grow_over_many_appends)
{
    struct buf b = { 0 };
    size_t i;

    for (i = 0; i < 10000; i++)
        buf_printf(&b, "%04zu", i);
    assert_int_equal(b.len, 40000);
    assert_memory_equal(b.data + 4 * 1234, "1234", 4);
    assert_string_equal(b.data + 4 * 9999, "9999");
    buf_done(&b);
}

TEST(clearing_a_buffer_keeps_its_memory)
{
    struct buf b = { 0 };
    char *data;

    buf_puts(&b, "something");
    data = b.data;
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_str(&b), "");
    assert_ptr_equal(b.data, data);
    buf_done(&b);
}

TEST(taking_the_bytes_leaves_the_buffer_empty)
{
    struct buf b = { 0 };
    char *taken;

    buf_puts(&b, "mine");
    taken = buf_take(&b);
    assert_string_equal(taken, "mine");
    assert_int_equal(b.len, 0);
    buf_puts(&b, "other");
    assert_string_equal(taken, "mine");
    mem_free(taken);
    buf_done(&b);
}

TEST_MAIN(NULL, NULL)
