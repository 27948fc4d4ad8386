// SPDX-License-Identifier: GPL-2.0-or-later
/* The function nearest to the scheduler that is in the table decides. Functions that wait on behalf of many
 * others (io_schedule, folio_wait_bit) are in a second table, which counts only if no function is in the
 * first. Functions that wait for a disk both to read and to write have WAIT_DISK_READ there; their callers
 * say which it is. Names are those of Linux 4.19 to 6.18. */
#include "process/wait_reason.h"

#include <string.h>

#include "process/name_pattern.h"

struct row {
    const char *name; /* "prefix*" is the beginning of names */
    enum wait_reason reason;
};

static const struct row specific[] = {
    { "futex_wait*", WAIT_FUTEX },
    { "futex_lock_pi*", WAIT_FUTEX },
    { "__futex_wait*", WAIT_FUTEX },
    { "do_futex", WAIT_FUTEX },
    { "__mutex_lock*", WAIT_KERNEL_LOCK },
    { "mutex_lock*", WAIT_KERNEL_LOCK },
    { "__ww_mutex_lock*", WAIT_KERNEL_LOCK },
    { "rwsem_down_*", WAIT_KERNEL_LOCK },
    { "down_read*", WAIT_KERNEL_LOCK },
    { "down_write*", WAIT_KERNEL_LOCK },
    { "__down*", WAIT_KERNEL_LOCK },
    { "percpu_rwsem_wait", WAIT_KERNEL_LOCK },
    { "percpu_down_write", WAIT_KERNEL_LOCK },
    { "__lock_sock*", WAIT_KERNEL_LOCK }, /* of a socket: another thread uses it */
    { "lock_sock*", WAIT_KERNEL_LOCK },
    { "rt_mutex_*", WAIT_KERNEL_LOCK },
    { "__rt_mutex_*", WAIT_KERNEL_LOCK },
    { "synchronize_rcu*", WAIT_KERNEL_LOCK },
    { "shrink_*", WAIT_RECLAIM },
    { "try_to_free_*", WAIT_RECLAIM },
    { "do_try_to_free_pages", WAIT_RECLAIM },
    { "reclaim_throttle", WAIT_RECLAIM },
    { "throttle_direct_reclaim", WAIT_RECLAIM },
    { "congestion_wait", WAIT_RECLAIM },
    { "wait_iff_congested", WAIT_RECLAIM },
    { "mem_cgroup_handle_over_high", WAIT_RECLAIM },
    { "__mem_cgroup_handle_over_high", WAIT_RECLAIM },
    { "mem_cgroup_oom*", WAIT_RECLAIM },
    { "compact_zone", WAIT_RECLAIM },
    { "filemap_fault", WAIT_PAGE_FAULT },
    { "do_swap_page", WAIT_PAGE_FAULT },
    { "do_anonymous_page", WAIT_PAGE_FAULT },
    { "do_numa_page", WAIT_PAGE_FAULT },
    { "migration_entry_wait*", WAIT_PAGE_FAULT },
    { "__folio_lock_or_retry", WAIT_PAGE_FAULT },
    { "__lock_page_or_retry", WAIT_PAGE_FAULT },
    { "handle_userfault", WAIT_PAGE_FAULT },
    { "rpc_wait_bit_killable", WAIT_REMOTE_FILE },
    { "nfs_wait_*", WAIT_REMOTE_FILE },
    { "nfs4_*", WAIT_REMOTE_FILE },
    { "cifs_*", WAIT_REMOTE_FILE },
    { "SendReceive*", WAIT_REMOTE_FILE },
    { "wait_for_response", WAIT_REMOTE_FILE },
    { "request_wait_answer", WAIT_REMOTE_FILE },
    { "__fuse_request_send", WAIT_REMOTE_FILE },
    { "fuse_dev_*", WAIT_POLL }, /* the file system's own process, which waits for requests */
    { "fuse_*", WAIT_REMOTE_FILE },
    { "p9_client_rpc", WAIT_REMOTE_FILE },
    { "ceph_*", WAIT_REMOTE_FILE },
    { "locks_lock_inode_wait", WAIT_FILE_LOCK },
    { "flock_lock_inode_wait", WAIT_FILE_LOCK },
    { "posix_lock_inode_wait", WAIT_FILE_LOCK },
    { "fcntl_setlk*", WAIT_FILE_LOCK },
    { "do_lock_file_wait", WAIT_FILE_LOCK },
    { "jbd2_*", WAIT_WRITE_BACK },
    { "wait_transaction_locked", WAIT_WRITE_BACK },
    { "kjournald2", WAIT_WRITE_BACK },
    { "xfs_log_*", WAIT_WRITE_BACK },
    { "xlog_*", WAIT_WRITE_BACK },
    { "btrfs_commit_transaction*", WAIT_WRITE_BACK },
    { "btrfs_sync_*", WAIT_WRITE_BACK },
    { "btrfs_wait_ordered_*", WAIT_WRITE_BACK },
    { "folio_wait_writeback*", WAIT_WRITE_BACK },
    { "wait_on_page_writeback*", WAIT_WRITE_BACK },
    { "__filemap_fdatawait_range*", WAIT_WRITE_BACK },
    { "filemap_fdatawait_range*", WAIT_WRITE_BACK },
    { "file_write_and_wait_range", WAIT_WRITE_BACK },
    { "balance_dirty_pages*", WAIT_WRITE_BACK },
    { "wb_wait_for_completion", WAIT_WRITE_BACK },
    { "sync_inodes_sb", WAIT_WRITE_BACK },
    { "sync_filesystem", WAIT_WRITE_BACK },
    { "blkdev_issue_flush", WAIT_WRITE_BACK },
    { "blkdev_issue_discard", WAIT_DISK_WRITE },
    { "blkdev_issue_secure_erase", WAIT_DISK_WRITE },
    { "blkdev_issue_zeroout", WAIT_DISK_WRITE },
    { "__sync_dirty_buffer", WAIT_WRITE_BACK },
    { "wbt_wait", WAIT_WRITE_BACK },
    { "vfs_fsync_range", WAIT_WRITE_BACK },
    { "do_fsync", WAIT_WRITE_BACK },
    { "filemap_read", WAIT_DISK_READ },
    { "filemap_get_pages", WAIT_DISK_READ },
    { "filemap_update_page", WAIT_DISK_READ },
    { "generic_file_buffered_read", WAIT_DISK_READ },
    { "read_cache_page*", WAIT_DISK_READ },
    { "do_read_cache_*", WAIT_DISK_READ },
    { "__bread*", WAIT_DISK_READ },
    { "bread*", WAIT_DISK_READ },
    { "ext4_bread*", WAIT_DISK_READ },
    { "ext4_read_bh*", WAIT_DISK_READ },
    { "xfs_buf_read*", WAIT_DISK_READ },
    { "read_events", WAIT_DISK_READ },
    { "pipe_*", WAIT_PIPE },
    { "anon_pipe_*", WAIT_PIPE },
    { "fifo_open", WAIT_PIPE },
    { "wait_for_partner", WAIT_PIPE },
    { "inet_csk_accept", WAIT_ACCEPT },
    { "unix_accept", WAIT_ACCEPT },
    { "vsock_accept", WAIT_ACCEPT },
    { "do_accept", WAIT_ACCEPT },
    { "__sys_accept4*", WAIT_ACCEPT },
    { "sk_wait_data", WAIT_SOCKET },
    { "sk_stream_wait_*", WAIT_SOCKET },
    { "sock_alloc_send_*", WAIT_SOCKET },
    { "tcp_*", WAIT_SOCKET },
    { "udp_*", WAIT_SOCKET },
    { "udpv6_*", WAIT_SOCKET },
    { "unix_stream_*", WAIT_SOCKET },
    { "unix_dgram_*", WAIT_SOCKET },
    { "unix_wait_for_peer", WAIT_SOCKET },
    { "inet_wait_for_connect", WAIT_SOCKET },
    { "__inet_stream_connect", WAIT_SOCKET },
    { "inet_recvmsg", WAIT_SOCKET },
    { "packet_recvmsg", WAIT_SOCKET },
    { "netlink_recvmsg", WAIT_SOCKET },
    { "vsock_*", WAIT_SOCKET },
    { "sock_recvmsg*", WAIT_SOCKET },
    { "sock_sendmsg*", WAIT_SOCKET },
    { "io_cqring_wait*", WAIT_IO_URING },
    { "io_wq_worker", WAIT_IO_URING },
    { "io_wqe_worker", WAIT_IO_URING },
    { "io_sq_thread", WAIT_IO_URING },
    { "io_uring_*", WAIT_IO_URING },
    { "ep_poll", WAIT_POLL },
    { "do_epoll_wait", WAIT_POLL },
    { "do_epoll_pwait", WAIT_POLL },
    { "poll_schedule_timeout*", WAIT_POLL },
    { "do_poll*", WAIT_POLL },
    { "do_sys_poll", WAIT_POLL },
    { "do_select", WAIT_POLL },
    { "core_sys_select", WAIT_POLL },
    { "eventfd_read", WAIT_POLL },
    { "userfaultfd_read*", WAIT_POLL },
    { "inotify_read", WAIT_POLL },
    { "fanotify_read", WAIT_POLL },
    { "do_nanosleep", WAIT_TIMER },
    { "hrtimer_nanosleep", WAIT_TIMER },
    { "common_nsleep*", WAIT_TIMER },
    { "timerfd_read*", WAIT_TIMER },
    { "msleep*", WAIT_TIMER },
    { "usleep_range*", WAIT_TIMER },
    { "do_sigtimedwait", WAIT_SIGNAL },
    { "sigsuspend", WAIT_SIGNAL },
    { "__do_sys_pause", WAIT_SIGNAL },
    { "__x64_sys_pause", WAIT_SIGNAL },
    { "signalfd_*", WAIT_SIGNAL },
    { "do_wait", WAIT_CHILD },
    { "__do_wait", WAIT_CHILD },
    { "kernel_wait4", WAIT_CHILD },
    { "kernel_waitid", WAIT_CHILD },
    { "wait_for_vfork_done", WAIT_CHILD },
    { "n_tty_*", WAIT_TERMINAL },
    { "tty_*", WAIT_TERMINAL },
    { "do_semtimedop", WAIT_QUEUE },
    { "__do_semtimedop", WAIT_QUEUE },
    { "do_msgrcv", WAIT_QUEUE },
    { "do_msgsnd", WAIT_QUEUE },
    { "wq_sleep", WAIT_QUEUE },
    { "do_signal_stop", WAIT_STOPPED },
    { "ptrace_stop", WAIT_STOPPED },
    { "do_jobctl_trap", WAIT_STOPPED },
    { "do_freezer_trap", WAIT_STOPPED },
    { "__refrigerator", WAIT_STOPPED },
    { "do_exit", WAIT_EXIT },
    { "coredump_*", WAIT_EXIT },
    { "do_coredump", WAIT_EXIT },
    { "vfs_coredump", WAIT_EXIT },
    { "worker_thread", WAIT_KERNEL_WORK },
    { "rescuer_thread", WAIT_KERNEL_WORK },
    { "kthreadd", WAIT_KERNEL_WORK },
    { "kthread_worker_fn", WAIT_KERNEL_WORK },
    { "smpboot_thread_fn", WAIT_KERNEL_WORK },
    { "kswapd", WAIT_KERNEL_WORK },
    { "kcompactd", WAIT_KERNEL_WORK },
    { "rcu_gp_kthread", WAIT_KERNEL_WORK },
};

