// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_types.h"
#include "unit_test.h"

#include <string.h>

static void need_types(void)
{
    if (!term_type_find("xterm-256color"))
        skip(); /* built without infocmp */
}

TEST(a_type_has_its_own_description)
{
    static const char *const names[] = { "xterm",         "xterm-256color", "screen",
                                         "tmux-256color", "linux",          "vt100" };
    need_types();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct term_type *t = term_type_find(names[i]);
        assert_non_null(t);
        assert_string_equal(t->name, names[i]);
        assert_int_equal(strncmp(t->terminfo, "b64:", 4), 0);
    }
}

TEST(a_type_uses_the_description_of_its_family)
{
    static const char *const pairs[][2] = {
        { "xterm-kitty", "xterm-256color" },
        { "xterm-ghostty", "xterm-256color" },
        { "alacritty", "xterm-256color" },
        { "screen.xterm-256color", "screen-256color" },
        { "tmux-direct", "tmux-256color" },
        { "vt102", "vt100" },
        { "vt320", "vt220" },
    };
    need_types();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(term_type_find(pairs[i][0])->name, pairs[i][1]);
}

TEST(an_unknown_type_has_no_description)
{
    assert_null(term_type_find("no-such-terminal"));
    assert_null(term_type_find(""));
}

TEST_MAIN(NULL, NULL)
