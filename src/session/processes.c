// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists all processes with their share of the samples of the last seconds. */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/listing.h"

#define PROCESSES_MAX 200000

static bool read_stat(const char *dir, struct session_process *p, char *state)
{
    struct buf text = { 0 };
    char path[64];
    snprintf(path, sizeof path, "%s/stat", dir);
    bool ok = file_read(path, 4096, &text, NULL);
    const char *open = strchr(buf_str(&text), '('), *close = strrchr(buf_str(&text), ')');
    unsigned long long user = 0, system = 0;
    ok = ok && open && close && close > open &&
         sscanf(close + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", state, &user, &system) ==
             3;
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

/* Cache of user names: a lookup may read a file, or query a server. */
struct users {
    struct map index; /* uid → index in names */
    VEC(char[24]) names;
};

static const char *user_name(struct users *u, uid_t uid)
{
    bool created;
    uint64_t at = *map_at(&u->index, uid, u->names.n, &created);
    if (!created)
        return u->names.items[at];
    char *name = *VEC_PUSH(&u->names);
    struct passwd entry, *pw = NULL;
    char text[4096];
    if (getpwuid_r(uid, &entry, text, sizeof text, &pw) == 0 && pw)
        text_clean(name, sizeof *u->names.items, pw->pw_name, strlen(pw->pw_name));
    else
        snprintf(name, sizeof *u->names.items, "%u", (unsigned)uid);
    return name;
}

static void users_done(struct users *u)
{
    map_done(&u->index);
    mem_free(u->names.items);
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

/* False: the process has just ended. */
static bool read_process(uint32_t pid, struct users *users, struct session_process *p)
{
    char dir[32], state;
    struct stat st;
    *p = (struct session_process){ .pid = pid };
    snprintf(dir, sizeof dir, "/proc/%u", pid);
    if (!read_stat(dir, p, &state) || stat(dir, &st) < 0)
        return false;
    if (state != 'D') /* reading the memory of a process that hangs in the kernel may block */
        read_cmdline(dir, p);
    snprintf(p->user, sizeof p->user, "%s", user_name(users, st.st_uid));
    return true;
}

void listing_read_processes(struct listing *l)
{
    struct session_listing *r = &l->result;
    struct users users = { 0 };
    size_t cap = 0;
    DIR *proc = opendir("/proc");
    if (!proc)
        error_sys(&r->error, errno, "cannot read /proc");
    for (struct dirent *d; proc && r->n < PROCESSES_MAX && (d = readdir(proc));) {
        uint64_t pid;
        if (!text_parse_u64(d->d_name, 1, UINT32_MAX, &pid))
            continue;
        MEM_GROW(r->processes, cap, r->n + 1);
        struct session_process *p = &r->processes[r->n];
        if (!read_process((uint32_t)pid, &users, p))
            continue;
        map_get(&l->samples, pid, &p->samples);
        p->percent = l->all ? 100.0 * (double)p->samples / (double)l->all : 0;
        r->n++;
    }
    if (proc)
        closedir(proc);
    if (r->n)
        qsort(r->processes, r->n, sizeof *r->processes, by_share);
    users_done(&users);
}
