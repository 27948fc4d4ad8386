// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that hide what interrupts their idle task: the judgement, which events it concerns, and the note. */

#include <stdio.h>

#include "perf/event.h"
#include "perf/idle_check.h"
#include "session/collect/idle_cpus.h"
#include "unit_test.h"

static enum idle_finding judged(uint32_t idle, uint32_t hidden)
{
    return idle_judge(&(struct idle_naps){ idle, hidden });
}

static void most_wakeups_of_an_idle_cpu_have_records_or_not(void **state)
{
    assert_int_equal(judged(4, 4), IDLE_HIDDEN);
    assert_int_equal(judged(4, 3), IDLE_HIDDEN); /* another task had run meanwhile */
    assert_int_equal(judged(4, 0), IDLE_RECORDED);
}

static void a_busy_cpu_is_not_judged(void **state)
{
    for (uint32_t idle = 0; idle < 4; idle++)
        for (uint32_t hidden = 0; hidden <= idle; hidden++)
            assert_int_equal(judged(idle, hidden), IDLE_UNKNOWN);
}

/* A hidden thread may have run meanwhile. */
static void few_missing_records_are_not_judged(void **state)
{
    assert_int_equal(judged(4, 1), IDLE_UNKNOWN);
    assert_int_equal(judged(4, 2), IDLE_UNKNOWN);
}

static bool concerns(const char *tracepoint)
{
    struct event ev = { .kind = EVENT_TRACEPOINT };
    snprintf(ev.tracepoint, sizeof ev.tracepoint, "%s", tracepoint);
    return idle_cpus_concern(&ev);
}

static void events_of_tasks_miss_nothing(void **state)
{
    assert_true(concerns("sched:sched_waking") && concerns("block:block_rq_complete") &&
                concerns("tcp:tcp_retransmit_skb") && concerns("irq:softirq_entry"));
    assert_false(concerns("sched:sched_switch") || concerns("raw_syscalls:sys_enter") ||
                 concerns("syscalls:sys_enter_futex") || concerns("sched:sched_process_exec"));
    assert_false(idle_cpus_concern(&(struct event){ .kind = EVENT_SOFTWARE }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_wakeups_of_an_idle_cpu_have_records_or_not),
        cmocka_unit_test(a_busy_cpu_is_not_judged),
        cmocka_unit_test(few_missing_records_are_not_judged),
        cmocka_unit_test(events_of_tasks_miss_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
