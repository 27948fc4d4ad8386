// SPDX-License-Identifier: GPL-2.0-or-later
/* Recently requested code of a module, and how it is read. Private to src/symbols; others call
 * symbolizer_code() and symbolizer_source(). */
#ifndef FLAMETOP_SYMBOLS_CODECACHE_H
#define FLAMETOP_SYMBOLS_CODECACHE_H

#include "symbols/code.h"
#include "symbols/symbolizer_state.h"

/* Slots of each module, beyond those still to be read. A viewer holds its own reference. */
#define CODECACHE_SLOTS 8

struct code_want { /* code, or the file `path` */
    uint64_t start, size;
    char *path; /* NULL: code */
    bool intel;
};
struct code_slot {
    struct code_want want;
    struct code *code; /* both NULL: to be read */
    struct source *source;
    uint64_t used;
};
struct codecache { /* of a module */
    VEC(struct code_slot) slots;
    uint64_t clock;
    /* The request being served. Only the resolver uses it; it owns the path. */
    struct code_want batch;
    uint64_t kernel_shift; /* kernel_shift, reference and over: as of the request */
    uint64_t reference;
    bool over; /* the module's code was replaced */
};

/* With the lock held: */
bool codecache_take(struct symbolizer *sy, struct symbol_module *mod); /* true: nothing is wanted */
bool codecache_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
void codecache_free(struct symbol_module *mod);

/* Read what the batch wants, in the resolver's thread, without the lock. Sets out->code or out->source; if
 * there is none, its trouble says why. */
void resolve_code(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out);
/* source.c */
struct source *source_read(int fd, struct error *e);
/* resolve_kernel.c: opens a vmlinux of the profile's kernel; -1: none. */
int resolve_vmlinux(const struct symbolizer *sy);
/* resolve_jit.c: opens the jitdump of the module's process; -1: none, or not readable. */
int resolve_jit_dump(struct symbolizer *sy, struct symbol_module *mod);

/* kcore.c: reads n bytes of the running kernel's memory. path NULL: /proc/kcore. False with e set. */
bool kcore_read(const char *path, uint64_t addr, void *bytes, size_t n, struct error *e);

#endif
