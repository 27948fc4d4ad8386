// SPDX-License-Identifier: GPL-2.0-or-later
/* Source lines and inlined functions as the symbolizer remembers them, and how they are got. Private to src/symbols;
 * others ask symbolizer_lines(). */
#ifndef FLAMETOP_SYMBOLS_LINECACHE_H
#define FLAMETOP_SYMBOLS_LINECACHE_H

#include "symbols/cache.h"
#include "symbols/linesformat.h"
#include "symbols/state.h"

#define LINECACHE_BATCH 512 /* offsets in a request: others wait for the worker meanwhile */

enum linecache_kind { LINECACHE_LINES, LINECACHE_INLINED, LINECACHE_KINDS };
struct line_row {
    uint64_t low, high; /* of a range */
    const char *file;
    uint32_t line, n;
    struct name **names;
    struct symbol_inline
        *told; /* replaced, never changed: someone may be reading it. NULL: not asked for yet */
};
struct linecache_asked {
    uint64_t *offsets; /* waiting */
    size_t n, cap;
};
struct linecache {   /* of a module */
    struct map rows; /* offset → struct line_row *; 0: asked for */
    /* What is inlined, by ranges, in order. More of them come than were asked for. */
    struct line_row **ranges;
    size_t n_ranges, ranges_cap;
    struct map known; /* offset whose range was asked for → whether it was answered */
    struct arena arena;
    struct linecache_asked asked[LINECACHE_KINDS];
    uint64_t batch[LINECACHE_BATCH]; /* what is under way; the resolver's alone, as is … */
    enum linecache_kind batch_kind;  /* … what it is of */
    size_t n_batch;
    uint64_t reference; /* where the kernel's text begins; 0: that is not known, or it is no kernel's */
    uint32_t epoch;     /* of the names, when that batch was taken */
    uint64_t spent_ns;  /* on this module */
    uint32_t
        file_user; /* owner of the module's file, from when it was opened on; what it names is opened with his rights */
    unsigned given_up;               /* addresses whose unit took too long to read */
    uint8_t awaits[20], awaits_size; /* build-id of a file that is being fetched for it; size 0: none */
    bool lacking; /* a file that its debug information refers to (dwz, .dwo): nothing is kept on disk */
    bool none;    /* the module has no debug information */
    bool disk_asked, ask_disk; /* for what is inlined; ask_disk: with this batch (the resolver's alone) */
    size_t n_on_disk;          /* of the ranges */
    struct cache_key key;      /* under which they are kept (the resolver's alone); id_size 0: they are not */
};

/* With the lock held: */
/* Takes a batch of what was asked for; true: nothing was. */
bool linecache_take(struct symbolizer *sy, struct mod *mod);
/* Takes over the answer; false, with trouble: the module is given up. */
bool linecache_install(struct symbolizer *sy, struct mod *mod, struct outcome *out, uint64_t took_ns);
/* Forgets all of all modules, for it refers to names that go: with `all` false only if it takes much memory. */
void linecache_forget(struct symbolizer *sy, bool all);
void linecache_free(struct symbolizer *sy, struct mod *mod);

/* resolve_lines.c: in the resolver's thread, without the lock. Asks for the module's batch. */
struct lines_answer {
    const void *blob;
    size_t size;
    struct lines_view view;
    bool of_disk;
};
void resolve_lines(struct symbolizer *sy, struct mod *mod, struct outcome *out);
void lines_answer_free(struct lines_answer *a); /* NULL is fine */

/* linesdisk.c: what is inlined, kept on disk as names and unwind tables are. In the resolver's thread.
 * Without the lock: what is kept of a module, of which fd is the file with the build-id in out; NULL: nothing. */
struct lines_answer *linesdisk_load(struct symbolizer *sy, struct mod *mod, int fd,
                                    const struct outcome *out);
/* Under lock, at the end: writes what modules have more than was kept of them. */
void linesdisk_save(struct symbolizer *sy);

#endif
