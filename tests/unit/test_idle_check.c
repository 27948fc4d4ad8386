// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that hide what interrupts their idle task: the judgement, which events it concerns, and the note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "perf/event.h"
#include "perf/idle_check.h"
#include "session/collect/idle_cpus.h"

static enum idle_finding judged(uint64_t idle, uint64_t woken, uint64_t recorded)
{
    return idle_judge(&(struct idle_naps){ idle, woken, recorded });
}

static void counted_wakeups_without_records_are_hidden(void **state)
{
    (void)state;
    assert_int_equal(judged(3, 3, 0), IDLE_HIDDEN);
    assert_int_equal(judged(3, 3, 1), IDLE_HIDDEN);
    assert_int_equal(judged(2, 16, 14), IDLE_HIDDEN); /* most of the time the CPU was busy */
    assert_int_equal(judged(3, 3, 3), IDLE_RECORDED);
    assert_int_equal(judged(3, 9, 9), IDLE_RECORDED);
}

static void a_busy_cpu_is_not_judged(void **state)
{
    (void)state;
    assert_int_equal(judged(0, 16, 16), IDLE_UNKNOWN);
    assert_int_equal(judged(2, 16, 16), IDLE_UNKNOWN);
    assert_int_equal(judged(0, 0, 0), IDLE_UNKNOWN);
}

/* Timers of some CPUs interrupt others (nohz_full). */
static void odd_counts_are_not_judged(void **state)
{
    (void)state;
    assert_int_equal(judged(3, 3, 2), IDLE_UNKNOWN);
    assert_int_equal(judged(3, 2, 3), IDLE_UNKNOWN);
    assert_int_equal(judged(3, 0, 0), IDLE_UNKNOWN);
}

static bool concerns(const char *tracepoint)
{
    struct event ev = { .kind = EVENT_TRACEPOINT };
    snprintf(ev.tracepoint, sizeof ev.tracepoint, "%s", tracepoint);
    return idle_cpus_concern(&ev);
}

static void events_of_tasks_miss_nothing(void **state)
{
    (void)state;
    assert_true(concerns("sched:sched_waking") && concerns("block:block_rq_complete") &&
                concerns("tcp:tcp_retransmit_skb") && concerns("irq:softirq_entry"));
    assert_false(concerns("sched:sched_switch") || concerns("raw_syscalls:sys_enter") ||
                 concerns("syscalls:sys_enter_futex") || concerns("sched:sched_process_exec"));
    assert_false(idle_cpus_concern(&(struct event){ .kind = EVENT_SOFTWARE }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_wakeups_without_records_are_hidden),
        cmocka_unit_test(a_busy_cpu_is_not_judged),
        cmocka_unit_test(odd_counts_are_not_judged),
        cmocka_unit_test(events_of_tasks_miss_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
