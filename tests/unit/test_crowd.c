// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector's real-time priority. */

#include <sched.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/session_state.h"
#include "unit_test.h"

static struct session *session;

static int setup(void **state)
{
    session = mem_alloc(sizeof *session);
    *session = (struct session){ .collect.offcpu.runs = true };
    return 0;
}

static int teardown(void **state)
{
    session->collect.offcpu.runs = false;
    crowd_keep_real_time(session, clock_now_ns());
    mem_free(session);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static bool is_real_time(void)
{
    return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_RR;
}

static void begin_or_skip(void)
{
    crowd_keep_real_time(session, clock_now_ns());
    if (!is_real_time()) {
        print_message("skipped: real-time priority is not permitted\n");
        skip();
    }
}

static void wait_ms(unsigned ms, bool busy)
{
    for (uint64_t end = clock_now_ns() + ms * NS_PER_MS; clock_now_ns() < end;)
        if (!busy)
            nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS }, NULL);
}

FIXTURE_TEST(a_collector_that_uses_a_whole_cpu_loses_it)
{
    begin_or_skip();
    wait_ms(300, true);
    crowd_keep_real_time(session, clock_now_ns());
    assert_false(is_real_time());
    crowd_keep_real_time(session, clock_now_ns());
    assert_false(is_real_time());
    crowd_keep_real_time(session, clock_now_ns() + 10 * NS_PER_SEC); /* a later try */
    assert_true(is_real_time());
}

FIXTURE_TEST(a_collector_that_mostly_waits_keeps_it_until_off_cpu_ends)
{
    begin_or_skip();
    for (int i = 0; i < 3; i++) {
        wait_ms(250, false);
        crowd_keep_real_time(session, clock_now_ns());
        assert_true(is_real_time());
    }
    session->collect.offcpu.runs = false;
    crowd_keep_real_time(session, clock_now_ns());
    assert_false(is_real_time());
}

TEST_MAIN(NULL, NULL)