static const struct row general[] = {
    { "__iomap_dio_rw", WAIT_DISK_READ },
    { "iomap_dio_rw", WAIT_DISK_READ },
    { "__blockdev_direct_IO*", WAIT_DISK_READ },
    { "__blkdev_direct_IO*", WAIT_DISK_READ },
    { "blkdev_direct_IO", WAIT_DISK_READ },
    { "__skb_wait_for_more_packets", WAIT_SOCKET },
    { "__skb_recv_*", WAIT_SOCKET },
    { "__wait_on_buffer", WAIT_DISK_READ },
    { "submit_bio_wait", WAIT_DISK_READ },
    { "io_schedule*", WAIT_DISK_READ },
    { "bit_wait_io*", WAIT_DISK_READ },
    { "folio_wait_bit*", WAIT_DISK_READ },
    { "wait_on_page_bit*", WAIT_DISK_READ },
    { "wait_on_buffer", WAIT_DISK_READ },
    { "exc_page_fault", WAIT_PAGE_FAULT },
    { "do_page_fault", WAIT_PAGE_FAULT },
    { "handle_mm_fault", WAIT_PAGE_FAULT },
    { "get_signal", WAIT_STOPPED }, /* of a frozen cgroup, where do_freezer_trap is inlined */
    { "irqentry_exit_to_user_mode", WAIT_RUN_QUEUE },
    { "exit_to_user_mode_*", WAIT_RUN_QUEUE },
    { "preempt_schedule*", WAIT_RUN_QUEUE },
    { "kernel_clone", WAIT_CHILD }, /* vfork, where wait_for_vfork_done is inlined */
    { "kthread", WAIT_KERNEL_WORK },
};

