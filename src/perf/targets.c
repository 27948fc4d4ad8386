// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/targets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/procfile.h"
#include "base/text.h"

#define SWEEP_MIN        8192
#define LOOKS_MAX        64 /* dead tasks checked at each drain, at most */
#define CGROUP_DEPTH_MAX 32
#define PID_LIMIT        (1 << 22) /* PID_MAX_LIMIT of the kernel */
#define AGAIN_MIN        3
#define AGAIN_NS         (200 * NS_PER_MS)

bool targets_uid_of(uint32_t pid, uid_t *uid)
{
    uint64_t effective;
    if (!procfile_read_status(pid, "\nUid:", 1, &effective))
        return false;
    *uid = (uid_t)effective;
    return true;
}

struct id_list {
    VEC(uint32_t);
};

static void add_id(struct id_list *list, uint32_t id)
{
    *VEC_PUSH(list) = id;
}

/* List the numbers among the names in a folder. */
static void list_ids(const char *path, struct id_list *out)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        uint64_t id;
        if (text_parse_u64(entry->d_name, 1, PID_LIMIT, &id))
            add_id(out, (uint32_t)id);
    }
    closedir(d);
}

uint32_t *targets_pids(uint32_t *n)
{
    struct id_list all = { 0 };
    list_ids("/proc", &all);
    *n = (uint32_t)all.n;
    return all.items;
}

uint32_t *targets_pids_of_user(uid_t uid, uint32_t *n)
{
    uint32_t n_all, kept = 0, self = (uint32_t)getpid(), *all = targets_pids(&n_all);
    for (uint32_t i = 0; i < n_all; i++) {
        uid_t owner;
        if (all[i] != self && targets_uid_of(all[i], &owner) && owner == uid)
            all[kept++] = all[i];
    }
    *n = kept;
    return all;
}

/* Lists the processes of a cgroup and of those below it, until `out` has `most`. `fd` is its folder, which is
 * closed. Processes of a threaded cgroup are listed in the one above it. */
static void list_cgroup(int fd, uint32_t depth, size_t most, struct id_list *out)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    int procs = openat(fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *f = procs >= 0 ? fdopen(procs, "r") : NULL;
    for (uint32_t pid; f && out->n < most && fscanf(f, "%u", &pid) == 1;)
        if (pid) /* 0: of another pid namespace */
            add_id(out, pid);
    if (f)
        (void)fclose(f);
    for (struct dirent *entry; depth < CGROUP_DEPTH_MAX && out->n < most && (entry = readdir(d));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            list_cgroup(openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), depth + 1, most, out);
    closedir(d);
}

uint32_t *targets_pids_of_cgroups(const struct scope *scope, uint32_t most, uint32_t *n)
{
    struct id_list out = { 0 };
    uint32_t cgroups = scope_cgroups(scope);
    for (uint32_t i = 0; i < cgroups; i++)
        list_cgroup(scope_open_cgroup(scope, i), 0, (uint64_t)most * (i + 1) / cgroups, &out);
    *n = (uint32_t)out.n;
    return out.items;
}

static void list_threads(uint32_t pid, struct id_list *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    list_ids(path, out);
}

uint32_t *targets_threads_of(uint32_t pid, uint32_t *n)
{
    struct id_list out = { 0 };
    list_threads(pid, &out);
    *n = (uint32_t)out.n;
    return out.items;
}

uint32_t *targets_threads(const struct targets *t, uint32_t *n)
{
    struct id_list out = { 0 };
    if (t->kind == SCOPE_USER) {
        uint32_t n_pids, *pids = targets_pids_of_user(t->uid, &n_pids);
        for (uint32_t i = 0; i < n_pids; i++)
            list_threads(pids[i], &out);
        mem_free(pids);
    } else {
        uint64_t id;
        for (size_t pos = 0; map_next(&t->known, &pos, &id, NULL);)
            if (t->kind == SCOPE_TIDS)
                add_id(&out, (uint32_t)id);
            else
                list_threads((uint32_t)id, &out);
    }
    *n = (uint32_t)out.n;
    return out.items;
}

