// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "unit_test.h"

TEST(set_stores_the_class_and_the_text)
{
    struct error e = { 0 };

    assert_false(error_set(&e, ERROR_FORMAT, "%s: line %d is no number", "maps", 7));
    assert_int_equal(e.class, ERROR_FORMAT);
    assert_int_equal(e.sys, 0);
    assert_string_equal(e.text, "maps: line 7 is no number");
}

TEST(the_error_argument_may_be_null)
{
    assert_false(error_set(NULL, ERROR_FORMAT, "x"));
    assert_false(error_sys(NULL, EPERM, "x"));
    assert_false(error_hint(NULL, "x"));
    error_clear(NULL);
}

TEST(the_errno_text_follows_the_attempted_action)
{
    struct error e = { 0 };

    assert_false(error_sys(&e, ENOSPC, "cannot write %s", "out.folded"));
    assert_int_equal(e.sys, ENOSPC);
    assert_string_equal(e.text, "cannot write out.folded: No space left on device");
}

TEST(errno_determines_the_class)
{
    static const struct {
        int errnum;
        enum error_class class;
    } cases[] = {
        { EACCES, ERROR_PERMISSION },  { EPERM, ERROR_PERMISSION },       { ENOENT, ERROR_MISSING },
        { ESRCH, ERROR_MISSING },      { EMFILE, ERROR_LIMIT },           { ENOSPC, ERROR_LIMIT },
        { ENOSYS, ERROR_UNSUPPORTED }, { EOPNOTSUPP, ERROR_UNSUPPORTED }, { EIO, ERROR_SYSTEM },
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = { 0 };
        error_sys(&e, cases[i].errnum, "x");
        assert_int_equal(e.class, cases[i].class);
    }
}

TEST(a_hint_is_separated_once)
{
    struct error e = { 0 };

    error_set(&e, ERROR_PERMISSION, "refused");
    assert_false(error_hint(&e, "run as %s", "root"));
    assert_string_equal(e.text, "refused; run as root");
    error_hint(&e, "; or set the capability");
    assert_string_equal(e.text, "refused; run as root; or set the capability");
}

TEST(an_error_can_wrap_its_own_text)
{
    struct error e = { 0 };

    error_set(&e, ERROR_FORMAT, "bad magic");
    error_set(&e, ERROR_FORMAT, "cannot read a.out: %s", e.text);
    assert_string_equal(e.text, "cannot read a.out: bad magic");
}

TEST(the_text_is_a_single_clean_line)
{
    struct error e = { 0 };

    error_set(&e, ERROR_MISSING, "no process '%s'", "a\n\033[2Jb");
    assert_string_equal(e.text, "no process 'a??[2Jb'");
    error_hint(&e, "see %s", "x\ty");
    assert_string_equal(e.text, "no process 'a??[2Jb'; see x?y");
}

TEST(long_text_is_truncated_between_characters)
{
    char name[1000];
    struct error e = { 0 };
    size_t i;

    for (i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[i] = '\0';
    error_set(&e, ERROR_MISSING, "x%s", name);
    assert_true(strlen(e.text) >= sizeof e.text - 3);
    assert_int_equal((unsigned char)e.text[strlen(e.text) - 1], 0xa9);
    error_hint(&e, "no room is left for this");
    assert_true(strlen(e.text) < sizeof e.text);
}

TEST(clear_removes_the_error)
{
    struct error e = { 0 };

    error_sys(&e, EIO, "x");
    error_clear(&e);
    assert_int_equal(e.class, ERROR_NONE);
    assert_int_equal(e.sys, 0);
    assert_string_equal(e.text, "");
}

TEST(a_new_error_resets_the_column_and_shown_text)
{
    struct error e = { 0 };

    error_set(&e, ERROR_ARGUMENT, "unknown event");
    error_at(&e, 3);
    error_show(&e, "cs,cycels");
    assert_string_equal(e.shown, "cs,cycels");
    assert_int_equal(e.column, 3);
    error_set(&e, ERROR_ARGUMENT, "no tracepoint");
    assert_string_equal(e.shown, "");
    assert_int_equal(e.column, 0);
}

TEST_MAIN(NULL, NULL)
