// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbolizer's cache of source lines and inlined functions, and how it is filled.
 * Private to src/symbols; others call symbolizer_lines(). */
#ifndef FLAMETOP_SYMBOLS_LINECACHE_H
#define FLAMETOP_SYMBOLS_LINECACHE_H

#include "symbols/cache.h"
#include "symbols/linesformat.h"
#include "symbols/symbolizer_state.h"

/* Offsets in a request: others wait for the worker meanwhile. */
#define LINECACHE_BATCH 512

enum linecache_kind { LINECACHE_LINES, LINECACHE_INLINED, LINECACHE_KINDS };
struct line_row {
    uint64_t low, high; /* of a range */
    const char *file;
    uint32_t line, n;
    struct name **names;
    /* Replaced, never changed: another thread may be reading it. NULL: not requested yet. */
    struct symbol_inline *told;
};
struct linecache_asked {
    VEC(uint64_t); /* offsets that wait */
};
struct linecache {   /* of a module */
    struct map rows; /* offset → struct line_row *; 0: requested */
    /* Ranges with their inlined functions, in order. Replies contain more of them than requested. */
    VEC(struct line_row *) ranges;
    struct map known; /* offset whose range was requested → whether it is known */
    struct arena arena;
    struct linecache_asked asked[LINECACHE_KINDS];
    /* The batch in progress, and its kind; only the resolver uses both. */
    uint64_t batch[LINECACHE_BATCH];
    enum linecache_kind batch_kind;
    size_t n_batch;
    /* Start of the kernel's text; 0: not known, or not a kernel. */
    uint64_t reference;
    uint32_t epoch;    /* of the names, when the batch was made */
    uint64_t spent_ns; /* on this module */
    /* Owner of the module's file, set when it was first opened. Files that it names are opened with this
     * user's rights. */
    uint32_t file_user;
    unsigned given_up; /* addresses whose unit took too long to read */
    /* Build-id of a file that is being fetched for it; size 0: none. */
    uint8_t awaits[20], awaits_size;
    /* A file that its debug information refers to (dwz, .dwo) is missing: nothing is kept on disk. */
    bool lacking;
    bool none; /* the module has no debug information */
    /* Disk cache of inlined functions: already read; to be read with this batch (only the resolver uses
     * it). */
    bool disk_asked, ask_disk;
    size_t n_on_disk; /* of the ranges */
    /* Key in the disk cache (only the resolver uses it); id_size 0: not kept. */
    struct cache_key key;
};

/* A reply of the worker, or what the disk cache has. */
struct lines_result {
    const void *blob;
    size_t size;
    struct lines_view view;
    bool of_disk;
};
void lines_result_free(struct lines_result *a); /* NULL is fine */

/* With the lock held: */
/* Take a batch of requested offsets. True: there are none. */
bool linecache_take(struct symbolizer *sy, struct symbol_module *mod);
/* Install the reply. False, with trouble: the module is given up. */
bool linecache_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
/* Forget the lines of all modules, because the names they refer to are freed. `all` false: only if they use
 * much memory. */
void linecache_forget(struct symbolizer *sy, bool all);
void linecache_free(struct symbolizer *sy, struct symbol_module *mod);

/* resolve_lines.c: in the resolver's thread, without the lock. Requests the module's batch from the
 * worker. */
void resolve_lines(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);

/* linesdisk.c: disk cache of inlined functions, like those of names and unwind tables. In the resolver's
 * thread.
 * Without the lock: load what is kept of a module; fd is the file with the build-id in out. NULL: nothing. */
struct lines_result *linesdisk_load(struct symbolizer *sy, struct symbol_module *mod, int fd,
                                    const struct outcome *out);
/* With the lock, at the end: write what modules have beyond what is on disk. */
void linesdisk_save(struct symbolizer *sy);

#endif
