// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of this machine's system calls. The table comes from the compiler's headers at build time. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "process/task.h"

#ifndef FUTEX_LOCK_PI2 /* headers before Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

/* {number, name}, by name */
static const struct {
    long number;
    const char *name;
} names[] = {
#include "syscall_names.h"
};

/* The same of 32-bit programs on a 64-bit machine. */
static const struct {
    long number;
    const char *name;
} names_32[] = {
    { -1, "" },
#include "syscall_names_32.h"
};

static const char *const of_files[] = {
    "accept",          "accept4",      "close",      "connect",    "copy_file_range", "epoll_ctl",
    "epoll_pwait",     "epoll_pwait2", "epoll_wait", "fallocate",  "fcntl",           "fdatasync",
    "flock",           "fsync",        "ftruncate",  "getdents64", "io_uring_enter",  "ioctl",
    "mq_timedreceive", "mq_timedsend", "pread64",    "preadv",     "preadv2",         "pwrite64",
    "pwritev",         "pwritev2",     "read",       "readv",      "recvfrom",        "recvmmsg",
    "recvmsg",         "sendfile",     "sendmmsg",   "sendmsg",    "sendto",          "splice",
    "sync_file_range", "syncfs",       "write",      "writev",
};

static const char *const of_paths[] = {
    "access",   "acct",    "chdir",     "chmod",   "chown",     "chroot",     "creat",     "execve",
    "getxattr", "lchown",  "lgetxattr", "link",    "listxattr", "llistxattr", "lsetxattr", "lstat",
    "mkdir",    "mknod",   "mount",     "mq_open", "open",      "pivot_root", "readlink",  "removexattr",
    "rename",   "rmdir",   "setxattr",  "stat",    "statfs",    "swapoff",    "swapon",    "symlink",
    "truncate", "umount2", "unlink",    "utime",   "utimes",
};

static const char *const of_folders[] = {
    "execveat", "faccessat", "faccessat2",        "fchmodat",          "fchmodat2",
    "fchownat", "fstatat64", "futimesat",         "inotify_add_watch", "linkat",
    "mkdirat",  "mknodat",   "name_to_handle_at", "newfstatat",        "open_tree",
    "openat",   "openat2",   "readlinkat",        "renameat",          "renameat2",
    "statx",    "unlinkat",  "utimensat",
};

static const struct {
    const char *name;
    enum task_argument kind;
} others[] = {
    { "clock_nanosleep", TASK_ARGUMENT_NONE },
    { "fork", TASK_ARGUMENT_NONE },
    { "msgrcv", TASK_ARGUMENT_ID },
    { "msgsnd", TASK_ARGUMENT_ID },
    { "nanosleep", TASK_ARGUMENT_NONE },
    { "pause", TASK_ARGUMENT_NONE },
    { "restart_syscall", TASK_ARGUMENT_NONE },
    { "semop", TASK_ARGUMENT_ID },
    { "semtimedop", TASK_ARGUMENT_ID },
    { "sync", TASK_ARGUMENT_NONE },
    { "vfork", TASK_ARGUMENT_NONE },
    { "wait4", TASK_ARGUMENT_CHILD },
};

static const char *name_of_32_bits(uint64_t number)
{
    for (size_t i = 1; i < sizeof names_32 / sizeof *names_32; i++)
        if ((uint64_t)names_32[i].number == number)
            return names_32[i].name;
    return NULL;
}

const char *task_call_name(uint64_t number, bool of_32_bits)
{
    if (of_32_bits)
        return name_of_32_bits(number);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((uint64_t)names[i].number == number)
            return names[i].name;
    return NULL;
}

bool task_call_is_lock(const struct task_call *call)
{
    return call->state == TASK_CALL_IN && !call->of_32_bits && call->number == SYS_futex;
}

/* The C library of GNU waits for a mutex with the value 2, and stores its owner two words behind it (struct
 * __pthread_mutex_s). A mutex with priority inheritance or of a robust kind, and each mutex of musl, has the
 * owner in its futex word (futex(2)). */
uint32_t task_lock_holder(const struct task_call *call, const uint32_t words[TASK_LOCK_WORDS])
{
    enum { CONTENDED = 2, OWNER = 2 };
    uint32_t expected = (uint32_t)call->arguments[2];
    switch (call->arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return words[0] & FUTEX_TID_MASK;
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (words[0] != expected) /* it was unlocked meanwhile */
            return 0;
        return expected & FUTEX_WAITERS ? expected & FUTEX_TID_MASK
               : expected == CONTENDED  ? words[OWNER]
                                        : 0;
    default:
        return 0;
    }
}

static bool is_in(const char *name, const char *const *list, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(list[i], name) != 0)
        i++;
    return i < n;
}

enum task_argument task_call_argument(const char *name)
{
    if (is_in(name, of_files, sizeof of_files / sizeof *of_files))
        return TASK_ARGUMENT_FILE;
    if (is_in(name, of_paths, sizeof of_paths / sizeof *of_paths))
        return TASK_ARGUMENT_PATH;
    if (is_in(name, of_folders, sizeof of_folders / sizeof *of_folders))
        return TASK_ARGUMENT_AT;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, name))
            return others[i].kind;
    return TASK_ARGUMENT_NUMBER;
}

uint64_t task_call_path(const struct task_call *call)
{
    const char *name =
        call->state == TASK_CALL_IN && !call->of_32_bits ? task_call_name(call->number, false) : NULL;
    enum task_argument kind = name ? task_call_argument(name) : TASK_ARGUMENT_NONE;
    return kind == TASK_ARGUMENT_PATH ? call->arguments[0]
           : kind == TASK_ARGUMENT_AT ? call->arguments[1]
                                      : 0;
}
