// SPDX-License-Identifier: GPL-2.0-or-later
/* What the pickers show: the processes and cgroups that there are, with their share of the last seconds' samples. */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/cgroup_label.h"
#include "session/state.h"

#define SHARE_WINDOW_NS (10 * NS_PER_SEC)
#define PROCESSES_MAX 200000
#define CGROUPS_MAX 20000
#define CGROUP_DEPTH_MAX 32

/* Samples per thread in the window, then summed by the caller's key. */
struct shares {
    uint64_t from_ns, all;
    uint8_t event;
    uint32_t *by_thread;
    uint32_t n;
};

static void share_run(void *ctx, struct sample *samples, size_t n)
{
    struct shares *sh = ctx;
    for (size_t i = 0; i < n; i++) {
        if (samples[i].time_ns < sh->from_ns || samples[i].event != sh->event || samples[i].flags & SAMPLE_IDLE ||
            samples[i].thread >= sh->n)
            continue;
        sh->by_thread[samples[i].thread]++;
        sh->all++;
    }
}

static void take_shares(struct session *s, struct shares *sh)
{
    uint64_t last = history_last_ns(s->history);
    sh->from_ns = last > SHARE_WINDOW_NS ? last - SHARE_WINDOW_NS : 0;
    sh->event = (uint8_t)s->current_event;
    sh->n = world_thread_count(s->world);
    sh->by_thread = mem_array(sh->n + 1, sizeof *sh->by_thread);
    history_scan(s->history, sh->from_ns, 0, share_run, sh);
}

/* Samples by pid, or by cgroup id. */
static uint64_t sum_shares(struct session *s, struct map *sums, bool by_cgroup)
{
    struct shares sh = { 0 };
    pthread_mutex_lock(&s->lock);
    take_shares(s, &sh);
    for (uint32_t id = 0; id < sh.n; id++) {
        const struct world_thread *t = sh.by_thread[id] ? world_thread(s->world, id) : NULL;
        if (t)
            *map_at(sums, by_cgroup ? t->cgroup : t->pid, 0, NULL) += sh.by_thread[id];
    }
    pthread_mutex_unlock(&s->lock);
    mem_free(sh.by_thread);
    return sh.all;
}

static double percent_of(uint64_t samples, uint64_t all)
{
    return all ? 100.0 * samples / all : 0;
}

/* ---- processes ---- */

