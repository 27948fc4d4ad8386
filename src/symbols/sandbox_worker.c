// SPDX-License-Identifier: GPL-2.0-or-later
/* Confine the symbol worker to the system calls, with their arguments, of libelf, libdw, the demangler and
 * malloc.
 * The worker gets its files, and the memory for its reply, over its socket. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/memory_limit.h"
#include "symbols/sandbox.h"
#include "symbols/worker.h"

#define MEMORY_MAX (UINT64_C(2) << 30)
/* Part of the cgroup's memory limit that a worker may use: one of WORKER_PARTS. */
#define WORKER_PARTS 6
#define RESULT_PARTS 8 /* part for a reply */
/* Includes mapped files: those with debug information are large. */
#define ADDRESSES_MAX   (UINT64_C(64) << 30)
#define CPU_SECONDS_MAX 300
#define FILES_MAX       1024 /* lines.c keeps them open */

#define ALLOW(name)                                                                                          \
    {                                                                                                        \
        name, SANDBOX_ALLOW, 0, 0, 0                                                                         \
    }
#define ONLY(name, argument, mask, value)                                                                    \
    {                                                                                                        \
        name, SANDBOX_ONLY, argument, mask, value                                                            \
    }
#define EQUAL(name, argument, value) ONLY(name, argument, UINT32_MAX, (uint64_t)(unsigned)(value))
#define REFUSE(name)                                                                                         \
    {                                                                                                        \
        name, SANDBOX_REFUSE, 0, 0, 0                                                                        \
    }

/* The old mmap of 32-bit x86 has its arguments in memory, which no filter sees. */
#ifdef __NR_mmap2
#define MMAP "mmap2"
#else
#define MMAP "mmap"
#endif

/* clang-format off */
static const struct sandbox_rule rules[] = {
    ALLOW("read"), ALLOW("pread64"), ALLOW("write"), ALLOW("lseek"), ALLOW("close"),
    ALLOW("fstat"), ALLOW("fstat64"), ALLOW("newfstatat"), ALLOW("statx"),
    ALLOW("munmap"), ALLOW("brk"), ALLOW("poll"), ALLOW("ppoll"), ALLOW("futex"),
    ALLOW("getrandom"), ALLOW("sysinfo"), ALLOW("clock_gettime"), ALLOW("clock_gettime64"),
    ALLOW("rt_sigreturn"), ALLOW("restart_syscall"), ALLOW("exit"), ALLOW("exit_group"),
    EQUAL("sendmsg", 0, SANDBOX_WORKER_SOCKET), EQUAL("recvmsg", 0, SANDBOX_WORKER_SOCKET),
    /* No file locks, which other users would see, no signal owners, no leases. elf_begin reads the flags. */
    EQUAL("fcntl", 1, F_GETFD), EQUAL("fcntl", 1, F_GETFL), EQUAL("fcntl", 1, F_DUPFD_CLOEXEC),
    EQUAL("fcntl64", 1, F_GETFD), EQUAL("fcntl64", 1, F_GETFL), EQUAL("fcntl64", 1, F_DUPFD_CLOEXEC),
    /* No code is generated or loaded here: capstone, loaded by name, is loaded before. */
    ONLY(MMAP, 2, PROT_EXEC, 0), ONLY("mprotect", 2, PROT_EXEC, 0),
    ONLY("mremap", 3, ~(uint64_t)MREMAP_MAYMOVE, 0),
    EQUAL("madvise", 2, MADV_NORMAL), EQUAL("madvise", 2, MADV_RANDOM), EQUAL("madvise", 2, MADV_SEQUENTIAL),
    EQUAL("madvise", 2, MADV_WILLNEED), EQUAL("madvise", 2, MADV_DONTNEED),
    EQUAL("madvise", 2, MADV_HUGEPAGE),
    /* libelf opens its messages' translations, glibc the system's memory size, libdw its file's name and
     * neighbouring files: they work without. */
    REFUSE("openat"), REFUSE("open"), REFUSE("readlink"), REFUSE("readlinkat"),
};
/* clang-format on */

/* Return what counts for RLIMIT_DATA before any request. proc(5): the sixth number is pages of data and
 * stack. */
static uint64_t own_data(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Return the smaller of `most` and a part of the limit. In a cgroup with little memory the worker must fail
 * before the kernel kills it: the memory of a killed process is not free at once, and flametop itself would
 * be killed next. */
static uint64_t at_most(uint64_t most, uint64_t limit, unsigned parts)
{
    return limit / parts < most ? limit / parts : most;
}

bool sandbox_enter_worker(struct error *e)
{
    const uint64_t memory = memory_limit();
    const struct sandbox_limits limits = { .cpu_seconds = CPU_SECONDS_MAX,
                                           .files = FILES_MAX,
                                           .file_bytes = at_most(WORKER_BLOB_MAX, memory, RESULT_PARTS),
                                           .memory_bytes =
                                               own_data() + at_most(MEMORY_MAX, memory, WORKER_PARTS),
                                           .address_bytes = ADDRESSES_MAX };

    if (!sandbox_drop_user(e))
        return false;
    signal(SIGXFSZ, SIG_IGN); /* a reply that is too long is an error, not a crash */
    sandbox_limit(&limits);
    return sandbox_filter(rules, sizeof rules / sizeof *rules, e);
}
