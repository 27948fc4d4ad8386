// SPDX-License-Identifier: GPL-2.0-or-later
/* Debug files from debuginfod servers, for modules that are shown and have no full names. Private to src/symbols.
 *
 * A thread of its own fetches, one file at a time: the network is never between anybody and a name that is at hand. The
 * fetching itself is a child process, for libdebuginfod cannot be interrupted while it resolves a host's name, and the
 * network has no business in a process with our rights. What has failed is not asked for again in this run. */
#ifndef FLAMETOP_SYMBOLS_FETCH_H
#define FLAMETOP_SYMBOLS_FETCH_H

#include "symbols/state.h"

struct fetch_limits {
    uint64_t silence_ns; /* without a byte: given up */
    uint64_t file_ns;    /* for one file */
    uint64_t all_ns;     /* for all */
};
struct fetcher;
struct fetcher *fetch_new(const char *urls, const struct fetch_limits *limits);
void fetch_free(struct fetcher *f); /* its thread has ended; NULL is fine */

/* With the lock held: */
/* The module's names have been looked for on this machine: wants its debug file if they are not all there, or says in
 * the module's trouble why there is none. */
void fetch_after_names(struct symbolizer *sy, struct mod *mod);
bool fetch_has(const struct symbolizer *sy, const uint8_t *id, unsigned id_size);
unsigned fetch_pending(const struct symbolizer *sy); /* wanted or under way */
void fetch_tell(const struct symbolizer *sy, char *dst,
                size_t cap);            /* "debuginfod: libfoo.so 3.2M of 14M"; "" */
void fetch_wake(struct symbolizer *sy); /* to see that it is to stop */

/* Without the lock: */
int fetch_open(struct symbolizer *sy, const uint8_t *id,
               unsigned id_size); /* the debug file that came; -1: none */
/* The module's source lines want the file with that build-id, which several debug files share. True: it is on its way, and
 * they are asked for again when that has come to an end. */
bool fetch_for_lines(struct symbolizer *sy, struct mod *mod, const uint8_t *id, unsigned id_size);
/* What came is of no use, and is as good as nothing. */
void fetch_refuse(struct symbolizer *sy, const uint8_t *id, unsigned id_size, const char *why);

/* fetch_process.c */
enum fetch_kind { FETCH_PROGRESS = 1, FETCH_DONE, FETCH_MISSING, FETCH_FAILED };
struct fetch_report { /* what the child sends, in one piece each */
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
/* Runs the child for one build-id, in hexadecimal, until it answers or is ended. *last: its last report, checked. */
enum fetch_end fetch_run(const struct fetch_process *p, const char *id, struct fetch_report *last);

/* fetch_keep.c, for root: the path of a build-id's debug file in the cache; false: it is not there. */
bool fetch_kept(const char *id, char *path, size_t cap);
/* Copies an open file there. */
bool fetch_keep(const char *id, int fd, char *path, size_t cap, struct error *e);

#endif
