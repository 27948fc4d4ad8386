// SPDX-License-Identifier: GPL-2.0-or-later
/* The world tracks processes, threads, mappings and modules, record by record. Processes that started before
 * the first record are read from /proc lazily. Not thread-safe: one writer (the collector); others read under
 * the session's lock. */
#ifndef FLAMETOP_PROCESS_WORLD_H
#define FLAMETOP_PROCESS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "perf/record.h"
#include "process/module.h"

/* With the NUL. The kernel allows 16; other recorders (simpleperf) write whole program names. */
#define WORLD_COMM_MAX   64
#define WORLD_PARENT_MAX 16

/* The kernel's pid for a task that has lost its own, and perf's pid for the kernel in MMAP records. A thread
 * with this number is an unknown one, ":-1". */
#define WORLD_NO_PID 0xffffffffu

struct world_thread { /* one version of a thread; a new comm, exec or cgroup makes a new one */
    uint32_t pid, tid;
    char comm[WORLD_COMM_MAX];     /* cleaned */
    uint32_t uid;                  /* live: owner; else ~0 */
    uint32_t image;                /* address space */
    uint64_t cgroup;               /* id; 0: unknown */
    uint32_t namespaces;           /* number for world_namespaces; 0: unknown */
    uint64_t start_ns;             /* when this version began; 0: before flametop */
    uint32_t ppid;                 /* of the process that forked this one; 0: unknown */
    char parent[WORLD_PARENT_MAX]; /* its name at that time, cleaned; "": unknown */
    bool exited;
};

struct world_map {
    uint64_t start, end, pgoff;
    uint32_t module;  /* id */
    uint64_t time_ns; /* when it was mapped; 0: before flametop */
};

struct namespaces;
struct world;
struct world *world_new(bool live);
void world_free(struct world *w);
/* Call before the first record. Follows perf's rules: mappings survive an exec, a mapped memfd is an ordinary
 * file, and a thread without records does not get its process's name. */
void world_set_as_perf(struct world *w);

/* Call before the first record. Also keeps data mappings, as far as records contain them. */
void world_set_with_data(struct world *w);

/* For a file: limits the memory for copied address spaces. A forked child that changes its space needs a
 * copy, and a few records can claim many children. Above the limit such a child gets only its later
 * mappings. */
void world_set_limit(struct world *w, size_t bytes);
uint64_t world_spaces_left_out(const struct world *w); /* children that got no copy */
/* Threads that ended without a sample, those of new processes included. */
uint64_t world_unseen(const struct world *w);

/* Forgets what is known of running processes after missed records (the events were closed and reopened with
 * another scope). They are read from /proc again. Samples keep their threads. */
void world_resync(struct world *w);

/* Applies COMM, MMAP, MMAP2, FORK, EXIT, NAMESPACES, CGROUP, KSYMBOL; ignores others. */
void world_apply(struct world *w, const struct record *r);

/* Returns the current version of a thread; creates an unknown thread (with a guessed comm ":TID"). */
uint32_t world_thread_of(struct world *w, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cgroup);
uint32_t world_thread_count(const struct world *w); /* ids are smaller; 0 is never used */
/* NULL if it was collected. Borrowed until the next call that changes the world. */
const struct world_thread *world_thread(const struct world *w, uint32_t thread);
/* pid or tid of a sample in a thread that has ended: the kernel has freed its number. */
#define WORLD_ENDED UINT32_MAX
/* Writes a pid or tid as text: "123"; "[ended]" for WORLD_ENDED. Returns dst. */
const char *world_id_text(uint32_t id, char *dst, size_t cap);
/* Writes "sh/123" from the name and the number of a thread or process; "sh/[ended]". Returns dst. */
const char *world_task_label(const char *comm, uint32_t id, char *dst, size_t cap);
/* Writes "sh/123" from ppid and parent of a thread; "pid 123" and "[unknown]" if less is known. Returns
 * dst. */
const char *world_parent_label(uint32_t ppid, const char *parent, char *dst, size_t cap);
/* Before the first record of a process: its parent, whose name may be longer than is kept. */
void world_set_parent(struct world *w, uint32_t pid, uint32_t ppid, const char *name);
/* True if the start of the process was recorded, and it has run the program of its parent since: no exec. */
bool world_is_forked(const struct world *w, uint32_t pid);
/* Returns the present name of a process's first thread, sampled or not; NULL: unknown. Valid until the next
 * record. */
const char *world_process_comm(const struct world *w, uint32_t pid);

/* Live: returns the pid to read from /proc for this process and to install; 0: none. That is pid itself, or
 * the parent whose memory and name the forked child still has (the child may soon be another program or
 * gone). Reading is slow and may block, so it is separate from installing: hold no lock. */
uint32_t world_wants_proc(const struct world *w, uint32_t pid);
/* Live: true if records were lost since all was known of this process. Its program, its mappings and the
 * names of its threads may have changed: read it again, and install it. */
bool world_is_stale(const struct world *w, uint32_t pid);
struct proc_snapshot;
struct proc_snapshot *world_read_proc(uint32_t pid); /* never NULL; empty if unreadable */
void world_install(struct world *w, uint32_t pid, struct proc_snapshot *p); /* takes ownership of p */

/* Live: a memfd was mapped as code, and it is unknown whether it is a library or JIT code. Returns one to
 * check; false: none. Call world_read_memfd without the lock (false: it could not read), then
 * world_tell_memfd with the result. */
