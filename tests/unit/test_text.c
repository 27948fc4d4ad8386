// SPDX-License-Identifier: GPL-2.0-or-later
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "unit_test.h"

/* A NUL ends the literal, as it does in text_clean. */
static void assert_cleaned(const char *from, const char *to)
{
    char dst[200];

    assert_int_equal(text_clean(dst, sizeof dst, from, strlen(from)), strlen(to));
    assert_string_equal(dst, to);
}

TEST(plain_text_passes_unchanged)
{
    assert_cleaned("", "");
    assert_cleaned("std::vector<int>::push_back(int&&) ~", "std::vector<int>::push_back(int&&) ~");
    assert_cleaned("Gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x94\xa5",
                   "Gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x94\xa5");
}

TEST(controls_never_reach_a_terminal)
{
    char c[2] = "x";
    int i;

    for (i = 1; i < 0x20; i++) {
        c[0] = (char)i;
        assert_cleaned(c, "?");
    }
    assert_cleaned("\x7f", "?");
    assert_cleaned("\033]0;title\007", "?]0;title?");
    assert_cleaned("a\xc2\x80z\xc2\x9b[2J\xc2\x9f", "a?z?[2J?");
}

TEST(format_characters_are_replaced)
{
    static const char *const each[] = {
        "\xc2\xad",     "\xd8\x9c",     "\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x80\xa8",     "\xe2\x80\xa9",
        "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa0", "\xe2\x81\xa6", "\xe2\x81\xa9",     "\xef\xbb\xbf",
        "\xef\xbf\xb9", "\xef\xbf\xbf", "\xe1\xa0\x8e", "\xef\xb7\x90", "\xf3\xa0\x80\x81",
    };
    size_t i;

    for (i = 0; i < sizeof each / sizeof *each; i++)
        assert_cleaned(each[i], "?");
    /* their neighbours are kept */
    assert_cleaned("\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xb0\xef\xbf\xbd",
                   "\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xb0\xef\xbf\xbd");
}

TEST(invalid_utf8_is_replaced_byte_by_byte)
{
    assert_cleaned("a\x80z", "a?z");
    assert_cleaned("\xff\xfe", "??");
    assert_cleaned("\xc3", "?");
    assert_cleaned("\xe2\x82", "??");
    assert_cleaned("\xc3(", "?(");
    assert_cleaned("\xc0\xaf", "??");           /* overlong / */
    assert_cleaned("\xe0\x80\x9b", "???");      /* overlong escape */
    assert_cleaned("\xed\xa0\x80", "???");      /* surrogate */
    assert_cleaned("\xf4\x90\x80\x80", "????"); /* above U+10FFFF */
    assert_cleaned("\xf0\x8f\xbf\xbf", "????"); /* overlong */
    assert_cleaned("\xf0\x9f\x94\xc3\xa9", "???\xc3\xa9");
}

TEST(cleaning_stops_at_n_and_at_nul)
{
    char dst[20];
    char *exact = malloc(3);

    assert_int_equal(text_clean(dst, sizeof dst, "abcdef", 3), 3);
    assert_string_equal(dst, "abc");
    assert_int_equal(text_clean(dst, sizeof dst, "ab\0cd", 5), 2);
    /* not terminated, truncated inside a character: a sanitizer detects a read too far */
    memcpy(exact, "a\xe4\xb8", 3);
    assert_int_equal(text_clean(dst, sizeof dst, exact, 3), 3);
    assert_string_equal(dst, "a??");
    free(exact);
}

TEST(truncation_never_splits_a_character)
{
    char dst[5];

    assert_int_equal(text_clean(dst, 5, "abc\xc3\xa9", 5), 3);
    assert_string_equal(dst, "abc");
    assert_int_equal(text_clean(dst, 5, "ab\xc3\xa9z", 5), 4);
    assert_string_equal(dst, "ab\xc3\xa9");
    assert_int_equal(text_clean(dst, 1, "abc", 3), 0);
    assert_string_equal(dst, "");
    assert_int_equal(text_clean(NULL, 0, "abc", 3), 0);
}

TEST(cleaning_in_place_works)
{
    char s[] = "a\xe2\x80\xae\033z\xc3\xa9";

    text_clean(s, sizeof s, s, strlen(s));
    assert_string_equal(s, "a??z\xc3\xa9");
}

