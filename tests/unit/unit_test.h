// SPDX-License-Identifier: GPL-2.0-or-later
/* cmocka, with the headers that it needs before it, and tests that list themselves:
 *
 *     TEST(an_empty_buffer_has_no_text)
 *     {
 *         assert_int_equal(…);
 *     }
 *
 *     TEST_MAIN(NULL, NULL)
 *
 * They run in the order of the file. Most do not use the parameter `state` that cmocka passes to each. */
#ifndef FLAMETOP_TESTS_UNIT_TEST_H
#define FLAMETOP_TESTS_UNIT_TEST_H

#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TESTS_MAX 128

static struct {
    struct CMUnitTest tests[TESTS_MAX];
    int lines[TESTS_MAX];
    size_t n;
} listed;

/* The compiler may order constructors in any way. */
static inline void list_test(int line, struct CMUnitTest test)
{
    size_t at = listed.n++;
    assert_in_range(at, 0, TESTS_MAX - 1);
    for (; at && listed.lines[at - 1] > line; at--) {
        listed.tests[at] = listed.tests[at - 1];
        listed.lines[at] = listed.lines[at - 1];
    }
    listed.tests[at] = test;
    listed.lines[at] = line;
}

/* A test with functions that cmocka calls before and after it, or NULL. A file with many of them defines
 * FIXTURE_TEST(name). */
#define TEST_WITH(name, setup, teardown)                                                                     \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void list_##name(void)                                               \
    {                                                                                                        \
        list_test(__LINE__, (struct CMUnitTest){ #name, name, setup, teardown, NULL });                      \
    }                                                                                                        \
    static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Runs all tests, between these functions or NULL. Returns the program's exit status. */
static inline int run_listed_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", listed.tests, listed.n, setup, teardown);
}
#define TEST_MAIN(setup, teardown)                                                                           \
    int main(void)                                                                                           \
    {                                                                                                        \
        return run_listed_tests(setup, teardown);                                                            \
    }

#endif