#define WORLD_MEMFD_PATH 288 /* "/memfd:", a name, " (deleted)" */
struct world_memfd {
    uint32_t pid, maj, min;
    uint64_t start, end, pgoff, ino, time_ns;
    char path[WORLD_MEMFD_PATH];
};
bool world_wants_memfd(const struct world *w, struct world_memfd *out);
bool world_read_memfd(const struct world_memfd *m, bool *elf);
void world_tell_memfd(struct world *w, const struct world_memfd *m, bool known, bool elf);

/* Live: anonymous memory replaced a file's code, and may be a copy of it. Returns one to check. Call
 * world_read_remap without the lock, then world_tell_remap with the lock: it also releases the file. */
struct world_remap {
    uint32_t pid;
    unsigned looks;
    uint64_t start, end, pgoff, time_ns, next_ns;
    struct module *file; /* held */
};
bool world_wants_remap(const struct world *w, struct world_remap *out);
bool world_read_remap(const struct world_remap *r);
void world_tell_remap(struct world *w, struct world_remap *r, bool same);

/* Live: reads the list of kernel modules again, because no record says that one was loaded or unloaded. True
 * if the list changed. */
bool world_read_kernel_modules(struct world *w);

/* Live: true if the namespaces of this process have yet to be read from /proc, as live events have no records
 * of them. A child has its parent's; an exec may change them. */
bool world_wants_namespaces(const struct world *w, uint32_t pid);
/* ns NULL: they could not be read. */
void world_set_namespaces(struct world *w, uint32_t pid, const struct namespaces *ns);

/* Maps an address of a thread to module and offset. kernel: the sample or callchain entry is in kernel
 * context. False: no mapping; *out is then MODULE_ID_UNKNOWN with the address as offset. */
struct location {
    uint32_t module;
    uint64_t offset;
};
bool world_resolve(struct world *w, uint32_t thread, uint64_t addr, bool kernel, struct location *out);
/* Same for the user-space address at which a thread entered the kernel, if it is not mapped now. The thread
 * may be in the middle of an exec: the address belongs to the previous program. */
bool world_resolve_before(struct world *w, uint32_t thread, uint64_t addr, struct location *out);
/* Holds the present mappings of a thread's image for later lookups; later changes go to a copy. NULL: no
 * mappings. Release with world_let_maps. */
struct space;
struct space *world_hold_maps(struct world *w, uint32_t thread);
void world_let_maps(struct world *w, struct space *held); /* NULL is allowed */
bool world_resolve_held(struct space *held, uint64_t addr, struct location *out);
uint32_t world_held_version(const struct space *held); /* like world_image_version */
/* Returns a number that changes with the image's mappings, so that callers can cache (image, address) →
 * place. */
uint32_t world_image_version(const struct world *w, uint32_t image);

/* Makes a new MODULE_JIT for samples from now on, because the names of the code changed. Returns its id; 0:
 * the module is not mapped any more. */
uint32_t world_renew_jit(struct world *w, uint32_t module);
/* Makes a module for the samples from before the code's names changed. Returns its id, or 0. */
uint32_t world_past_jit(struct world *w, uint32_t module);
/* Same as world_renew_jit for all JIT code of a process, with a given number for struct module's epoch (names
 * from a file). */
void world_set_jit_epoch(struct world *w, uint32_t pid, uint32_t epoch);

struct module *world_module(const struct world *w, uint32_t id); /* borrowed; NULL: dropped */
/* Borrowed; NULL: unknown. */
const struct namespaces *world_namespaces(const struct world *w, uint32_t number);
/* Returns the path of a cgroup by id ("/system.slice/ssh.service"); "" if unknown. Borrowed. */
const char *world_cgroup_path(struct world *w, uint64_t id);

/* Lists the present and former mappings of an image (to write perf.data), oldest first, including those
 * shared with its parent. */
uint32_t world_image_maps(const struct world *w, uint32_t image, const struct world_map **maps);
bool world_image_has_maps(const struct world *w, uint32_t image); /* false: of a kernel thread, or unknown */
/* True if it is the address space of a 32-bit program on a 64-bit machine, as perf trace tells by the file:
 * all files and the vDSO are mapped below 4 GiB. */
bool world_image_is_32_bits(const struct world *w, uint32_t image);
struct world_address {
    uint64_t address;
    /* The address holds from the given time until this time; UINT64_MAX: for ever. */
    uint64_t until_ns;
};
/* Returns the address of (module, offset) in an image at a time: a module may be unmapped and mapped
 * elsewhere. False: never mapped. For pseudo-modules with absolute offsets the offset is the address. */
bool world_address(const struct world *w, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out);

/* Drops ended threads that are not marked (a byte per id), then images without threads, then modules without
 * mappings or marks. Ids are not reused. Compacts the thread table: *remap, which the caller frees with
 * mem_free, maps an old id to the new id (0: dropped). */
void world_collect(struct world *w, const uint8_t *keep_threads, const uint8_t *keep_modules,
                   uint32_t n_keep_modules, uint32_t **remap);
size_t world_bytes(const struct world *w);
/* Part of world_bytes that running processes need, which no expiring sample frees. Visits all processes. */
size_t world_live_bytes(const struct world *w);
/* Stores a build-id from a file's header. Applies to all modules of that path, present and future. */
void world_set_build_id(struct world *w, const char *path, const uint8_t *id, unsigned size, bool kernel);

#endif
