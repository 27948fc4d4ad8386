// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/procfile.h"
#include "base/text.h"
#include "perf/cpuspec.h"
#include "perf/scope_names.h"

#define IDS_MAX   4096
#define PID_LIMIT (1 << 22)

void scope_init(struct scope *s)
{
    *s = (struct scope){ .kind = SCOPE_ALL };
}

static void *copy_bytes(const void *src, size_t n)
{
    return src ? memcpy(mem_alloc(n), src, n) : NULL;
}

bool scope_copy(struct scope *dst, const struct scope *src)
{
    *dst = *src;
    dst->ids = copy_bytes(src->ids, src->n_ids * sizeof *src->ids);
    dst->cpus = copy_bytes(src->cpus, src->n_cpus * sizeof *src->cpus);
    dst->more_cgroups = copy_bytes(src->more_cgroups, src->n_more_cgroups * sizeof *src->more_cgroups);
    return true;
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return !size || !memcmp(a, b, size);
}

bool scope_equal(const struct scope *a, const struct scope *b)
{
    bool same = a->kind == b->kind && a->n_ids == b->n_ids && a->n_more_cgroups == b->n_more_cgroups &&
                a->n_cpus == b->n_cpus && !a->cpus == !b->cpus && a->no_inherit == b->no_inherit &&
                a->no_kernel == b->no_kernel && a->no_user == b->no_user && a->own == b->own &&
                a->command == b->command && (a->kind != SCOPE_USER || a->uid == b->uid) &&
                same_bytes(a->ids, b->ids, a->n_ids * sizeof *a->ids);
    for (uint32_t i = 0; same && a->kind == SCOPE_CGROUP && i < scope_cgroups(a); i++)
        same = !strcmp(scope_cgroup(a, i), scope_cgroup(b, i));
    return same && (!a->cpus || same_bytes(a->cpus, b->cpus, a->n_cpus * sizeof *a->cpus));
}

void scope_done(struct scope *s)
{
    mem_free(s->ids);
    mem_free(s->cpus);
    mem_free(s->more_cgroups);
    scope_init(s);
}

static void set_ids(struct scope *s, enum scope_kind kind, uint32_t *ids, uint32_t n)
{
    mem_free(s->ids);
    mem_free(s->more_cgroups);
    s->more_cgroups = NULL;
    s->n_more_cgroups = 0;
    s->kind = kind;
    s->ids = ids;
    s->n_ids = n;
    s->own = s->command = false;
}

bool scope_set_all(struct scope *s, const char *text, struct error *e)
{
    (void)text, (void)e;
    set_ids(s, SCOPE_ALL, NULL, 0);
    return true;
}

uint32_t scope_process_of(uint32_t tid)
{
    uint64_t pid;
    return procfile_read_status(tid, "\nTgid:", 0, &pid) ? (uint32_t)pid : tid;
}

static bool parse_live_id(const char *word, bool thread, uint32_t *id, struct error *e)
{
    const char *what = thread ? "thread" : "process";
    uint64_t v;
    if (!text_parse_u64(word, 1, PID_LIMIT, &v))
        return error_set(e, ERROR_ARGUMENT, "\"%s\" is not a %s id: expected numbers, as in 1234,1240", word,
                         what);
    if (kill((pid_t)v, 0) != 0 && errno == ESRCH)
        return error_set(e, ERROR_MISSING, "there is no %s %u", what, (unsigned)v);
    *id = thread ? (uint32_t)v : scope_process_of((uint32_t)v);
    return true;
}

