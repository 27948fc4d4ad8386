// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to the opener and the functions that serve them. Private to src/process. */
#ifndef FLAMETOP_PROCESS_OPENER_SERVE_H
#define FLAMETOP_PROCESS_OPENER_SERVE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "process/opener.h"

enum opener_request_kind {
    OPENER_PATH = 1, /* path below root */
    OPENER_MODULE,   /* the file of a module */
    OPENER_PROGRAM,  /* of user.pid */
    OPENER_MEMORY,   /* of user.pid: size bytes at address; no descriptor */
    OPENER_AGAIN,    /* status of the descriptor that is sent along */
    OPENER_SEND,     /* struct opener_transfer, over the first descriptor */
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
    uint64_t copy; /* not 0: return a copy of this many bytes instead of the file */
    uint64_t address, size;
    uint64_t age_ns; /* least age of the process, which excludes a reused pid */
    /* For a module: */
    uint32_t maj, min;
    uint64_t ino, ino_generation, map_start, map_end;
    bool compare; /* compare the bytes from `offset` on with the process's memory; EILSEQ: they differ */
    uint64_t offset;
    bool live;
    char root[PATH_MAX], path[PATH_MAX]; /* last: not sent with requests that have no path */
};
/* Returns how many bytes of a request are sent. */
static inline size_t opener_request_size(enum opener_request_kind kind)
{
    return kind == OPENER_MEMORY || kind == OPENER_AGAIN || kind == OPENER_TOUCH
               ? offsetof(struct opener_request, root)
               : sizeof(struct opener_request);
}
struct opener_transfer { /* followed by the bytes */
    struct rights rights[OPENER_SEND_FDS];
    uint32_t bytes_n;
};
struct opener_reply {
    struct opener_head head;
    int32_t err; /* errno; 0: done */
    struct opened opened;
    uint32_t bytes_n; /* bytes of memory that follow the reply */
};
#define OPENER_MEMORY_BYTES (62u << 10) /* most memory bytes in one reply */

/* Serves one request other than OPENER_MEMORY and OPENER_SEND: 0 or errno. *fd: descriptor for the reply; -1:
 * none. confined: the process has one thread and takes on the rights of other users. */
int opener_serve(enum opener_request_kind kind, const struct opener_request *q, int given, bool confined,
                 struct opened *out, int *fd);
int opener_forward(const struct opener_transfer *p, const char *bytes, const int *fds, unsigned n_fds,
                   bool confined);

bool opener_is_path_only(int fd); /* opened with O_PATH */
/* sendmsg(2) with at most OPENER_SEND_FDS + 1 descriptors, without a SIGPIPE. */
ssize_t opener_send_message(int socket, struct iovec *parts, size_t n_parts, const int *fds, unsigned n_fds);

/* Serves OPENER_MEMORY: copies q->size bytes, at most OPENER_MEMORY_BYTES, to `to`. *n: bytes read. 0 or
 * errno. */
int opener_copy_memory(const struct opener_request *q, void *to, uint32_t *n);

/* In opener_touch.c. Serves OPENER_TOUCH: 0 or errno. *spent_ns: CPU time. */
int opener_touch_stack(const struct opener_request *q, uint64_t *spent_ns);

/* In beneath.c. Returns an O_PATH descriptor for a path of any file type: it does not block on a FIFO or act
 * on a device. links: follow symbolic links, as if the folder `dir` were the root. -1 with errno. */
int beneath_open(int dir, const char *path, bool links);

/* In opener_find.c. find_module opens a module's file by the n-th method, as an O_PATH descriptor. -1 with
 * errno; ENOENT with *more false: no methods are left. */
struct finding {
    const struct opener_request *q;
    const struct rights *rights; /* used to open it */
    struct rights here;          /* rights to use below flametop's own root */
    bool confined, by_map;
};
int find_module(struct finding *f, unsigned way, bool *more);
int find_path(const struct finding *f, const char *root, const char *path, bool links);
/* 0 or errno: not the file that was mapped. */
int find_check(const struct finding *f, int path_fd, const struct stat *st);
/* Same for a file that is open for reading. */
int find_check_generation(const struct finding *f, int fd);

#endif
