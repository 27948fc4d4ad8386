// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/worker.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef HAVE_LIBCAP_NG
#include <cap-ng.h>
#endif
#ifdef HAVE_LIBSECCOMP
#include <seccomp.h>
#endif

#define NOBODY          65534
#define MEMORY_MAX      (UINT64_C(2) << 30)
#define ADDRESSES_MAX   (UINT64_C(64) << 30) /* files that are mapped, too: those with debug information are large */
#define CPU_SECONDS_MAX 300
#define FILES_MAX       1024 /* lines.c keeps them open */

/* Sanitizers reserve terabytes of address space and make calls of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void limit(int what, uint64_t most)
{
    struct rlimit now, want = { most, most };

    if (!getrlimit(what, &now) && now.rlim_max < most)
        want = (struct rlimit){ now.rlim_max, now.rlim_max };
    setrlimit(what, &want);
}

static void set_limits(void)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_SECONDS_MAX);
    limit(RLIMIT_NOFILE, FILES_MAX);
    if (SANITIZED)
        return;
    limit(RLIMIT_DATA, MEMORY_MAX);
    limit(RLIMIT_AS, ADDRESSES_MAX);
}

/* The bounding set goes first, while the right to lower it is there; the user next, for the same reason. */
static void drop_privileges(void)
{
#ifdef HAVE_LIBCAP_NG
    capng_clear(CAPNG_SELECT_ALL);
    capng_apply(CAPNG_SELECT_BOUNDS);
#endif
    if (geteuid() == 0) {
        /* In a container that maps no such user each of these may fail: the capabilities go in any case. */
        if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
            errno = 0;
    }
#ifdef HAVE_LIBCAP_NG
    capng_apply(CAPNG_SELECT_CAPS);
#endif
}

void sandbox_drop_capabilities(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#ifdef HAVE_LIBCAP_NG
    capng_clear(CAPNG_SELECT_ALL);
    capng_apply(CAPNG_SELECT_BOUNDS);
    capng_apply(CAPNG_SELECT_CAPS);
#endif
}

#ifdef HAVE_LIBSECCOMP
static void allow_only_needed_calls(void)
{
    static const int calls[] = {
        SCMP_SYS(read),          SCMP_SYS(pread64),       SCMP_SYS(write),
        SCMP_SYS(lseek),         SCMP_SYS(close),         SCMP_SYS(fstat),
        SCMP_SYS(fstat64),       SCMP_SYS(newfstatat),    SCMP_SYS(statx),
        SCMP_SYS(fcntl),         SCMP_SYS(fcntl64),       SCMP_SYS(mmap),
        SCMP_SYS(mmap2),         SCMP_SYS(mremap),        SCMP_SYS(munmap),
        SCMP_SYS(mprotect),      SCMP_SYS(madvise),       SCMP_SYS(brk),
        SCMP_SYS(memfd_create),  SCMP_SYS(ftruncate),     SCMP_SYS(sendmsg),
        SCMP_SYS(recvmsg),       SCMP_SYS(poll),          SCMP_SYS(ppoll),
        SCMP_SYS(futex),         SCMP_SYS(getrandom),     SCMP_SYS(sysinfo),
        SCMP_SYS(exit),          SCMP_SYS(exit_group),    SCMP_SYS(clock_gettime),
        SCMP_SYS(rt_sigreturn),  SCMP_SYS(restart_syscall),
    };
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    size_t i;

    if (!ctx)
        return;
    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
    /* libelf looks for its messages' translations, glibc for the machine's memory, libdw for its file's name and for
     * files beside it: they do without. */
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 0);
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open), 0);
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(readlink), 0);
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(readlinkat), 0);
    seccomp_load(ctx);
    seccomp_release(ctx);
}
#else
static void allow_only_needed_calls(void)
{
}
#endif

void sandbox_enter(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_privileges();
    /* After the change of user, which clears it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    set_limits();
    if (!SANITIZED)
        allow_only_needed_calls();
}
