// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>

#include "session/trials.h"
#include "unit_test.h"

static void wait_for(const struct trials *t)
{
    for (int i = 0; i < 60000 && !trials_done(t); i++)
        usleep(1000);
    assert_true(trials_done(t));
}

static bool is_there(enum trial result)
{
    return result == TRIAL_OPENS || result == TRIAL_DENIED;
}

static void each_tried_event_has_its_own_result(void **state)
{
    struct trials *t = trials_new();
    trials_add(t, "cpu-clock", false);
    trials_add(t, "no-such-event", false);
    trials_add(t, "page-faults:u", false);
    trials_start(t);
    wait_for(t);
    assert_true(is_there(trials_result(t, 0)));
    assert_int_equal(trials_result(t, 1), TRIAL_FAILED);
    assert_true(is_there(trials_result(t, 2)));
    trials_leave(t);
}

static void the_first_event_of_a_list_is_tried(void **state)
{
    struct trials *t = trials_new();
    trials_add(t, "cpu-clock,page-faults", false);
    trials_add(t, "cpu-clock,no-such-event", false);
    trials_start(t);
    wait_for(t);
    assert_true(is_there(trials_result(t, 0)));
    assert_int_equal(trials_result(t, 1), TRIAL_FAILED); /* the list as a whole is not tried */
    trials_leave(t);
}

static void the_text_of_an_event_is_copied(void **state)
{
    char text[] = "cpu-clock";
    struct trials *t = trials_new();
    trials_add(t, text, false);
    memset(text, 'x', strlen(text));
    trials_start(t);
    wait_for(t);
    assert_true(is_there(trials_result(t, 0)));
    trials_leave(t);
}

static void leaving_does_not_wait_for_trials(void **state)
{
    struct trials *t = trials_new();
    for (int i = 0; i < 1000; i++)
        trials_add(t, "cpu-clock", true);
    trials_start(t);
    trials_leave(t);
    trials_leave(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tried_event_has_its_own_result),
        cmocka_unit_test(the_first_event_of_a_list_is_tried),
        cmocka_unit_test(the_text_of_an_event_is_copied),
        cmocka_unit_test(leaving_does_not_wait_for_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
