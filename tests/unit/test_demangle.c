// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "symbols/demangle.h"
#include "unit_test.h"

static const char *demangled(const char *name)
{
    static char text[DEMANGLE_OUTPUT_MAX];

    return demangle_name(name, text, sizeof text) ? text : "-";
}

static void need_demangler(void)
{
    if (!strcmp(demangled("_Z1fv"), "-")) {
        print_message("built without libiberty\n");
        skip();
    }
}

TEST(languages_are_recognized_by_the_form_of_the_name)
{
    assert_int_equal(demangle_language("main"), DEMANGLE_NONE);
    assert_int_equal(demangle_language(""), DEMANGLE_NONE);
    assert_int_equal(demangle_language("_"), DEMANGLE_NONE);
    assert_int_equal(demangle_language("_start"), DEMANGLE_NONE);
    assert_int_equal(demangle_language("_Dl_start"), DEMANGLE_NONE);
    assert_int_equal(demangle_language("_Returns"), DEMANGLE_NONE);
    assert_int_equal(demangle_language("_ZN3foo3barEv"), DEMANGLE_CXX);
    assert_int_equal(demangle_language("_ZN3foo3bar17h05af221e174051e9E"), DEMANGLE_RUST);
    assert_int_equal(demangle_language("_ZN3foo3bar17h05af221e174051e9E.llvm.123"), DEMANGLE_RUST);
    assert_int_equal(demangle_language("_RNvC7mycrate3foo"), DEMANGLE_RUST);
    assert_int_equal(demangle_language("_D3foo3barFZv"), DEMANGLE_D);
}

TEST(cxx_names_are_demangled_without_parameters)
{
    need_demangler();
    assert_string_equal(demangled("_ZN3foo3barEi"), "foo::bar");
    assert_string_equal(demangled("_ZN3foo3barEv.constprop.0"), "foo::bar");
    assert_string_equal(demangled("_ZNSt6vectorIiSaIiEE9push_backERKi"),
                        "std::vector<int, std::allocator<int> >::push_back");
}

TEST(rust_names_are_demangled_without_their_hash)
{
    need_demangler();
    assert_string_equal(demangled("_ZN4core3fmt9Formatter3pad17h05af221e174051e9E"),
                        "core::fmt::Formatter::pad");
    assert_string_equal(demangled("_RNvC7mycrate3foo"), "mycrate::foo");
    assert_string_equal(demangled("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
    assert_string_equal(
        demangled("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
                  "17h930b740aa94f1d3aE"),
        "<Test + 'static as foo::Bar<Test>>::bar");
    assert_string_equal(demangled("_RNvXs_NtCs1234_4core3fmtNtB4_5ErrorNtB4_7Display3fmt"),
                        "<core::fmt::Error as core::fmt::Display>::fmt");
    assert_string_equal(demangled("_RNCNvCs1234_4main3run0s_0"), "-"); /* truncated */
}

TEST(a_self_referencing_rust_name_terminates)
{
    char text[DEMANGLE_OUTPUT_MAX];

    need_demangler();
    assert_false(demangle_name("_RNvB1_0", text, sizeof text));
}

TEST(d_names_are_demangled)
{
    need_demangler();
    assert_string_equal(demangled("_D3foo3barFZv"), "foo.bar()");
    assert_string_equal(demangled("_Dmain"), "D main");
    assert_string_equal(demangled("_D3std5stdio__T7writelnTAyaZQnFNfQjZv"),
                        "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
}

TEST(suffixes_after_an_at_sign_are_kept)
{
    need_demangler();
    assert_string_equal(demangled("_ZdlPv@plt"), "operator delete@plt");
    assert_string_equal(demangled("_ZSt4copyv@GLIBCXX_3.4"), "std::copy@GLIBCXX_3.4");
    assert_string_equal(demangled("puts@plt"), "-");
    assert_string_equal(demangled("_Z@plt"), "-");
}

TEST(unmangled_names_stay_unchanged)
{
    assert_string_equal(demangled("main"), "-");
    assert_string_equal(demangled("_Z"), "-");
    assert_string_equal(demangled("_Znotmangled?"), "-");
    assert_string_equal(demangled(""), "-");
}

TEST(long_results_are_truncated_and_long_input_is_refused)
{
    static char name[DEMANGLE_INPUT_MAX + 100];
    size_t n;

    need_demangler();
    memcpy(name, "_Z2000", 6);
    memset(name + 6, 'a', 2000);
    name[2006] = 'v';
    assert_int_equal(strlen(demangled(name)), DEMANGLE_OUTPUT_MAX - 1);
    n = sizeof name - 1;
    memset(name, 'a', n);
    memcpy(name, "_Z9000", 6);
    assert_string_equal(demangled(name), "-");
}

TEST_MAIN(NULL, NULL)