static bool has_id(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

struct id_list {
    VEC(uint32_t);
};

static bool add_id(void *ctx, uint32_t id, struct error *e)
{
    struct id_list *list = ctx;
    if (has_id(list->items, list->n, id))
        return true;
    if (list->n == IDS_MAX)
        return error_set(e, ERROR_LIMIT, "more than %d ids: use -u, -G or all CPUs instead", IDS_MAX);
    *VEC_PUSH(list) = id;
    return true;
}

static void trim_end(char *word)
{
    size_t n = strlen(word);
    while (n && word[n - 1] == ' ')
        word[--n] = '\0';
}

bool scope_set_pids(struct scope *s, const char *list, bool threads, struct error *e)
{
    char *words = mem_strdup(list), *rest = words, *word;
    struct id_list found = { 0 };
    uint32_t id = 0;
    bool ok = true;
    while (ok && (word = strsep(&rest, ","))) {
        word += strspn(word, " ");
        trim_end(word);
        if (!threads && scope_is_name(word))
            ok = scope_find_processes(word, add_id, &found, e);
        else
            ok = parse_live_id(word, threads, &id, e) && add_id(&found, id, e);
    }
    mem_free(words);
    if (ok)
        set_ids(s, threads ? SCOPE_TIDS : SCOPE_PIDS, found.items, (uint32_t)found.n);
    else
        mem_free(found.items);
    return ok;
}

bool scope_set_user(struct scope *s, const char *name_or_uid, struct error *e)
{
    uint64_t uid;
    if (!text_parse_u64(name_or_uid, 0, UINT32_MAX - 1, &uid)) {
        errno = 0;
        struct passwd *pw = *name_or_uid ? getpwnam(name_or_uid) : NULL;
        if (!pw)
            return error_set(e, ERROR_MISSING, "there is no user \"%s\": give a name or a number",
                             name_or_uid);
        uid = pw->pw_uid;
    }
    set_ids(s, SCOPE_USER, NULL, 0);
    s->uid = (uid_t)uid;
    return true;
}

bool scope_set_cpus(struct scope *s, const char *list, struct error *e)
{
    struct cpus want;
    if (!cpuspec_parse(list, CPUSPEC_ROOT, &want, e)) {
        cpus_done(&want);
        return false;
    }
    while (want.n > 1 && !want.in[want.n - 1])
        want.n--;
    mem_free(s->cpus);
    s->cpus = want.in;
    s->n_cpus = want.n;
    return true;
}

bool scope_has_cpu(const struct scope *s, uint32_t cpu)
{
    return !s->cpus || (cpu < s->n_cpus && s->cpus[cpu]);
}

/* Parse a line of mountinfo (proc_pid_mountinfo(5)): "ID parent maj:min root MOUNT options … - TYPE source
 * SUPER". */
static bool cgroup_mount_of(char *line, bool v2, char **mount)
{
    char *tail = strstr(line, " - ");
    if (!tail)
        return false;
    *tail = '\0';
    char *type = tail + 3, *super = strchr(type, ' ');
    if (!super)
        return false;
    *super++ = '\0';
    if (strcmp(type, v2 ? "cgroup2" : "cgroup") != 0)
        return false;
    super = strrchr(super, ' ');
    if (!v2 && (!super || !strstr(super, "perf_event")))
        return false;
    for (int field = 0; field < 4; field++)
        strsep(&line, " ");
    *mount = strsep(&line, " ");
    return *mount != NULL;
}

static bool find_cgroup_mount(const char *mountinfo, bool v2, char *path, unsigned cap)
{
    char *copy = mem_strdup(mountinfo), *rest = copy, *line, *mount;
    bool found = false;
    while (!found && (line = strsep(&rest, "\n")))
        found = cgroup_mount_of(line, v2, &mount) && strlen(mount) < cap;
    if (found)
        snprintf(path, cap, "%s", mount);
    mem_free(copy);
    return found;
}

/* v1 is tried first: a v1 hierarchy with perf_event removes the controller from v2. */
bool scope_cgroup_root(char *path, unsigned cap, bool *v2, struct error *e)
{
    struct buf b = { 0 };
    bool found = false, second = false;
    if (!file_read("/proc/self/mountinfo", 16 << 20, &b, e))
        return false;
    for (int i = 0; !found && i < 2; i++) {
        second = i == 1;
        found = find_cgroup_mount(buf_str(&b), second, path, cap);
    }
    buf_done(&b);
    if (v2)
        *v2 = second;
    return found || error_set(e, ERROR_UNSUPPORTED,
                              "no cgroup v2 and no v1 perf_event hierarchy is mounted; mount -t cgroup2 none "
                              "/sys/fs/cgroup");
}

/* The part of an absolute path below the mount, or the path itself. */
static const char *below(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0'))
        return path + n;
    return path;
}

/* Normalize a path: "/a/b" for "a//b/". False if a component is "." or "..", or the path is too long. */
static bool normalize(const char *path, char *dst, size_t cap)
{
    size_t n = 0;
    for (;;) {
        path += strspn(path, "/");
        size_t len = strcspn(path, "/");
        if (len == 0)
            break;
        if (n + len + 2 > cap || (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
            return false;
        dst[n++] = '/';
        memcpy(dst + n, path, len);
        n += len;
        path += len;
    }
    if (n == 0)
        dst[n++] = '/';
    dst[n] = '\0';
    return true;
}

static bool is_folder(const char *root, const char *name)
{
    char full[1024];
    struct stat st;
    snprintf(full, sizeof full, "%s%s", root, name);
    return stat(full, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool parse_cgroup(const char *path, const char *root, char name[512], struct error *e)
{
    if (!*path || !normalize(below(path, root), name, 512))
        return error_set(e, ERROR_ARGUMENT, "\"%s\" is not a cgroup: expected a path below %s", path, root);
    return is_folder(root, name) || error_set(e, ERROR_MISSING, "there is no cgroup %s below %s", name, root);
}

/* True if b is a, or is below it. */
static bool holds(const char *a, const char *b)
{
    size_t n = strcmp(a, "/") ? strlen(a) : 0;
    return !strncmp(a, b, n) && (b[n] == '/' || b[n] == '\0');
}

struct cgroup_list {
    VEC(char[512]);
};

static bool add_cgroup(struct cgroup_list *l, const char *name, struct error *e)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (!strcmp(l->items[i], name))
            return true;
        if (holds(l->items[i], name) || holds(name, l->items[i]))
            return error_set(
                e, ERROR_ARGUMENT, "%s is below %s: its tasks would count twice; name one of them",
                holds(name, l->items[i]) ? l->items[i] : name, holds(name, l->items[i]) ? name : l->items[i]);
    }
    if (l->n == SCOPE_CGROUPS_MAX)
        return error_set(e, ERROR_LIMIT, "more than %d cgroups: name a parent of them, and group by cgroup",
                         SCOPE_CGROUPS_MAX);
    snprintf(*VEC_PUSH(l), sizeof *l->items, "%s", name);
    return true;
}

/* Parse cgroups separated by commas, or a single one whose name contains a comma. */
static bool parse_cgroups(const char *paths, const char *root, struct cgroup_list *l, struct error *e)
{
    char name[512], *words = mem_strdup(paths), *rest = words, *word;
    bool ok = true, whole = strchr(paths, ',') && parse_cgroup(paths, root, name, NULL);
    if (whole)
        ok = add_cgroup(l, name, e);
    while (!whole && ok && (word = strsep(&rest, ",")))
        ok = parse_cgroup(word, root, name, e) && add_cgroup(l, name, e);
    mem_free(words);
    return ok;
}

bool scope_set_cgroup(struct scope *s, const char *paths, struct error *e)
{
    char root[512];
    struct cgroup_list l = { 0 };
    if (!scope_cgroup_root(root, sizeof root, NULL, e))
        return false;
    bool ok = parse_cgroups(paths, root, &l, e);
    if (ok) {
        set_ids(s, SCOPE_CGROUP, NULL, 0);
        memcpy(s->cgroup, l.items[0], sizeof s->cgroup);
        s->n_more_cgroups = (uint32_t)l.n - 1;
        s->more_cgroups = l.n > 1 ? copy_bytes(l.items + 1, (l.n - 1) * sizeof *l.items) : NULL;
    }
    mem_free(l.items);
    return ok;
}

uint32_t scope_cgroups(const struct scope *s)
{
    return s->kind == SCOPE_CGROUP ? 1 + s->n_more_cgroups : 0;
}

const char *scope_cgroup(const struct scope *s, uint32_t i)
{
    return i ? s->more_cgroups[i - 1] : s->cgroup;
}

int scope_open_cgroup(const struct scope *s, uint32_t i)
{
    char root[512], path[sizeof root + sizeof s->cgroup];
    if (!scope_cgroup_root(root, sizeof root, NULL, NULL)) {
        errno = ENOENT;
        return -1;
    }
    snprintf(path, sizeof path, "%s%s", root, scope_cgroup(s, i));
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool scope_may_stop_inheriting(const struct scope *s, struct error *e)
{
    switch (s->kind) {
    case SCOPE_PIDS:
    case SCOPE_TIDS:
        return true;
    case SCOPE_USER:
        return error_set(
            e, ERROR_UNSUPPORTED,
            "a user's processes are measured, with those that start later: only the children of processes, "
            "threads or a command can be excluded");
    case SCOPE_CGROUP:
        return error_set(
            e, ERROR_UNSUPPORTED,
            "the kernel puts new processes into their parent's cgroup: only the children of processes, "
            "threads or a command can be excluded");
    default:
        return error_set(
            e, ERROR_UNSUPPORTED,
            "all CPUs are measured, with all tasks: only the children of processes, threads or a command "
            "can be excluded");
    }
}

static void describe_user(uid_t uid, char *dst, unsigned cap)
{
    struct passwd *pw = getpwuid(uid);
    char name[64];
    if (pw)
        text_clean(name, sizeof name, pw->pw_name, strlen(pw->pw_name));
    else
        snprintf(name, sizeof name, "%u", (unsigned)uid);
    snprintf(dst, cap, "user %s", name);
}

static void describe_ids(const struct scope *s, const char *one, const char *many, char *dst, unsigned cap)
{
    if (s->n_ids == 1)
        snprintf(dst, cap, "%s %u", one, s->ids[0]);
    else
        snprintf(dst, cap, "%u %s", s->n_ids, many);
}

static void describe_target(const struct scope *s, char *dst, unsigned cap)
{
    char name[sizeof s->cgroup];
    switch (s->kind) {
    case SCOPE_ALL:
        snprintf(dst, cap, "all");
        break;
    case SCOPE_PIDS:
        if (s->own)
            snprintf(dst, cap, "own processes");
        else
            describe_ids(s, "pid", "processes", dst, cap);
        break;
    case SCOPE_TIDS:
        describe_ids(s, "thread", "threads", dst, cap);
        break;
    case SCOPE_USER:
        describe_user(s->uid, dst, cap);
        break;
    case SCOPE_CGROUP:
        if (s->n_more_cgroups) {
            snprintf(dst, cap, "%u cgroups", scope_cgroups(s));
            break;
        }
        text_clean(name, sizeof name, s->cgroup, sizeof s->cgroup);
        snprintf(dst, cap, "cgroup %s", name);
        break;
    }
}

static uint32_t count_cpus(const struct scope *s, uint32_t *last)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_cpus; i++) {
        *last = s->cpus[i] ? i : *last;
        n += s->cpus[i];
    }
    return n;
}

void scope_describe_cpus(const struct scope *s, char *dst, unsigned cap)
{
    uint32_t last = 0, n = s->cpus ? count_cpus(s, &last) : 0;
    dst[0] = '\0';
    if (n == 1)
        snprintf(dst, cap, " on cpu %u", last);
    else if (n)
        snprintf(dst, cap, " on %u cpus", n);
}

void scope_describe(const struct scope *s, char *dst, unsigned cap)
{
    char target[sizeof s->cgroup + 16], where[32];
    bool only = s->no_inherit && (s->kind == SCOPE_PIDS || s->kind == SCOPE_TIDS) && !s->own;
    describe_target(s, target, sizeof target);
    scope_describe_cpus(s, where, sizeof where);
    snprintf(dst, cap, "%s%s%s", only ? "only " : "", target, where);
}

bool scope_is_part(const struct scope *new, const struct scope *old)
{
    if (old->cpus || old->no_kernel || old->no_user)
        return false;
    if (old->kind == SCOPE_ALL)
        return true;
    bool same_kind = new->kind == old->kind && (new->kind == SCOPE_PIDS || new->kind == SCOPE_TIDS);
    uint32_t found = 0;
    for (uint32_t i = 0; same_kind && i < new->n_ids; i++)
        for (uint32_t j = 0; j < old->n_ids; j++)
            if (new->ids[i] == old->ids[j]) {
                found++;
                break;
            }
    return same_kind && found == new->n_ids;
}
