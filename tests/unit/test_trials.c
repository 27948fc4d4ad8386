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

TEST(each_tried_event_has_its_own_result)
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

TEST(the_first_event_of_a_list_is_tried)
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

TEST(the_text_of_an_event_is_copied)
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

TEST(leaving_does_not_wait_for_trials)
{
    struct trials *t = trials_new();
    for (int i = 0; i < 1000; i++)
        trials_add(t, "cpu-clock", true);
    trials_start(t);
    trials_leave(t);
    trials_leave(NULL);
}

TEST_MAIN(NULL, NULL)
