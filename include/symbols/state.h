// SPDX-License-Identifier: GPL-2.0-or-later
/* What the symbolizer remembers. Private to src/symbols: everybody else uses symbols/symbolizer.h. All of it is
 * guarded by `lock`, but for what belongs to the resolver thread alone. */
#ifndef FLAMETOP_SYMBOLS_STATE_H
#define FLAMETOP_SYMBOLS_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "process/opener.h"
#include "symbols/cache.h"
#include "symbols/given.h"
#include "symbols/owners.h"
#include "symbols/symbolizer.h"
#include "symbols/table.h"
#include "symbols/worker.h"
#include "unwind/calls.h"
#include "unwind/rows.h"

struct name {               /* of a symbol, shared by all modules that have one of this name */
    const char *raw, *text; /* text: cleaned, and demangled when that is done */
    uint64_t hash;          /* of raw */
    enum symbol_class class;
    bool idle;
    bool mangled;            /* and may become demangled */
    bool waits;              /* to be demangled */
    uint8_t blame;           /* what its demangling cost: at BLAME_MAX it stays as it is */
    uint64_t wanted, queued; /* bit n: by owner n (symbols/owners.h); in the queue of owner n */
};
struct name_queue {      /* of one owner: entries whose `queued` lacks the owner's bit count for nothing */
    struct name **items; /* [next, n) */
    size_t next, n, cap;
    unsigned crashes; /* of the demangler, or too long; too many, and no more names are given to it */
    bool slow;        /* some took too long: they are demangled in the slow lane */
};
struct names {
    struct intern *raws;
    struct arena arena; /* struct name and texts */
    struct map by_raw;  /* interned id → struct name * */
    struct name_queue queues[OWNERS_MAX];
    size_t queued;  /* names that are in a queue */
    uint32_t epoch; /* changes when all names are forgotten */
};

struct symbol_table { /* one or more modules' */
    struct table view;
    const void *blob;
    size_t size;
    unsigned users;
    unsigned owner;   /* of the file */
    unsigned payer;   /* of a JIT: the owner whose share it is taken from */
    struct map names; /* entry → struct name * */
};

struct unwind_table { /* one or more modules' */
    struct unwind_rows rows;
    const void *blob;
    size_t size;
    unsigned users;
    unsigned owner; /* of the file */
};

struct call_table { /* one module's */
    struct calls calls;
    const void *blob;
    size_t size;
};

struct jit_rows; /* jitrows.c */
struct outcome;

enum progress { PROGRESS_UNASKED, PROGRESS_WAITING, PROGRESS_READY, PROGRESS_FAILED };
/* What the resolver does for a module, most urgent first: of all that waits, the lower kind is taken. */
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
struct task {
    struct mod *mod;
    enum progress progress;
    bool queued, busy; /* busy: the resolver works on it, unlocked */
    uint8_t blame;     /* for ends of the worker while it worked on this: at BLAME_MAX it has failed */
    char *trouble;     /* NULL: none */
    struct task *next; /* in the queue */
    uint64_t serial;   /* its turn among those of one kind */
};
struct mod {               /* what is known of a module */
    struct module *module; /* a reference is held */
    unsigned owner;        /* of its file: a number of symbols/owners.h */
    bool slow;             /* it took too long in the quick lane: all of its tasks go to the slow one */
    struct task tasks[TASK_KINDS];
    struct symbol_table *table;  /* NULL: none (yet) */
    struct unwind_table *unwind; /* NULL: none (yet) */
    struct call_table *calls;    /* NULL: none (yet) */
    struct jit_rows *jit_rows;   /* NULL: never asked for */
    uint8_t id[20], id_size;     /* build-id as read from the file; 0: not known */
    struct linecache *lines;     /* NULL: never asked for */
    struct codecache *code;      /* NULL: never asked for */
    char *package;               /* with its debug symbols; NULL: not known */
    uint64_t name_hash;
    const struct given_module *given;    /* NULL: none */
    const struct given_module *embedded; /* symbols of the recording tool; NULL: none */
    uint64_t next_try_ns; /* names that may change (perf maps, kernel modules): not asked again before this */
    uint8_t tries;        /* of a kernel module's: what was not there three times is not there the fourth */
    struct symbol_table
        *parked; /* of a JIT, newer: with other names for code that `table` names, until it is renewed */
    bool redate; /* … its table tells of code that was replaced: for the session to look at */
    bool over;   /* a JIT's names are what they were when it was renewed */
    int dump_fd; /* a JIT's dump, from when it was found on; -1: none. The resolver's */
    uint64_t map_stamp; /* of the JIT's files when they were read */
    uint32_t changed;   /* see symbolizer_changed; of the kernel's modules: kernel_changed */
    struct map unnamed; /* offset → text */
    struct map extents; /* of functions by the unwind table: offset → bytes back to the start << 32 | size */
};
#define BLAME_MAX   240
#define BLAME_CRASH 120 /* or a hang, or memory that ran out; two of them are enough */
#define BLAME_KILL  1   /* somebody else ended the worker: what takes long is hit again and again */

