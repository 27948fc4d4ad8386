// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbolizer's state. Private to src/symbols: everybody else uses symbols/symbolizer.h.
 * `lock` guards all of it, except what belongs to the resolver thread alone. */
#ifndef FLAMETOP_SYMBOLS_SYMBOLIZER_STATE_H
#define FLAMETOP_SYMBOLS_SYMBOLIZER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "process/opener.h"
#include "symbols/cache.h"
#include "symbols/supplied.h"
#include "symbols/owners.h"
#include "symbols/symbolizer.h"
#include "symbols/table.h"
#include "symbols/worker.h"
#include "unwind/calls.h"
#include "unwind/rows.h"

/* Name of a symbol, shared by all modules that have a symbol of this name. */
struct name {
    const char *raw, *text; /* text: cleaned, and demangled once that is done */
    uint64_t hash;          /* of raw */
    enum symbol_class class;
    bool idle;
    bool mangled; /* may become demangled */
    bool waits;   /* to be demangled */
    /* Cost of its demangling so far: at BLAME_MAX the name stays mangled. */
    uint8_t blame;
    /* Bit n: wanted by owner n (symbols/owners.h); in the queue of owner n. */
    uint64_t wanted, queued;
};
/* Queue of one owner. Entries whose `queued` lacks the owner's bit are ignored. */
struct name_queue {
    VEC(struct name *);
    size_t next; /* items [next, n) */
    /* Crashes or timeouts of the demangler; after too many, it gets no more names. */
    unsigned crashes;
    bool slow; /* some took too long: they are demangled in the slow lane */
};
struct names {
    struct intern *raws;
    struct arena arena; /* struct name and texts */
    struct map by_raw;  /* interned id → struct name * */
    struct name_queue queues[OWNERS_MAX];
    size_t queued;  /* names that are in a queue */
    uint32_t epoch; /* changes when all names are forgotten */
};

struct symbol_table {     /* of one or more modules */
    enum cache_kind kind; /* says which view there is */
    union {
        struct table view;
        struct unwind_rows rows;
        struct calls calls;
    };
    const void *blob;
    size_t size;
    unsigned users;
    unsigned owner;          /* of the file */
    uint8_t id[20], id_size; /* of the file; 0: not shared */
    unsigned payer;          /* of a JIT: the owner whose share it is charged to */
    uint32_t number;         /* of the kernel: how many were read before it */
};

struct jit_rows; /* jitrows.c */
struct outcome;

enum progress { PROGRESS_UNASKED, PROGRESS_WAITING, PROGRESS_READY, PROGRESS_FAILED };
/* What the resolver does for a module. Of all waiting tasks, the lowest kind is the most urgent. */
enum task_kind {
    TASK_UNWIND,
    TASK_CALLS,
    TASK_JIT_ROWS,
    TASK_NAMES,
    TASK_CODE,
    TASK_LINES,
    TASK_PACKAGE,
    TASK_KINDS
};
struct symbol_task {
    struct symbol_module *mod;
    enum progress progress;
    bool queued, busy; /* busy: the resolver works on it, unlocked */
    /* For deaths of the worker during this task: at BLAME_MAX the task has failed. */
    uint8_t blame;
    char *trouble;            /* NULL: none */
    struct symbol_task *next; /* in the queue */
    uint64_t serial;          /* order among tasks of one kind */
};
struct symbol_module {     /* what is known of a module */
    struct module *module; /* holds a reference */
    unsigned owner;        /* of its file: a number of symbols/owners.h */
    /* Tables for stacks, or everything else, took too long in the quick lane: such tasks go to the slow lane
     * (mods_slow). Tasks for stacks share nothing with the others, so both may be done at the same time. */
    bool slow[2];
    struct symbol_task tasks[TASK_KINDS];
    struct symbol_table *table, *unwind, *calls; /* NULL: none (yet) */
    struct jit_rows *jit_rows;                   /* NULL: never requested */
    uint8_t id[20], id_size;                     /* build-id as read from the file; 0: not known */
    struct linecache *lines;                     /* NULL: never requested */
    struct codecache *code;                      /* NULL: never requested */
    char *package;                               /* with its debug symbols; NULL: not known */
    uint64_t name_hash;
    const struct supplied_module *supplied; /* NULL: none */
    const struct supplied_module *embedded; /* symbols of the recording tool; NULL: none */
    /* A JIT's names, which may change: no new request before this time. */
    uint64_t next_try_ns;
    /* Newer table of a JIT, with other names for code that `table` names; parked until the module is
     * renewed. */
    struct symbol_table *parked;
    /* The parked table contains replaced code: the session must check it. */
    bool redate;
    /* A JIT's names are final, as of the time when it was renewed. */
    bool over;
    /* A JIT's dump, open since it was found; -1: none. Only the resolver uses it. */
    int dump_fd;
    uint64_t map_stamp; /* of the JIT's files when they were read */
    /* See symbolizer_changed. The kernel's modules use kernel_changed. */
    uint32_t changed;
    struct map unnamed; /* offset → text */
    /* Function extents from the unwind table: offset → bytes back to the start << 32 | size. */
    struct map extents;
};

