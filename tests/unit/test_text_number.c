// SPDX-License-Identifier: GPL-2.0-or-later
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "unit_test.h"

static char dst[64];

TEST(thousands_are_grouped)
{
    assert_string_equal(text_thousands(dst, sizeof dst, 0), "0");
    assert_string_equal(text_thousands(dst, sizeof dst, 999), "999");
    assert_string_equal(text_thousands(dst, sizeof dst, 1000), "1,000");
    assert_string_equal(text_thousands(dst, sizeof dst, 11204), "11,204");
    assert_string_equal(text_thousands(dst, sizeof dst, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_ptr_equal(text_thousands(dst, 4, 11204), dst);
    assert_string_equal(dst, "11,");
}

TEST(si_numbers_have_three_digits_and_a_unit)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0, "0" },         { 1.66, "1.66" },   { 1.5, "1.5" },      { 312, "312" },       { 12.34, "12.3" },
        { 9.996, "10" },    { 99.96, "100" },   { 999.4, "999" },    { 999.6, "1 K" },     { 1000, "1 K" },
        { 7516, "7.52 K" }, { 7500, "7.5 K" },  { 12432, "12.4 K" }, { 5.32e9, "5.32 G" }, { 999999, "1 M" },
        { 1.8e19, "18 E" }, { 1e30, ">999 E" }, { -2500, "-2.5 K" }, { 0.004, "0" },       { -0.001, "0" },
        { 0.25, "0.25" },   { 1.05, "1.05" },   { NAN, "n/a" },      { INFINITY, "n/a" },
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(text_si(dst, sizeof dst, cases[i].v), cases[i].text);
}

TEST(bytes_are_short)
{
    assert_string_equal(text_bytes(dst, sizeof dst, 0), "0B");
    assert_string_equal(text_bytes(dst, sizeof dst, 1023), "1023B");
    assert_string_equal(text_bytes(dst, sizeof dst, 1024), "1.0K");
    assert_string_equal(text_bytes(dst, sizeof dst, 4 << 20), "4.0M");
    assert_string_equal(text_bytes(dst, sizeof dst, 64 << 20), "64M");
    assert_string_equal(text_bytes(dst, sizeof dst, 1536), "1.5K");
    assert_string_equal(text_bytes(dst, sizeof dst, (1 << 20) - 1), "1.0M");
    assert_string_equal(text_bytes(dst, sizeof dst, UINT64_MAX), "16E");
}

TEST(durations_are_hours_minutes_seconds)
{
    assert_string_equal(text_length(dst, sizeof dst, 0), "0 ns");
    assert_string_equal(text_length(dst, sizeof dst, 850), "850 ns");
    assert_string_equal(text_length(dst, sizeof dst, 12400), "12.4 us");
    assert_string_equal(text_length(dst, sizeof dst, 999600), "1 ms");
    assert_string_equal(text_length(dst, sizeof dst, 1660000), "1.66 ms");
    assert_string_equal(text_length(dst, sizeof dst, 30 * UINT64_C(1000000000)), "30 s");
    assert_string_equal(text_length(dst, sizeof dst, 60 * UINT64_C(1000000000)), "1 min");
    assert_string_equal(text_length(dst, sizeof dst, 12600 * UINT64_C(1000000000)), "3.5 h");
    assert_string_equal(text_length(dst, sizeof dst, UINT64_MAX), "5124096 h");
    assert_string_equal(text_length_within(dst, sizeof dst, 113400 * UINT64_C(1000000), 8), "1.89 min");
    assert_string_equal(text_length_within(dst, sizeof dst, 113400 * UINT64_C(1000000), 7), "1.9 min");
    assert_string_equal(text_length_within(dst, sizeof dst, 599400 * UINT64_C(1000000), 7), "10 min");
    for (uint64_t ns = 1; ns < 1000 * UINT64_C(3600000000000); ns += ns / 7 + 1) {
        assert_true(strlen(text_length_within(dst, sizeof dst, ns, 8)) <= 8);
        assert_true(strlen(text_length_within(dst, sizeof dst, ns, 7)) <= 7);
    }
    assert_string_equal(text_duration(dst, sizeof dst, 0), "00:00:00");
    assert_string_equal(text_duration(dst, sizeof dst, 102), "00:01:42");
    assert_string_equal(text_duration(dst, sizeof dst, 360000), "100:00:00");
}

TEST(sizes_are_parsed)
{
    static const struct {
        const char *s;
        uint64_t bytes;
    } cases[] = {
        { "0", 0 },
        { "4096", 4096 },
        { "64M", 64 << 20 },
        { "64m", 64 << 20 },
        { "1.5G", 3 << 29 },
        { "8KiB", 8192 },
        { "8KB", 8192 },
        { "312B", 312 },
        { "1.0", 1 },
        { "15E", UINT64_C(15) << 60 },
        { "18446744073709551615", UINT64_MAX },
        { "0.25K", 256 },
    };
    uint64_t bytes;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(text_parse_bytes(cases[i].s, &bytes));
        assert_true(bytes == cases[i].bytes);
    }
}