#define HUNG_MAX 16
struct lane { /* a thread, and the worker that it asks */
    struct symbolizer *sy;
    enum lane_kind kind;
    struct worker worker; /* of the thread alone, as what follows is */
    dev_t hung[HUNG_MAX]; /* file systems for which an abandoned worker waits */
    unsigned n_hung;
    pthread_cond_t work;
    pthread_t thread; /* of LANE_SLOW, which the other one starts */
    bool running;
};

struct symbolizer {
    pthread_mutex_t lock;
    pthread_cond_t settled;
    struct lane lanes[LANES];
    struct owners owners;
    bool kernel_ours;   /* the profile is of the running kernel */
    bool kernel_usable; /* names for the profile's kernel are at hand */
    bool kernel_hidden, stopping;
    bool kallsyms_given; /* a file was */
    bool kernel_kept;    /* the kernel's table was kept from an earlier start: only its core is believed */
    bool kernel_wanted;  /* … and more than that is asked for */
    uint64_t kernel_lowest,
        kernel_highest; /* of the core's addresses that were asked for before there was a table */
    char *symfs, *worker_path;
    uint8_t kernel_build_id[20];
    unsigned kernel_build_id_size;
    bool other_machine;
    int kallsyms_fd, vmlinux_fd, stop_fd;
    struct map mods;             /* id → struct mod * */
    unsigned waiting;            /* tasks queued or busy, and batches of names under way */
    struct symbol_table *kernel; /* kallsyms, for all modules of the kernel */
    uint64_t kernel_read_ns;
    uint64_t kernel_shift; /* from this table's addresses to the profile's (another boot) */
    struct map tables;     /* hash of build-id → struct symbol_table * */
    struct map unwinds;    /* hash of build-id → struct unwind_table * */
    struct names names;
    struct intern *scripts; /* texts of MODULE_SCRIPT; NULL: none yet */
    uint64_t recorded_ns;
    struct left_dump { /* that a process has mapped */
        char *path;
        uint64_t ino;
        uint32_t pid;
    } * dumps;
    size_t n_dumps, dumps_cap;
    const struct jit_epoch *epochs;
    uint32_t n_epochs;
    const struct given *given, *embedded; /* NULL: none */
    size_t jit_bytes[OWNERS_MAX];         /* of the tables of JITs, by owner */
    unsigned jit_parked;                  /* modules with `parked` or `redate` */
    bool jit_of_now;
    atomic_uint generation;
    atomic_uint lines_changed;
    uint32_t kernel_changed;
    uint32_t worker_starts, given_up;
    char worker_note[200];
    size_t line_bytes;     /* that linecache.c holds */
    uint32_t line_epoch;   /* changes when it has forgotten all */
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
/* A file of this owner has the name, too. */
void names_want(struct names *names, struct name *n, unsigned owner);
uint64_t names_waiting(const struct names *names,
                       bool slow); /* bit n: owner n has names in a queue of that lane */
/* Takes the owner's waiting names for one request: their raw texts with NULs in `payload` (cap bytes), at most max. */
size_t names_take_mangled(struct names *names, unsigned owner, struct name **batch, size_t max, char *payload,
                          size_t cap, size_t *payload_n);
void names_put_back(struct names *names, unsigned owner, struct name **batch, size_t n, unsigned blame);
void names_set_texts(struct names *names, struct name **batch, size_t n, const char *texts, size_t texts_n);

/* scripts.c: with the lock held. False: the module is no MODULE_SCRIPT. */
bool scripts_tell(struct symbolizer *sy, const struct mod *mod, uint64_t offset, struct symbol *out);

/* tables.c */
struct symbol_table *tables_new(const void *blob, size_t size, struct error *e); /* takes blob (mapped) */
void tables_discard(struct symbol_table *t); /* one that nobody else has seen yet */
/* With the lock held: */
void tables_drop(struct symbolizer *sy, struct symbol_table *t); /* NULL is fine */
/* One with this build-id that is there already, with a reference; NULL: none. Anybody can give a file the build-id of
 * another one: of a file of `owner` only that owner's tables are used, and those of files that are trusted. */
struct symbol_table *tables_find(struct symbolizer *sy, const uint8_t *id, unsigned size, unsigned owner);
/* Makes it findable by its build-id, or gives an equal one that was there before in its place. */
struct symbol_table *tables_share(struct symbolizer *sy, struct symbol_table *t, unsigned owner);

/* unwinds.c: as tables.c, for unwind tables */
struct unwind_table *unwinds_new(const void *blob, size_t size, struct error *e); /* takes blob (mapped) */
void unwinds_discard(struct unwind_table *t);
void unwinds_drop(struct symbolizer *sy, struct unwind_table *t);
struct unwind_table *unwinds_find(struct symbolizer *sy, const uint8_t *id, unsigned size, unsigned owner);
struct unwind_table *unwinds_share(struct symbolizer *sy, struct unwind_table *t, unsigned owner);

/* callsets.c */
void callsets_free(struct call_table *t); /* NULL is fine */

/* jitrows.c: with the lock held; the blob, NULL: none, is taken over */
bool jitrows_take(struct symbolizer *sy, struct mod *mod); /* true: nothing is wanted */
void jitrows_install(struct symbolizer *sy, struct mod *mod, struct outcome *out);
void jitrows_free(struct mod *mod);

/* mods.c: with the lock held */
struct mod *mods_get(struct symbolizer *sy, struct module *m); /* made if it is new */
/* Sees to it that the task was asked for once. */
struct task *mods_ask(struct symbolizer *sy, struct mod *mod, enum task_kind kind);
void mods_queue(struct symbolizer *sy, struct task *task); /* (again) */
enum task_kind mods_kind(const struct task *task);
struct task *mods_take(struct symbolizer *sy,
                       enum lane_kind lane); /* whose turn it is, now busy; NULL: none */
void mods_wake(struct symbolizer *sy);       /* the threads that wait for work */
/* Forgets those that have no byte set at their id; not the lasting ones, nor one that is busy. */
void mods_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep);
void mods_done(struct symbolizer *sy);
void mods_trouble(struct task *task, const char *text);
bool mods_is_kernel(const struct mod *mod);              /* named by kallsyms */
unsigned mods_owner(const struct mod *mod);              /* of its names; what is in no file is trusted */
void mods_news(struct symbolizer *sy, struct mod *mod);  /* of a module's names; NULL: of anything else */
uint64_t mods_kernel_start(const struct symbolizer *sy); /* of its text, in the profile; 0: not known */
/* Of a kept kernel's table only the core is believed: for an address (of the table) beyond it all is read anew, and what
 * stands there is not known until then. There is a table. */