static bool read_stat(const char *dir, struct session_process *p, char *state)
{
    struct buf text = { 0 };
    char path[64];
    snprintf(path, sizeof path, "%s/stat", dir);
    bool ok = file_read(path, 4096, &text, NULL);
    const char *open = strchr(buf_str(&text), '('), *close = strrchr(buf_str(&text), ')');
    unsigned long long user = 0, system = 0;
    ok = ok && open && close && close > open &&
         sscanf(close + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", state, &user, &system) == 3;
    if (ok) {
        text_clean(p->comm, sizeof p->comm, open + 1, (size_t)(close - open - 1));
        p->cpu_ticks = user + system;
    }
    buf_done(&text);
    return ok;
}

static void read_cmdline(const char *dir, struct session_process *p)
{
    struct buf text = { 0 };
    char path[64];
    snprintf(path, sizeof path, "%s/cmdline", dir);
    if (file_read(path, 1 << 21, &text, NULL)) {
        size_t n = text.len < sizeof p->cmdline ? text.len : sizeof p->cmdline - 1;
        while (n && !text.data[n - 1])
            n--;
        for (size_t i = 0; i < n; i++)
            if (!text.data[i])
                text.data[i] = ' ';
        text_clean(p->cmdline, sizeof p->cmdline, buf_str(&text), n);
    }
    buf_done(&text);
}

/* Names of owners: looking one up may take a file, or a server. */
struct users {
    struct map index; /* uid → its place */
    char (*names)[24];
    size_t cap;
    uint32_t n;
};

static const char *user_name(struct users *u, uid_t uid)
{
    bool created;
    uint64_t at = *map_at(&u->index, uid, u->n, &created);
    if (!created)
        return u->names[at];
    MEM_GROW(u->names, u->cap, u->n + 1);
    const struct passwd *pw = getpwuid(uid);
    if (pw)
        text_clean(u->names[at], sizeof *u->names, pw->pw_name, strlen(pw->pw_name));
    else
        snprintf(u->names[at], sizeof *u->names, "%u", (unsigned)uid);
    return u->names[u->n++];
}

static void users_done(struct users *u)
{
    map_done(&u->index);
    mem_free(u->names);
}

static int by_share(const void *a, const void *b)
{
    const struct session_process *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    if (x->cpu_ticks != y->cpu_ticks)
        return x->cpu_ticks > y->cpu_ticks ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

uint32_t session_processes(struct session *s, struct session_process **out)
{
    struct map sums = { 0 };
    uint64_t all = sum_shares(s, &sums, false);
    struct session_process *list = NULL;
    size_t cap = 0;
    uint32_t n = 0;
    struct users users = { 0 };
    DIR *proc = opendir("/proc");
    for (struct dirent *d; proc && n < PROCESSES_MAX && (d = readdir(proc));) {
        struct session_process p = { 0 };
        char dir[32], state;
        struct stat st;
        uint64_t pid, samples = 0;
        if (!text_parse_u64(d->d_name, 1, UINT32_MAX, &pid))
            continue;
        snprintf(dir, sizeof dir, "/proc/%u", (uint32_t)pid);
        if (!read_stat(dir, &p, &state) || stat(dir, &st) < 0)
            continue; /* it ended just now */
        if (state != 'D') /* the memory of a process that hangs in the kernel may not be had, and the screen would wait */
            read_cmdline(dir, &p);
        snprintf(p.user, sizeof p.user, "%s", user_name(&users, st.st_uid));
        map_get(&sums, pid, &samples);
        p.pid = (uint32_t)pid;
        p.samples = samples;
        p.percent = percent_of(samples, all);
        MEM_GROW(list, cap, n + 1);
        list[n++] = p;
    }
    if (proc)
        closedir(proc);
    if (n)
        qsort(list, n, sizeof *list, by_share);
    map_done(&sums);
    users_done(&users);
    *out = list;
    return n;
}

/* ---- cgroups ---- */

struct cgroup_walk {
    struct session_cgroup *list;
    size_t cap;
    uint32_t n;
    const struct map *sums; /* by cgroup id, v2 */
    uint64_t all;
    size_t root_len;
    struct containers *containers;
};

static uint32_t count_procs(const char *dir)
{
    struct buf text = { 0 };
    char path[700];
    uint32_t n = 0;
    snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    if (file_read(path, 1 << 22, &text, NULL))
        for (size_t i = 0; i < text.len; i++)
            n += text.data[i] == '\n';
    buf_done(&text);
    return n;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_folder(const struct dirent *d)
{
    return d->d_type == DT_DIR && d->d_name[0] != '.';
}

/* Only of the container's own folder: what lies below it shows by its place. */
static void label_cgroup(const struct cgroup_walk *w, struct session_cgroup *c)
{
    struct cgroup_container container;
    if (cgroup_container(c->path, &container) && !container.below[0])
        containers_label(w->containers, c->path, c->label, sizeof c->label);
}

/* Depth first; returns the samples of the cgroup and all below it. The depth is bounded, so recursion is. */
static uint64_t walk_cgroup(struct cgroup_walk *w, const char *dir, uint32_t depth)
{
    struct stat st;
    struct dirent **names;
    uint64_t samples = 0;
    if (w->n == CGROUPS_MAX || depth > CGROUP_DEPTH_MAX || stat(dir, &st) < 0)
        return 0;
    uint32_t self = w->n++;
    MEM_GROW(w->list, w->cap, w->n);
    struct session_cgroup *c = &w->list[self];
    *c = (struct session_cgroup){ .depth = depth, .n_procs = count_procs(dir) };
    snprintf(c->path, sizeof c->path, "%s", dir[w->root_len] ? dir + w->root_len : "/");
    map_get(w->sums, st.st_ino, &samples);
    int n = scandir(dir, &names, is_folder, by_name);
    for (int i = 0; i < n; i++) {
        char below[600];
        if ((size_t)snprintf(below, sizeof below, "%s/%s", dir, names[i]->d_name) < sizeof below)
            samples += walk_cgroup(w, below, depth + 1);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    label_cgroup(w, &w->list[self]);
    w->list[self].samples = samples;
    w->list[self].percent = percent_of(samples, w->all);
    return samples;
}

uint32_t session_cgroups(struct session *s, struct session_cgroup **out, struct error *e)
{
    char root[512];
    bool v2;
    *out = NULL;
    if (!scope_cgroup_root(root, sizeof root, &v2, e))
        return 0;
    struct map sums = { 0 };
    struct cgroup_walk w = { .sums = &sums, .root_len = strlen(root), .containers = s->containers };
    w.all = sum_shares(s, &sums, true);
    walk_cgroup(&w, root, 0);
    map_done(&sums);
    if (!w.n)
        error_sys(e, errno, "cannot read the cgroups in %s", root);
    *out = w.list;
    return w.n;
}
