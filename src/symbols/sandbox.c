// SPDX-License-Identifier: GPL-2.0-or-later
/* Drop a child's rights. The order matters: only a process with the capabilities for it can lower the
 * bounding set and drop groups. */
#include "symbols/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef HAVE_LIBCAP_NG
#include <cap-ng.h>
#endif
#ifdef HAVE_LIBSECCOMP
#include <seccomp.h>
#endif

#include "base/mem.h"
#include "base/procfile.h"
#include "base/sanitized.h"
#include "base/text.h"

/* ---- resources ---- */

static void limit(int what, uint64_t most)
{
    struct rlimit now, want = { most, most };

    if (!getrlimit(what, &now) && now.rlim_max < most)
        want = (struct rlimit){ now.rlim_max, now.rlim_max };
    setrlimit(what, &want);
}

void sandbox_limit(const struct sandbox_limits *limits)
{
    const struct {
        int what;
        uint64_t most;
        bool of_memory;
    } all[] = {
        { RLIMIT_CPU, limits->cpu_seconds, false },  { RLIMIT_NOFILE, limits->files, false },
        { RLIMIT_FSIZE, limits->file_bytes, false }, { RLIMIT_DATA, limits->memory_bytes, true },
        { RLIMIT_AS, limits->address_bytes, true },
    };

    limit(RLIMIT_CORE, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].most && !(SANITIZED && all[i].of_memory))
            limit(all[i].what, all[i].most);
}

/* ---- user and capabilities ---- */

bool sandbox_no_new_privileges(struct error *e)
{
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           error_sys(e, errno, "cannot confine the child process: no_new_privs is refused");
}

#ifdef HAVE_LIBCAP_NG
/* Drop all capabilities, and verify it: lowering the bounding set needs a capability, and the other sets must
 * be empty. */
bool sandbox_drop_capabilities(struct error *e)
{
    capng_clear(CAPNG_SELECT_ALL);
    capng_apply(CAPNG_SELECT_BOUNDS);
    capng_apply(CAPNG_SELECT_CAPS);
    if (!capng_get_caps_process() && capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE)
        return true;
    return error_set(e, ERROR_PERMISSION,
                     "cannot confine the child process: its capabilities cannot be dropped");
}

static void drop_bounding_set(void)
{
    capng_clear(CAPNG_SELECT_ALL);
    capng_apply(CAPNG_SELECT_BOUNDS);
}

static const bool can_drop_capabilities = true;
#else
bool sandbox_drop_capabilities(struct error *e)
{
    (void)e;
    return true;
}

static void drop_bounding_set(void)
{
}

static const bool can_drop_capabilities = false;
#endif

/* Numbers that no distribution assigns (systemd's list ends at 1879048191), one for each process. If a
 * container maps only 65,536 users: numbers that systemd gives to services for their lifetime.
 * With a user ID of its own only root can stop, kill or trace the worker. A user namespace would not hide
 * it: outside of the namespace it would still be root. */
#define OWN_UID_FIRST     2000000000u
#define SERVICE_UID_FIRST 61184u
#define SERVICE_UIDS      4336u
#define SERVICE_TRIES     64u

/* Whether this is not the first user namespace, which maps every number to itself. */
static bool in_user_namespace(void)
{
    unsigned long inside, outside, n;
    FILE *f = fopen("/proc/self/uid_map", "re");
    bool is =
        f && fscanf(f, "%lu %lu %lu", &inside, &outside, &n) == 3 && (inside || outside || n < UINT32_MAX);

    if (f)
        fclose(f);
    return is;
}

/* Whether a process of this user exists: it could stop and kill this one. Without /proc, assume none. */
static bool has_process(uid_t uid)
{
    DIR *proc = opendir("/proc");
    struct dirent *d;
    uint64_t of;
    bool found = false;

    while (proc && !found && (d = readdir(proc)))
        found = d->d_name[0] >= '1' && d->d_name[0] <= '9' &&
                procfile_read_status((uint32_t)atoi(d->d_name), "\nUid:", 0, &of) && of == uid;
    if (proc)
        closedir(proc);
    return found;
}

static bool become(uid_t uid)
{
    uid_t real, effective, saved;

    return !setresgid(uid, uid, uid) && !setresuid(uid, uid, uid) && !getresuid(&real, &effective, &saved) &&
           real == uid && effective == uid && saved == uid;
}

