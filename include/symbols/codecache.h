// SPDX-License-Identifier: GPL-2.0-or-later
/* What was asked for of a module's code lately, and how it is got. Private to src/symbols; others ask
 * symbolizer_code() and symbolizer_source(). */
#ifndef FLAMETOP_SYMBOLS_CODECACHE_H
#define FLAMETOP_SYMBOLS_CODECACHE_H

#include "symbols/code.h"
#include "symbols/state.h"

#define CODECACHE_SLOTS                                                                                      \
    8 /* of each module, and as many as are still to be got; who shows something holds it himself */

struct code_want { /* code, or the file `path` */
    uint64_t start, size;
    char *path; /* NULL: code */
    bool intel;
};
struct codecache { /* of a module */
    struct code_slot {
        struct code_want want;
        struct code *code; /* both NULL: to be got */
        struct source *source;
        uint64_t used;
    } * slots;
    unsigned n;
    size_t cap;
    uint64_t clock;
    struct code_want batch; /* what is under way: the resolver's; its path is its own */
    uint64_t kernel_shift;  /* of then … */
    uint64_t reference;
    bool over; /* … and whether the module's code was replaced */
};

/* With the lock held: */
bool codecache_take(struct symbolizer *sy, struct mod *mod); /* true: nothing is wanted */
bool codecache_install(struct symbolizer *sy, struct mod *mod, struct outcome *out);
void codecache_free(struct mod *mod);

/* In the resolver's thread, without the lock: sets out->code or out->source, with trouble where there is none. */
void resolve_code(struct symbolizer *sy, struct mod *mod, struct outcome *out);
/* source.c */
struct source *source_read(int fd, struct error *e);
/* resolve_kernel.c: a vmlinux of the profile's kernel; -1: there is none. */
int resolve_vmlinux(const struct symbolizer *sy);
/* resolve_jit.c: the dump of the module's process, if it may be read; -1: there is none. */
int resolve_jit_dump(struct symbolizer *sy, struct mod *mod);

/* kcore.c: n bytes of the running kernel's memory; false with e set. path NULL: /proc/kcore */
bool kcore_read(const char *path, uint64_t addr, void *bytes, size_t n, struct error *e);

#endif
