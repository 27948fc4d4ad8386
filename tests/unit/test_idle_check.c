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

TEST(most_wakeups_of_an_idle_cpu_have_records_or_not)
{
    assert_int_equal(judged(4, 4), IDLE_HIDDEN);
    assert_int_equal(judged(4, 3), IDLE_HIDDEN); /* another task had run meanwhile */
    assert_int_equal(judged(4, 0), IDLE_RECORDED);
}

TEST(a_busy_cpu_is_not_judged)
{
    for (uint32_t idle = 0; idle < 4; idle++)
        for (uint32_t hidden = 0; hidden <= idle; hidden++)
            assert_int_equal(judged(idle, hidden), IDLE_UNKNOWN);
}

/* A hidden thread may have run meanwhile. */
TEST(few_missing_records_are_not_judged)
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

TEST(events_of_tasks_miss_nothing)
{
    assert_true(concerns("sched:sched_waking") && concerns("block:block_rq_complete") &&
                concerns("tcp:tcp_retransmit_skb") && concerns("irq:softirq_entry"));
    assert_false(concerns("sched:sched_switch") || concerns("raw_syscalls:sys_enter") ||
                 concerns("syscalls:sys_enter_futex") || concerns("sched:sched_process_exec"));
    assert_false(idle_cpus_concern(&(struct event){ .kind = EVENT_SOFTWARE }));
}

TEST_MAIN(NULL, NULL)