bool mods_kernel_tells(struct symbolizer *sy, struct mod *mod, uint64_t addr);

/* jit.c: with the lock held. Takes t over, or parks it; false with e set: too much. */
bool jit_install(struct symbolizer *sy, struct mod *mod, struct symbol_table *t, struct error *e);
void jit_forget(struct symbolizer *sy, struct mod *mod); /* its tables */

/* resolve.c and resolve_unwind.c, in the resolver thread, without the lock */
struct outcome {
    struct lane *lane;
    unsigned owner;   /* of the files that the worker reads */
    bool owner_known; /* before they were opened: it is that owner's turn */
    bool of_kernel;   /* read in the quick lane, however long it takes */
    bool asked;       /* the worker was */
    bool slow;        /* it took too long for the quick lane */
    bool given_up;    /* a file is not read (any more), as trouble says: no other trouble is worth more */
    struct symbol_table *table;    /* TASK_NAMES; NULL: none, or unchanged */
    struct unwind_table *unwind;   /* TASK_UNWIND; NULL: none */
    struct call_table *calls;      /* TASK_CALLS; NULL: none */
    struct unwind_table *jit_rows; /* TASK_JIT_ROWS; NULL: none */
    struct lines_answer *lines;    /* TASK_LINES; NULL: none */
    struct code *code;             /* TASK_CODE; NULL: none */
    struct source *source;         /* the same; NULL: none */
    bool unchanged, retry;
    bool later;   /* TASK_LINES: a file is being fetched first, which asks again */
    bool of_now;  /* a JIT's names, as they are now */
    bool kept;    /* the kernel's table is one of an earlier start */
    bool deleted; /* TASK_UNWIND: the file has no name any more, and is gone when it is unmapped */
    unsigned blame;
    uint8_t id[20], id_size; /* the file's build-id; 0: not known */
    uint64_t map_stamp;      /* as before, then as found */
    bool has_table;          /* the module, when it was taken */
    char package[128];       /* TASK_PACKAGE; "": none */
    struct error trouble;
};
void resolve_names(struct symbolizer *sy, struct mod *mod, struct outcome *out);
void resolve_unwind(struct symbolizer *sy, struct mod *mod, struct outcome *out);
void resolve_calls(struct symbolizer *sy, struct mod *mod, struct outcome *out);    /* callsets.c */
void resolve_jit_rows(struct symbolizer *sy, struct mod *mod, struct outcome *out); /* jitrows.c */
void resolve_package(struct symbolizer *sy, struct mod *mod, struct outcome *out);
/* Opens the module's file, or a copy of the vdso, and notes its build-id; -1 with trouble set: not to be had, or
 * not what was profiled. */
