// SPDX-License-Identifier: GPL-2.0-or-later
/* The world: processes, threads, maps and modules, followed record by record. What ran before the first
 * record is read from /proc lazily. Not thread-safe: one writer (the collector); others read under the
 * session's lock. */
#ifndef FLAMETOP_PROCESS_WORLD_H
#define FLAMETOP_PROCESS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "perf/record.h"
#include "process/module.h"

#define WORLD_COMM_MAX                                                                                       \
    64 /* with the NUL. The kernel has 16; other recorders (simpleperf) write whole program names */

struct world_thread { /* one version of a thread: a new comm, exec or cgroup makes a new one */
    uint32_t pid, tid;
    char comm[WORLD_COMM_MAX]; /* cleaned */
    uint32_t uid;              /* live: owner; else ~0 */
    uint32_t image;            /* address space */
    uint64_t cgroup;           /* id, 0: not known */
    uint32_t namespaces;       /* number for world_namespaces; 0: not known */
    uint64_t start_ns;         /* when this version began, 0: before us */
    bool exited;
};

struct world_map {
    uint64_t start, end, pgoff;
    uint32_t module;  /* id */
    uint64_t time_ns; /* when it was mapped; 0: before us */
};

struct namespaces;
struct world;
struct world *world_new(bool live);
void world_free(struct world *w);
/* By perf's rules, before the first record: what a program mapped stays mapped when another one is executed in its place,
 * a mapped memory file is a file like others, and a thread of which nothing was told has no name of its process. */
void world_set_as_perf(struct world *w);

/* Before the first record: not only code is mapped, but also data, as far as records tell of it. */
void world_set_with_data(struct world *w);

/* Of a file: what a process has mapped is copied for a child that changes it, and a few records say that many children do. Once
 * the world takes so many bytes, such a child has only what is mapped from then on. */
void world_set_limit(struct world *w, size_t bytes);
uint64_t world_spaces_left_out(const struct world *w); /* how often that was so */
uint64_t world_unseen(
    const struct world *w); /* threads, those of new processes too, that ended without a sample */

/* Records were missed (the source was closed and opened anew with another scope): nothing that is known of
 * running processes holds any more; they are read from /proc again. Samples keep their threads. */
void world_resync(struct world *w);

/* Applies COMM, MMAP, MMAP2, FORK, EXIT, NAMESPACES, CGROUP, KSYMBOL; ignores others. */
void world_apply(struct world *w, const struct record *r);

/* The current version of a thread; made (with a guessed comm ":TID") if it is not known. */
uint32_t world_thread_of(struct world *w, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cgroup);
uint32_t world_thread_count(const struct world *w); /* ids are below it; 0 is never used */
/* NULL if it went. Borrowed until the next call that changes the world. */
const struct world_thread *world_thread(const struct world *w, uint32_t thread);
/* What the first thread of a process is called now, sampled or not; NULL: not known. Valid until the next record. */
const char *world_process_comm(const struct world *w, uint32_t pid);

/* Live: does this process still have to be read from /proc? Gives the pid to read and to install: pid itself,
 * or the parent that it was forked from, with whose memory and name it still runs (by the time that we look,
 * the child may be another program or gone). 0: no. Reading (slow, may block: no lock held) and installing
 * are apart. */
uint32_t world_wants_proc(const struct world *w, uint32_t pid);
struct proc_snapshot;
struct proc_snapshot *world_read_proc(uint32_t pid); /* never NULL: what could not be read is empty */
void world_install(struct world *w, uint32_t pid, struct proc_snapshot *p); /* takes p */

/* Live: code was mapped from memory with a name (memfd), and whether that is a library or a JIT's is not known. Gives
 * one to be looked at by world_read_memfd (no lock held), which says whether it could, and to be told; false: none. */
#define WORLD_MEMFD_PATH 288 /* "/memfd:", a name, " (deleted)" */
struct world_memfd {
    uint32_t pid, maj, min;
    uint64_t start, end, ino;
    char path[WORLD_MEMFD_PATH];
};
bool world_wants_memfd(const struct world *w, struct world_memfd *out);
bool world_read_memfd(const struct world_memfd *m, bool *elf);
void world_tell_memfd(struct world *w, const struct world_memfd *m, bool known, bool elf);

