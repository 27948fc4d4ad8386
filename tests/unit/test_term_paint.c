// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_paint.h"
#include "unit_test.h"

static struct term_paints paints;
static struct theme theme;

static void begin_paints(bool rich, uint32_t room)
{
    theme_builtin(&theme);
    paints.rich = rich;
    term_paint_theme(&paints, theme.styles[rich ? THEME_256 : THEME_8], room);
}

TEST(a_shade_differs_in_its_background_only)
{
    begin_paints(true, TERM_PAINTS);
    enum style shade = term_paint_shade(&paints, STYLE_FLAME_USER, 1);
    assert_true(shade > TERM_PAINT_NONE);
    assert_int_equal(shade, term_paint_shade(&paints, STYLE_FLAME_USER, 1));
    assert_int_equal(paints.styles[shade].fg, paints.styles[STYLE_FLAME_USER].fg);
    assert_int_not_equal(paints.styles[shade].bg, paints.styles[STYLE_FLAME_USER].bg);
    assert_int_equal(term_paint_shade(&paints, STYLE_FLAME_USER, 0), STYLE_FLAME_USER);
    assert_int_equal(term_paint_shade(&paints, STYLE_NORMAL, 1), STYLE_NORMAL);
    begin_paints(false, 63);
    assert_int_equal(term_paint_shade(&paints, STYLE_FLAME_USER, 1), STYLE_FLAME_USER);
    term_paint_done(&paints);
}

TEST(half_blocks_combine_two_backgrounds)
{
    const char *character;
    begin_paints(true, TERM_PAINTS);
    enum style half = term_paint_half(&paints, STYLE_FLAME_USER, STYLE_FLAME_KERNEL, &character);
    assert_string_equal(character, "▌");
    assert_int_equal(paints.styles[half].fg, paints.styles[STYLE_FLAME_USER].bg);
    assert_int_equal(paints.styles[half].bg, paints.styles[STYLE_FLAME_KERNEL].bg);
    half = term_paint_half(&paints, STYLE_NORMAL, STYLE_FLAME_KERNEL, &character);
    assert_string_equal(character, "▐");
    assert_int_equal(paints.styles[half].fg, paints.styles[STYLE_FLAME_KERNEL].bg);
    assert_int_equal(paints.styles[half].bg, -1);
    (void)term_paint_half(&paints, STYLE_FLAME_USER, STYLE_NORMAL, &character);
    assert_string_equal(character, "▌");
    (void)term_paint_half(&paints, STYLE_FLAME_USER, STYLE_FLAME_USER, &character);
    assert_string_equal(character, " ");
    term_paint_done(&paints);
}

TEST(without_free_colour_pairs_an_existing_style_is_used)
{
    const char *character;
    begin_paints(true, TERM_PAINT_NONE + 2);
    assert_int_equal(term_paint_shade(&paints, STYLE_FLAME_USER, 1), TERM_PAINT_NONE + 1);
    assert_int_equal(term_paint_shade(&paints, STYLE_FLAME_KERNEL, 1), STYLE_FLAME_KERNEL);
    assert_int_equal(term_paint_half(&paints, STYLE_FLAME_USER, STYLE_FLAME_KERNEL, &character),
                     STYLE_FLAME_KERNEL);
    term_paint_done(&paints);
}

TEST_MAIN(NULL, NULL)
