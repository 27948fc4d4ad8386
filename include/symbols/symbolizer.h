// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol names for (module, offset): requests them from the worker process, caches them, never waits.
 * Thread-safe. */
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
    SYMBOL_PENDING, /* not known yet: look up again when the generation changes */
    SYMBOL_FOUND,
    SYMBOL_NONE, /* the module has no name for it: show module+0xoffset */
};
/* Classes for flame colours. */
enum symbol_class {
    SYMBOL_CLASS_USER,
    SYMBOL_CLASS_CXX,
    SYMBOL_CLASS_RUST,
    SYMBOL_CLASS_KERNEL,
    SYMBOL_CLASS_JIT,
    SYMBOL_CLASS_INLINED,
    SYMBOL_CLASS_UNKNOWN, /* no name, [broken], [unknown] */
    /* leaf frames of waits, by reason */
    SYMBOL_CLASS_WAIT_LOCK,
    SYMBOL_CLASS_WAIT_DISK, /* and what makes memory available from it */
    SYMBOL_CLASS_WAIT_IO,   /* pipes, sockets, queues, io_uring */
    SYMBOL_CLASS_WAIT_IDLE, /* for work */
    SYMBOL_CLASS_WAIT_OTHER,
    SYMBOL_CLASS_RUNNABLE,
    SYMBOL_CLASSES,
};
extern const char *const symbol_class_names[SYMBOL_CLASSES]; /* for legends */

struct symbol {
    enum symbol_state state;
    enum symbol_class class;
    /* Cleaned, and demangled once that is done; valid until symbolizer_trim; never NULL. Without a name:
     * "libfoo.so+0x1234" (the function's start, if the unwind table has it), "[broken]", "[truncated: …]",
     * "[unknown] 0x…". */
    const char *name;
    uint64_t start, size; /* in the module's offsets; 0 when unknown */
    /* Stable identity of (module name, symbol): the same in every run and file. */
    uint64_t key;
    bool idle;    /* a kernel function in which CPUs idle, or a frame of waiting for work */
    bool mangled; /* the name may change when the generation changes */
};

struct symbolizer_config {
    bool live; /* kernel names of this machine may be used freely */
    /* Root below which files of a perf.data are searched; NULL: none. */
    const char *symfs;
    const char *kallsyms; /* NULL: /proc/kallsyms */
    /* File of the profile's kernel, preferred to all others; NULL: none was named. */
    const char *vmlinux;
    /* The perf.data is from another machine, or does not say from which. Files of this machine are used only
     * if their build-ids match, or if they are the very files that were mapped. */
    bool other_machine;
    uint8_t kernel_build_id[20]; /* of a perf.data's kernel */
    unsigned kernel_build_id_size;
    /* Time of recording (CLOCK_BOOTTIME) of a perf.data from this machine since its boot; 0: from elsewhere,
     * or earlier. What its processes say about their code today is used for it. */
    uint64_t recorded_ns;
    /* JIT names from the file: a module's epoch - 1 is an index; borrowed. */
    const struct jit_epoch *epochs;
    /* Symbols that the recording tool put into the file, preferred to others; borrowed. */
    const struct supplied_symbols *embedded;
    uint32_t n_epochs;
    /* Symbols supplied with the profile (symbols/supplied.h), preferred to all others; borrowed. */
    const struct supplied_symbols *supplied;
    bool keep_tables;        /* on disk, for the next start (symbols/cache.h) */
    bool as_perf;            /* choose names as perf does, with symbol versions */
    const char *worker_path; /* program to run as the worker; NULL: /proc/self/exe */
    /* URLs of debuginfod servers, separated by blanks, for symbolizer_fetch; NULL: none. */
    const char *debuginfod;
    /* A fetch is given up after this time without a byte; 0: 20 seconds. */
    uint64_t fetch_silence_ns;
};

struct symbolizer;
struct symbolizer *symbolizer_new(const struct symbolizer_config *cfg, struct error *e);
/* Run the resolver thread until symbolizer_stop: opens files and sends requests to the worker. Restarts the
 * worker when it dies, at most a bounded number of times per module. */
void symbolizer_run(struct symbolizer *sy);
/* Run the fetcher thread, if there are debuginfod servers, until symbolizer_stop: fetches the debug files of
 * modules whose names were requested and are not all on this machine. */
void symbolizer_fetch(struct symbolizer *sy);
bool symbolizer_can_fetch(void); /* whether this build can */
void symbolizer_stop(struct symbolizer *sy);
void symbolizer_free(struct symbolizer *sy);

