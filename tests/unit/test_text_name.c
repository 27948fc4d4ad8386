// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/text.h"
#include "unit_test.h"

static const char *shorten_name(const char *name, int columns)
{
    static char dst[1200];
    text_shorten_name(dst, sizeof dst, name, columns);
    assert_true(text_width(dst) <= columns);
    return dst;
}

TEST(a_name_that_fits_is_whole)
{
    assert_string_equal(shorten_name("void a::b(int)", 14), "void a::b(int)");
    assert_string_equal(shorten_name("", 5), "");
}

TEST(return_type_and_arguments_are_dropped_first)
{
    assert_string_equal(shorten_name("void java.util.HashMap.resize(int, java.lang.Object)", 30),
                        "java.util.HashMap.resize");
    assert_string_equal(
        shorten_name("java.lang.Object java.util.HashMap.putVal(int, java.lang.Object, boolean)", 30),
        "java.util.HashMap.putVal");
    assert_string_equal(shorten_name("unsigned long long ns::work(std::vector<int> const&) const", 20),
                        "ns::work");
    assert_string_equal(shorten_name("ns::work(int, char) [clone .constprop.0]", 20), "ns::work");
    assert_string_equal(shorten_name("(anonymous namespace)::work(int, char)", 30),
                        "(anonymous namespace)::work");
    assert_string_equal(shorten_name("operator new(unsigned long, std::nothrow_t const&)", 20),
                        "operator new");
    assert_string_equal(shorten_name("ns::Thing::operator()(int, long, char) const", 30),
                        "ns::Thing::operator()");
    assert_string_equal(shorten_name("std::ostream& ns::operator<< <char>(std::ostream&, int)", 24),
                        "ns::operator<< <char>");
    assert_string_equal(shorten_name("work(int)::{lambda(char)#1}::operator()(char) const", 40),
                        "work(int)::{lambda(char)#1}::operator()");
}

TEST(then_template_arguments_are_dropped)
{
    assert_string_equal(shorten_name("void std::sort<std::vector<int, std::allocator<int> > >(int, int)", 30),
                        "std::sort<std::vector<..> >");
    assert_string_equal(shorten_name("std::map<std::string, int>::operator[](std::string const&)", 24),
                        "std::map<..>::operator[]");
    assert_string_equal(shorten_name("std::vector<std::string, int>::push_back(std::string const&)", 23),
                        "std::vector::push_back");
}

TEST(then_leading_scopes_are_dropped)
{
    assert_string_equal(shorten_name("void java.util.concurrent.ThreadPoolExecutor.runWorker(int)", 32),
                        "..ThreadPoolExecutor.runWorker");
    assert_string_equal(shorten_name("void java.util.concurrent.ThreadPoolExecutor.runWorker(int)", 12),
                        "..runWorker");
    assert_string_equal(shorten_name("Ljava/util/concurrent/HashMap;::putVal", 20), "..HashMap;::putVal");
    assert_string_equal(shorten_name("core::ops::function::FnOnce::call_once", 20), "..FnOnce::call_once");
    assert_string_equal(shorten_name("<alloc::vec::Vec<T> as core::iter::Extend>::extend", 20), "..extend");
    assert_string_equal(shorten_name("github.com/some/project.(*Server).Serve", 18), "..(*Server).Serve");
    assert_string_equal(shorten_name("std::map<std::string, int>::operator[](std::string const&)", 14),
                        "..operator[]");
}

TEST(a_method_longer_than_the_width_is_elided)
{
    assert_string_equal(shorten_name("void a.b.Thing.aVeryLongNameOfAMethod(int)", 14), "..aVer..Method");
    assert_string_equal(shorten_name("a_very_long_name_of_a_function", 14), "a_very..nction");
}

TEST(names_of_other_forms_keep_both_ends)
{
    assert_string_equal(shorten_name("[unknown] 0x7f0012345678", 14), "[unkno..345678");
    assert_string_equal(shorten_name("do_something_long.constprop.0", 22), "do_somethi..onstprop.0");
    assert_string_equal(shorten_name("py::work:/usr/lib/python3/work.py", 20), "py::work:..3/work.py");
    assert_string_equal(shorten_name("LazyCompile:*work /srv/app/server.js:10", 20), "LazyCompi..ver.js:10");
    assert_string_equal(shorten_name("broken(((name with brackets", 12), "broke..ckets");
    assert_string_equal(shorten_name("x::y", 2), "..");
}

TEST(empty_names_and_zero_widths_are_safe)
{
    static const char parts[] = "ab:<>(){}[] ./,&~operator->";
    char name[1500];
    uint32_t random = 7;
    for (int round = 0; round < 20000; round++) {
        size_t n = (random >> 16) % (round % 50 == 0 ? 1400 : 60);
        for (size_t i = 0; i < n; i++) {
            random = random * 1103515245 + 12345;
            name[i] = parts[(random >> 16) % (sizeof parts - 1)];
        }
        name[n] = '\0';
        (void)shorten_name(name, (int)((random >> 8) % 50));
    }
}

TEST_MAIN(NULL, NULL)
