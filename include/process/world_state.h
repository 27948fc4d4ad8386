// SPDX-License-Identifier: GPL-2.0-or-later
/* What the world consists of; private to src/process/world*.c.
 *
 *   task (by tid) ─ proc (by pid) ─ image ─ space (shared after a fork) ─ mod
 *     └ entry: the version of the thread that samples name, made when first asked for; it keeps its image */
#ifndef FLAMETOP_PROCESS_WORLD_STATE_H
#define FLAMETOP_PROCESS_WORLD_STATE_H

#include "base/map.h"
#include "process/namespaces.h"
#include "process/cgroup.h"
#include "process/modtab.h"
#include "process/space.h"
#include "process/world.h"

#define WORLD_ZOMBIES 256
/* The kernel's word for a task that has no pid any more, and perf's for the kernel in MMAP records. */
#define WORLD_NO_PID 0xffffffffu

struct image {
    uint32_t id; /* 0 until a thread version refers to it */
    int refs;
    uint64_t serial; /* keeps JIT modules of different programs in one process apart */
    struct space *space;
    struct space *before; /* of the program that asked for this one, until this one runs; NULL: none */
};

struct proc {
    uint32_t pid, ppid, uid;
    uint32_t namespaces; /* their number; 0: not known */
    uint32_t n_tasks, n_live;
    uint64_t cgroup;      /* from /proc; 0: not known */
    bool read;            /* from /proc, or it was tried */
    bool namespaces_read; /* the same, since the last exec */
    uint32_t jit_epoch;
    struct image *image;
};

struct task {
    uint32_t tid;
    uint32_t version; /* index of its entry, 0: nobody asked since it became what it is */
    int32_t zombie;   /* place among the zombies, -1: it lives */
    bool guessed;     /* comm is a guess */
    uint64_t since_ns;
    struct proc *proc;
    char comm[WORLD_COMM_MAX];
};

struct entry {
    struct world_thread t;
    struct image *image;
    struct task *task; /* NULL: this version is over */
};

struct world_scratch {
    struct world_map *maps;
    uint32_t cap;
};

/* Code mapped from memory with a name: a library's, or a JIT's? */
struct memfd_map {
    uint32_t pid, maj, min;
    uint64_t start, end, pgoff, ino, time_ns;
    char path[WORLD_MEMFD_PATH];
};
struct memfds {
    struct memfd_map *waiting; /* of which that is not known */
    size_t n, cap;
    struct map known; /* inode → MEMFD_… */
};

/* Anonymous memory in the place of a file's code: is it a copy? */
struct remap {
    uint32_t pid;
    unsigned looks;
    uint64_t start, end, pgoff, time_ns, next_ns;
    struct module *file; /* held */
};
struct remaps {
    struct remap *waiting;
    size_t n, cap;
};

struct world {
    bool live;
    bool as_perf; /* world_set_as_perf */
    bool with_data;
    bool lost; /* records since the last collection */
    uint32_t version, next_image, jit_epochs;
    uint64_t next_serial;
    struct map tasks, procs, images; /* tid, pid, image id → pointer */
    struct entry *entries;           /* [0] is not used */
    uint32_t n_entries, entries_cap;
    /* Tasks that exited a moment ago: a task is still sampled on its last way through the kernel. */
    struct task *zombies[WORLD_ZOMBIES];
    uint32_t next_zombie;
    struct modtab modules;
    struct space *kernel; /* kernel modules and other pieces that are not the core */
    struct cgroups *cgroups;
    struct namespaces_table namespaces;
    struct memfds memfds;
    struct remaps remaps;
    struct world_scratch *scratch;
    size_t bytes; /* of tasks, processes, images and spaces … */
    size_t limit; /* … beyond which no space is copied; 0: none */
    uint64_t spaces_left_out, unseen;
};

/* world_task.c: who lives. */
struct task *task_find(const struct world *w, uint32_t tid);
struct proc *proc_find(const struct world *w, uint32_t pid);
const struct proc *proc_parent(const struct world *w, const struct proc *p); /* NULL */
struct task *task_of(struct world *w, uint32_t pid, uint32_t tid);           /* made if not known */
struct task *task_new(struct world *w, struct proc *p, uint32_t tid);
void task_set_comm(struct world *w, struct task *t, const char *comm, size_t n);
void task_supersede(struct world *w, struct task *t); /* its version is over: the next sample makes another */
void task_exit(struct world *w, struct task *t);
void task_free(struct world *w, struct task *t);
struct proc *proc_new(struct world *w, uint32_t pid, struct space *space); /* takes space */
void proc_exec(struct world *w, struct proc *p);
void image_put(struct world *w, struct image *im);
void image_runs(struct world *w, struct image *im); /* what was before it is of no interest any more */
/* Keeps a mapping of the program before among those that went: samples of this one lie in it. */
void image_remember(struct world *w, struct image *im, uint32_t pid, const struct space_map *map);
struct space *image_writable(struct world *w, struct image *im, uint32_t pid);
void world_put_space(struct world *w, struct space *s);

/* What keeps the JIT modules of one address space apart from those of others, and from those of before. */
static inline uint64_t jit_serial(uint64_t image_serial, uint32_t epoch)
{
    return image_serial | (uint64_t)epoch << 40;
}

/* world_map.c: what is mapped. `changed` must follow a change of a space, with its size from before. */
void space_changed(struct world *w, struct space *s, size_t bytes_before, bool changed);
void map_add(struct world *w, struct space *s,
             const struct space_map *map); /* its module may have been made for it */
void apply_mmap(struct world *w, const struct record *r);
void apply_ksymbol(struct world *w, const struct record *r);
/* program: what is mapped of a memfd is a program's file, no code of a JIT. */
struct mod *user_mod(struct world *w, const struct proc *p, const struct module *like, bool program);
void read_kernel_modules(struct world *w);

/* world_memfd.c: what is mapped of memory with a name. */
bool memfd_is_elf(const struct world *w, uint64_t ino); /* false: not, or nobody has looked yet */
void memfd_learn(struct world *w, uint64_t ino, bool elf);
void memfd_mapped(struct world *w, const struct proc *p, const struct module *like,
                  const struct space_map *map);
void memfds_done(struct memfds *m);

/* world_remap.c: a file's code that was copied to anonymous memory. map: that memory, with the offset in the
 * file. */
void remap_wait(struct world *w, const struct proc *p, const struct module *file,
                const struct space_map *map);
void remaps_done(struct remaps *all);

#endif
