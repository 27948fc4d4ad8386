// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "need_inih.h"
#include "ui/theme.h"
#include "unit_test.h"

static void expect_refused(const char *text, const char *words)
{
    struct theme t;
    struct error e = { 0 };
    assert_false(theme_parse(&t, "my.theme", text, &e));
    if (!strstr(e.text, words))
        print_message("\"%s\" does not contain \"%s\"\n", e.text, words);
    assert_non_null(strstr(e.text, words));
}

TEST(styles_are_colours_and_attributes)
{
    struct theme t;
    struct error e = { 0 };
    need_inih();
    assert_true(
        theme_parse(&t, "t", "[styles]\ncursor = bright-red on 238 bold underline\nspark = #ff8700\n", &e));
    struct theme_style s = t.styles[THEME_256][STYLE_CURSOR];
    assert_int_equal(s.fg, 9);
    assert_int_equal(s.bg, 238);
    assert_int_equal(s.attributes, THEME_BOLD | THEME_UNDERLINE);
    assert_int_equal(t.styles[THEME_256][STYLE_SPARK].fg, THEME_RGB | 0xff8700);
}

TEST(a_colour_maps_to_the_nearest_one_in_a_smaller_palette)
{
    assert_int_equal(theme_color_256(THEME_RGB | 0xff8700), 208);
    assert_int_equal(theme_color_256(THEME_RGB | 0xfe8001), 208);
    assert_int_equal(theme_color_256(-1), -1);
    assert_int_equal(theme_color_direct(208), THEME_RGB | 0xff8700);
    assert_int_equal(theme_color_direct(232), THEME_RGB | 0x080808);
    assert_int_equal(theme_color_direct(7), 7);
    assert_int_equal(theme_color_8(THEME_RGB | 0xff0000), 1);
    assert_int_equal(theme_color_8(255), 7);
}

/* The background colours of the classes of functions in the default theme. */
TEST(shades_of_one_colour_differ_from_those_of_another)
{
    static const enum style styles[] = { STYLE_FLAME_USER,    STYLE_FLAME_CXX,        STYLE_FLAME_RUST,
                                         STYLE_FLAME_KERNEL,  STYLE_FLAME_JIT,        STYLE_FLAME_INLINED,
                                         STYLE_FLAME_UNKNOWN, STYLE_FLAME_WAIT_LOCK,  STYLE_FLAME_WAIT_DISK,
                                         STYLE_FLAME_WAIT_IO, STYLE_FLAME_WAIT_OTHER, STYLE_FLAME_RUNNABLE };
    enum { STYLES = sizeof styles / sizeof *styles };
    struct theme t;
    int32_t seen[STYLES][THEME_SHADES];
    theme_builtin(&t);
    for (int i = 0; i < STYLES; i++) {
        int32_t base = t.styles[THEME_256][styles[i]].bg;
        assert_int_equal(theme_color_shade(base, 0, 0), base);
        assert_int_not_equal(theme_color_shade(base, 1, 0), base);
        assert_int_not_equal(theme_color_shade(base, 1, 1), theme_color_shade(base, 2, 1));
        for (int k = 0; k < THEME_SHADES; k++) {
            seen[i][k] = theme_color_shade(base, (uint32_t)k, 0);
            assert_in_range(seen[i][k], 16, 255);
            for (int j = 0; j < i * THEME_SHADES; j++)
                assert_int_not_equal(seen[i][k], seen[j / THEME_SHADES][j % THEME_SHADES]);
        }
    }
    assert_int_equal(theme_color_shade(3, 2, 0), 3);
}

TEST(a_style_applies_to_terminals_with_fewer_colours)
{
    struct theme t;
    struct error e = { 0 };
    need_inih();
    assert_true(theme_parse(
        &t, "t", "[styles]\nlabel = bright-red\ncursor = 16 on 51\nmatch = 46\n[styles.8]\nmatch = blue\n",
        &e));
    assert_int_equal(t.styles[THEME_8][STYLE_LABEL].fg, 1);
    assert_int_equal(t.styles[THEME_8][STYLE_LABEL].attributes, THEME_BOLD);
    assert_int_equal(t.styles[THEME_8][STYLE_CURSOR].bg, 6);
    assert_int_equal(t.styles[THEME_8][STYLE_MATCH].fg, 4);
    assert_int_equal(t.styles[THEME_MONO][STYLE_CURSOR].fg, -1);
    assert_int_equal(t.styles[THEME_MONO][STYLE_CURSOR].attributes & THEME_REVERSE, THEME_REVERSE);
}