static inline enum task_kind symbol_task_kind(const struct symbol_task *task)
{
    return (enum task_kind)(task - task->mod->tasks);
}

/* Whether tasks of this kind of the module go to the slow lane. */
static inline bool *mods_slow(struct symbol_module *mod, enum task_kind kind)
{
    return &mod->slow[kind == TASK_UNWIND || kind == TASK_CALLS];
}

#define BLAME_MAX   240
#define BLAME_CRASH 120 /* a crash, a hang, or out of memory; two are enough */
/* Somebody else killed the worker. A slow task is hit again and again. */
#define BLAME_KILL 1

#define HUNG_MAX 16
struct lane { /* a thread, and its worker */
    struct symbolizer *sy;
    enum lane_kind kind;
    struct worker worker; /* only the thread uses the worker, hung and n_hung */
    dev_t hung[HUNG_MAX]; /* file systems for which an abandoned worker waits */
    unsigned n_hung;
    pthread_cond_t work;
    pthread_t thread; /* of LANE_SLOW, started by the other one */
    bool running;
};

struct left_dump { /* jitdump that a process has mapped */
    char *path;
    uint64_t ino;
    uint32_t pid;
};
struct symbolizer {
    pthread_mutex_t lock;
    pthread_cond_t settled;
    struct lane lanes[LANES];
    struct owners owners;
    bool kernel_ours;   /* the profile is of the running kernel */
    bool kernel_usable; /* names for the profile's kernel are available */
    bool kernel_hidden, stopping;
    bool kallsyms_supplied; /* a file with kallsyms was given */
    /* The kernel's table is from an earlier start, or modules were loaded since: only its core is trusted. */
    bool kernel_core_only;
    bool kernel_wanted;       /* more than this core is needed */
    uint32_t kernel_modified; /* calls of symbolizer_kernel_modified */
    /* Range of the core's addresses that were requested before there was a table. */
    uint64_t kernel_lowest, kernel_highest;
    char *symfs, *worker_path;
    uint8_t kernel_build_id[20];
    unsigned kernel_build_id_size;
    bool other_machine;
    int kallsyms_fd, vmlinux_fd, stop_fd;
    struct map mods;             /* id → struct mod * */
    unsigned waiting;            /* tasks queued or busy, and name batches in progress */
    struct symbol_table *kernel; /* kallsyms, which kernel modules share */
    uint64_t kernel_shift;       /* from this table's addresses to the profile's (another boot) */
    struct map tables;           /* hash of build-id and kind → struct symbol_table * */
    struct names names;
    struct intern *scripts; /* texts of MODULE_SCRIPT; NULL: none yet */
    uint64_t recorded_ns;
    VEC(struct left_dump) dumps;
    const struct jit_epoch *epochs;
    uint32_t n_epochs;
    const struct supplied_symbols *supplied, *embedded; /* NULL: none */
    size_t jit_bytes[OWNERS_MAX];                       /* of the JITs' tables, by owner */
    unsigned jit_parked;                                /* modules with `parked` or `redate` */
    bool jit_of_now;
    atomic_uint generation;
    atomic_uint lines_changed;
    uint32_t kernel_changed;
    uint32_t worker_starts, given_up;
    char worker_note[200];
    size_t line_bytes;     /* used by linecache.c */
    uint32_t line_epoch;   /* changes when linecache.c forgets everything */
    struct cache *cache;   /* the resolver's; NULL: none */
    struct fetcher *fetch; /* symbols/fetch.h; NULL: no debuginfod */
    unsigned cache_version;
    bool keep_tables, as_perf;
};