TEST(decoding_gives_codepoints_and_lengths)
{
    static const struct {
        const char *s;
        size_t len;
        uint32_t cp;
    } cases[] = {
        { "a", 1, 'a' },
        { "\xc2\x80", 2, 0x80 },
        { "\xdf\xbf", 2, 0x7ff },
        { "\xe0\xa0\x80", 3, 0x800 },
        { "\xef\xbf\xbf", 3, 0xffff },
        { "\xf0\x90\x80\x80", 4, 0x10000 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
        { "\x80", 1, 0xfffd },
    };
    uint32_t cp;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(text_decode(cases[i].s, strlen(cases[i].s), &cp), cases[i].len);
        assert_int_equal(cp, cases[i].cp);
    }
    assert_int_equal(text_decode("x", 0, &cp), 0);
}

TEST(widths_follow_unicode_in_every_locale)
{
    static const struct {
        uint32_t cp;
        int width;
    } cases[] = {
        { 'a', 1 },     { 0, 0 },       { 0x7f, 0 },    { 0x9f, 0 },    { 0xa0, 1 },    { 0xe9, 1 },
        { 0x2ff, 1 },   { 0x300, 0 },   { 0x36f, 0 },   { 0x370, 1 },   { 0x5d0, 1 },   { 0x10ff, 1 },
        { 0x1100, 2 },  { 0x1160, 0 },  { 0x200d, 0 },  { 0x2014, 1 },  { 0x20dd, 0 },  { 0x2581, 1 },
        { 0x231a, 2 },  { 0x3000, 2 },  { 0x303f, 1 },  { 0x3041, 2 },  { 0x4e2d, 2 },  { 0xac00, 2 },
        { 0xd7a3, 2 },  { 0xfe0f, 0 },  { 0xff01, 2 },  { 0xff71, 1 },  { 0xfffd, 1 },  { 0x1f525, 2 },
        { 0x1f9ff, 2 }, { 0x1fa70, 2 }, { 0x20000, 2 }, { 0x3fffd, 2 }, { 0xe0100, 0 }, { 0x10ffff, 1 },
    };
    size_t i;

    setlocale(LC_ALL, "C");
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_char_width(cases[i].cp) != cases[i].width)
            fail_msg("U+%04X: %d columns, not %d", cases[i].cp, text_char_width(cases[i].cp), cases[i].width);
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("a\xe4\xb8\xad"
                                "e\xcc\x81"),
                     4);
}

TEST(a_prefix_fills_the_columns_with_whole_characters)
{
    int width = -1;

    assert_int_equal(text_prefix("abcdef", 4, &width), 4);
    assert_int_equal(width, 4);
    assert_int_equal(text_prefix("a\xe4\xb8\xad", 2, &width), 1);
    assert_int_equal(width, 1);
    assert_int_equal(text_prefix("e\xcc\x81x", 1, &width), 3); /* the accent stays with its letter */
    assert_int_equal(text_prefix("abc", 0, &width), 0);
    assert_int_equal(width, 0);
    assert_int_equal(text_prefix("abc", -1, NULL), 0);
}

static void assert_elided(const char *s, int columns, bool middle, const char *to)
{
    char dst[100];

    text_elide(dst, sizeof dst, s, columns, middle);
    assert_string_equal(dst, to);
}

TEST(template_arguments_are_elided_first)
{
    assert_elided("ns::Deep<3, std::map<int, std::less<int> > >::go", 48, true,
                  "ns::Deep<3, std::map<int, std::less<int> > >::go");
    assert_elided("ns::Deep<3, std::map<int, std::less<int> > >::go", 47, true,
                  "ns::Deep<3, std::map<int, std::less<..> > >::go");
    assert_elided("ns::Deep<3, std::map<int, std::less<int> > >::go", 40, true,
                  "ns::Deep<3, std::map<..> >::go");
    assert_elided("ns::Deep<3, std::map<int, std::less<int> > >::go", 20, true, "ns::Deep<..>::go");
    assert_elided("ns::Deep<3, std::map<int, std::less<int> > >::go", 10, true, "ns::..::go");
    assert_elided("a::operator<< <int, long>", 20, true, "a::operat..nt, long>");
    assert_elided("a::operator-><int, long>::b", 20, true, "a::operat.. long>::b");
    assert_elided("<core::iter::Map<I, F> as Iterator>::next", 39, true,
                  "<core::iter::Map<..> as Iterator>::next");
    assert_elided("main()::<lambda(uint64_t)>::operator()", 20, true, "main()::<..perator()");
    assert_elided("a<b<c<d", 6, true, "a<..<d");
}