static bool by_number(const struct targets *t)
{
    return t->kind == SCOPE_PIDS || t->kind == SCOPE_TIDS;
}

/* Children found at the first opening are passed to the next source, because a child whose parent has
 * ended cannot be found by it in /proc any more. */
void targets_add(struct targets *t, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n && by_number(t); i++)
        map_put(&t->known, ids[i], 1);
}

uint32_t *targets_ids(const struct targets *t, uint32_t *n)
{
    struct id_list out = { 0 };
    uint64_t id;
    for (size_t pos = 0; by_number(t) && map_next(&t->known, &pos, &id, NULL);)
        add_id(&out, (uint32_t)id);
    *n = (uint32_t)out.n;
    return out.items;
}

/* Read the parent of each present process. */
static void list_parents(struct map *parents)
{
    struct id_list all = { 0 };
    struct procfile_stat stat;
    list_ids("/proc", &all);
    for (size_t i = 0; i < all.n; i++)
        if (procfile_read_stat(all.items[i], &stat))
            map_put(parents, all.items[i], stat.ppid);
    mem_free(all.items);
}

/* True if the nearest ancestor in `meant` has the value 1. Processes come and go while /proc is read, so
 * there may be a cycle: the number of steps is limited. */
static bool descends(const struct map *parents, const struct map *meant, uint64_t pid)
{
    uint64_t is_meant = 0;
    for (size_t steps = 0; steps < parents->n && map_get(parents, pid, &pid); steps++)
        if (map_get(meant, pid, &is_meant))
            break;
    return is_meant;
}

static void add_descendants(struct targets *t, const struct scope *scope)
{
    struct map parents = { 0 }, meant = { 0 };
    uint64_t pid;
    if (t->kind != SCOPE_PIDS || !t->follow || scope->own)
        return;
    list_parents(&parents);
    for (uint32_t i = 0; i < scope->n_ids; i++)
        map_put(&meant, scope->ids[i], 1);
    map_put(&meant, (uint64_t)getpid(), 0);
    for (size_t pos = 0; map_next(&parents, &pos, &pid, NULL);)
        if (!map_get(&meant, pid, NULL) && descends(&parents, &meant, pid))
            map_put(&t->known, pid, 1);
    map_done(&meant);
    map_done(&parents);
}

void targets_add_descendants(struct targets *t, const struct scope *scope)
{
    if (!scope->command)
        add_descendants(t, scope);
}

bool targets_again(struct targets_again *a)
{
    uint64_t now_ns = clock_now_ns();
    if (!a->tries++)
        a->until_ns = now_ns + AGAIN_NS;
    return a->tries <= AGAIN_MIN || now_ns < a->until_ns;
}

uint32_t targets_began(struct targets *t, const struct scope *scope, const uint32_t *tids, uint32_t n)
{
    struct map listed = { 0 };
    uint32_t n_now, began = 0;
    targets_add_descendants(t, scope);
    uint32_t *now = targets_threads(t, &n_now);
    for (uint32_t i = 0; i < n; i++)
        map_put(&listed, tids[i], 1);
    for (uint32_t i = 0; i < n_now; i++)
        began += !map_get(&listed, now[i], NULL);
    mem_free(now);
    map_done(&listed);
    return began;
}

void targets_init(struct targets *t, const struct scope *scope, bool follow)
{
    *t = (struct targets){ .kind = scope->kind, .uid = scope->uid, .follow = follow, .sweep_at = SWEEP_MIN };
    targets_add(t, scope->ids, scope->n_ids);
}

void targets_done(struct targets *t)
{
    map_done(&t->known);
}

static bool is_gone(uint32_t id)
{
    return kill((pid_t)id, 0) != 0 && errno == ESRCH;
}

/* Keeps the tasks that have ended, or the others. */
static void keep(struct targets *t, bool ended)
{
    struct map kept = { 0 };
    uint64_t id, value;
    for (size_t pos = 0; map_next(&t->known, &pos, &id, &value);)
        if (is_gone((uint32_t)id) == ended)
            map_put(&kept, id, value);
    map_done(&t->known);
    t->known = kept;
}

/* Remove dead tasks. A main thread may end before the others, so its EXIT alone does not remove a process:
 * such processes are checked when there are too many. */