/* names.c */
void names_init(struct names *names);
void names_done(struct names *names);
void names_forget(struct names *names); /* all of them */
size_t names_bytes(const struct names *names);
/* owner: of the file that has the name. */
struct name *names_get(struct names *names, const char *raw, enum module_kind kind, unsigned owner);
/* Bit n: owner n has names in a queue of this lane. */
uint64_t names_waiting(const struct names *names, bool slow);
/* Take the owner's waiting names for one request, at most max: their raw texts with NULs in `payload` (cap
 * bytes). */
size_t names_take_mangled(struct names *names, unsigned owner, struct name **batch, size_t max, char *payload,
                          size_t cap, size_t *payload_n);
void names_put_back(struct names *names, unsigned owner, struct name **batch, size_t n, unsigned blame);
void names_set_texts(struct names *names, struct name **batch, size_t n, const char *texts, size_t texts_n);

/* scripts.c: with the lock held. False: the module is none of MODULE_SCRIPT, MODULE_WAIT and
 * MODULE_OPERATION. */
bool scripts_tell(struct symbolizer *sy, const struct symbol_module *mod, uint64_t offset,
                  struct symbol *out);

/* tables.c */
/* Takes over the blob. */
struct symbol_table *tables_new(enum cache_kind kind, const void *blob, size_t size, struct error *e);
/* Whether no other file of the same build can have more. */
bool tables_is_full(const struct symbol_table *t);
/* With the lock held, or before the table is visible to other threads: */
void tables_drop(struct symbolizer *sy, struct symbol_table *t); /* NULL is fine */
/* With the lock held: */
/* Find a table of this build-id and reference it; NULL: none. Anybody can forge a build-id, so a file of
 * `owner` gets only tables of the same owner or of trusted files. full: none that is not. */
struct symbol_table *tables_find(struct symbolizer *sy, enum cache_kind kind, const uint8_t *id,
                                 unsigned size, unsigned owner, bool full);
/* Register the table by the build-id of the module's file. If an equal one is registered, drop this one and
 * return the other. */
struct symbol_table *tables_share(struct symbolizer *sy, struct symbol_table *t,
                                  const struct symbol_module *mod);

/* jitrows.c: with the lock held. Takes over the blob (NULL: none). */
bool jitrows_take(struct symbolizer *sy, struct symbol_module *mod); /* true: nothing is wanted */
void jitrows_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
void jitrows_free(struct symbol_module *mod);

/* mods.c: with the lock held */
struct symbol_module *mods_get(struct symbolizer *sy, struct module *m); /* created if it is new */
/* Request the task if it was never requested. */
struct symbol_task *mods_ask(struct symbolizer *sy, struct symbol_module *mod, enum task_kind kind);
void mods_queue(struct symbolizer *sy, struct symbol_task *task); /* (again) */
/* Take the next task, which becomes busy; NULL: none. */
struct symbol_task *mods_take(struct symbolizer *sy, enum lane_kind lane);
void mods_wake(struct symbolizer *sy); /* wake the threads that wait for work */
void mods_trouble(struct symbol_task *task, const char *text);
bool mods_is_kernel(const struct symbol_module *mod); /* named by kallsyms */
unsigned mods_owner(const struct symbol_module *mod); /* of its names; OWNER_TRUSTED if they are in no file */
/* Signal new names of a module; NULL: anything else new. */
void mods_news(struct symbolizer *sy, struct symbol_module *mod);
/* start of its text, in the profile; 0: not known */
uint64_t mods_kernel_start(const struct symbolizer *sy);
/* Whether the kernel's table can be trusted for an address (of the table). Of a kept table only the core is
 * trusted: for an address beyond it everything is read anew, and the address is unknown until then. There
 * must be a table. */
