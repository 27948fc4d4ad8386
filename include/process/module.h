// SPDX-License-Identifier: GPL-2.0-or-later
/* A module (DSO): one file or pseudo-file that code lives in. Immutable once made, shared by reference count
 * (atomic), so that any thread may hold one. Ids are never used twice. */
#ifndef FLAMETOP_PROCESS_MODULE_H
#define FLAMETOP_PROCESS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

enum module_kind {
    MODULE_FILE,    /* an ELF file (or what was mapped as one); offset = file offset */
    MODULE_KERNEL,  /* the kernel's core text; offset = absolute address */
    MODULE_KMOD,    /* a kernel module; offset = absolute address */
    MODULE_KSYM,    /* one out-of-line kernel symbol (a BPF program): offset = absolute address */
    MODULE_VDSO,    /* offset = from its start */
    MODULE_JIT,     /* anonymous executable memory of one process; offset = absolute address */
    MODULE_UNKNOWN, /* no mapping known; offset = absolute address */
    MODULE_BROKEN,  /* where a callchain is cut: the offset says why (enum broken_reason) */
    MODULE_GUEST,   /* guest code, offset = absolute address */
    MODULE_SCRIPT, /* functions of interpreted programs, of all processes; offset = MODULE_SCRIPT_BASE + number of the name */
};

/* The path of the MODULE_VDSO of 32-bit processes on a 64-bit kernel, as perf calls it; the other is "[vdso]". */
#define MODULE_VDSO32 "[vdso32]"

/* Offsets in MODULE_BROKEN: why a chain has no true root. */
enum broken_reason {
    BROKEN_GARBAGE,   /* frame pointers led into memory that is no code: "[broken]" */
    BROKEN_DUMP,      /* the stack is deeper than the dump that was taken */
    BROKEN_NO_TABLE,  /* code without unwind table, and no frame pointer */
    BROKEN_PENDING,   /* the table is not there yet: provisional */
    BROKEN_NO_MAP,    /* a return address in no mapping */
    BROKEN_STEP,      /* a step that the table does not allow */
    BROKEN_DEEP,      /* more frames than are kept */
    BROKEN_ELSEWHERE, /* a signal handler on a stack of its own: what it interrupted is in no dump */
    BROKEN_UNREAD, /* the kernel could not read the stack: an exec has given it up, or it is not in memory yet */
    BROKEN_NO_POINTER, /* frame pointers lead nowhere from its leaf */
    BROKEN_UNPROVEN,   /* code without a table, and no call instruction proves who called it */
    BROKEN_REASONS     /* files have these numbers: new ones come last */
};

/* Where no code lies on any machine, so that such an offset is told from an address in a chain that is saved. */
#define MODULE_SCRIPT_BASE (UINT64_C(1) << 62)

/* Ids of the modules that always exist. */
enum {
    MODULE_ID_UNKNOWN = 1,
    MODULE_ID_BROKEN = 2,
    MODULE_ID_KERNEL = 3,
    MODULE_ID_GUEST = 4,
    MODULE_ID_SCRIPT = 5,
    MODULE_ID_FIRST = 16
};

struct module {
    uint32_t id;
    enum module_kind kind;
    const char *path;  /* raw, as the kernel said it; for MODULE_KSYM the symbol's name */
    const char *name;  /* for people: cleaned base name, "[kernel]", "[xfs]", "[vdso]", "[JIT]", "[bpf]" */
    uint32_t maj, min; /* device, 0 when unknown */
    uint64_t ino, ino_generation;
    uint8_t build_id[20];  /* when a record or a file header told it */
    uint8_t build_id_size; /* 0: not known here */
    uint32_t
        epoch; /* MODULE_JIT: which of the names that its code has had, one after the other; 0: the first */
    uint32_t pid;                /* a process that maps it: the way to its file; the owner of a MODULE_JIT */
    uint32_t user;               /* of that process: its effective user + 1; 0: not known */
    uint64_t start, size;        /* MODULE_KERNEL, KMOD, KSYM: address range */
    uint64_t map_start, map_end; /* where pid mapped it, 0: not known: the way to a file that was deleted */
    bool past;    /* MODULE_JIT: it holds what was sampled before a change, and nothing maps it */
    bool deleted; /* " (deleted)" behind the path */
    bool live;    /* of this machine, now (false: from a file: pids and inodes mean nothing here) */
    int refs;     /* atomic; use module_get and module_put */
};

/* Makes a module with one reference. Strings are copied; path's " (deleted)" is cut into the flag; without a
 * name in `like` it is made from kind and path. */
struct module *module_new(const struct module *like);
/* What a mapping of that path in a process is: MODULE_FILE, MODULE_VDSO or MODULE_JIT. *path becomes the one
 * under which all of a kind are known ("//anon" for whatever anonymous memory is called). */
enum module_kind module_classify(const char **path);
bool module_is_memfd(const char *path); /* JITs map theirs, but programs are run from some */
/* Whether offsets in modules of that kind are addresses. */
bool module_is_absolute(enum module_kind kind);
/* Whether source lines and inlined functions may be known of it. */
static inline bool module_has_lines(const struct module *m)
{
    return m->kind == MODULE_FILE || m->kind == MODULE_KERNEL;
}
/* A module as a value, to make a changed one from. Its references are not copied: others count them meanwhile. */
struct module module_value(const struct module *m);
struct module *module_get(struct module *m);
void module_put(struct module *m);
/* Opens the module's file where its process sees it (map_files, then root/PATH, then PATH, each checked against dev and
 * inode where known), as an O_PATH descriptor that process/opener.h tells about. -1 with errno: not to be had, or the
 * process's user may not read it. Never blocks on a FIFO, never follows links out of the process's root. For files of
 * perf.data: PATH only (below symfs if given), with the rights of the user who started flametop. */
int module_open(const struct module *m, const char *symfs);
/* Whether the memory of the module's process is a copy of the file's bytes from `offset` on: pages all over
 * it are compared. False also when that cannot be found out. */
bool module_is_copied(const struct module *m, uint64_t address, uint64_t size, uint64_t offset);

#endif