static bool become_own_user(void)
{
    unsigned pid = (unsigned)getpid(), i;

    if (become(OWN_UID_FIRST + pid))
        return true;
    for (i = 0; i < SERVICE_TRIES && errno == EINVAL; i++) {
        uid_t uid = SERVICE_UID_FIRST + (pid + i) % SERVICE_UIDS;
        if (!has_process(uid))
            return become(uid);
    }
    return false;
}

/* Whether root may stay root: in a user namespace that maps no other user, root is an ordinary user outside,
 * like its files and signals. */
static bool may_stay_root(int why)
{
    return why == EINVAL && in_user_namespace() && can_drop_capabilities &&
           (sandbox_has_filter() || SANITIZED);
}

static bool drop_root(struct error *e)
{
    drop_bounding_set();
    if (setgroups(0, NULL) && !in_user_namespace())
        return error_sys(e, errno, "cannot confine the child process: root's groups cannot be given up");
    if (become_own_user() || may_stay_root(errno))
        return true;
    return error_sys(e, errno, "cannot confine the child process: root cannot become another user");
}

bool sandbox_drop_user(struct error *e)
{
    if (!sandbox_no_new_privileges(e))
        return false;
    if ((!geteuid() || !getuid()) && !drop_root(e))
        return false;
    if (!sandbox_drop_capabilities(e))
        return false;
    /* After the change of user, which clears PDEATHSIG. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return error_sys(e, errno, "cannot confine the child process: prctl is refused");
    return true;
}

/* ---- system calls ---- */

#ifdef HAVE_LIBSECCOMP
bool sandbox_has_filter(void)
{
    return true;
}

static int add_rule(scmp_filter_ctx ctx, const struct sandbox_rule *r)
{
    int nr = seccomp_syscall_resolve_name(r->call);

    if (nr == __NR_SCMP_ERROR)
        return 0;
    switch (r->action) {
    case SANDBOX_ALLOW:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
    case SANDBOX_ONLY:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1,
                                SCMP_CMP64(r->argument, SCMP_CMP_MASKED_EQ, r->mask, r->value));
    default:
        return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), nr, 0);
    }
}

bool sandbox_filter(const struct sandbox_rule *rules, size_t n, struct error *e)
{
    scmp_filter_ctx ctx;
    int failed = 0;

    if (SANITIZED)
        return true;
    ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!ctx)
        return error_set(e, ERROR_SYSTEM,
                         "cannot confine the child process: no system-call filter can be made");
    for (size_t i = 0; i < n && !failed; i++)
        failed = add_rule(ctx, &rules[i]);
    if (!failed)
        failed = seccomp_load(ctx);
    seccomp_release(ctx);
    return !failed ||
           error_sys(e, -failed, "cannot confine the child process: its system-call filter is refused");
}

bool sandbox_refuse(const char *const *calls, size_t n, struct error *e)
{
    scmp_filter_ctx ctx;
    int failed = 0;

    if (SANITIZED)
        return true;
    ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (!ctx)
        return error_set(e, ERROR_SYSTEM,
                         "cannot confine the child process: no system-call filter can be made");
    for (size_t i = 0; i < n && !failed; i++) {
        int nr = seccomp_syscall_resolve_name(calls[i]);
        if (nr != __NR_SCMP_ERROR)
            failed = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), nr, 0);
    }
    if (!failed)
        failed = seccomp_load(ctx);
    seccomp_release(ctx);
    return !failed ||
           error_sys(e, -failed, "cannot confine the child process: its system-call filter is refused");
}
#else
bool sandbox_has_filter(void)
{
    return false;
}

bool sandbox_refuse(const char *const *calls, size_t n, struct error *e)
{
    (void)calls;
    (void)n;
    (void)e;
    return true;
}

bool sandbox_filter(const struct sandbox_rule *rules, size_t n, struct error *e)
{
    (void)rules;
    (void)n;
    (void)e;
    return true;
}
#endif

/* ---- environment ---- */

extern char **environ;

char **sandbox_environment(void)
{
    static const char *const kept[] = { "LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=",
                                        "TSAN_OPTIONS=", "LSAN_OPTIONS=" };
    size_t n = SANITIZED ? sizeof kept / sizeof *kept : 1, to = 0;
    char **env = mem_array(n + 1, sizeof *env);

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; environ && environ[i]; i++)
            if (text_begins_with(environ[i], kept[k])) {
                env[to++] = environ[i];
                break;
            }
    env[to] = NULL;
    return env;
}
