// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "base/library.h"
#include "unit_test.h"

static struct {
    __typeof__(fdim) *fdim;
    __typeof__(hypot) *hypot;
} lib;

TEST(loaded_functions_can_be_called)
{
    static const struct library_symbol symbols[] = { LIBRARY_SYMBOL(lib, fdim), LIBRARY_SYMBOL(lib, hypot) };
    struct error e = { 0 };

    assert_true(library_load("libm.so.6", "libc6", symbols, 2, &e));
    assert_true(lib.fdim(5, 2) == 3);
    assert_true(lib.hypot(3, 4) == 5);
}

TEST(a_missing_library_is_reported_with_its_package)
{
    static const struct library_symbol symbols[] = { LIBRARY_SYMBOL(lib, fdim) };
    struct error e = { 0 };

    assert_false(library_load("libnowhere.so.9", "libnowhere9", symbols, 1, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    assert_non_null(strstr(e.text, "libnowhere.so.9"));
    assert_non_null(strstr(e.text, "libnowhere9)"));
}

TEST(a_missing_function_is_reported_as_another_version)
{
    const struct library_symbol symbols[] = { { "no_such_function", (void **)&lib.fdim, NULL } };
    struct error e = { 0 };

    assert_false(library_load("libm.so.6", "libc6", symbols, 1, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    assert_non_null(strstr(e.text, "no_such_function"));
}

TEST_MAIN(NULL, NULL)
