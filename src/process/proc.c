// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/procfile.h"
#include "base/text.h"
#include "process/cgroup.h"
#include "process/module.h"
#include "process/opener.h"

/* The kernel appends a newline to the name, which may contain newlines itself. */
static bool read_comm(int dir, const char *file, char comm[16])
{
    struct buf text = { 0 };
    bool ok = file_read_at(dir, file, 256, &text, NULL) && text.len;

    comm[0] = '\0';
    if (ok)
        text_clean(comm, 16, text.data, text.len - (text.data[text.len - 1] == '\n'));
    buf_done(&text);
    return ok;
}

/* Returns the effective user; stores the parent's process ID. */
static uint32_t read_uid(int dir, uint32_t *ppid)
{
    struct buf text = { 0 };
    uint64_t uid = ~0u, parent;

    (void)file_read_at(dir, "status", 64 << 10, &text, NULL);
    procfile_number(buf_str(&text), "\nUid:", 1, &uid);
    if (procfile_number(buf_str(&text), "\nPPid:", 0, &parent))
        *ppid = (uint32_t)parent;
    buf_done(&text);
    return (uint32_t)uid;
}

static void read_parent(struct proc_snapshot *p)
{
    char file[32];

    if (!p->ppid)
        return;
    snprintf(file, sizeof file, "/proc/%u/comm", p->ppid);
    read_comm(AT_FDCWD, file, p->parent);
}

static void add_thread(struct proc_snapshot *p, int dir, const char *file, uint32_t tid)
{
    struct proc_thread t = { .tid = tid };

    if (!read_comm(dir, file, t.comm))
        return;
    MEM_GROW(p->threads, p->threads_cap, p->n_threads + 1);
    p->threads[p->n_threads++] = t;
}

static void read_threads(struct proc_snapshot *p, int dir)
{
    int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!tasks && fd >= 0)
        close(fd);
    while (tasks && (entry = readdir(tasks)) && p->n_threads < PROC_THREADS_MAX) {
        uint64_t tid;
        char file[sizeof entry->d_name + sizeof "/comm"];

        if (!text_parse_u64(entry->d_name, 1, UINT32_MAX, &tid) || tid == p->pid)
            continue;
        snprintf(file, sizeof file, "%s/comm", entry->d_name);
        add_thread(p, fd, file, (uint32_t)tid);
    }
    if (tasks)
        closedir(tasks);
}

bool proc_maps_elf(uint32_t pid, const struct maps_entry *e, bool *elf)
{
    struct module like = { .kind = MODULE_FILE,
                           .path = e->path,
                           .maj = e->maj,
                           .min = e->min,
                           .ino = e->ino,
                           .pid = pid,
                           .map_start = e->start,
                           .map_end = e->end,
                           .live = true };
    struct opened of;
    int fd = module_open(&like, NULL);
    *elf = fd >= 0 && opened_facts(fd, &of) && of.elf;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Most processes map one memfd; a runtime may map its code thousands of times. */
static void find_programs(struct proc_snapshot *p)
{
    const struct maps_entry *known = NULL;

    for (uint32_t i = 0; i < p->maps.n; i++) {
        struct maps_entry *e = &p->maps.items[i];
        if (!module_is_memfd(e->path))
            continue;
        if (known && known->ino == e->ino)
            e->program = known->program;
        else
            proc_maps_elf(p->pid, e, &e->program);
        known = e;
    }
}

bool proc_runs(uint32_t pid, uint32_t maj, uint32_t min, uint64_t ino)
{
    char path[32];
    struct statx st;

    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    /* Uses only what the kernel has cached: the program's file system could hang. */
    return !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st) &&
           st.stx_ino == ino && st.stx_dev_major == maj && st.stx_dev_minor == min;
}

static void read_maps(struct proc_snapshot *p, int dir)
{
    int fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    maps_read_fd(&p->maps, fd);
    find_programs(p);
    close(fd);
}

struct proc_snapshot *proc_read(uint32_t pid)
{
    struct proc_snapshot *p = mem_zalloc(sizeof *p);
    char path[24];
    int dir;

    p->pid = pid;
    p->uid = ~0u;
    snprintf(path, sizeof path, "/proc/%u", pid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        p->gone = true;
        return p;
    }
    add_thread(p, dir, "comm", pid);
    p->gone = !p->n_threads;
    if (!p->gone) {
        p->uid = read_uid(dir, &p->ppid);
        read_parent(p);
        p->cgroup = cgroup_of_process(dir);
        p->has_namespaces = namespaces_read(dir, &p->namespaces);
        read_maps(p, dir);
        read_threads(p, dir);
    }
    close(dir);
    return p;
}

void proc_snapshot_free(struct proc_snapshot *p)
{
    if (!p)
        return;
    maps_done(&p->maps);
    mem_free(p->threads);
    mem_free(p);
}