static const struct row calls[] = {
    { "futex*", WAIT_FUTEX },
    { "accept*", WAIT_ACCEPT },
    { "recv*", WAIT_SOCKET },
    { "send*", WAIT_SOCKET },
    { "connect", WAIT_SOCKET },
    { "poll", WAIT_POLL },
    { "ppoll*", WAIT_POLL },
    { "select", WAIT_POLL },
    { "pselect6*", WAIT_POLL },
    { "epoll_wait", WAIT_POLL },
    { "epoll_pwait*", WAIT_POLL },
    { "nanosleep", WAIT_TIMER },
    { "clock_nanosleep*", WAIT_TIMER },
    { "wait4", WAIT_CHILD },
    { "waitid", WAIT_CHILD },
    { "vfork", WAIT_CHILD },
    { "pause", WAIT_SIGNAL },
    { "rt_sigtimedwait*", WAIT_SIGNAL },
    { "rt_sigsuspend", WAIT_SIGNAL },
    { "io_uring_enter", WAIT_IO_URING },
    { "fsync", WAIT_WRITE_BACK },
    { "fdatasync", WAIT_WRITE_BACK },
    { "msync", WAIT_WRITE_BACK },
    { "sync*", WAIT_WRITE_BACK },
    { "flock", WAIT_FILE_LOCK },
    { "semop", WAIT_QUEUE },
    { "semtimedop*", WAIT_QUEUE },
    { "msgrcv", WAIT_QUEUE },
    { "msgsnd", WAIT_QUEUE },
    { "mq_timed*", WAIT_QUEUE },
};

