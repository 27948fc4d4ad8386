// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "process/wait_reason.h"
#include "unit_test.h"

/* A stack as text: names separated by blanks, innermost first. */
static enum wait_reason of(const char *stack)
{
    char text[512];
    const char *functions[32];
    size_t n = 0;
    strncpy(text, stack, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        functions[n++] = word;
    return wait_reason_of(functions, n);
}

/* Stacks of Linux 6.1 and 6.18. */
TEST(stacks_have_the_reason_of_their_innermost_known_function)
{
    assert_int_equal(of("futex_wait_queue __futex_wait futex_wait do_futex __x64_sys_futex do_syscall_64"),
                     WAIT_FUTEX);
    assert_int_equal(of("rwsem_down_write_slowpath down_write_killable vm_mmap_pgoff do_syscall_64"),
                     WAIT_KERNEL_LOCK);
    assert_int_equal(of("__mutex_lock.constprop.0 ext4_file_write_iter vfs_write"), WAIT_KERNEL_LOCK);
    assert_int_equal(of("folio_wait_bit_common filemap_update_page filemap_get_pages filemap_read vfs_read"),
                     WAIT_DISK_READ);
    assert_int_equal(of("jbd2_log_wait_commit ext4_sync_file do_fsync"), WAIT_WRITE_BACK);
    assert_int_equal(of("io_schedule_timeout submit_bio_wait blkdev_issue_flush ext4_sync_file do_fsync"),
                     WAIT_WRITE_BACK);
    assert_int_equal(of("io_schedule __wait_on_buffer sync_inode_metadata do_fsync"), WAIT_WRITE_BACK);
    assert_int_equal(of("io_schedule __wait_on_buffer ext4_read_inode_bitmap"), WAIT_DISK_READ);
    assert_int_equal(of("folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range"),
                     WAIT_WRITE_BACK);
    assert_int_equal(of("folio_wait_bit_common filemap_fault __do_fault handle_mm_fault exc_page_fault"),
                     WAIT_PAGE_FAULT);
    assert_int_equal(of("io_schedule_timeout shrink_lruvec try_to_free_pages __alloc_pages handle_mm_fault"),
                     WAIT_RECLAIM);
    assert_int_equal(of("anon_pipe_read vfs_read ksys_read"), WAIT_PIPE);
    assert_int_equal(of("pipe_read vfs_read ksys_read"), WAIT_PIPE);
    assert_int_equal(of("wait_woken sk_wait_data tcp_recvmsg_locked tcp_recvmsg inet_recvmsg sock_recvmsg"),
                     WAIT_SOCKET);
    assert_int_equal(of("inet_csk_accept inet_accept do_accept __sys_accept4"), WAIT_ACCEPT);
    assert_int_equal(of("__lock_sock lock_sock_nested inet_csk_accept inet_accept do_accept __sys_accept4"),
                     WAIT_KERNEL_LOCK);
    assert_int_equal(of("__lock_sock lock_sock_nested tcp_sendmsg sock_write_iter vfs_write"),
                     WAIT_KERNEL_LOCK);
    assert_int_equal(of("ep_poll do_epoll_wait __x64_sys_epoll_wait"), WAIT_POLL);
    assert_int_equal(of("poll_schedule_timeout.constprop.0 do_sys_poll __x64_sys_poll"), WAIT_POLL);
    assert_int_equal(of("hrtimer_nanosleep common_nsleep __x64_sys_clock_nanosleep"), WAIT_TIMER);
    assert_int_equal(of("do_wait kernel_wait4 __do_sys_wait4"), WAIT_CHILD);
    assert_int_equal(of("wait_woken n_tty_read tty_read vfs_read"), WAIT_TERMINAL);
    assert_int_equal(of("io_cqring_wait __do_sys_io_uring_enter"), WAIT_IO_URING);
    assert_int_equal(of("do_signal_stop get_signal arch_do_signal_or_restart"), WAIT_STOPPED);
    assert_int_equal(of("irqentry_exit_to_user_mode asm_sysvec_apic_timer_interrupt"), WAIT_RUN_QUEUE);
    assert_int_equal(of("worker_thread kthread ret_from_fork"), WAIT_KERNEL_WORK);
    assert_int_equal(of("request_wait_answer __fuse_simple_request fuse_do_getattr"), WAIT_REMOTE_FILE);
}

/* Functions that wait on behalf of others, or whose names begin as those of others. */
TEST(shared_functions_do_not_hide_what_calls_them)
{
    assert_int_equal(of("do_wait_intr_irq eventfd_read vfs_read ksys_read"), WAIT_POLL);
    assert_int_equal(of("do_wait_intr_irq timerfd_read_iter vfs_read ksys_read"), WAIT_TIMER);
    assert_int_equal(of("userfaultfd_read_iter vfs_read ksys_read"), WAIT_POLL);
    assert_int_equal(of("schedule_timeout do_wait_for_common wait_for_completion submit_bio_wait"),
                     WAIT_DISK_READ);
    assert_int_equal(
        of("schedule_timeout __skb_wait_for_more_packets __skb_recv_datagram unix_accept do_accept"),
        WAIT_ACCEPT);
    assert_int_equal(of("__skb_wait_for_more_packets __skb_recv_udp udp_recvmsg sock_recvmsg"), WAIT_SOCKET);
    assert_int_equal(of("fuse_dev_do_read fuse_dev_read vfs_read ksys_read"), WAIT_POLL);
}

TEST(waits_for_a_disk_are_reads_or_writes_by_their_callers)
{
    assert_int_equal(of("blk_io_schedule __iomap_dio_rw iomap_dio_rw ext4_file_write_iter vfs_write"),
                     WAIT_DISK_WRITE);
    assert_int_equal(of("blk_io_schedule __iomap_dio_rw iomap_dio_rw ext4_file_read_iter vfs_read"),
                     WAIT_DISK_READ);
    assert_int_equal(of("io_schedule __blkdev_direct_IO_simple blkdev_write_iter aio_write io_submit_one"),
                     WAIT_DISK_WRITE);
    assert_int_equal(of("io_schedule blk_mq_get_tag submit_bio ext4_writepages wb_writeback worker_thread_"),
                     WAIT_DISK_WRITE);
    assert_int_equal(
        of("io_schedule __wait_on_buffer ext4_block_write_begin generic_perform_write vfs_write"),
        WAIT_DISK_READ);
    assert_int_equal(
        of("io_schedule __filemap_get_folio ext4_da_write_begin generic_perform_write vfs_write"),
        WAIT_WRITE_BACK);
    assert_int_equal(of("io_schedule __filemap_get_folio ext4_get_link vfs_readlink"), WAIT_DISK_READ);
    assert_int_equal(of("schedule_timeout io_schedule_timeout wait_for_completion_io_timeout submit_bio_wait "
                        "blkdev_issue_discard ext4_free_blocks ext4_ext_remove_space"),
                     WAIT_DISK_WRITE);
    assert_int_equal(of("io_schedule __wait_on_buffer __sync_dirty_buffer ext4_commit_super"),
                     WAIT_WRITE_BACK);
    assert_int_equal(of("rwsem_down_write_slowpath ext4_file_write_iter vfs_write"), WAIT_KERNEL_LOCK);
}

/* A thread of a frozen cgroup and one that ends wait below the return to user space, as a preempted one. */
TEST(waits_at_the_return_to_user_space_are_not_the_run_queue)
{
    assert_int_equal(of("get_signal arch_do_signal_or_restart irqentry_exit_to_user_mode asm_sysvec_apic"),
                     WAIT_STOPPED);
    assert_int_equal(of("get_signal arch_do_signal_or_restart exit_to_user_mode_loop do_syscall_64"),
                     WAIT_STOPPED);
    assert_int_equal(of("coredump_task_exit do_exit do_group_exit get_signal exit_to_user_mode_loop"),
                     WAIT_EXIT);
    assert_int_equal(of("zap_pid_ns_processes do_exit do_group_exit __x64_sys_exit_group"), WAIT_EXIT);
    assert_int_equal(of("coredump_wait vfs_coredump get_signal exit_to_user_mode_loop"), WAIT_EXIT);
    assert_int_equal(of("anon_pipe_write dump_emit elf_core_dump vfs_coredump get_signal"), WAIT_PIPE);
}

TEST(general_functions_count_only_without_a_specific_one)
{
    assert_int_equal(of("io_schedule something_new"), WAIT_DISK_READ);
    assert_int_equal(of("io_schedule something_new do_futex"), WAIT_FUTEX);
    assert_int_equal(of("something_new exc_page_fault"), WAIT_PAGE_FAULT);
    assert_int_equal(of("schedule_timeout wait_for_completion_state kernel_clone __do_sys_clone3"),
                     WAIT_CHILD);
    assert_int_equal(of("schedule_timeout hwrng_fillfn kthread ret_from_fork"), WAIT_KERNEL_WORK);
    assert_int_equal(of("futex_wait something_new kthread ret_from_fork"), WAIT_FUTEX);
}

TEST(unknown_functions_have_no_reason)
{
    assert_int_equal(wait_reason_of(NULL, 0), WAIT_UNKNOWN);
    assert_int_equal(of("something_new"), WAIT_UNKNOWN);
    assert_int_equal(of("ep_pol"), WAIT_UNKNOWN);
    assert_int_equal(of("ep_polls"), WAIT_UNKNOWN);
    assert_int_equal(of("0"), WAIT_UNKNOWN);
    assert_string_equal(wait_reason_name(WAIT_UNKNOWN), "");
}

TEST(a_call_alone_has_a_reason)
{
    assert_int_equal(wait_reason_of_call("futex", NULL), WAIT_FUTEX);
    assert_int_equal(wait_reason_of_call("epoll_wait", "anon_inode:[eventpoll]"), WAIT_POLL);
    assert_int_equal(wait_reason_of_call("read", "pipe:[123]"), WAIT_PIPE);
    assert_int_equal(wait_reason_of_call("read", "socket:[123]"), WAIT_SOCKET);
    assert_int_equal(wait_reason_of_call("readv", "/dev/pts/3"), WAIT_TERMINAL);
    assert_int_equal(wait_reason_of_call("pread64", "/var/lib/db"), WAIT_DISK_READ);
    assert_int_equal(wait_reason_of_call("read", NULL), WAIT_UNKNOWN);
    assert_int_equal(wait_reason_of_call("getpid", NULL), WAIT_UNKNOWN);
    assert_int_equal(wait_reason_of_call("", NULL), WAIT_UNKNOWN);
}

TEST(every_reason_has_a_name_and_a_frame_of_its_own)
{
    for (int r = WAIT_UNKNOWN + 1; r < WAIT_REASONS; r++) {
        assert_true(*wait_reason_name((enum wait_reason)r));
        for (int other = WAIT_UNKNOWN; other < r; other++)
            assert_string_not_equal(wait_reason_frame((enum wait_reason)r),
                                    wait_reason_frame((enum wait_reason)other));
    }
    assert_string_equal(wait_reason_frame(WAIT_FUTEX), "[wait: futex]");
    assert_string_equal(wait_reason_frame((enum wait_reason)1000), "[wait]");
    assert_true(wait_reason_is_for_work(WAIT_POLL) && wait_reason_is_for_work(WAIT_ACCEPT) &&
                wait_reason_is_for_work(WAIT_TIMER));
    assert_false(wait_reason_is_for_work(WAIT_FUTEX) || wait_reason_is_for_work(WAIT_DISK_READ));
}

TEST_MAIN(NULL, NULL)
