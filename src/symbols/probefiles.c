// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/probefiles.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "process/proc.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-@~=%"

/* ---- files ---- */

/* True if the kernel's parser of definitions can read the path, and the path leads to this file. */
static bool leads_to(const char *path, const struct stat *st)
{
    struct stat there;
    return !path[strspn(path, PLAIN)] && !stat(path, &there) && there.st_dev == st->st_dev &&
           there.st_ino == st->st_ino;
}

static bool is_known(const struct probefiles *files, const struct stat *st)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->items[i].facts.st.st_dev == st->st_dev && files->items[i].facts.st.st_ino == st->st_ino)
            return true;
    return false;
}

/* Takes the descriptor over. */
static void add_file(struct probefiles *out, int fd, const struct opener_user *user, const char *root,
                     const char *shown)
{
    char path[PATH_MAX + 64], by_fd[32];
    struct probefiles_entry entry = { .fd = fd, .user = *user };
    if (!opened_facts(fd, &entry.facts) || out->n == PROBEFILES_MAX || is_known(out, &entry.facts.st)) {
        close(fd);
        return;
    }
    snprintf(entry.root, sizeof entry.root, "%s", root);
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", fd);
    snprintf(path, sizeof path, "%s%s", strcmp(root, "/") ? root : "", shown);
    const char *found = leads_to(shown, &entry.facts.st)  ? shown
                        : leads_to(path, &entry.facts.st) ? path
                                                          : by_fd;
    entry.path = arena_strndup(&out->strings, found, strlen(found));
    entry.shown = arena_strndup(&out->strings, shown, strlen(shown));
    *VEC_PUSH(out) = entry;
}

/* Sets path to the real one. */
static bool add_path(struct probefiles *out, const char *name, char path[PATH_MAX], struct error *e)
{
    const struct opener_user user = { .kind = OPENER_FOR_STARTER };
    if (!realpath(name, path)) {
        int errnum = errno;
        (void)snprintf(path, PATH_MAX, "%s", name);
        return opener_error(e, errnum, name);
    }
    int fd = opener_open(&user, "/", path, true);
    if (fd < 0)
        return opener_error(e, errno, name);
    add_file(out, fd, &user, "/", path);
    return true;
}

/* ---- files of processes ---- */

/* Names are joined by |. "libc" and "libc.so.6" name "libc.so.6"; "libc" also "libc-2.31.so". */
static bool is_named(const char *path, const char *name)
{
    const char *base = text_base_name(path);
    for (size_t n; *name; name += n + (name[n] == '|')) {
        n = strcspn(name, "|");
        const char *rest = base + n;
        if (n && !strncmp(base, name, n) &&
            (!*rest || text_begins_with(rest, ".so") || (*rest == '-' && isdigit((unsigned char)rest[1]))))
            return true;
    }
    return false;
}

/* Which mapped files are meant. */
struct wanted {
    const char *name;     /* NULL: all */
    const char *replaced; /* not NULL: files that were at this path before it was replaced or deleted */
};

/* True if the process has flametop's root, so that its paths are ours. */
static bool has_our_root(const char *root)
{
    struct stat theirs, ours;
    return !stat(root, &theirs) && !stat("/", &ours) && theirs.st_dev == ours.st_dev &&
           theirs.st_ino == ours.st_ino;
}

static bool is_wanted(const struct module *m, const struct wanted *w, const char *root)
{
    if (w->replaced)
        return m->deleted && !strcmp(m->path, w->replaced) && has_our_root(root);
    return !w->name || is_named(m->path, w->name);
}

/* A file that was deleted is reached through its mapping. */
static void add_of_process(struct probefiles *out, uint32_t pid, const struct wanted *w)
{
    struct proc_snapshot *p = proc_read(pid);
    char root[32];
    snprintf(root, sizeof root, "/proc/%u/root", pid);
    for (size_t i = 0; p && i < p->maps.n; i++) {
        const struct maps_entry *e = &p->maps.items[i];
        if (!e->exec || !e->ino || *e->path != '/')
            continue;
        struct module *m = module_new(&(struct module){ .kind = MODULE_FILE,
                                                        .path = e->path,
                                                        .pid = pid,
                                                        .maj = e->maj,
                                                        .min = e->min,
                                                        .ino = e->ino,
                                                        .map_start = e->start,
                                                        .map_end = e->end,
                                                        .live = true });
        int fd = is_wanted(m, w, root) ? module_open(m, NULL) : -1;
        const struct opener_user user = opener_user_of(m);
        if (fd >= 0)
            add_file(out, fd, &user, root, m->path);
        module_put(m);
    }
    proc_snapshot_free(p);
}

static void add_of_all(struct probefiles *out, const struct wanted *w)
{
    DIR *dir = opendir("/proc");
    for (struct dirent *d; dir && (d = readdir(dir));) {
        uint64_t pid;
        if (text_parse_u64(d->d_name, 1, INT32_MAX, &pid))
            add_of_process(out, (uint32_t)pid, w);
    }
    if (dir)
        closedir(dir);
}

void probefiles_of_processes(const pid_t *pids, size_t n, struct probefiles *out)
{
    for (size_t i = 0; i < n; i++)
        add_of_process(out, (uint32_t)pids[i], &(struct wanted){ .name = NULL });
}

/* ---- files that no process has mapped yet ---- */

static void add_program(struct probefiles *out, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *at = getenv("PATH");
    for (size_t n; at && *at; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name) < (int)sizeof path &&
            !access(path, X_OK)) {
            (void)add_path(out, path, real, NULL);
            return;
        }
    }
}

static void add_library(struct probefiles *out, const char *name)
{
    static const char *const folders[] = { "/usr/local/lib/",
                                           "/usr/lib/*-linux-*/",
                                           "/usr/lib64/",
                                           "/usr/lib/",
                                           "/lib/*-linux-*/",
                                           "/lib64/",
                                           "/lib/" };
    static const char *const ends[] = { "", ".so", ".so.*" };
    char pattern[PATH_MAX], real[PATH_MAX];
    size_t before = out->n;
    if (name[strspn(name, PLAIN)])
        return;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && out->n == before; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends && out->n == before; k++) {
            glob_t found = { 0 };
            snprintf(pattern, sizeof pattern, "%s%s%s", folders[i], name, ends[k]);
            if (!glob(pattern, 0, NULL, &found) && found.gl_pathc)
                (void)add_path(out, found.gl_pathv[0], real, NULL);
            globfree(&found);
        }
}

bool probefiles_find(const char *name, bool replaced, struct probefiles *out, struct error *e)
{
    if (strchr(name, '/')) {
        char path[PATH_MAX];
        bool found = add_path(out, name, path, e);
        if (replaced)
            add_of_all(out, &(struct wanted){ .replaced = path });
        return found || out->n;
    }
    for (size_t n, at = 0; name[at]; at += n + (name[at + n] == '|')) {
        char one[NAME_MAX + 1];
        size_t before = out->n;
        n = strcspn(name + at, "|");
        if (snprintf(one, sizeof one, "%.*s", (int)n, name + at) >= (int)sizeof one)
            continue;
        add_program(out, one);
        if (out->n == before)
            add_library(out, one);
    }
    add_of_all(out, &(struct wanted){ .name = name });
    return out->n ||
           error_set(e, ERROR_MISSING,
                     "there is no program %s in PATH, and no process has mapped a library of this name",
                     name);
}

void probefiles_done(struct probefiles *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->items[i].fd >= 0)
            close(files->items[i].fd);
    mem_free(files->items);
    arena_done(&files->strings);
    *files = (struct probefiles){ 0 };
}