static void sweep(struct targets *t)
{
    keep(t, false);
    t->sweep_at = t->known.n > SWEEP_MIN / 2 ? 2 * t->known.n : SWEEP_MIN;
}

static void remember(struct targets *t, uint32_t id, uint64_t value)
{
    if (t->known.n >= t->sweep_at)
        sweep(t);
    map_put(&t->known, id, value);
}

/* True if the process belongs to the user. It is looked up once if unknown; exec may change the uid (su,
 * sudo). */
static bool is_users(struct targets *t, uint32_t pid)
{
    uint64_t known;
    uid_t uid;
    if (map_get(&t->known, pid, &known))
        return known;
    known = pid != 0 && targets_uid_of(pid, &uid) && uid == t->uid;
    remember(t, pid, known);
    return known;
}

static bool knows(struct targets *t, uint32_t pid, uint32_t tid)
{
    switch (t->kind) {
    case SCOPE_PIDS:
        return map_get(&t->known, pid, NULL);
    case SCOPE_TIDS:
        return map_get(&t->known, tid, NULL);
    case SCOPE_USER:
        return is_users(t, pid);
    default:
        return true;
    }
}

/* Track a new process or thread. An old one with the same number is no longer a target. */
static bool take_fork(struct targets *t, const struct record *r)
{
    bool by_tid = t->kind == SCOPE_TIDS;
    uint32_t child = by_tid ? r->task.tid : r->task.pid;
    uint32_t parent = by_tid ? r->task.ptid : r->task.ppid;
    if (t->kind == SCOPE_USER) {
        if (child != parent)
            remember(t, child, is_users(t, parent));
        return is_users(t, child);
    }
    bool mine = map_get(&t->known, parent, NULL);
    if (mine && t->follow)
        remember(t, child, 1);
    else if (child != parent)
        map_del(&t->known, child);
    return mine;
}

static bool take_exit(struct targets *t, const struct record *r)
{
    bool mine = knows(t, r->task.pid, r->task.tid);
    t->n_ended += mine;
    if (t->kind == SCOPE_TIDS)
        map_del(&t->known, r->task.tid);
    else if (r->task.pid == r->task.tid && is_gone(r->task.pid))
        map_del(&t->known, r->task.pid);
    return mine;
}

bool targets_take(struct targets *t, const struct record *r)
{
    if (t->kind == SCOPE_ALL || t->kind == SCOPE_CGROUP)
        return true;
    switch (r->type) {
    case PERF_RECORD_FORK:
        return take_fork(t, r);
    case PERF_RECORD_EXIT:
        return take_exit(t, r);
    case PERF_RECORD_COMM:
        if (r->comm.exec && t->kind == SCOPE_USER)
            map_del(&t->known, r->comm.pid);
        return knows(t, r->comm.pid, r->comm.tid);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return knows(t, r->mmap.pid, r->mmap.tid);
    case PERF_RECORD_LOST:
        return t->stale = true;
    case PERF_RECORD_NAMESPACES:
        return knows(t, r->namespaces.pid, r->namespaces.tid);
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return knows(t, r->id.pid, r->id.tid);
    default:
        return true;
    }
}

void targets_catch_up(struct targets *t, const struct scope *scope)
{
    if (!t->stale)
        return;
    t->stale = false;
    if (t->kind == SCOPE_USER)
        keep(t, true); /* /proc does not tell any more who owned them */
    add_descendants(t, scope);
}

static bool is_running(uint32_t id)
{
    struct procfile_stat stat;
    if (is_gone(id))
        return false;
    return !procfile_read_stat(id, &stat) || (stat.state != 'Z' && stat.state != 'X');
}

bool targets_alive(struct targets *t)
{
    uint64_t id;
    unsigned looks = 0;
    bool alive = !by_number(t);
    for (size_t pos = 0; !alive && map_next(&t->known, &pos, &id, NULL); looks++)
        alive = is_running((uint32_t)id);
    if (looks > LOOKS_MAX)
        sweep(t);
    return alive;
}

bool targets_any_runs(const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_running(ids[i]))
            return true;
    return false;
}
