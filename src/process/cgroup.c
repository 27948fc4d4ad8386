// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/scope.h"

#define SCAN_INTERVAL_NS NS_PER_SEC
#define FILEID_KERNFS    0xfe /* <linux/exportfs.h>, which is not available to programs */

struct cgroups {
    char *root;
    struct map names; /* id → char *; NULL: looked up, but gone */
    size_t names_bytes;
    uint64_t scanned_ns;
    bool handles_refused; /* the kernel does not permit or support opening by id */
};

/* ---- hierarchy ---- */

static char found_root[PATH_MAX];
static bool found_v2;

static void find_root(void)
{
    if (!scope_cgroup_root(found_root, sizeof found_root, &found_v2, NULL))
        found_root[0] = '\0';
}

const char *cgroup_root(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_root);
    return found_root;
}

/* Lines are "number:controllers:path"; v2 has no controllers. */
char *cgroup_path_in(const char *text, const char *controller)
{
    size_t controller_n = strlen(controller);

    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *list = memchr(text, ':', n);
        const char *path = list ? memchr(list + 1, ':', n - (size_t)(list + 1 - text)) : NULL;

        if (path) {
            size_t list_n = (size_t)(path - ++list);

            if (list_n == controller_n && !strncmp(list, controller, list_n))
                return mem_strndup(path + 1, n - (size_t)(path + 1 - text));
        }
        text += n + (text[n] == '\n');
    }
    return NULL;
}

char *cgroup_path_of(const char *text, bool v2)
{
    return cgroup_path_in(text, v2 ? "" : "perf_event");
}

uint64_t cgroup_of_process(int proc_dir)
{
    const char *root = cgroup_root();
    struct buf text = { 0 }, path = { 0 };
    struct stat st = { 0 };
    char *below = NULL;

    if (*root && file_read_at(proc_dir, "cgroup", 64 << 10, &text, NULL))
        below = cgroup_path_of(buf_str(&text), found_v2);
    if (below) {
        buf_printf(&path, "%s%s", root, below);
        if (stat(buf_str(&path), &st) < 0)
            st.st_ino = 0;
    }
    mem_free(below);
    buf_done(&text);
    buf_done(&path);
    return st.st_ino;
}

/* ---- names ---- */

static bool is_cgroup_mount(const char *root)
{
    struct statfs fs;

    return !statfs(root, &fs) && (fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC);
}

struct cgroups *cgroups_new(const char *root)
{
    struct cgroups *c = mem_zalloc(sizeof *c);

    if (root && *root) {
        c->root = mem_strdup(root);
        c->handles_refused = !is_cgroup_mount(root);
    }
    return c;
}

static char *name_at(uint64_t value)
{
    return (char *)(uintptr_t)value;
}

static void forget_all(struct cgroups *c)
{
    uint64_t value;

    for (size_t pos = 0; map_next(&c->names, &pos, NULL, &value);)
        mem_free(name_at(value));
    map_clear(&c->names);
    c->names_bytes = 0;
}

void cgroups_free(struct cgroups *c)
{
    if (!c)
        return;
    forget_all(c);
    map_done(&c->names);
    mem_free(c->root);
    mem_free(c);
}

void cgroups_add(struct cgroups *c, uint64_t id, const char *path)
{
    char clean[PATH_MAX];
    uint64_t *at;

    /* starting over costs one scan, which finds all that still exist */
    if (c->names.n >= CGROUPS_MAX && !map_get(&c->names, id, NULL))
        forget_all(c);
    at = map_at(&c->names, id, 0, NULL);
    if (*at) {
        c->names_bytes -= strlen(name_at(*at)) + 1;
        mem_free(name_at(*at));
    }
    *at = 0;
    if (!path)
        return;
    text_clean(clean, sizeof clean, *path ? path : "/", strlen(*path ? path : "/"));
    *at = (uintptr_t)mem_strdup(clean);
    c->names_bytes += strlen(clean) + 1;
}

/* Opens the cgroup by a file handle, which consists of the id (Linux 5.5 and later, CAP_DAC_READ_SEARCH).
 * False: not possible this way. */
static bool ask_kernel(struct cgroups *c, uint64_t id)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + sizeof id];
    } u = { .handle = { .handle_bytes = sizeof id, .handle_type = FILEID_KERNFS } };
    char link[40], path[PATH_MAX];
    int root = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    size_t root_n = strlen(c->root);
    ssize_t n = -1;

    memcpy(u.room + offsetof(struct file_handle, f_handle), &id, sizeof id);
    if (root >= 0) {
        fd = open_by_handle_at(root, &u.handle, O_PATH | O_CLOEXEC);
        close(root);
    }
    if (fd < 0 && errno == ESTALE) {
        cgroups_add(c, id, NULL);
        return true;
    }
    if (fd < 0) {
        c->handles_refused = true;
        return false;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    close(fd);
    if (n < (ssize_t)root_n || strncmp(path, c->root, root_n))
        return false;
    path[n] = '\0';
    /* " (deleted)": the cgroup was removed while the handle was still valid */
    cgroups_add(c, id, path + root_n);
    return true;
}

struct scan {
    VEC(char *); /* paths below the root */
    size_t done;
};

static void scan_dir(struct cgroups *c, struct scan *s, const char *below)
{
    struct buf path = { 0 };
    struct dirent *entry;
    DIR *dir;

    buf_printf(&path, "%s%s", c->root, below);
    dir = opendir(buf_str(&path));
    while (dir && (entry = readdir(dir)) && s->n < CGROUPS_MAX) {
        if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", below, entry->d_name);
        if (path.len >= PATH_MAX - 256)
            continue;
        cgroups_add(c, entry->d_ino, buf_str(&path));
        *VEC_PUSH(s) = buf_take(&path);
    }
    if (dir)
        closedir(dir);
    buf_done(&path);
}

/* Scans the hierarchy breadth first, with one directory open at a time. */
static void scan(struct cgroups *c)
{
    struct scan s = { 0 };
    struct stat st;

    if (!stat(c->root, &st))
        cgroups_add(c, st.st_ino, "/");
    scan_dir(c, &s, "");
    while (s.done < s.n) {
        char *below = s.items[s.done++];

        scan_dir(c, &s, below);
        mem_free(below);
    }
    mem_free(s.items);
}

static void find(struct cgroups *c, uint64_t id)
{
    uint64_t now = clock_now_ns();

    if (!c->handles_refused && ask_kernel(c, id))
        return;
    if (c->scanned_ns && now - c->scanned_ns < SCAN_INTERVAL_NS)
        return;
    c->scanned_ns = now;
    scan(c);
    /* Ids are not reused: a scan that started after the id was seen and does not find it proves that it is
     * gone for good. */
    if (!map_get(&c->names, id, NULL))
        cgroups_add(c, id, NULL);
}

const char *cgroups_path(struct cgroups *c, uint64_t id)
{
    uint64_t name = 0;

    if (!id)
        return "";
    if (!map_get(&c->names, id, &name) && c->root) {
        find(c, id);
        map_get(&c->names, id, &name);
    }
    return name ? name_at(name) : "";
}

size_t cgroups_bytes(const struct cgroups *c)
{
    return sizeof *c + map_bytes(&c->names) + c->names_bytes;
}

bool cgroup_is_below(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (n && root[n - 1] == '/')
        n--;
    return !strncmp(path, root, n) && (path[n] == '/' || !path[n]);
}