bool mods_kernel_tells(struct symbolizer *sy, struct symbol_module *mod, uint64_t addr);

/* mods_trim.c: with the lock held. */
/* Forget modules without a byte set at their id, except lasting and busy ones. */
void mods_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep);
void mods_done(struct symbolizer *sy);

/* jit.c: with the lock held. Takes t over, or parks it. False with e set: too large. */
bool jit_install(struct symbolizer *sy, struct symbol_module *mod, struct symbol_table *t, struct error *e);
void jit_forget(struct symbolizer *sy, struct symbol_module *mod); /* forget its tables */

/* resolve.c, in the resolver thread, without the lock */
struct outcome {
    struct lane *lane;
    unsigned owner; /* of the files that the worker reads */
    /* Known before the files are opened: it is this owner's turn. */
    bool owner_known;
    bool of_kernel; /* stays in the quick lane, however long it takes */
    bool asked;     /* a request was sent to the worker */
    bool slow;      /* it took too long for the quick lane */
    /* A file is not read (any more); `trouble` says why, and outranks other troubles. */
    bool given_up;
    struct symbol_table *table; /* NULL: none, or unchanged */
    struct lines_result *lines; /* TASK_LINES; NULL: none */
    struct code *code;          /* TASK_CODE; NULL: none */
    struct source *source;      /* TASK_CODE; NULL: none */
    bool unchanged, retry;
    uint64_t took_ns;         /* to get the result */
    bool later;               /* TASK_LINES: waits for a fetch, which requests it again */
    bool of_now;              /* a JIT's names, as they are now */
    bool kept;                /* the kernel's table is from an earlier start */
    uint32_t kernel_modified; /* of the symbolizer, before the kernel's table was read */
    /* TASK_UNWIND: the file was deleted, and is lost when it is unmapped. */
    bool deleted;
    unsigned blame;
    uint8_t id[20], id_size; /* the file's build-id; 0: not known */
    uint64_t map_stamp;      /* the previous one, then the current one */
    bool has_table;          /* of the module, when the task was started */
    char package[128];       /* TASK_PACKAGE; "": none */
    struct error trouble;
};
void resolve_names(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
void resolve_unwind(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
void resolve_calls(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
void resolve_jit_rows(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out); /* jitrows.c */
void resolve_package(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
/* Open the module's file, or a copy of the vdso, and note its build-id. -1 with trouble set: unavailable, or
 * not the file that was profiled. */
int resolve_open(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out);
/* Folder below which the files that a module's file names are searched, and with whose rights. */
struct module_root {
    const char *path;
    struct opener_user user;
    char own[40];
};
/* named_by: owner of the module's file. own: the root of its process (false: there is none), else the main
 * one. */
bool resolve_root(const struct symbolizer *sy, const struct symbol_module *mod, uint32_t named_by, bool own,
                  struct module_root *root);
uint32_t resolve_owner(int fd); /* of a file */
/* Note the owner of the files that are read: of two, the less trusted one. second_fd -1: none. */
void resolve_note_owner(struct symbolizer *sy, int fd, int second_fd, struct outcome *out);
/* Send a request to the lane's worker, within the limits of the owner of the request's files. Sets blame,
 * retry and slow by the result. WORKER_STOPPED also if it is another owner's turn (retry is set), or if this
 * owner's files are not read. */
enum worker_result resolve_send(struct symbolizer *sy, struct worker_request *r, struct worker_reply *a,
                                struct outcome *out);
/* resolve_ask.c: return the worker's table of one file or (second_fd >= 0) two, which may be on disk. link:
 * buffer of ELF_LINK_MAX bytes for the debug link in the reply; may be NULL. NULL: with trouble, blame and
 * retry set. */
struct symbol_table *resolve_table(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd,
                                   char *link, struct outcome *out);
/* resolve_kernel.c */
void resolve_kernel(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out);
void resolve_jit(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out); /* resolve_jit.c */
/* Return how much the worker's death counts against the file that it was reading. */
unsigned resolve_blame(const struct worker *w, enum worker_result result);

#endif
