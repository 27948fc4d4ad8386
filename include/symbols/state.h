// SPDX-License-Identifier: GPL-2.0-or-later
/* What the symbolizer remembers. Private to src/symbols: everybody else uses symbols/symbolizer.h. All of it is
 * guarded by `lock`, but for what belongs to the resolver thread alone. */
#ifndef FLAMETOP_SYMBOLS_STATE_H
#define FLAMETOP_SYMBOLS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbols/symbolizer.h"
#include "symbols/table.h"
#include "symbols/worker.h"

struct name {               /* of a symbol, shared by all modules that have one of this name */
    const char *raw, *text; /* text: cleaned, and demangled when that is done */
    uint64_t hash;          /* of raw */
    enum symbol_class class;
    bool idle;
    uint8_t blame; /* what its demangling cost: at BLAME_MAX it stays as it is */
};
struct names {
    struct intern *raws;
    struct arena arena;    /* struct name and texts */
    struct map by_raw;     /* interned id → struct name * */
    struct name **mangled; /* waiting to be demangled: [next, n) */
    size_t next, n, cap;
    uint32_t epoch;   /* changes when all names are forgotten */
    unsigned crashes; /* of the demangler; too many, and no more names are given to it */
};

struct symbol_table { /* one or more modules' */
    struct table view;
    const void *blob;
    size_t size;
    unsigned users;
    struct map names; /* entry → struct name * */
};

enum progress { PROGRESS_WAITING, PROGRESS_READY, PROGRESS_FAILED };
struct mod {                    /* what is known of a module */
    struct module *module;      /* a reference is held */
    struct symbol_table *table; /* NULL: none (yet) */
    enum progress progress;
    bool queued, busy; /* busy: the resolver works on it, unlocked */
    uint8_t blame;     /* for ends of the worker while it read this module: at BLAME_MAX it has failed */
    uint64_t name_hash;
    uint64_t next_try_ns; /* what may change (perf maps, kernel modules): not asked again before this */
    uint64_t map_size;    /* of the perf map when it was read */
    struct map unnamed;   /* offset → text */
    char *trouble;        /* NULL: none */
    struct mod *next;     /* in the queue */
};
#define BLAME_MAX   6
#define BLAME_CRASH 3 /* or a hang; two of them are enough */
#define BLAME_KILL  1 /* somebody else ended the worker */

struct symbolizer {
    pthread_mutex_t lock;
    pthread_cond_t work, settled;
    bool kernel_ours;   /* the profile is of the running kernel */
    bool kernel_usable; /* names for the profile's kernel are at hand */
    bool kernel_hidden, stopping;
    char *symfs, *worker_path;
    uint8_t kernel_build_id[20];
    unsigned kernel_build_id_size;
    int kallsyms_fd, stop_fd;
    struct map mods; /* id → struct mod * */
    struct mod *queue, **queue_end;
    unsigned waiting;            /* modules in the queue or busy, and batches of names under way */
    struct symbol_table *kernel; /* kallsyms, for all modules of the kernel */
    uint64_t kernel_read_ns;
    uint64_t kernel_shift; /* from this table's addresses to the profile's (another boot) */
    struct map tables;     /* hash of build-id → struct symbol_table * */
    struct names names;
    atomic_uint generation;
    uint32_t worker_starts;
    struct worker worker; /* the resolver's */
};

/* names.c */
void names_init(struct names *names);
void names_done(struct names *names);
void names_forget(struct names *names); /* all of them */
size_t names_bytes(const struct names *names);
struct name *names_get(struct names *names, const char *raw, enum module_kind kind);
/* Takes waiting names for one request: their raw texts with NULs in `payload` (cap bytes), at most max. */
size_t names_take_mangled(struct names *names, struct name **batch, size_t max, char *payload, size_t cap,
                          size_t *payload_n);
void names_put_back(struct names *names, struct name **batch, size_t n, unsigned blame);
void names_set_texts(struct names *names, struct name **batch, size_t n, const char *texts, size_t texts_n);

/* tables.c */
struct symbol_table *tables_new(const void *blob, size_t size, struct error *e); /* takes blob (mapped) */
void tables_discard(struct symbol_table *t); /* one that nobody else has seen yet */
/* With the lock held: */
void tables_drop(struct symbolizer *sy, struct symbol_table *t); /* NULL is fine */
/* One with this build-id that is there already, with a reference; NULL: none. */
struct symbol_table *tables_find(struct symbolizer *sy, const uint8_t *id, unsigned size);
/* Makes it findable by its build-id, or gives an equal one that was there before in its place. */
struct symbol_table *tables_share(struct symbolizer *sy, struct symbol_table *t);

/* mods.c: with the lock held */
struct mod *mods_get(struct symbolizer *sy, struct module *m); /* made, and queued, if it is new */
void mods_queue(struct symbolizer *sy, struct mod *mod);
struct mod *mods_take(struct symbolizer *sy); /* the first in the queue, now busy; NULL: none */
/* Forgets those that have no byte set at their id; not the lasting ones, nor one that is busy. */
void mods_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep);
void mods_done(struct symbolizer *sy);
void mods_trouble(struct mod *mod, const char *text);
bool mods_is_kernel(const struct mod *mod); /* named by kallsyms */

/* resolve.c, in the resolver thread, without the lock */
struct outcome {
    struct symbol_table *table; /* NULL: none, or unchanged */
    bool unchanged, retry;
    unsigned blame;
    uint64_t map_size;
    struct error trouble;
};
void resolve_module(struct symbolizer *sy, struct mod *mod, struct outcome *out);
/* How much the end of the worker speaks against what it was reading. */
unsigned resolve_blame(const struct worker *w, enum worker_result result);

#endif
