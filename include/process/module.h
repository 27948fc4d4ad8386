// SPDX-License-Identifier: GPL-2.0-or-later
/* A module (DSO): one file or pseudo-file that contains code. Immutable once created; shared by an atomic
 * reference count, so any thread may hold one. Ids are never reused. */
#ifndef FLAMETOP_PROCESS_MODULE_H
#define FLAMETOP_PROCESS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

enum module_kind {
    MODULE_FILE,    /* an ELF file (or a file mapped as one); offset = file offset */
    MODULE_KERNEL,  /* the kernel's core text; offset = absolute address */
    MODULE_KMOD,    /* a kernel module; offset = absolute address */
    MODULE_KSYM,    /* an out-of-line kernel symbol (BPF program); offset = absolute address */
    MODULE_VDSO,    /* offset = from its start */
    MODULE_JIT,     /* anonymous executable memory of one process; offset = absolute address */
    MODULE_UNKNOWN, /* no mapping known; offset = absolute address */
    MODULE_BROKEN,  /* end of a truncated callchain; offset = reason (enum broken_reason) */
    MODULE_GUEST,   /* guest code; offset = absolute address */
    /* Functions of interpreted programs, of all processes; offset = MODULE_SCRIPT_BASE + number of the
     * name. */
    MODULE_SCRIPT,
    /* Leaf of a stack off the CPU, what it waits for: offset = enum wait_reason. Above it, who woke the
     * thread: offset as of MODULE_SCRIPT. */
    MODULE_WAIT,
    /* Leaf of an operation whose latency is measured: offset as of MODULE_SCRIPT. */
    MODULE_OPERATION,
    MODULE_KINDS
};

/* Path of the MODULE_VDSO of 32-bit processes on a 64-bit kernel, as in perf. The native one is "[vdso]". */
#define MODULE_VDSO32 "[vdso32]"

/* Offsets in MODULE_BROKEN: why a callchain has no true root. */
enum broken_reason {
    BROKEN_GARBAGE,    /* frame pointers led to memory that is not code: "[broken]" */
    BROKEN_DUMP,       /* the stack is deeper than the sampled dump */
    BROKEN_NO_TABLE,   /* code without an unwind table, and no frame pointer */
    BROKEN_PENDING,    /* the unwind table is not ready yet: provisional */
    BROKEN_NO_MAP,     /* a return address outside all mappings */
    BROKEN_STEP,       /* the unwind table does not allow a step */
    BROKEN_DEEP,       /* more frames than are kept */
    BROKEN_ELSEWHERE,  /* a signal handler on its own stack: the interrupted stack is not in the dump */
    BROKEN_UNREAD,     /* the kernel could not read the stack: exec released it, or it is not in memory yet */
    BROKEN_NO_POINTER, /* no valid frame pointer at the leaf frame */
    BROKEN_UNPROVEN,   /* code without a table, and no call instruction proves the caller */
    BROKEN_REASONS     /* files store these numbers: add new ones at the end */
};

/* Outside the addresses of code on any machine: distinguishes such an offset from an address in a saved
 * callchain. */
#define MODULE_SCRIPT_BASE (UINT64_C(1) << 62)

/* Ids of the modules that always exist. */
enum {
    MODULE_ID_UNKNOWN = 1,
    MODULE_ID_BROKEN = 2,
    MODULE_ID_KERNEL = 3,
    MODULE_ID_GUEST = 4,
    MODULE_ID_SCRIPT = 5,
    MODULE_ID_WAIT = 6,
    MODULE_ID_OPERATION = 7,
    MODULE_ID_FIRST = 16
};

struct module {
    uint32_t id;
    enum module_kind kind;
    const char *path;  /* raw, from the kernel; for MODULE_KSYM the symbol's name */
    const char *name;  /* for display, cleaned: base name, "[kernel]", "[xfs]", "[vdso]", "[JIT]", "[bpf]" */
    uint32_t maj, min; /* device; 0: unknown */
    uint64_t ino, ino_generation;
    uint8_t build_id[20];  /* from a record or a file header */
    uint8_t build_id_size; /* 0: unknown here */
    /* MODULE_JIT: counts the successive sets of names of its code; 0: the first. */
    uint32_t epoch;
    uint32_t pid;                /* a process that maps it, to reach its file; owner of a MODULE_JIT */
    uint32_t user;               /* effective user of that process + 1; 0: unknown */
    uint64_t start, size;        /* MODULE_KERNEL, KMOD, KSYM: address range */
    uint64_t map_start, map_end; /* address range in pid, to reach a deleted file; 0: unknown */
    bool past;                   /* MODULE_JIT: holds samples from before a change; not mapped */
    bool deleted;                /* the path had " (deleted)" after it */
    bool live; /* of this machine, now; false: from a file, whose pids and inodes mean nothing here */
    int refs;  /* atomic; use module_get and module_put */
};

/* Creates a module with one reference. Copies the strings. Moves " (deleted)" from the path to the flag.
 * Without `like->name`, makes the name from kind and path. */
struct module *module_new(const struct module *like);
/* Returns the kind of a mapping by its path: MODULE_FILE, MODULE_VDSO or MODULE_JIT. Sets *path to the
 * canonical path of the kind ("//anon" for all names of anonymous memory). */
enum module_kind module_classify(const char **path);
bool module_is_memfd(const char *path); /* JITs map memfds, but some programs are run from one */
/* True if offsets in modules of that kind are addresses. */
bool module_is_absolute(enum module_kind kind);
/* True if the module may have source lines and inlined functions. */
static inline bool module_has_lines(const struct module *m)
{
    return m->kind == MODULE_FILE || m->kind == MODULE_KERNEL;
}
/* Copies a module by value, to derive a changed one. Leaves out the reference count, which other threads
 * change. */
struct module module_value(const struct module *m);
struct module *module_get(struct module *m);
void module_put(struct module *m);
/* Opens the module's file as its process sees it: map_files, then root/PATH, then PATH, each checked against
 * device and inode where known. Returns an O_PATH descriptor that the functions of process/opener.h accept.
 * -1 with errno: not found, or the process's user may not read it. Never blocks on a FIFO, never follows
 * links out of the process's root. For files of perf.data: PATH only (below symfs if given), with the rights
 * of the user who started flametop. */
int module_open(const struct module *m, const char *symfs);
/* True if the memory of the module's process is a copy of the file's bytes from `offset` on. Compares a
 * sample of pages. False also if it cannot be checked. */
bool module_is_copied(const struct module *m, uint64_t address, uint64_t size, uint64_t offset);

#endif