TEST(every_style_is_legible_with_8_colours)
{
    struct theme t;
    theme_builtin(&t);
    for (int i = 0; i < STYLE_COUNT; i++) {
        const struct theme_style *s = &t.styles[THEME_8][i];
        assert_true(s->fg < 8 && s->bg < 8);
        assert_false(s->fg >= 0 && s->fg == s->bg);
        assert_int_equal(t.styles[THEME_MONO][i].fg, -1);
        assert_int_equal(t.styles[THEME_MONO][i].bg, -1);
    }
}

TEST(styles_missing_in_a_file_are_built_in)
{
    struct theme t, builtin;
    struct error e = { 0 };
    need_inih();
    theme_builtin(&builtin);
    assert_true(theme_parse(&t, "t", "[theme]\nname = mine\n", &e));
    assert_string_equal(t.name, "mine");
    assert_memory_equal(t.styles, builtin.styles, sizeof t.styles);
}

TEST(errors_name_file_and_line)
{
    need_inih();
    expect_refused("[styles]\ncursr = red\n", "my.theme:2");
    expect_refused("[styles]\ncursr = red\n", "\"cursor\"");
    expect_refused("[styles]\ncursor = rde\n", "\"rde\"");
    expect_refused("[styles]\ncursor = 256\n", "\"256\"");
    expect_refused("[styles]\ncursor = red on blue on green\n", "\"on\"");
    expect_refused("[style]\ncursor = red\n", "[style]");
    expect_refused("[theme]\nauthor = me\n", "author");
}

TEST(an_unknown_theme_lists_the_available_ones)
{
    char dir[] = "/tmp/flametop-theme-XXXXXX", path[128];
    struct theme t;
    struct error e = { 0 };
    need_inih();
    assert_non_null(mkdtemp(dir));
    (void)setenv("XDG_CONFIG_HOME", dir, 1);
    (void)snprintf(path, sizeof path, "%s/flametop", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/flametop/themes", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/flametop/themes/mine.theme", dir);
    struct outfile o;
    assert_true(outfile_open(&o, path, &e));
    outfile_write(&o, "[styles]\nspark = blue\n", 22);
    assert_true(outfile_commit(&o, &e));

    assert_true(theme_load(&t, "mine", &e));
    assert_string_equal(t.name, "mine");
    assert_int_equal(t.styles[THEME_256][STYLE_SPARK].fg, 4);
    assert_false(theme_load(&t, "nope", &e));
    assert_non_null(strstr(e.text, "default"));
    assert_non_null(strstr(e.text, "mine"));
    char(*names)[64];
    assert_true(theme_list(&names) >= 2);
    assert_string_equal(names[0], "default");
    mem_free(names);

    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/flametop/themes", dir);
    (void)rmdir(path);
    (void)snprintf(path, sizeof path, "%s/flametop", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
}

/* themes/default.theme is the table in style.def, as a file to copy from. */
TEST(the_default_file_equals_the_built_in_theme)
{
    const char *top = getenv("FLAMETOP_SOURCE");
    char path[4096];
    struct theme builtin, file;
    struct error e = { 0 };
    need_inih();
    (void)snprintf(path, sizeof path, "%s/themes/default.theme", top ? top : ".");
    if (access(path, R_OK) != 0) {
        print_message("%s is missing: run this in the top folder of the source, or set FLAMETOP_SOURCE\n",
                      path);
        skip();
    }
    theme_builtin(&builtin);
    struct buf text = { 0 };
    assert_true(file_read(path, 1 << 20, &text, &e));
    assert_true(theme_parse(&file, path, buf_str(&text), &e));
    assert_memory_equal(&file, &builtin, sizeof file);
    buf_done(&text);
}

/* Neither installed nor in the source tree: a single copied program has them all. */
TEST(all_themes_are_built_in)
{
#if __has_include("theme_text.h")
    static const char *const wanted[] = { "default", "light", "mono", "solarized" };
    struct theme t, builtin;
    struct error e = { 0 };
    char(*names)[64];
    (void)setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    uint32_t n = theme_list(&names);
    theme_builtin(&builtin);
    for (size_t i = 0; i < 4; i++) {
        uint32_t at = 0;
        while (at < n && strcmp(names[at], wanted[i]) != 0)
            at++;
        assert_true(at < n);
        if (!theme_load(&t, wanted[i], &e))
            fail_msg("%s", e.text);
        assert_string_equal(t.name, wanted[i]);
        assert_int_equal(memcmp(t.styles, builtin.styles, sizeof t.styles) == 0, i == 0);
    }
    assert_false(theme_load(&t, "nope", &e));
    assert_non_null(strstr(e.text, "default, light, mono, solarized"));
    mem_free(names);
#else
    print_message("compiled without theme_text.h, which make generates\n");
    skip();
#endif
}

TEST_MAIN(NULL, NULL)