TEST(text_that_fits_is_not_elided)
{
    assert_elided("do_idle", 7, false, "do_idle");
    assert_elided("do_idle", 7, true, "do_idle");
    assert_elided("", 0, true, "");
}

TEST(elided_text_is_marked_by_dots)
{
    assert_elided("buf_flush_page_cleaner", 11, false, "buf_flush..");
    assert_elided("buf_flush_page_cleaner", 11, true, "buf_f..aner");
    assert_elided("buf_flush_page_cleaner", 3, true, "b..");
    assert_elided("buf_flush_page_cleaner", 2, false, "..");
    assert_elided("buf_flush_page_cleaner", 1, true, ".");
    assert_elided("buf_flush_page_cleaner", 0, false, "");
    assert_elided("buf_flush_page_cleaner", -5, true, "");
}

TEST(elision_keeps_characters_whole_and_within_the_columns)
{
    static const char s[] = "\xe4\xb8\xad\xe6\x96\x87"
                            "e\xcc\x81"
                            "abc\xe4\xb8\xad\xe6\x96\x87z\xcc\x81";
    char dst[100], cleaned[100], small[8];
    int columns;

    for (columns = 0; columns < 14; columns++) {
        text_elide(dst, sizeof dst, s, columns, true);
        assert_true(text_width(dst) <= columns);
        assert_null(strstr(dst, "..\xcc"));
        text_clean(cleaned, sizeof cleaned, dst, strlen(dst));
        assert_string_equal(cleaned, dst);
        text_elide(dst, sizeof dst, s, columns, false);
        assert_true(text_width(dst) <= columns);
    }
    text_elide(small, sizeof small, s, 100, false);
    assert_int_equal(strlen(small), 7); /* two of three bytes, one of one; no room for the accent */
}

TEST(search_folds_ascii_case)
{
    assert_true(text_find_nocase("JavaThread::Run", "thread::run"));
    assert_true(text_find_nocase("aab", "AB"));
    assert_true(text_find_nocase("abc", ""));
    assert_true(text_find_nocase("", ""));
    assert_false(text_find_nocase("", "a"));
    assert_false(text_find_nocase("abc", "abcd"));
    assert_false(text_find_nocase("abc", "ca"));
    /* Differ in the bit that distinguishes upper and lower case. */
    assert_false(text_find_nocase("a[b", "a{b"));
}

TEST(the_nearest_name_is_found_or_none)
{
    static const char *const names[] = { "cycles", "instructions", "cpu-clock", "page-faults", "fp" };

    assert_int_equal(text_nearest("cycels", names, 5), 0);
    assert_int_equal(text_nearest("cycles", names, 5), 0);
    assert_int_equal(text_nearest("instrutcions", names, 5), 1);
    assert_int_equal(text_nearest("cpuclock", names, 5), 2);
    assert_int_equal(text_nearest("page_fault", names, 5), 3);
    assert_int_equal(text_nearest("fo", names, 5), 4);
    assert_int_equal(text_nearest("zebra", names, 5), -1);
    assert_int_equal(text_nearest("", names, 5), -1);
    assert_int_equal(text_nearest("x", names, 5), -1);
    assert_int_equal(text_nearest("cycles", names, 0), -1);
}

TEST(overlong_words_have_no_near_match)
{
    static char word[10000];
    const char *const names[] = { word, "cycles" };

    memset(word, 'c', sizeof word - 1);
    assert_int_equal(text_nearest(word, names, 2), -1);
    assert_int_equal(text_nearest("cycle", names, 2), 1);
}

TEST(a_prefix_must_match_completely)
{
    assert_true(text_begins_with("python3.11", "python3"));
    assert_true(text_begins_with("py", ""));
    assert_false(text_begins_with("pyth", "python3"));
    assert_false(text_begins_with("libpython3", "python3"));
}

TEST_MAIN(NULL, NULL)
