// SPDX-License-Identifier: GPL-2.0-or-later
/* Fallbacks for events that the kernel refuses. No event is opened. */

#include <errno.h>
#include <string.h>

#include "perf/open.h"
#include "unit_test.h"

static struct live_config cfg;
static struct plan plan;
static struct error error;

static int teardown(void **state)
{
    plan_done(&plan);
    scope_done(&cfg.scope);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, teardown)

/* Makes the plan for the events of -e on one CPU, without opening them. */
static void plan_for(const char *text)
{
    struct event events[EVENT_SET_MAX];
    uint32_t n = 0;
    memset(&cfg, 0, sizeof cfg);
    error_clear(&error);
    scope_init(&cfg.scope);
    assert_true(scope_set_cpus(&cfg.scope, "0", &error));
    assert_true(event_parse_list(text, events, EVENT_SET_MAX, &n, &error));
    cfg.event = events[0];
    cfg.freq_hz = 99;
    cfg.named = true;
    cfg.n_others = n - 1;
    for (uint32_t i = 1; i < n; i++)
        cfg.others[i - 1] = (struct live_extra_event){ .event = events[i], .freq_hz = 99 };
    plan_init(&plan, &cfg);
    ladder_start(&plan);
    assert_true(plan_make_attr(&plan, &error));
}

static bool refuse_member(uint32_t member, int sys)
{
    struct open_failure f = { .stage = OPEN_EVENT, .sys = sys, .member = member };
    return ladder_step(&plan, &f, &error) && plan_make_attr(&plan, &error);
}

static void assert_clock(uint32_t member, const char *name)
{
    assert_string_equal(plan_event(&plan, member)->name, name);
    assert_int_equal(plan_attr(&plan, member)->type, PERF_TYPE_SOFTWARE);
    assert_int_equal(plan_attr(&plan, member)->config, PERF_COUNT_SW_CPU_CLOCK);
}

static void assert_noted(uint32_t n, const char *what)
{
    assert_int_equal(plan.n_notes, n);
    assert_non_null(strstr(plan.notes[n - 1].what, what));
}

FIXTURE_TEST(named_cycles_fall_back_to_cpu_clock)
{
    static const int answers[] = { ENOENT, ENODEV, ENXIO, EOPNOTSUPP };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        plan_for("cycles:u");
        assert_true(refuse_member(0, answers[i]));
        assert_clock(0, "cpu-clock:u");
        assert_int_equal(plan_attr(&plan, 0)->exclude_kernel, 1);
        assert_noted(1, "sampling cpu-clock");
        teardown(NULL);
    }
    plan_for("cycles");
    assert_false(refuse_member(0, EBUSY)); /* the counters may become free */
}

FIXTURE_TEST(cycles_fall_back_at_any_position_of_the_list)
{
    plan_for("cycles,page-faults");
    assert_true(refuse_member(0, ENOENT));
    assert_clock(0, "cpu-clock");
    assert_int_equal(plan_members(&plan), 2);
    teardown(NULL);
    plan_for("page-faults,cycles:u,cycles:k");
    assert_true(refuse_member(1, ENOENT));
    assert_clock(1, "cpu-clock:u");
    assert_true(refuse_member(2, ENOENT));
    assert_clock(2, "cpu-clock:k");
    assert_int_equal(plan_members(&plan), 3);
    assert_noted(1, "sampling cpu-clock");
}

FIXTURE_TEST(cycles_are_dropped_when_cpu_clock_is_also_sampled)
{
    plan_for("cycles,cpu-clock");
    assert_true(refuse_member(0, ENOENT));
    assert_int_equal(plan_first(&plan), 1);
    assert_int_equal(plan_members(&plan), 1);
    assert_noted(1, "sampling without cycles");
    teardown(NULL);
    plan_for("cpu-clock,cycles");
    assert_true(refuse_member(1, ENOENT));
    assert_int_equal(plan_first(&plan), 0);
    assert_int_equal(plan_members(&plan), 1);
    assert_noted(1, "cpu-clock continues without cycles");
    teardown(NULL);
    plan_for("cycles:u,cpu-clock"); /* cycles:u differs from cpu-clock */
    assert_true(refuse_member(0, ENOENT));
    assert_clock(0, "cpu-clock:u");
    assert_int_equal(plan_members(&plan), 2);
}

