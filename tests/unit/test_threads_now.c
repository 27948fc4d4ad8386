// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"
#include "session/threads_now.h"
#include "session/threads_text.h"
#include "unit_test.h"

#define S NS_PER_SEC

static struct threads_now of(struct task_now *task, struct livestack *stack, uint64_t read_ns)
{
    return (struct threads_now){ .read_ns = read_ns,
                                 .tasks = { .items = task, .n = 1 },
                                 .stacks = { .items = stack, .n = 1 } };
}

/* A thread that waited for 3 s was stopped and has now waited for 1 s; after `waits` more waits. Returns how
 * long it waits. */
static uint64_t followed(uint64_t waits, uint64_t stopped_ns)
{
    struct task_now before = { .tid = 7, .since_known = true, .since_ns = 3 * S, .waits = 10 };
    struct task_now now = { .tid = 7, .since_known = true, .since_ns = 1 * S, .waits = 10 + waits };
    struct livestack stopped = { .tid = 7, .stopped_ns = stopped_ns }, none = { .tid = 7 };
    struct threads_now earlier = of(&before, &stopped, 100 * S), later = of(&now, &none, 105 * S);
    threads_now_follow(&later, &earlier);
    return now.since_ns;
}

TEST(a_stop_ends_no_wait_however_late_the_thread_ran_after_it)
{
    assert_int_equal(followed(2, 1000), 8 * S);
}

TEST(a_thread_that_waited_once_more_has_a_new_wait)
{
    assert_int_equal(followed(3, 1000), 1 * S);
    assert_int_equal(followed(0, 1000), 1 * S);
    assert_int_equal(followed(2, 0), 1 * S); /* it was not stopped */
}

static void check_wait(uint64_t least_ns, uint64_t most_ns, const char *text)
{
    struct task_now tasks[] = {
        { .tid = 7, .stat.state = 'S', .since_known = true, .since_ns = least_ns },
        { .tid = 8, .stat.state = 'S', .since_known = true, .since_ns = most_ns },
    };
    const struct task_now *threads[] = { &tasks[0], &tasks[1] };
    struct threads_now_row row = { .threads = threads, .n = 2 };
    struct buf out = { 0 };
    threads_text_wait(&out, &row);
    assert_string_equal(buf_str(&out), text);
    buf_done(&out);
}

TEST(times_that_read_the_same_are_written_once)
{
    check_wait(1060 * NS_PER_MS, 1120 * NS_PER_MS, "sleeping for 1.1 s");
    check_wait(1040 * NS_PER_MS, 1060 * NS_PER_MS, "sleeping for 1.0 s to 1.1 s");
    check_wait(819 * NS_PER_MS, 833 * NS_PER_MS, "sleeping for 0.819 s to 0.833 s");
    check_wait(819 * NS_PER_MS, 819 * NS_PER_MS, "sleeping for 0.819 s");
}

TEST_MAIN(NULL, NULL)
