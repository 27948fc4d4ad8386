// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for (module, offset): asks the worker process, remembers, never waits. Safe from any thread. */
#ifndef FLAMETOP_SYMBOLS_SYMBOLIZER_H
#define FLAMETOP_SYMBOLS_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/module.h"
#include "symbols/jittext.h"
#include "unwind/calls.h"
#include "unwind/rows.h"

enum symbol_state {
    SYMBOL_PENDING, /* not known yet: ask again when the generation changes */
    SYMBOL_FOUND,
    SYMBOL_NONE, /* the module has no name for it: show module+0xoffset */
};
enum symbol_class { /* what flame colours mean */
                    SYMBOL_CLASS_USER,
                    SYMBOL_CLASS_CXX,
                    SYMBOL_CLASS_RUST,
                    SYMBOL_CLASS_KERNEL,
                    SYMBOL_CLASS_JIT,
                    SYMBOL_CLASS_INLINED,
                    SYMBOL_CLASS_UNKNOWN, /* no name, [broken], [unknown] */
                    SYMBOL_CLASSES,
};
extern const char *const symbol_class_names[SYMBOL_CLASSES]; /* for legends */

struct symbol {
    enum symbol_state state;
    enum symbol_class class;
    const char *name;     /* cleaned, demangled when that is done; valid until symbolizer_trim; never NULL:
                        * "libfoo.so+0x1234" without a name (where the function begins, if its unwind table
                        * tells), "[broken]", "[cut: …]", "[unknown] 0x…" */
    uint64_t start, size; /* in the module's offsets; 0 when unknown */
    uint64_t key;         /* stable identity of (module name, symbol): same in every run and file */
    bool idle;            /* a kernel function in which CPUs idle */
    bool mangled;         /* it may be called otherwise when the generation changes */
};

struct symbolizer_config {
    bool live;            /* kernel names of this machine may be used freely */
    const char *symfs;    /* NULL: none; root below which files of a perf.data are looked for */
    const char *kallsyms; /* NULL: /proc/kallsyms */
    const char *vmlinux;  /* the profile's kernel as a file, before all others; NULL: none was named */
    /* A perf.data of another machine, or of one that it does not name: files of this machine's are only of use where their
     * build-ids agree, or where they are the very ones that were mapped. */
    bool other_machine;
    uint8_t kernel_build_id[20]; /* of a perf.data's kernel */
    unsigned kernel_build_id_size;
    /* A perf.data that was recorded on this machine since it was booted: when, by CLOCK_BOOTTIME; 0: elsewhere, or
     * earlier. What its processes tell of their code today is used for it. */
    uint64_t recorded_ns;
    const struct jit_epoch *epochs; /* what the file brought: a module's epoch - 1 is an index; borrowed */
    const struct given
        *embedded; /* symbols that the recording tool put into the file, before others; borrowed */
    uint32_t n_epochs;
    const struct given
        *given;       /* names that came with the profile (symbols/given.h), before any others; borrowed */
    bool keep_tables; /* on disk, for the next start (symbols/cache.h) */
    bool as_perf;     /* names as perf chooses them, with the versions of symbols */
    const char *worker_path; /* program to run as the worker; NULL: /proc/self/exe */
    /* URLs of debuginfod servers, separated by blanks, which symbolizer_fetch asks; NULL: none are asked. */
    const char *debuginfod;
    uint64_t fetch_silence_ns; /* so long without a byte from them a fetch is given up; 0: 20 seconds */
};

struct symbolizer;
struct symbolizer *symbolizer_new(const struct symbolizer_config *cfg, struct error *e);
/* The body of the resolver thread: opens files, talks to the worker (and starts it anew when it dies, at most
 * a bounded number of times per module), until symbolizer_stop. */
void symbolizer_run(struct symbolizer *sy);
/* The body of another thread, where there are debuginfod servers: fetches the debug files of modules whose names were
 * asked for and are not all on this machine, until symbolizer_stop. */
void symbolizer_fetch(struct symbolizer *sy);
bool symbolizer_can_fetch(void); /* this build can */
void symbolizer_stop(struct symbolizer *sy);
void symbolizer_free(struct symbolizer *sy);

