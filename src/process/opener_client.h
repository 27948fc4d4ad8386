// SPDX-License-Identifier: GPL-2.0-or-later
/* The client side of the opener's process, and the files that are refused for a while. Private to
 * src/process. */
#ifndef FLAMETOP_PROCESS_OPENER_CLIENT_H
#define FLAMETOP_PROCESS_OPENER_CLIENT_H

#include <sys/types.h>

#include "process/opener_serve.h"

#define OPENER_QUICK_NS UINT64_C(300000000) /* time limit for a reply, in a thread that has set none */
#define OPENER_STARVED  3                   /* limit factor while the opener waits for a CPU */
#define OPENER_MARKS    32
/* First time span for which files are refused; doubles with each further file that hangs. */
#define OPENER_REFUSE_NS UINT64_C(60000000000)

struct mark { /* files that timed out, grouped by a common property */
    uint64_t key, until_ns, last_ns;
    unsigned n, limit;
};
struct opener {          /* of one thread */
    bool running, known; /* known: registered for the end of the thread */
    int fd, stop_fd;
    pid_t pid;
    uint64_t serial, limit_ns;
    struct mark marks[OPENER_MARKS];
};

struct opener_result {
    struct opened opened;
    int fd;             /* -1: none in the reply */
    void *bytes;        /* caller's buffer for memory bytes */
    uint32_t bytes_max; /* its size */
    uint32_t bytes_n;   /* bytes received */
};
/* Sends a request and waits for its reply: 0 or errno. ETIMEDOUT: the opener did not respond and was
 * abandoned. */
int opener_transact(struct opener *o, enum opener_request_kind kind, const void *body, size_t body_n,
                    const void *more, size_t more_n, const int *fds, unsigned n_fds, struct opener_result *a);
void opener_stop(struct opener *o); /* ends its process, or abandons it */

/* opener_marks.c */
bool marks_refuse(struct opener *o, const struct opener_request *q); /* true: similar files timed out */
void marks_late(struct opener *o, const struct opener_request *q);   /* records that this file timed out */

#endif