FIXTURE_TEST(the_first_event_can_be_dropped)
{
    static const int answers[] = { ENOENT, ENODEV, EOPNOTSUPP, EBUSY, ENOSPC };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        plan_for("instructions,page-faults,cpu-clock");
        assert_int_equal(plan_attr(&plan, 1)->mmap, 0);
        assert_true(refuse_member(0, answers[i]));
        assert_int_equal(plan_first(&plan), 1);
        assert_int_equal(plan_next_member(&plan, 1), 2);
        assert_int_equal(plan_attr(&plan, 1)->mmap, 1); /* the next event now has the side-band records */
        assert_int_equal(plan_attr(&plan, 1)->freq, 1);
        assert_noted(1, "sampling without instructions");
        assert_non_null(strstr(plan.notes[0].fix, "instructions"));
        teardown(NULL);
    }
}

FIXTURE_TEST(features_dropped_for_the_first_event_are_restored_for_the_next)
{
    plan_for("instructions,page-faults");
    uint32_t steps = 0;
    while (plan_first(&plan) == 0) {
        assert_true(refuse_member(0, EINVAL));
        steps++;
    }
    assert_true(steps > 5);
    assert_int_equal(plan_attr(&plan, 1)->mmap2, 1);
    assert_int_equal(plan_attr(&plan, 1)->use_clockid, 1);
}

FIXTURE_TEST(a_group_continues_without_its_leader)
{
    plan_for("{instructions,page-faults,minor-faults}:S,cpu-clock");
    assert_int_equal(plan_leader(&plan, 2), 0);
    assert_true(refuse_member(0, ENOENT));
    assert_int_equal(plan_members(&plan), 3);
    for (uint32_t member = 1; member <= 3; member++) {
        assert_int_equal(plan_leader(&plan, member), member);
        assert_int_equal(plan_attr(&plan, member)->disabled, 1);
        assert_int_equal(plan_attr(&plan, member)->sample_freq, 99);
    }
}

FIXTURE_TEST(the_first_event_gives_the_reason_when_nothing_opens)
{
    plan_for("instructions,page-faults,branches");
    assert_true(refuse_member(0, ENOENT));
    assert_true(refuse_member(1, ENODEV));
    assert_false(refuse_member(2, ENOENT));
    assert_non_null(strstr(error.text, "instructions"));
    teardown(NULL);
    plan_for("instructions");
    assert_false(refuse_member(0, ENOENT));
    assert_non_null(strstr(error.text, "instructions"));
}

FIXTURE_TEST(system_wide_failures_drop_no_event)
{
    static const int answers[] = { EMFILE, ENFILE, ESRCH, ENOMEM };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        plan_for("instructions,page-faults");
        assert_false(refuse_member(0, answers[i]));
        assert_int_equal(plan_members(&plan), 2);
        teardown(NULL);
    }
    plan_for("instructions,page-faults");
}

/* Twice the records would say that a thread leaves its CPU twice. */
FIXTURE_TEST(switches_are_recorded_once)
{
    plan_for("cpu-clock,page-faults");
    assert_false(plan_attr(&plan, 0)->context_switch);
    plan.cfg.switches = true;
    assert_true(plan_make_attr(&plan, &error));
    assert_true(plan_attr(&plan, 0)->context_switch);
    assert_false(plan_attr(&plan, 1)->context_switch);
    plan.cfg.others[0].event.attr.context_switch = 1; /* as off-cpu */
    assert_true(plan_make_attr(&plan, &error));
    assert_false(plan_attr(&plan, 0)->context_switch);
    assert_true(plan_attr(&plan, 1)->context_switch);
    plan.cfg.others[0].event.attr.context_switch = 0;
    plan_note_switches(&plan);
    assert_int_equal(plan.n_notes, 0);
    while (plan_drop_feature(&plan))
        ;
    assert_true(plan_make_attr(&plan, &error));
    assert_false(plan_attr(&plan, 0)->context_switch);
    plan_note_switches(&plan);
    assert_noted(1, "does not record the switches");
}

TEST_MAIN(NULL, NULL)