/* Live: is this anonymous memory in the place of a file's code a copy of it? Ask without the lock, tell with
 * it: that gives the file back. */
struct world_remap {
    uint32_t pid;
    uint64_t start, end, pgoff;
    struct module *file; /* held */
};
bool world_wants_remap(const struct world *w, struct world_remap *out);
bool world_read_remap(const struct world_remap *r);
void world_tell_remap(struct world *w, struct world_remap *r, bool same);

/* Live: are the namespaces of this process, which the records of live events do not tell, still to be read from /proc? A
 * child has those of its parent; after an exec they may be others. */
bool world_wants_namespaces(const struct world *w, uint32_t pid);
/* NULL: they could not be read. */
void world_set_namespaces(struct world *w, uint32_t pid, const struct namespaces *ns);

/* Where an address of a thread lies. kernel: the sample or chain entry is in kernel context. No mapping:
 * MODULE_ID_UNKNOWN with the address itself as offset (false is returned). */
struct place {
    uint32_t module;
    uint64_t offset;
};
bool world_resolve(struct world *w, uint32_t thread, uint64_t addr, bool kernel, struct place *out);
/* The same for where a thread was in user space when it entered the kernel, in case that is not mapped: it may be on its
 * way through an exec, which was asked for by the program before. */
bool world_resolve_before(struct world *w, uint32_t thread, uint64_t addr, struct place *out);
/* The mappings of a thread's image as they are now, to be asked later: what changes from now on changes a copy.
 * NULL: it has none. Given back with world_let_maps. */
struct space;
struct space *world_hold_maps(struct world *w, uint32_t thread);
void world_let_maps(struct world *w, struct space *held); /* NULL is allowed */
bool world_resolve_held(struct space *held, uint64_t addr, struct place *out);
uint32_t world_held_version(const struct space *held); /* as world_image_version */
/* Changes whenever an image's maps change: lets callers cache (image, address) → place. */
uint32_t world_image_version(const struct world *w, uint32_t image);

/* Code of a JIT has got other names: samples from now on belong to another MODULE_JIT in the same place. Its id, or 0 if
 * nothing maps that module any more. */
uint32_t world_renew_jit(struct world *w, uint32_t module);
/* A module for what was sampled in that one before its code got other names. Its id, or 0. */
uint32_t world_past_jit(struct world *w, uint32_t module);
/* The same for all of a process, with a number for struct module's epoch (of names that came with a file). */
void world_set_jit_epoch(struct world *w, uint32_t pid, uint32_t epoch);

struct module *world_module(const struct world *w, uint32_t id); /* borrowed; NULL if gone */
const struct namespaces *world_namespaces(const struct world *w,
                                          uint32_t number); /* borrowed; NULL: not known */
/* Name of a cgroup id: its path ("/system.slice/ssh.service"), or "" when not known. Borrowed. */
const char *world_cgroup_path(struct world *w, uint64_t id);

/* Maps that an image has or had (for writing perf.data), oldest first; shared ones of its parent included. */
uint32_t world_image_maps(const struct world *w, uint32_t image, const struct world_map **maps);
struct world_address {
    uint64_t address;
    uint64_t
        until_ns; /* before this time the address is the same for every later time; UINT64_MAX: for ever */
};
/* Address of (module, offset) in an image at a time: a module may be unmapped and mapped elsewhere. False: it was never
 * mapped. Pseudo-modules with absolute offsets give the offset. */
bool world_address(const struct world *w, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out);

/* Forgets threads that exited and are not marked (a byte per id), then images without threads and modules
 * that neither maps nor marks hold. Ids are not reused. The thread table is compacted: *remap, freed by the
 * caller with mem_free, gives the new id by old id (0: gone). */
void world_collect(struct world *w, const uint8_t *keep_threads, const uint8_t *keep_modules,
                   uint32_t n_keep_modules, uint32_t **remap);
size_t world_bytes(const struct world *w);
/* Of that, what belongs to those who live: no sample that leaves will free it. Looks at all of them. */
size_t world_live_bytes(const struct world *w);
/* Adds to a module what a file's header knows (build-ids): applied to modules of that path made later or
 * before. */
void world_set_build_id(struct world *w, const char *path, const uint8_t *id, unsigned size, bool kernel);

#endif
