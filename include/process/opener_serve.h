// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to the opener, and how it serves them. Private to src/process. */
#ifndef FLAMETOP_PROCESS_OPENER_SERVE_H
#define FLAMETOP_PROCESS_OPENER_SERVE_H

#include <limits.h>
#include <stddef.h>

#include "process/opener.h"

enum opener_request_kind {
    OPENER_PATH = 1, /* path below root */
    OPENER_MODULE,   /* the file of a module */
    OPENER_PROGRAM,  /* of user.pid */
    OPENER_MEMORY,   /* of user.pid: size bytes at address; no descriptor */
    OPENER_AGAIN,    /* of the descriptor that comes with it */
    OPENER_SEND,     /* struct opener_parcel, over the first descriptor */
    OPENER_TOUCH,    /* of user.pid: the pages of size bytes at address; no descriptor */
};
struct opener_head {
    uint32_t magic, kind;
    uint64_t serial;
};
#define OPENER_MAGIC 0x4f505446u /* FTPO */

struct opener_request {
    struct opener_user user;
    bool links;
    uint64_t copy; /* not 0: in place of the file, a copy of so many bytes */
    uint64_t address, size;
    uint64_t age_ns; /* the process that is meant has run for so long */
    /* A module's: */
    uint32_t maj, min;
    uint64_t ino, ino_generation, map_start, map_end;
    bool compare; /* its bytes from `offset` on with the process's memory; EILSEQ: they differ */
    uint64_t offset;
    bool live;
    char root[PATH_MAX], path[PATH_MAX]; /* last: not sent where a request has no path */
};
/* How much of a request is sent. */
static inline size_t opener_request_size(enum opener_request_kind kind)
{
    return kind == OPENER_MEMORY || kind == OPENER_AGAIN || kind == OPENER_TOUCH
               ? offsetof(struct opener_request, root)
               : sizeof(struct opener_request);
}
struct opener_parcel { /* with the bytes behind it */
    struct rights rights[OPENER_SEND_FDS];
    uint32_t bytes_n;
};
struct opener_reply {
    struct opener_head head;
    int32_t err; /* errno; 0: done */
    struct opened opened;
    uint32_t bytes_n; /* of memory, right behind the reply */
};
#define OPENER_MEMORY_BYTES (62u << 10) /* of memory in one reply */

/* Serves one request other than OPENER_MEMORY and OPENER_SEND: 0 or errno. *fd: a descriptor that goes with
 * the answer, -1: none. confined: the process has one thread, and takes on the rights of others. */
int opener_serve(enum opener_request_kind kind, const struct opener_request *q, int given, bool confined,
                 struct opened *out, int *fd);
int opener_forward(const struct opener_parcel *p, const char *bytes, const int *fds, unsigned n_fds,
                   bool confined);

/* Serves OPENER_MEMORY: copies q->size bytes, at most OPENER_MEMORY_BYTES, to `to`. *n: how many could be
 * read. 0 or errno. */
int opener_copy_memory(const struct opener_request *q, void *to, uint32_t *n);

/* opener_touch.c: serves OPENER_TOUCH. 0 or errno. */
int opener_touch_stack(const struct opener_request *q);

/* opener_find.c: O_PATH descriptors of a module's file, by the n-th way that there is to it; -1 with
 * errno, ENOENT with *more false: there are no more ways. */
struct finding {
    const struct opener_request *q;
    const struct rights *rights; /* with which it is opened */
    struct rights here;          /* the same below our own root */
    bool confined, by_map;
};
int find_module(struct finding *f, unsigned way, bool *more);
int find_path(const struct finding *f, const char *root, const char *path, bool links);
/* 0 or errno: it is not the file that was mapped. */
int find_check(const struct finding *f, int path_fd, const struct stat *st);
/* The same of a file that is open for reading. */
int find_check_generation(const struct finding *f, int fd);

#endif