/* Quick, never blocks on anything but its own short lock. Asks in the background if it must. */
void symbolizer_lookup(struct symbolizer *sy, struct module *m, uint64_t offset, struct symbol *out);
uint32_t symbolizer_generation(const struct symbolizer *sy); /* changes when new names have come */
/* The generation from which on addresses in a module have other names than before: those that are not pending and not
 * mangled need not be asked for again until it changes. */
uint32_t symbolizer_changed(struct symbolizer *sy, const struct module *m);
/* Changes when there may be lines of what was said to have none. */
uint32_t symbolizer_lines_changed(const struct symbolizer *sy);
/* Waits until nothing is pending, or the time is over; true if nothing is pending (for batch and export). */
bool symbolizer_settle(struct symbolizer *sy, uint64_t timeout_ns);
/* The same for debuginfod alone, which symbolizer_settle does not wait for. Names that came are then to be settled. */
bool symbolizer_settle_fetches(struct symbolizer *sy, uint64_t timeout_ns);
/* Forgets modules without a mark and, when names take too much memory, all names: every struct symbol from
 * before is invalid. keep[id]: a byte per module id. */
void symbolizer_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep);
/* Build-id of a module as the worker read it (or as known); size 0: unknown. Waits for nothing. */
unsigned symbolizer_build_id(struct symbolizer *sy, struct module *m, uint8_t id[20]);
/* Asks for the module's table even though no name is wanted (for its build-id). */
void symbolizer_request(struct symbolizer *sy, struct module *m);

/* The offset in MODULE_SCRIPT of a frame of an interpreted program with this name, "f (file.py:12)"; equal names have the same.
 * The text is cleaned and kept until the symbolizer ends. There is one for all names beyond a limit. */
uint64_t symbolizer_script(struct symbolizer *sy, const char *name);

/* A process has mapped this jitdump, by which its code is named when it runs no more. ino: 0, not known. */
void symbolizer_jit_dump(struct symbolizer *sy, uint32_t pid, const char *path, uint64_t ino);
/* A MODULE_JIT of a live profile goes on naming its code. Asks for its names, or looks whether there are more of them: now,
 * or when enough time has passed since the last look. */
void symbolizer_refresh(struct symbolizer *sy, struct module *m, bool now);
/* Modules of JITs of whose code some is called otherwise by now than what it was called. Until symbolizer_renew they
 * keep their old names. Up to cap of them; the number of those in `modules`. */
uint32_t symbolizer_renamed(struct symbolizer *sy, uint32_t *modules, uint32_t cap);
/* Has any of the code at these n offsets, those that were sampled, another name now? If not, the module simply gets the
 * new names. */
bool symbolizer_differs(struct symbolizer *sy, struct module *m, const uint64_t *offsets, size_t n);
/* From now on `m` keeps the names that it had for these offsets (for code that had none the new one), and `next`, which
 * takes its place in the process, has the new names. next NULL: its code runs no more. */
void symbolizer_renew(struct symbolizer *sy, struct module *m, struct module *next, const uint64_t *offsets,
                      size_t n);

/* A jitdump tells when code was where. If what it says has changed and some of it was replaced by other code: what it says;
 * else NULL. When it is given back the module gets the names of today. Times are those of CLOCK_MONOTONIC. */
struct symbol_table;
struct symbol_table *symbolizer_dated(struct symbolizer *sy, struct module *m);
void symbolizer_dated_done(struct symbolizer *sy, struct module *m, struct symbol_table *t);
bool symbolizer_replaced(const struct symbol_table *t, uint64_t offset); /* other code was there before */
/* When the code that was there at that time got another name, or went; UINT64_MAX: it is what it is called now. */
uint64_t symbolizer_named_until(const struct symbol_table *t, uint64_t offset, uint64_t time_ns);
/* `past`, which is no part of its process any more, has the names that its code had at that time for these offsets. */
void symbolizer_keep_dated(struct symbolizer *sy, struct module *past, const struct symbol_table *t,
                           uint64_t time_ns, const uint64_t *offsets, size_t n);