/* Calls that wait for whatever their first argument is open on. */
static const struct row transfers[] = {
    { "read*", WAIT_DISK_READ },    { "write*", WAIT_WRITE_BACK }, { "pread*", WAIT_DISK_READ },
    { "pwrite*", WAIT_WRITE_BACK }, { "splice", WAIT_PIPE },
};

static const struct row files[] = {
    { "pipe:*", WAIT_PIPE },
    { "socket:*", WAIT_SOCKET },
    { "/dev/pts/*", WAIT_TERMINAL },
    { "/dev/tty*", WAIT_TERMINAL },
    { "/dev/console", WAIT_TERMINAL },
    { "anon_inode:[timerfd]", WAIT_TIMER },
    { "anon_inode:[signalfd]", WAIT_SIGNAL },
    { "anon_inode:*", WAIT_POLL },
    { "/dev/fuse", WAIT_POLL },
};

#define REASON(name, for_work)                                                                               \
    {                                                                                                        \
        name, "[wait: " name "]", for_work                                                                   \
    }
static const struct {
    const char *name, *frame;
    bool for_work;
} reasons[WAIT_REASONS] = {
    [WAIT_UNKNOWN] = { "", "[wait]", false },
    [WAIT_FUTEX] = REASON("futex", false),
    [WAIT_KERNEL_LOCK] = REASON("kernel lock", false),
    [WAIT_DISK_READ] = REASON("disk read", false),
    [WAIT_WRITE_BACK] = REASON("write-back or journal", false),
    [WAIT_REMOTE_FILE] = REASON("network or FUSE file system", false),
    [WAIT_FILE_LOCK] = REASON("file lock", false),
    [WAIT_PAGE_FAULT] = REASON("page fault", false),
    [WAIT_RECLAIM] = REASON("memory reclaim", false),
    [WAIT_PIPE] = REASON("pipe", false),
    [WAIT_SOCKET] = REASON("socket", false),
    [WAIT_ACCEPT] = REASON("accept", true),
    [WAIT_POLL] = REASON("poll or epoll", true),
    [WAIT_TIMER] = REASON("timer", true),
    [WAIT_SIGNAL] = REASON("signal", true),
    [WAIT_CHILD] = REASON("child process", false),
    [WAIT_TERMINAL] = REASON("terminal", true),
    [WAIT_QUEUE] = REASON("message queue or semaphore", false),
    [WAIT_IO_URING] = REASON("io_uring", false),
    [WAIT_STOPPED] = REASON("stopped", false),
    [WAIT_RUN_QUEUE] = { "run queue", "[runnable]", false },
    [WAIT_KERNEL_WORK] = REASON("kernel work", true),
    [WAIT_RUNNING] = { "running", "[running]", false },
    [WAIT_DISK_WRITE] = REASON("disk write", false),
    [WAIT_EXIT] = REASON("exit or core dump", false),
    [WAIT_NOT_TAKEN] = { "stack not taken", "[stack not taken]", false },
    [WAIT_LOST] = { "records lost", "[unknown: records lost]", false },
};

