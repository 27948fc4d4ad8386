// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static const char *shortened(const char *name, int columns)
{
    static char dst[1200];
    text_shorten_name(dst, sizeof dst, name, columns);
    assert_true(text_width(dst) <= columns);
    return dst;
}

static void a_name_that_fits_is_whole(void **state)
{
    (void)state;
    assert_string_equal(shortened("void a::b(int)", 14), "void a::b(int)");
    assert_string_equal(shortened("", 5), "");
}

static void return_type_and_arguments_go_first(void **state)
{
    (void)state;
    assert_string_equal(shortened("void java.util.HashMap.resize(int, java.lang.Object)", 30),
                        "java.util.HashMap.resize");
    assert_string_equal(
        shortened("java.lang.Object java.util.HashMap.putVal(int, java.lang.Object, boolean)", 30),
        "java.util.HashMap.putVal");
    assert_string_equal(shortened("unsigned long long ns::work(std::vector<int> const&) const", 20),
                        "ns::work");
    assert_string_equal(shortened("ns::work(int, char) [clone .constprop.0]", 20), "ns::work");
    assert_string_equal(shortened("(anonymous namespace)::work(int, char)", 30),
                        "(anonymous namespace)::work");
    assert_string_equal(shortened("operator new(unsigned long, std::nothrow_t const&)", 20), "operator new");
    assert_string_equal(shortened("ns::Thing::operator()(int, long, char) const", 30),
                        "ns::Thing::operator()");
    assert_string_equal(shortened("std::ostream& ns::operator<< <char>(std::ostream&, int)", 24),
                        "ns::operator<< <char>");
    assert_string_equal(shortened("work(int)::{lambda(char)#1}::operator()(char) const", 40),
                        "work(int)::{lambda(char)#1}::operator()");
}

static void then_arguments_of_templates(void **state)
{
    (void)state;
    assert_string_equal(shortened("void std::sort<std::vector<int, std::allocator<int> > >(int, int)", 30),
                        "std::sort<std::vector<..> >");
    assert_string_equal(shortened("std::map<std::string, int>::operator[](std::string const&)", 24),
                        "std::map<..>::operator[]");
    assert_string_equal(shortened("std::vector<std::string, int>::push_back(std::string const&)", 23),
                        "std::vector::push_back");
}

static void then_leading_scopes(void **state)
{
    (void)state;
    assert_string_equal(shortened("void java.util.concurrent.ThreadPoolExecutor.runWorker(int)", 32),
                        "..ThreadPoolExecutor.runWorker");
    assert_string_equal(shortened("void java.util.concurrent.ThreadPoolExecutor.runWorker(int)", 12),
                        "..runWorker");
    assert_string_equal(shortened("Ljava/util/concurrent/HashMap;::putVal", 20), "..HashMap;::putVal");
    assert_string_equal(shortened("core::ops::function::FnOnce::call_once", 20), "..FnOnce::call_once");
    assert_string_equal(shortened("<alloc::vec::Vec<T> as core::iter::Extend>::extend", 20), "..extend");
    assert_string_equal(shortened("github.com/some/project.(*Server).Serve", 18), "..(*Server).Serve");
    assert_string_equal(shortened("std::map<std::string, int>::operator[](std::string const&)", 14),
                        "..operator[]");
}

static void a_method_that_is_too_long_itself_is_elided(void **state)
{
    (void)state;
    assert_string_equal(shortened("void a.b.Thing.aVeryLongNameOfAMethod(int)", 14), "..aVer..Method");
    assert_string_equal(shortened("a_very_long_name_of_a_function", 14), "a_very..nction");
}

static void names_that_are_made_otherwise_keep_both_ends(void **state)
{
    (void)state;
    assert_string_equal(shortened("[unknown] 0x7f0012345678", 14), "[unkno..345678");
    assert_string_equal(shortened("do_something_long.constprop.0", 22), "do_somethi..onstprop.0");
    assert_string_equal(shortened("py::work:/usr/lib/python3/work.py", 20), "py::work:..3/work.py");
    assert_string_equal(shortened("LazyCompile:*work /srv/app/server.js:10", 20), "LazyCompi..ver.js:10");
    assert_string_equal(shortened("broken(((name with brackets", 12), "broke..ckets");
    assert_string_equal(shortened("x::y", 2), "..");
}

static void no_name_and_no_width_is_too_much(void **state)
{
    static const char parts[] = "ab:<>(){}[] ./,&~operator->";
    char name[1500];
    uint32_t random = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = (random >> 16) % (round % 50 == 0 ? 1400 : 60);
        for (size_t i = 0; i < n; i++) {
            random = random * 1103515245 + 12345;
            name[i] = parts[(random >> 16) % (sizeof parts - 1)];
        }
        name[n] = '\0';
        (void)shortened(name, (int)((random >> 8) % 50));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_fits_is_whole),
        cmocka_unit_test(return_type_and_arguments_go_first),
        cmocka_unit_test(then_arguments_of_templates),
        cmocka_unit_test(then_leading_scopes),
        cmocka_unit_test(a_method_that_is_too_long_itself_is_elided),
        cmocka_unit_test(names_that_are_made_otherwise_keep_both_ends),
        cmocka_unit_test(no_name_and_no_width_is_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