/* Look up a name, requesting it in the background if need be. Fast: blocks only on its own short lock. */
void symbolizer_lookup(struct symbolizer *sy, struct module *m, uint64_t offset, struct symbol *out);
uint32_t symbolizer_generation(const struct symbolizer *sy); /* changes when there are new names */
/* Return the generation at which addresses in a module last got other names. Names that are neither pending
 * nor mangled need no new lookup until it changes. */
uint32_t symbolizer_changed(struct symbolizer *sy, const struct module *m);
/* Report that kernel modules were loaded or unloaded: names outside the core are read again when they are
 * needed. */
void symbolizer_kernel_modified(struct symbolizer *sy);
/* Return a number that changes when offsets without lines may have some now. */
uint32_t symbolizer_lines_changed(const struct symbolizer *sy);
/* Wait until nothing is pending, or for the timeout. True if nothing is pending (for batch and export). */
bool symbolizer_settle(struct symbolizer *sy, uint64_t timeout_ns);
/* Wait for debuginfod alone, which symbolizer_settle does not wait for. Settle the fetched names
 * afterwards. */
bool symbolizer_settle_fetches(struct symbolizer *sy, uint64_t timeout_ns);
/* Forget modules without a mark and, when names use too much memory, all names: every earlier struct symbol
 * is then invalid. keep[id]: a byte per module id. */
void symbolizer_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep);
/* Return the size of a module's build-id, as the worker read it (or as known); 0: unknown. Never waits. */
unsigned symbolizer_build_id(struct symbolizer *sy, struct module *m, uint8_t id[20]);
/* Request the module's table although no name is wanted (for its build-id). */
void symbolizer_request(struct symbolizer *sy, struct module *m);

/* Return the offset in MODULE_SCRIPT of an interpreted frame with this name, "f (file.py:12)"; equal names
 * have the same offset. The text is cleaned and kept until the symbolizer ends. Names beyond a limit share
 * one offset. */
uint64_t symbolizer_script(struct symbolizer *sy, const char *name);
/* Copy the text of such an offset; "": there is none. */
void symbolizer_script_text(struct symbolizer *sy, uint64_t offset, char *dst, size_t cap);

/* Note that a process has mapped this jitdump. It names the code after the process has ended. ino 0: not
 * known. */
void symbolizer_jit_dump(struct symbolizer *sy, uint32_t pid, const char *path, uint64_t ino);
/* Refresh a MODULE_JIT of a live profile, whose code goes on changing: request its names, or check for more
 * of them. now: at once; else only after enough time since the last check. */
void symbolizer_refresh(struct symbolizer *sy, struct module *m, bool now);
/* List JIT modules with code whose name has changed. They keep their old names until symbolizer_renew.
 * Returns the number in `modules`, at most cap. */
uint32_t symbolizer_renamed(struct symbolizer *sy, uint32_t *modules, uint32_t cap);
/* Whether any code at these n sampled offsets has another name now. If not, the module gets the new names. */
bool symbolizer_differs(struct symbolizer *sy, struct module *m, const uint64_t *offsets, size_t n);
/* Freeze the names of `m` at these offsets (code without a name gets the new one). `next`, which replaces it
 * in the process, has the new names. next NULL: its code does not run any more. */
void symbolizer_renew(struct symbolizer *sy, struct module *m, struct module *next, const uint64_t *offsets,
                      size_t n);

/* Return a JIT's dated table, from its jitdump, if it has changed and code in it was replaced; else NULL.
 * When it is returned with symbolizer_dated_done, the module gets the current names. Times are those of
 * CLOCK_MONOTONIC. */
struct symbol_table;
struct symbol_table *symbolizer_dated(struct symbolizer *sy, struct module *m);
void symbolizer_dated_done(struct symbolizer *sy, struct module *m, struct symbol_table *t);
/* other code was there before */
bool symbolizer_replaced(const struct symbol_table *t, uint64_t offset);
/* Return when the code that was there at that time was renamed or removed; UINT64_MAX: it still has this
 * name. */
uint64_t symbolizer_named_until(const struct symbol_table *t, uint64_t offset, uint64_t time_ns);
/* Give `past`, which does not belong to its process any more, the names that its code at these offsets had at
 * that time. */
void symbolizer_keep_dated(struct symbolizer *sy, struct module *past, const struct symbol_table *t,
                           uint64_t time_ns, const uint64_t *offsets, size_t n);

/* Say why a module has no names, for the doctor: "stripped, no debug file", "no /tmp/perf-123.map". "" if it
 * has. */