int resolve_open(struct symbolizer *sy, const struct mod *mod, struct outcome *out);
/* On behalf of whom files are opened that the module's file names, which is of user `named_by`: below the process's own
 * root, or the main one. */
struct opener_user resolve_user(const struct symbolizer *sy, const struct mod *mod, uint32_t named_by,
                                bool own_root);
uint32_t resolve_owner(int fd); /* of a file */
/* Notes the owner of the files that are read: of two the one that is trusted less. second_fd: -1: there is none. */
void resolve_note_owner(struct symbolizer *sy, int fd, int second_fd, struct outcome *out);
/* A file on disk may be another than the one that was profiled: better nothing than what is wrong. False with
 * trouble set. */
bool resolve_is_same_build(const struct mod *mod, struct outcome *out);
/* Asks the worker for what it makes of one file or (second_fd >= 0) two: true with the answer, whose blob (NULL: none)
 * the caller unmaps. False with trouble, blame and retry set. */
bool resolve_ask(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd, struct worker_answer *a,
                 struct outcome *out);
/* Asks the lane's worker, within the limits of the owner of the request's files. Sets blame, retry and slow as the answer
 * wants it. WORKER_STOPPED as well if it is another owner's turn (retry is set), or if this owner's files are not read. */
enum worker_result resolve_send(struct symbolizer *sy, struct worker_request *r, struct worker_answer *a,
                                struct outcome *out);
/* A symbol table made so, or NULL. */
struct symbol_table *resolve_table(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd,
                                   struct outcome *out);
void resolve_kernel(struct symbolizer *sy, const struct mod *mod, struct outcome *out); /* resolve_kernel.c */
void resolve_jit(struct symbolizer *sy, struct mod *mod, struct outcome *out);          /* resolve_jit.c */
/* How much the end of the worker speaks against what it was reading. */
unsigned resolve_blame(const struct worker *w, enum worker_result result);

#endif