/* Why a module has no names, for the doctor: "stripped, no debug file", "no /tmp/perf-123.map". "" if fine. */
void symbolizer_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);
/* Why neither its source lines nor what is inlined can be read, though it has debug information. "" if fine. */
void symbolizer_lines_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);
/* The Debian package with its debug symbols, "coreutils-dbgsym"; looked up in the background when first asked. */
enum symbol_state symbolizer_package(struct symbolizer *sy, struct module *m, char *dst, size_t cap);
/* The module's unwind table, asked for in the background if it is not there. Never blocks. *out is valid until
 * symbolizer_trim leaves the module out. NULL in *out: pending, or there is none. */
enum symbol_state symbolizer_unwind(struct symbolizer *sy, struct module *m, const struct unwind_rows **out);
/* The same, waiting for it (loading a file: no screen waits for this thread). */
enum symbol_state symbolizer_unwind_wait(struct symbolizer *sy, struct module *m, uint64_t timeout_ns,
                                         const struct unwind_rows **out);
/* The calls in a module's code, as symbolizer_unwind. */
enum symbol_state symbolizer_calls(struct symbolizer *sy, struct module *m, const struct calls **out);
/* What the code of a function of a running JIT tells of its frames: rows by address, deduced (unwind/coderows.h), x86-64.
 * Read from the process's memory once, in the background. As symbolizer_unwind. */
enum symbol_state symbolizer_jit_rows(struct symbolizer *sy, struct module *m, uint64_t start, uint64_t size,
                                      const struct unwind_rows **out);
/* The same where no function is known: one row, for this address, by the prologue of a Java method or by the instructions
 * that come next. exact: a thread is there; else a call returns there. */
enum symbol_state symbolizer_jit_row(struct symbolizer *sy, struct module *m, uint64_t pc, bool exact,
                                     const struct unwind_rows **out);
/* Why a module has no unwind table. "" if it has one, or was not asked for it. */
void symbolizer_unwind_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);

/* Where in the source an address lies, and what was inlined there. */
struct symbol_inline {
    const char *name; /* of the function inlined; cleaned, demangled */
    const char *file; /* of the place where it was called, in the next function outwards; "": not known */
    uint32_t line;    /* 0: not known */
    uint64_t key;     /* as a symbol's, but another than that of the same function where it was not inlined */
};
struct symbol_lines {
    const char *file; /* of the address itself (innermost), "" when not known */
    uint32_t line;
    uint32_t n_inlines; /* innermost first; the function that holds them all is the symbol */
    const struct symbol_inline *inlines;
};
/* Never blocks; asks in the background. SYMBOL_NONE: no debug information covers it. Strings and the array are
 * valid until symbolizer_trim. Many addresses of one module are asked for at once. */
enum symbol_state symbolizer_lines(struct symbolizer *sy, struct module *m, uint64_t offset,
                                   struct symbol_lines *out);
/* The same without files and lines, which cost far more than the rest. SYMBOL_NONE: nothing is inlined there. Others
 * around the address are known with it. */
enum symbol_state symbolizer_inlined(struct symbolizer *sy, struct module *m, uint64_t offset,
                                     struct symbol_lines *out);

struct symbolizer_stats {
    uint32_t modules, pending, failed, worker_starts;
    uint32_t mangled;      /* names that wait to be demangled */
    bool jit_of_now;       /* names of a file's code come from what its processes tell today */
    bool kernel_hidden;    /* kptr_restrict: /proc/kallsyms has only zeros for us */
    bool kernel_foreign;   /* a file of another kernel, whose names nobody gave */
    char kernel_note[160]; /* how to mend it, or "" */
    char worker_note[200]; /* why no file is read: no worker can be confined. "": it can */
    uint32_t given_up;     /* files that took too long, or of owners whose files did */
    char fetching[128];    /* "debuginfod: libfoo.so 3.2M of 14M (2 more)"; "" */
};
void symbolizer_stats(struct symbolizer *sy, struct symbolizer_stats *out);

/* The worker's main loop over the socket `fd`: called from main when started as the worker. Never returns. */
void symbol_worker_main(int fd) __attribute__((noreturn));
/* argv[1] by which main knows that it is the worker; the socket is then descriptor 3. */
#define SYMBOL_WORKER_ARG "--symbol-worker"
/* The same for the process that fetches the debug file with this build-id; it answers on descriptor 3. */
void symbol_fetch_main(const char *id) __attribute__((noreturn));
#define SYMBOL_FETCH_ARG "--debuginfod-fetch"

#endif
