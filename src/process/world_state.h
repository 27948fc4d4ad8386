// SPDX-License-Identifier: GPL-2.0-or-later
/* The world's data structures; private to src/process/world*.c.
 *
 *   task (by tid) ─ proc (by pid) ─ image ─ space (shared after a fork) ─ mod
 *     └ entry: the thread version that samples refer to, made on first use; it keeps its image */
#ifndef FLAMETOP_PROCESS_WORLD_STATE_H
#define FLAMETOP_PROCESS_WORLD_STATE_H

#include "base/map.h"
#include "base/mem.h"
#include "process/namespaces.h"
#include "process/cgroup.h"
#include "process/modtab.h"
#include "process/space.h"
#include "process/world.h"

#define WORLD_ZOMBIES 256

struct image {
    uint32_t id; /* 0 until a thread version refers to it */
    int refs;
    uint64_t serial; /* distinguishes JIT modules of successive programs in one process */
    struct space *space;
    struct space *before; /* of the program that called exec, until the new program runs; NULL: none */
};

struct proc {
    uint32_t pid, ppid, uid;
    uint32_t namespaces; /* number of the set; 0: unknown */
    uint32_t n_tasks, n_live;
    uint32_t losses;               /* world.losses when all of this process was known */
    uint64_t cgroup;               /* from /proc; 0: unknown */
    char parent[WORLD_PARENT_MAX]; /* as in struct world_thread */
    bool read;                     /* /proc was read, or the attempt failed */
    bool forked;                   /* its start was recorded, and it has run its parent's program since */
    bool namespaces_read;          /* same for namespaces, since the last exec */
    uint32_t jit_epoch;
    struct image *image;
};

struct task {
    uint32_t tid;
    uint32_t version; /* index of its entry; 0: not used since its last change */
    int32_t zombie;   /* index in zombies; -1: alive */
    bool guessed;     /* comm is a guess */
    uint64_t since_ns;
    struct proc *proc;
    char comm[WORLD_COMM_MAX];
};

struct entry {
    struct world_thread t;
    struct image *image;
    struct task *task; /* NULL: this version has ended */
};

struct world_scratch {
    struct world_map *maps;
    uint32_t cap;
};

/* Code mapped from a memfd: a library's or a JIT's? */
struct memfds {
    VEC(struct world_memfd) waiting; /* mappings to check */
    struct map known;                /* inode → MEMFD_… */
};

/* Anonymous memory in place of a file's code: is it a copy? */
struct remaps {
    VEC(struct world_remap);
};

struct kernel_module { /* from /proc/modules */
    uint64_t start, end;
    char name[64];
};
struct kernel_modules { /* by start */
    VEC(struct kernel_module);
};

struct world {
    bool live;
    bool as_perf; /* world_set_as_perf */
    bool with_data;
    uint32_t losses, losses_collected; /* how often records were lost; at the last collection */
    uint64_t lost_ns;                  /* when last */
    uint32_t version, next_image, jit_epochs;
    uint64_t next_serial;
    struct map tasks, procs, images; /* tid, pid, image id → pointer */
    struct entry *entries;           /* [0] is unused */
    uint32_t n_entries, entries_cap;
    /* Tasks that exited recently: a task is still sampled on its way out of the kernel. */
    struct task *zombies[WORLD_ZOMBIES];
    uint32_t next_zombie;
    struct modtab modules;
    struct space *kernel; /* kernel modules and other code outside the core */
    struct kernel_modules kernel_modules;
    struct cgroups *cgroups;
    struct namespaces_table namespaces;
    struct memfds memfds;
    struct remaps remaps;
    struct world_scratch *scratch;
    size_t bytes; /* size of tasks, processes, images and spaces */
    size_t limit; /* no space is copied above this many bytes; 0: no limit */
    uint64_t spaces_left_out, unseen;
};

/* world_task.c: living tasks and processes. */
struct task *task_find(const struct world *w, uint32_t tid);
struct proc *proc_find(const struct world *w, uint32_t pid);
const struct proc *proc_parent(const struct world *w, const struct proc *p); /* NULL: unknown */
struct task *task_of(struct world *w, uint32_t pid, uint32_t tid);           /* created if unknown */
struct task *task_new(struct world *w, struct proc *p, uint32_t tid);
void task_set_comm(struct world *w, struct task *t, const char *comm, size_t n);
void task_supersede(struct world *w, struct task *t); /* ends its version: the next sample makes a new one */
void task_exit(struct world *w, struct task *t);
void task_free(struct world *w, struct task *t);
struct proc *proc_new(struct world *w, uint32_t pid, struct space *space); /* takes ownership of space */
void proc_exec(struct world *w, struct proc *p);
void image_put(struct world *w, struct image *im);
void image_runs(struct world *w, struct image *im); /* drops `before`: the new program runs */
/* Keeps a mapping of the previous program as retired: samples of this image are in it. */
void image_remember(struct world *w, struct image *im, uint32_t pid, const struct space_map *map);
struct space *image_writable(struct world *w, struct image *im, uint32_t pid);
void world_put_space(struct world *w, struct space *s);
/* Call it after each change of a space, with its previous size. */
void space_changed(struct world *w, struct space *s, size_t bytes_before, bool changed);

/* Distinguishes the JIT modules of one address space from those of others and of earlier epochs. */
static inline uint64_t jit_serial(uint64_t image_serial, uint32_t epoch)
{
    return image_serial | (uint64_t)epoch << 40;
}

/* world_mod.c: modules of mappings. */
/* program: a mapped memfd is a program file, not JIT code. */
struct mod *user_mod(struct world *w, const struct proc *p, const struct module *like, bool program);
/* Drops the mapping's module if that was created for it and is not needed. */
void map_add(struct world *w, struct space *s, const struct space_map *map);
void map_fill(struct world *w, struct space *s,
              const struct space_map *map); /* only where nothing is mapped */

/* Replaces what counted as JIT code by the module that it was found to be. The time of `map` proves that it
 * is the same mapping, not one of another process or a later one. */
void map_found(struct world *w, const struct proc *p, const struct module *like, struct space_map map,
               bool program);

/* world_map.c: records of mappings, and /proc/modules. */
void apply_mmap(struct world *w, const struct record *r);
void apply_ksymbol(struct world *w, const struct record *r);
/* Maps the modules that /proc/modules lists in `text`, and unmaps modules that it no longer lists. True if
 * the list changed. */
bool apply_kernel_modules(struct world *w, const char *text);

/* world_memfd.c: mappings of memfds. */
bool memfd_is_elf(const struct world *w, uint64_t ino); /* false: not ELF, or not checked yet */
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
