// SPDX-License-Identifier: GPL-2.0-or-later
/* The filter of the log: which texts are comparisons, and what passes them. */

#include <string.h>

#include "base/error.h"
#include "session/query/log_reader.h"
#include "unit_test.h"

static struct log_condition parsed(const char *text)
{
    struct log_filter f;
    struct error e = { 0 };
    assert_true(log_filter_parse(text, &f, &e));
    assert_int_equal(e.class, ERROR_NONE);
    assert_true(f.n <= 1);
    return f.of[0];
}

static void assert_parsed(const char *text, const char *field, enum log_test test, const char *value)
{
    struct log_condition f = parsed(text);
    assert_string_equal(f.field, field);
    assert_int_equal(f.test, test);
    assert_string_equal(f.value, value);
}

TEST(comparisons_have_a_field_a_sign_and_a_value)
{
    assert_parsed("ret<0", "ret", LOG_LESS, "0");
    assert_parsed(" ret <= -2 ", "ret", LOG_AT_MOST, "-2");
    assert_parsed("ret>=0x10", "ret", LOG_AT_LEAST, "0x10");
    assert_parsed("ret > 5", "ret", LOG_MORE, "5");
    assert_parsed("comm==my prog", "comm", LOG_EQUAL, "my prog");
    assert_parsed("comm=bash", "comm", LOG_EQUAL, "bash");
    assert_parsed("comm!=bash", "comm", LOG_NOT_EQUAL, "bash");
    assert_parsed("filename~/etc", "filename", LOG_CONTAINS, "/etc");
}

TEST(an_exclamation_mark_asks_for_samples_without_a_field)
{
    assert_parsed("!dev", "dev", LOG_ABSENT, "");
    assert_parsed(" !prev_state ", "prev_state", LOG_ABSENT, "");
    assert_parsed("\"!dev\"", "", LOG_CONTAINS, "!dev");
    assert_parsed("!", "", LOG_CONTAINS, "!");
    assert_parsed("!no field", "", LOG_CONTAINS, "!no field");
    assert_parsed("!dev=8", "", LOG_CONTAINS, "!dev=8");
}

TEST(other_texts_are_looked_for_in_the_row)
{
    assert_parsed("", "", LOG_CONTAINS, "");
    assert_parsed("openat", "", LOG_CONTAINS, "openat");
    assert_parsed("==> next", "", LOG_CONTAINS, "==> next");
    assert_parsed("8,0 W", "", LOG_CONTAINS, "8,0 W");
    assert_parsed("7=7", "", LOG_CONTAINS, "7=7");
}

TEST(a_size_needs_a_number)
{
    static const char *const texts[] = { "ret<x", "ret>=", "ret>5x", "ret<99999999999999999999", "a<-" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct log_filter f;
        struct error e = { 0 };
        assert_false(log_filter_parse(texts[i], &f, &e));
        assert_int_equal(e.class, ERROR_ARGUMENT);
        assert_non_null(strstr(e.text, "needs a number"));
    }
}

TEST(names_and_values_of_any_length_are_bounded)
{
    char text[1000];
    struct log_filter filter;
    struct error e = { 0 };
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    struct log_condition f = parsed(text);
    assert_int_equal(strlen(f.value), sizeof f.value - 1);
    text[500] = '=';
    assert_false(log_filter_parse(text, &filter, &e));
}

TEST(several_conditions_are_joined)
{
    struct log_filter f;
    struct error e = { 0 };
    assert_true(log_filter_parse(" ret<0 && comm=my prog && openat", &f, &e));
    assert_int_equal(f.n, 3);
    assert_string_equal(f.of[0].field, "ret");
    assert_string_equal(f.of[1].value, "my prog");
    assert_string_equal(f.of[2].field, "");
    assert_string_equal(f.of[2].value, "openat");
    assert_true(log_filter_parse("", &f, &e));
    assert_int_equal(f.n, 0);
    assert_false(log_filter_parse("a=1&&b=2&&c=3&&d=4&&e=5", &f, &e));
    assert_non_null(strstr(e.text, "no more than 4 conditions"));
    e = (struct error){ 0 };
    assert_false(log_filter_parse("a=1 && b<x", &f, &e));
}

TEST(quoted_values_are_texts)
{
    struct log_filter f;
    struct error e = { 0 };
    assert_true(log_filter_parse("comm=\"a && b=\\\"c\\\\\" && pid=\"12\"", &f, &e));
    assert_int_equal(f.n, 2);
    assert_string_equal(f.of[0].value, "a && b=\"c\\");
    assert_string_equal(f.of[1].value, "12");
    assert_false(f.of[1].is_number);
    assert_parsed("comm=\"", "comm", LOG_EQUAL, "\"");
    assert_parsed("comm=\"a\\", "comm", LOG_EQUAL, "\"a\\");
}

static bool passes(const char *text, int64_t number)
{
    struct log_condition f = parsed(text);
    return log_filter_number(&f, (uint64_t)number, number < 0);
}

TEST(numbers_compare_by_value)
{
    assert_true(passes("ret<0", -2) && !passes("ret<0", 0) && !passes("ret<0", 7));
    assert_true(passes("ret>=-2", -2) && passes("ret>=-2", 5) && !passes("ret>=-2", -3));
    assert_true(passes("ret=0x10", 16) && !passes("ret=0x10", 10) && passes("ret=010", 8));
    assert_true(passes("ret!=1", 2) && !passes("ret!=1", 1));
    assert_true(passes("ret~12", 3124) && !passes("ret~12", 31));
    assert_false(passes("ret=abc", 7));
}

/* Kernel addresses are above the largest signed number. */
TEST(large_unsigned_numbers_are_not_negative)
{
    struct log_condition more = parsed("address>0x7fffffffffff"),
                         equal = parsed("address=0xffffffff81000000");
    assert_true(log_filter_number(&more, UINT64_C(0xffffffff81000000), false));
    assert_true(log_filter_number(&equal, UINT64_C(0xffffffff81000000), false));
    assert_false(log_filter_number(&more, UINT64_C(0xffffffff81000000), true));
}

TEST(texts_compare_whole_or_in_part)
{
    struct log_condition equal = parsed("comm=bash"), other = parsed("comm!=bash"), part = parsed("comm~AS");
    assert_true(log_filter_text(&equal, "bash") && !log_filter_text(&equal, "bash2"));
    assert_true(log_filter_text(&other, "bash2") && !log_filter_text(&other, "bash"));
    assert_true(log_filter_text(&part, "bash") && !log_filter_text(&part, "zsh"));
}

TEST_MAIN(NULL, NULL)
