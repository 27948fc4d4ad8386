// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "unit_test.h"

TEST(numbers_are_read_in_native_byte_order)
{
    struct {
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;
        uint8_t u8;
    } v = { UINT64_C(0x0123456789abcdef), 0x01234567, 0x89ab, 0xcd };
    struct cursor c = cursor_of(&v, 15, false);

    assert_true(cursor_u64(&c) == v.u64);
    assert_int_equal(cursor_u32(&c), v.u32);
    assert_int_equal(cursor_u16(&c), v.u16);
    assert_int_equal(cursor_u8(&c), v.u8);
    assert_int_equal(cursor_left(&c), 0);
    assert_false(c.bad);
}

TEST(numbers_of_opposite_byte_order_are_swapped)
{
    uint64_t u64 = UINT64_C(0x0123456789abcdef);
    struct cursor c = cursor_of(&u64, 8, true);

    assert_true(cursor_u64(&c) == UINT64_C(0xefcdab8967452301));
    u64 = UINT64_C(0x0123456701234567);
    c = cursor_of(&u64, 8, true);
    assert_int_equal(cursor_u32(&c), 0x67452301);
    u64 = UINT64_C(0x0123012301230123);
    c = cursor_of(&u64, 8, true);
    assert_int_equal(cursor_u16(&c), 0x2301);
}

TEST(unaligned_numbers_are_read)
{
    unsigned char bytes[9] = { 0 };
    uint64_t v = UINT64_C(0x1122334455667788);
    struct cursor c;

    memcpy(bytes + 1, &v, sizeof v);
    c = cursor_of(bytes, sizeof bytes, false);
    cursor_skip(&c, 1);
    assert_true(cursor_u64(&c) == v);
}

/* On the heap with the exact size, so that a sanitizer detects a read past the end. */
TEST(reading_past_the_end_gives_zeros_and_a_sticky_error)
{
    unsigned char *bytes = malloc(3);
    struct cursor c;

    memset(bytes, 0xff, 3);
    c = cursor_of(bytes, 3, false);
    assert_int_equal(cursor_u32(&c), 0);
    assert_true(c.bad);
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(cursor_u8(&c), 0);
    assert_null(cursor_bytes(&c, 1));
    assert_null(cursor_bytes(&c, 0));
    assert_null(cursor_str(&c, 1));
    assert_true(c.bad);
    free(bytes);
}

TEST(sizes_near_the_maximum_do_not_wrap)
{
    unsigned char bytes[4] = { 1, 2, 3, 4 };
    struct cursor c = cursor_of(bytes, sizeof bytes, false);

    cursor_u8(&c);
    assert_null(cursor_bytes(&c, SIZE_MAX));
    assert_true(c.bad);
    c = cursor_of(bytes, sizeof bytes, false);
    cursor_skip(&c, SIZE_MAX - 1);
    assert_true(c.bad);
}

TEST(bytes_are_borrowed_and_skipped)
{
    unsigned char bytes[4] = { 1, 2, 3, 4 };
    struct cursor c = cursor_of(bytes, sizeof bytes, false);

    assert_ptr_equal(cursor_bytes(&c, 3), bytes);
    assert_int_equal(cursor_left(&c), 1);
    assert_int_equal(cursor_u8(&c), 4);
    assert_ptr_equal(cursor_bytes(&c, 0), bytes + 4);
    assert_false(c.bad);
}

TEST(a_string_consumes_its_whole_field)
{
    static const char field[] = "comm\0\0\0\0after";
    struct cursor c = cursor_of(field, sizeof field, false);

    assert_string_equal(cursor_str(&c, 8), "comm");
    assert_string_equal(cursor_str(&c, 6), "after");
    assert_false(c.bad);
}

TEST(an_unterminated_string_is_an_error)
{
    struct cursor c = cursor_of("abcd", 4, false);

    assert_null(cursor_str(&c, 4));
    assert_true(c.bad);
    c = cursor_of("abcd", 4, false);
    assert_null(cursor_str(&c, 0));
    assert_true(c.bad);
}

TEST(an_empty_buffer_gives_nothing)
{
    struct cursor c = cursor_of(NULL, 0, false);

    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(cursor_u16(&c), 0);
    assert_true(c.bad);
}

TEST_MAIN(NULL, NULL)
