// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/waker.h"
#include "unit_test.h"

#define IS(wanted, wanted_own, ...)                                                                          \
    do {                                                                                                     \
        const char *const functions[] = { __VA_ARGS__ };                                                     \
        size_t own = 0;                                                                                      \
        assert_int_equal(waker_of(functions, sizeof functions / sizeof *functions, &own), wanted);           \
        assert_int_equal(own, wanted_own);                                                                   \
    } while (0)

/* Stacks of Linux 6.18 on x86-64 and 6.1 on arm64. */
TEST(interrupts_are_named_by_what_raised_them)
{
    IS(WAKER_TIMER, 7, "try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues", "hrtimer_interrupt",
       "__sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt",
       "free_pgd_range", "exit_mmap");
    IS(WAKER_DISK, 8, "try_to_wake_up", "complete", "blk_update_request", "blk_mq_end_request",
       "blk_done_softirq", "handle_softirqs", "__irq_exit_rcu", "common_interrupt", "do_syscall_64");
    IS(WAKER_NETWORK, 6, "try_to_wake_up", "sock_def_readable", "tcp_data_queue", "__napi_poll.constprop.0",
       "net_rx_action", "handle_softirqs", "run_ksoftirqd", "smpboot_thread_fn");
    IS(WAKER_INTERRUPT, 6, "try_to_wake_up", "swake_up_one", "rcu_core", "handle_softirqs", "irq_exit_rcu",
       "el1_interrupt", "arch_local_irq_enable");
}

TEST(what_a_thread_does_itself_is_no_interrupt)
{
    IS(WAKER_THREAD, 4, "try_to_wake_up", "wake_up_q", "futex_wake", "do_futex");
    IS(WAKER_THREAD, 4, "try_to_wake_up", "kick_pool", "blk_mq_submit_bio", "ext4_sync_file");
    size_t own;
    assert_int_equal(waker_of(NULL, 0, &own), WAKER_THREAD);
    assert_int_equal(own, 0);
}

TEST_MAIN(NULL, NULL)
