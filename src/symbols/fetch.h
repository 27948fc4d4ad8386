// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetch debug files from debuginfod servers, for shown modules without full names. Private to src/symbols.
 *
 * A separate thread fetches one file at a time, so that no local name waits for the network. The fetch itself
 * runs in a child process: libdebuginfod cannot be interrupted while it resolves a host name, and network
 * code must not run with flametop's rights. A failed fetch is not repeated in this run. */
#ifndef FLAMETOP_SYMBOLS_FETCH_H
#define FLAMETOP_SYMBOLS_FETCH_H

#include "symbols/symbolizer_state.h"

struct fetch_limits {
    uint64_t silence_ns; /* give up after this time without a byte */
    uint64_t file_ns;    /* for one file */
    uint64_t all_ns;     /* for all */
};
struct fetcher;
struct fetcher *fetch_new(const char *urls, const struct fetch_limits *limits);
void fetch_free(struct fetcher *f); /* its thread has ended; NULL is fine */

/* With the lock held: */
/* Call when the local search for the module's names is done. Requests its debug file if names are missing, or
 * notes in the module's trouble why there is none. */
void fetch_after_names(struct symbolizer *sy, struct symbol_module *mod);
bool fetch_has(const struct symbolizer *sy, const uint8_t *id, unsigned id_size);
/* Describe the fetch: "debuginfod: libfoo.so 3.2M of 14M"; "". */
void fetch_tell(const struct symbolizer *sy, char *dst, size_t cap);
void fetch_wake(struct symbolizer *sy); /* let it notice that it must stop */

/* Without the lock: */
/* Open the fetched debug file; -1: none. */
int fetch_open(struct symbolizer *sy, const uint8_t *id, unsigned id_size);
/* Request the file with this build-id, which several debug files share, for the module's source lines. True:
 * the fetch is in progress, and the lines are requested again when it ends. */
bool fetch_for_lines(struct symbolizer *sy, struct symbol_module *mod, const uint8_t *id, unsigned id_size);
/* Discard a fetched file that is of no use: treat it as missing. */
void fetch_refuse(struct symbolizer *sy, const uint8_t *id, unsigned id_size, const char *why);

/* fetch_process.c */
enum fetch_kind { FETCH_PROGRESS = 1, FETCH_DONE, FETCH_MISSING, FETCH_FAILED };
struct fetch_report { /* message of the child, one packet each */
    uint32_t magic, kind;
    uint64_t got, total; /* bytes; total 0: not known */
    char text[1024];     /* FETCH_DONE: the file's path; FETCH_FAILED: why */
};
#define FETCH_MAGIC 0x48435446u /* FTCH */
enum fetch_end { FETCH_ANSWERED, FETCH_SILENT, FETCH_LATE, FETCH_STOPPED, FETCH_DIED };
struct fetch_process {
    const char *path; /* program to run as the child; NULL: /proc/self/exe */
    const char *urls; /* separated by blanks */
    int stop_fd;      /* readable: stop at once */
    const struct fetch_limits *limits;
    void (*progress)(void *ctx, uint64_t got, uint64_t total);
    void *ctx;
};
/* Run the child for one build-id, in hexadecimal, until it reports a result or is killed. *last: its last
 * report, checked. */
enum fetch_end fetch_run(const struct fetch_process *p, const char *id, struct fetch_report *last);

/* fetch_keep.c, for root: find the path of a build-id's debug file in the cache. False: it is not there. */
bool fetch_kept(const char *id, char *path, size_t cap);
/* Copy an open file into the cache. */
bool fetch_keep(const char *id, int fd, char *path, size_t cap, struct error *e);

#endif