void symbolizer_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);
/* Say why its source lines and inlined functions cannot be read although it has debug information. "" if they
 * can. */
void symbolizer_lines_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);
/* Get the Debian package with its debug symbols, "coreutils-dbgsym". Looked up in the background on first
 * request. */
enum symbol_state symbolizer_package(struct symbolizer *sy, struct module *m, char *dst, size_t cap);
/* Get the module's unwind table, requesting it in the background if need be. Never blocks. *out is valid
 * until symbolizer_trim drops the module. NULL in *out: pending, or there is none. */
enum symbol_state symbolizer_unwind(struct symbolizer *sy, struct module *m, const struct unwind_rows **out);
/* Get the unwind table and wait for it (when loading a file: no screen waits for this thread). */
enum symbol_state symbolizer_unwind_wait(struct symbolizer *sy, struct module *m, uint64_t timeout_ns,
                                         const struct unwind_rows **out);
/* Get the calls in a module's code, as symbolizer_unwind. */
enum symbol_state symbolizer_calls(struct symbolizer *sy, struct module *m, const struct calls **out);
/* Get unwind rows for a function of a running JIT: rows by address, deduced from its code
 * (unwind/coderows.h), x86-64. The code is read from the process's memory once, in the background. As
 * symbolizer_unwind. */
enum symbol_state symbolizer_jit_rows(struct symbolizer *sy, struct module *m, uint64_t start, uint64_t size,
                                      const struct unwind_rows **out);
/* Get one unwind row where no function is known, for this address, deduced from the prologue of a Java method
 * or the instructions that follow. exact: a thread is there; else a call returns there. */
enum symbol_state symbolizer_jit_row(struct symbolizer *sy, struct module *m, uint64_t pc, bool exact,
                                     const struct unwind_rows **out);
/* Say why a module has no unwind table. "" if it has one, or if it was never requested. */
void symbolizer_unwind_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap);

/* Source line of an address, and the functions inlined there. */
struct symbol_inline {
    const char *name; /* of the inlined function; cleaned, demangled */
    /* File of the call site, in the next outer function; "": not known. */
    const char *file;
    uint32_t line; /* 0: not known */
    /* Like a symbol's key, but different from the key of the same function when it is not inlined. */
    uint64_t key;
};
struct symbol_lines {
    const char *file; /* of the address itself (innermost), "" when not known */
    uint32_t line;
    /* Innermost first. The outermost function is the symbol, which is not in the array. */
    uint32_t n_inlines;
    const struct symbol_inline *inlines;
};
/* Get the source line, in the background; never blocks. SYMBOL_NONE: no debug information covers the offset.
 * Strings and the array are valid until symbolizer_trim. Requests of one module are batched. */
enum symbol_state symbolizer_lines(struct symbolizer *sy, struct module *m, uint64_t offset,
                                   struct symbol_lines *out);
/* Get only the inlined functions, without files and lines, which cost far more. SYMBOL_NONE: nothing is
 * inlined there. Neighbouring addresses become known with it. */
enum symbol_state symbolizer_inlined(struct symbolizer *sy, struct module *m, uint64_t offset,
                                     struct symbol_lines *out);

struct symbolizer_stats {
    uint32_t modules, pending, failed, worker_starts;
    uint32_t mangled; /* names waiting to be demangled */
    /* Names of a file's code are what its processes say about it today. */
    bool jit_of_now;
    bool kernel_hidden;    /* kptr_restrict: /proc/kallsyms has only zeros */
    bool kernel_foreign;   /* a file of another kernel, with no names supplied */
    char kernel_note[160]; /* how to fix it, or "" */
    /* Why no file is read: no worker can be confined. "": files are read. */
    char worker_note[200];
    uint32_t given_up;  /* files that took too long, or of owners whose files did */
    char fetching[128]; /* "debuginfod: libfoo.so 3.2M of 14M (2 more)"; "" */
};
void symbolizer_stats(struct symbolizer *sy, struct symbolizer_stats *out);

/* Run the worker's main loop over the socket `fd`, called from main when started as the worker. Never
 * returns. */
void symbol_worker_main(int fd) __attribute__((noreturn));
/* argv[1] that starts the worker; its socket is descriptor 3. */
#define SYMBOL_WORKER_ARG "--symbol-worker"
/* Run the process that fetches the debug file with this build-id; it reports on descriptor 3. */
void symbol_fetch_main(const char *id) __attribute__((noreturn));
#define SYMBOL_FETCH_ARG "--debuginfod-fetch"

#endif
