// SPDX-License-Identifier: GPL-2.0-or-later
/* Files are opened with the file system user. Through the effective user other processes could signal or
 * trace flametop. */
#include "process/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#define STATUS_MAX 131072

/* Capabilities to open or create files beyond the user's rights. */
#define FILE_CAPABILITIES                                                                                    \
    (UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_DAC_READ_SEARCH |       \
     UINT64_C(1) << CAP_FOWNER | UINT64_C(1) << CAP_FSETID | UINT64_C(1) << CAP_LINUX_IMMUTABLE |            \
     UINT64_C(1) << CAP_MKNOD | UINT64_C(1) << CAP_MAC_OVERRIDE)
#define SWITCH_CAPABILITIES (UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID)

/* ---- reading rights ---- */

/* Parses the numbers after a label, at most `max`; returns how many. */
static uint32_t read_numbers(const char *status, const char *label, uint32_t *out, uint32_t max)
{
    const char *p = strstr(status, label);
    uint32_t n = 0;
    char *end;

    for (p = p ? p + strlen(label) : ""; n < max; p = end) {
        p += strspn(p, "\t ");
        if (*p < '0' || *p > '9')
            break;
        out[n++] = (uint32_t)strtoul(p, &end, 10);
    }
    return n;
}

static uint32_t weakest(const uint32_t ids[4])
{
    for (int i = 0; i < 4; i++)
        if (ids[i])
            return ids[i];
    return 0;
}

bool rights_parse_status(const char *status, struct rights *out)
{
    uint32_t uids[4], gids[4];

    *out = (struct rights){ 0 };
    if (read_numbers(status, "\nUid:", uids, 4) != 4 || read_numbers(status, "\nGid:", gids, 4) != 4) {
        errno = EPROTO;
        return false;
    }
    out->uid = weakest(uids);
    out->gid = uids[0] ? gids[0] : weakest(gids);
    out->n_groups = read_numbers(status, "\nGroups:", out->groups, RIGHTS_GROUPS_MAX);
    return true;
}

bool rights_of_process(int proc_dir, struct rights *out)
{
    struct buf status = { 0 };
    struct error e = { 0 };
    bool ok = file_read_at(proc_dir, "status", STATUS_MAX, &status, &e);

    errno = e.sys ? e.sys : ESRCH;
    ok = ok && rights_parse_status(buf_str(&status), out);
    buf_done(&status);
    return ok;
}

struct rights rights_of_user(uint32_t uid, uint32_t gid)
{
    return (struct rights){ .uid = uid, .gid = gid };
}

/* Adds all groups of a user, by name. A user without a name keeps only the first group. */
static void add_groups(struct rights *r)
{
    const struct passwd *user = getpwuid(r->uid);
    gid_t groups[RIGHTS_GROUPS_MAX];
    int n = RIGHTS_GROUPS_MAX;

    if (!user || getgrouplist(user->pw_name, r->gid, groups, &n) < 0)
        n = 0;
    for (int i = 0; i < n; i++)
        r->groups[r->n_groups++] = groups[i];
}

void rights_of_starter(struct rights *out)
{
    const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
    uint64_t uid, gid = RIGHTS_NOBODY;

    *out = (struct rights){ .own = true };
    if (geteuid() || !sudo_uid || !*sudo_uid)
        return;
    /* An invalid number must not lead to root's rights. */
    if (!text_parse_u64(sudo_uid, 0, UINT32_MAX - 1, &uid))
        uid = RIGHTS_NOBODY;
    if (sudo_gid && !text_parse_u64(sudo_gid, 0, UINT32_MAX - 1, &gid))
        gid = RIGHTS_NOBODY;
    if (!uid)
        return;
    *out = rights_of_user((uint32_t)uid, (uint32_t)gid);
    add_groups(out);
}

void rights_weaken(struct rights *r, uint32_t uid)
{
    if (uid && (r->own || !r->uid))
        *r = rights_of_user(uid, RIGHTS_NOBODY);
}

/* ---- taking on rights ---- */

struct capabilities {
    struct __user_cap_data_struct part[2];
};

static bool read_capabilities(struct capabilities *c)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

    return !syscall(SYS_capget, &head, c->part);
}

static uint64_t effective(const struct capabilities *c)
{
    return c->part[0].effective | (uint64_t)c->part[1].effective << 32;
}

static bool set_effective(struct capabilities *c, uint64_t set)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

    c->part[0].effective = (uint32_t)set;
    c->part[1].effective = (uint32_t)(set >> 32);
    return !syscall(SYS_capset, &head, c->part);
}

static uint64_t permitted(const struct capabilities *c)
{
    return c->part[0].permitted | (uint64_t)c->part[1].permitted << 32;
}

/* A change of the file system user clears the parent-death signal. */
static void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static gid_t own_groups[RIGHTS_GROUPS_MAX];
static int n_own_groups = -1;

static bool change_user(const struct rights *r)
{
    gid_t groups[RIGHTS_GROUPS_MAX];

    if (n_own_groups < 0)
        n_own_groups = getgroups(RIGHTS_GROUPS_MAX, own_groups);
    if (n_own_groups < 0)
        n_own_groups = 0;
    for (uint32_t i = 0; i < r->n_groups; i++)
        groups[i] = r->groups[i];
    if (setgroups(r->n_groups, groups))
        return false;
    setfsgid(r->gid);
    setfsuid(r->uid);
    errno = EPERM;
    return (uint32_t)setfsgid((gid_t)-1) == r->gid && (uint32_t)setfsuid((uid_t)-1) == r->uid;
}

/* Without root there is no user to change to: flametop's own user is used, without capabilities. */
static bool may_change_user(const struct capabilities *c)
{
    return (effective(c) & SWITCH_CAPABILITIES) == SWITCH_CAPABILITIES;
}

bool rights_take(const struct rights *r)
{
    struct capabilities c;
    bool ok;
    int saved;

    if (r->own || (!r->uid && !geteuid()))
        return true;
    if (!read_capabilities(&c))
        return false;
    errno = EPERM;
    ok = may_change_user(&c) ? change_user(r) : geteuid() == r->uid || geteuid() != 0;
    ok = ok && set_effective(&c, effective(&c) & ~FILE_CAPABILITIES);
    die_with_parent();
    saved = errno;
    if (!ok)
        rights_return();
    errno = saved;
    return ok;
}

void rights_return(void)
{
    struct capabilities c;

    setfsuid(geteuid());
    setfsgid(getegid());
    if (read_capabilities(&c))
        set_effective(&c, permitted(&c));
    if (n_own_groups >= 0 && setgroups((size_t)n_own_groups, own_groups))
        _exit(1);
    die_with_parent();
}