TEST(invalid_sizes_are_refused)
{
    static const char *const bad[] = { "",
                                       "M",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 M",
                                       "1.5",
                                       "1..5G",
                                       "1.",
                                       "64Mx",
                                       "64iB",
                                       "64MiB ",
                                       "16E",
                                       "0x10",
                                       "1.5B",
                                       "18446744073709551616",
                                       "15.99999999999999999999E1" };
    uint64_t bytes = 77;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        if (text_parse_bytes(bad[i], &bytes))
            fail_msg("'%s' was accepted as a size", bad[i]);
    assert_int_equal(bytes, 77);
}

TEST(yes_and_no_have_four_words_each)
{
    static const char *const words[] = { "yes", "true", "on", "1", "no", "false", "off", "0" };
    bool value;
    for (int i = 0; i < 8; i++) {
        value = i >= 4;
        assert_true(text_parse_bool(words[i], &value));
        assert_int_equal(value, i < 4);
    }
    value = true;
    assert_false(text_parse_bool("maybe", &value) || text_parse_bool("", &value) ||
                 text_parse_bool("Yes", &value));
    assert_true(value);
}

TEST(whole_numbers_are_parsed_within_their_range)
{
    uint64_t v = 77;

    assert_true(text_parse_u64("99", 1, 100, &v));
    assert_int_equal(v, 99);
    assert_true(text_parse_u64("18446744073709551615", 0, UINT64_MAX, &v));
    assert_true(v == UINT64_MAX);
    v = 77;
    assert_false(text_parse_u64("18446744073709551616", 0, UINT64_MAX, &v));
    assert_false(text_parse_u64("0", 1, 100, &v));
    assert_false(text_parse_u64("101", 1, 100, &v));
    assert_false(text_parse_u64("", 0, 100, &v));
    assert_false(text_parse_u64("5x", 0, 100, &v));
    assert_false(text_parse_u64(" 5", 0, 100, &v));
    assert_false(text_parse_u64("-5", 0, UINT64_MAX, &v));
    assert_int_equal(v, 77);
}

TEST(seconds_are_positive_decimals)
{
    double s = 77;

    assert_true(text_parse_seconds("2", &s));
    assert_true(s == 2);
    assert_true(text_parse_seconds("0.5", &s));
    assert_true(s == 0.5);
    assert_true(text_parse_seconds(".25", &s));
    assert_true(s == 0.25);
    s = 77;
    assert_false(text_parse_seconds("0", &s));
    assert_false(text_parse_seconds("0.0", &s));
    assert_false(text_parse_seconds("-1", &s));
    assert_false(text_parse_seconds("", &s));
    assert_false(text_parse_seconds(".", &s));
    assert_false(text_parse_seconds("1.", &s));
    assert_false(text_parse_seconds("1,5", &s));
    assert_false(text_parse_seconds("nan", &s));
    assert_false(text_parse_seconds("inf", &s));
    assert_false(text_parse_seconds("1e3", &s));
    assert_false(text_parse_seconds("99999999999999999999999", &s));
    assert_true(s == 77);
}

TEST(the_decimal_point_is_a_point_in_every_locale)
{
    double s = 0;

    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    assert_true(text_parse_seconds("0.5", &s) && s == 0.5);
    assert_string_equal(text_si(dst, sizeof dst, 1.66), "1.66");
    assert_string_equal(text_bytes(dst, sizeof dst, 1536), "1.5K");
    setlocale(LC_NUMERIC, "C");
}

TEST(lengths_are_parsed)
{
    static const struct {
        const char *text;
        uint64_t ns;
        const char *rest; /* NULL: no length */
    } cases[] = {
        { "10ms", 10000000, "" },
        { "1.5 s", 1500000000, "" },
        { "1.05 ms-2.1 ms", 1050000, "-2.1 ms" },
        { "7ns", 7, "" },
        { "250us", 250000, "" },
        { ".5us", 500, "" },
        { "2min", 120000000000, "" },
        { "1h", 3600000000000, "" },
        { "10", 0, NULL },
        { "ms", 0, NULL },
        { "", 0, NULL },
        { "-1ms", 0, NULL },
        { "10msx", 0, NULL },
        { "99999999999999999999s", 0, NULL },
        { "9999999999999999h", 0, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 0;
        const char *rest = text_parse_length(cases[i].text, &ns);
        assert_int_equal(!rest, !cases[i].rest);
        if (rest) {
            assert_string_equal(rest, cases[i].rest);
            assert_int_equal(ns, cases[i].ns);
        }
    }
}

TEST_MAIN(NULL, NULL)
