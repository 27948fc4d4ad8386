// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages when no event opens. The kernel's errors are simulated: this machine may never return them. */

#include <errno.h>
#include <string.h>

#include "perf/open.h"
#include "unit_test.h"

static struct plan plan;
static struct error error;

static void explain_refusal(enum plan_where where, int sys, bool own)
{
    struct live_config cfg = { .freq_hz = 99 };
    scope_init(&cfg.scope);
    assert_true(event_parse("cpu-clock", &cfg.event, &error));
    plan_init(&plan, &cfg);
    plan.where = where;
    plan.cfg.scope.own = own;
    strcpy(plan.cfg.scope.cgroup, "/build");
    struct open_failure f = { .stage = OPEN_EVENT, .sys = sys };
    assert_false(advice_refused(&plan, &f, &error));
    plan_done(&plan);
}

TEST(missing_perf_events_of_a_cgroup_have_their_own_message)
{
    explain_refusal(PLAN_CGROUP, ENOENT, false);
    assert_non_null(strstr(error.text, "no perf events in the cgroup /build"));
    assert_non_null(strstr(error.text, "subtree_control"));
    explain_refusal(PLAN_CPUS, ENOENT, false);
    assert_null(strstr(error.text, "cgroup"));
    assert_non_null(strstr(error.text, "cpu-clock"));
}

TEST(falling_back_to_own_processes_keeps_the_system_wide_advice)
{
    explain_refusal(PLAN_TASKS, EACCES, true);
    assert_non_null(strstr(error.text, "on all CPUs, nor on a process of yours"));
    assert_non_null(strstr(error.text, "sysctl kernel.perf_event_paranoid=0"));
    explain_refusal(PLAN_TASKS, EACCES, false);
    assert_non_null(strstr(error.text, "sysctl kernel.perf_event_paranoid=1"));
}

TEST_MAIN(NULL, NULL)
