// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the files that a probe's FILE means: a path, files mapped by processes, a program in PATH. */
#ifndef FLAMETOP_SYMBOLS_PROBEFILES_H
#define FLAMETOP_SYMBOLS_PROBEFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/mem.h"
#include "process/opener.h"

#define PROBEFILES_MAX 256

struct probefiles_entry {
    int fd;            /* of process/opener.h */
    const char *path;  /* by which the kernel finds the file while fd is open */
    const char *shown; /* as its process names it */
    struct opened facts;
    struct opener_user user;
    char root[32]; /* of the process */
};
struct probefiles { /* zero-initialised: empty */
    VEC(struct probefiles_entry);
    struct arena strings;
};
/* replaced: of a path, also the files that were there before it was replaced, and that processes still run.
 * False: no file is meant, or it cannot be opened; e says why. */
bool probefiles_find(const char *name, bool replaced, struct probefiles *out, struct error *e);
/* All files that these processes have mapped for execution. */
void probefiles_of_processes(const pid_t *pids, size_t n, struct probefiles *out);
/* Closes the files, except those with fd -1. */
void probefiles_done(struct probefiles *files);

#endif