static enum wait_reason find(const struct row *rows, size_t n_rows, const char *name, size_t n)
{
    for (size_t i = 0; i < n_rows; i++)
        if (name_matches(rows[i].name, name, n))
            return rows[i].reason;
    return WAIT_UNKNOWN;
}

#define FIND(rows, name, n) find(rows, sizeof(rows) / sizeof *(rows), name, n)

/* A write waits for reads, too: of the rest of a block that it changes in part (ext4_write_begin). It waits
 * for write-back where it finds a page that it wants to change. */
static enum wait_reason direction_of(const char *const *function, size_t n)
{
    bool of_a_page = false;
    for (size_t i = 0; i < n; i++) {
        if (of_a_page && strstr(function[i], "write_begin"))
            return WAIT_WRITE_BACK;
        of_a_page = of_a_page || name_matches("__filemap_get_folio*", function[i], strlen(function[i])) ||
                    name_matches("pagecache_get_page", function[i], strlen(function[i]));
        if (strstr(function[i], "write_begin") || strstr(function[i], "read"))
            return WAIT_DISK_READ;
        if (strstr(function[i], "write"))
            return WAIT_DISK_WRITE;
    }
    return WAIT_DISK_READ;
}

enum wait_reason wait_reason_of(const char *const *function, size_t n)
{
    enum wait_reason found = WAIT_UNKNOWN;
    for (size_t i = 0; i < n && !found; i++)
        found = FIND(specific, function[i], strcspn(function[i], "."));
    if (found)
        return found;
    for (size_t i = 0; i < n && !found; i++)
        found = FIND(general, function[i], strcspn(function[i], "."));
    return found == WAIT_DISK_READ ? direction_of(function, n) : found;
}

enum wait_reason wait_reason_of_call(const char *call, const char *file)
{
    size_t n = strlen(call);
    enum wait_reason found = FIND(calls, call, n), transfer = found ? WAIT_UNKNOWN : FIND(transfers, call, n);
    if (found || !transfer || !file || !*file)
        return found;
    found = FIND(files, file, strlen(file));
    return found ? found : transfer;
}

const char *wait_reason_name(enum wait_reason r)
{
    return reasons[(unsigned)r < WAIT_REASONS ? r : WAIT_UNKNOWN].name;
}

const char *wait_reason_title(enum wait_reason r)
{
    return r == WAIT_UNKNOWN ? "unknown" : wait_reason_name(r);
}

const char *wait_reason_frame(enum wait_reason r)
{
    return reasons[(unsigned)r < WAIT_REASONS ? r : WAIT_UNKNOWN].frame;
}

bool wait_reason_is_for_work(enum wait_reason r)
{
    return reasons[(unsigned)r < WAIT_REASONS ? r : WAIT_UNKNOWN].for_work;
}

bool wait_reason_is_wait(enum wait_reason r)
{
    return r != WAIT_RUNNING && r != WAIT_LOST;
}
