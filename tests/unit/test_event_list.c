// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perf/event.h"

static struct event list[8];
static uint32_t n;
static struct error error;

static bool parse(const char *text)
{
    memset(list, 0, sizeof list);
    n = 0;
    error = (struct error){ 0 };
    return event_parse_list(text, list, 8, &n, &error);
}

static void a_single_event_is_a_list_of_one(void **state)
{
    (void)state;
    assert_true(parse("page-faults:u"));
    assert_int_equal(n, 1);
    assert_string_equal(list[0].name, "page-faults:u");
    assert_int_equal(list[0].members, 0);
}

static void a_group_has_a_leader_and_members(void **state)
{
    (void)state;
    assert_true(parse("{cycles,instructions,page-faults}"));
    assert_int_equal(n, 3);
    assert_int_equal(list[0].members, 3);
    assert_false(list[0].reads);
    assert_int_equal(list[1].members, 0);
    assert_string_equal(list[2].name, "page-faults");
}

static void s_behind_a_group_makes_its_leader_read(void **state)
{
    (void)state;
    assert_true(parse("{cpu-clock,page-faults}:S"));
    assert_true(list[0].reads);
    assert_string_equal(list[0].name, "cpu-clock");
    assert_string_equal(list[1].name, "page-faults");
    assert_true(parse("{cpu-clock:S,page-faults}"));
    assert_true(list[0].reads);
    assert_string_equal(list[0].name, "cpu-clock");
    assert_true(parse("{cpu-clock,page-faults:S}"));
    assert_false(list[0].reads);
}

static void modifiers_of_a_group_add_to_those_of_its_events(void **state)
{
    (void)state;
    assert_true(parse("{cycles:u,instructions,page-faults:k}:Sk"));
    assert_string_equal(list[0].name, "cycles:uk");
    assert_string_equal(list[1].name, "instructions:k");
    assert_string_equal(list[2].name, "page-faults:k");
    assert_int_equal(list[0].attr.exclude_kernel, 0);
    assert_int_equal(list[1].attr.exclude_user, 1);
}

static void only_the_leader_is_pinned(void **state)
{
    (void)state;
    assert_true(parse("{cycles,instructions}:D"));
    assert_int_equal(list[0].attr.pinned, 1);
    assert_int_equal(list[1].attr.pinned, 0);
}

static void groups_and_events_mix(void **state)
{
    (void)state;
    assert_true(parse("page-faults,{cycles,instructions}:S,faulty{cpu-clock,cs},mem:0x1000/8:w"));
    assert_int_equal(n, 6);
    assert_int_equal(list[0].members, 0);
    assert_int_equal(list[1].members, 2);
    assert_true(list[1].reads);
    assert_int_equal(list[3].members, 2);
    assert_false(list[3].reads);
    assert_int_equal(list[5].kind, EVENT_BREAKPOINT);
}

static void a_group_of_one_is_none(void **state)
{
    (void)state;
    assert_true(parse("{cycles}:S"));
    assert_int_equal(n, 1);
    assert_int_equal(list[0].members, 0);
    assert_false(list[0].reads);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } wrong[] = {
        { "{cycles,instructions", "character 1: this group is not closed" },
        { "cycles,instructions}", "character 20: no group is open" },
        { "{cycles,{instructions}}", "character 9: a group in a group" },
        { "{cycles,}", "character 9: an event's name is missing" },
        { "{}", "character 2: an event's name is missing" },
        { ",", "character 1: an event's name is missing" },
        { "cycles,", "character 8: an event's name is missing" },
        { "{cycles,instructions}:", "character 23: here modifiers" },
        { "{cycles,instructions}:x", "character 23: here modifiers" },
        { "{cycles,instructions}u", "character 22: behind a group" },
        { "{cycles,instructionz}:S", "did you mean 'instructions'" },
        { "cs,cs,cs,cs,cs,cs,cs,cs,cs", "at most 8 events" },
        { "", "name is missing" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(parse(wrong[i].text));
        assert_non_null(strstr(error.text, wrong[i].said));
        assert_int_equal(n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_event_is_a_list_of_one),
        cmocka_unit_test(a_group_has_a_leader_and_members),
        cmocka_unit_test(s_behind_a_group_makes_its_leader_read),
        cmocka_unit_test(modifiers_of_a_group_add_to_those_of_its_events),
        cmocka_unit_test(only_the_leader_is_pinned),
        cmocka_unit_test(groups_and_events_mix),
        cmocka_unit_test(a_group_of_one_is_none),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
