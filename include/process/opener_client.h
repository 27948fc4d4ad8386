// SPDX-License-Identifier: GPL-2.0-or-later
/* The opener's process as its client sees it, and which files are not asked for any more. Private to
 * src/process. */
#ifndef FLAMETOP_PROCESS_OPENER_CLIENT_H
#define FLAMETOP_PROCESS_OPENER_CLIENT_H

#include <sys/types.h>

#include "process/opener_serve.h"

#define OPENER_ANSWER_NS UINT64_C(2000000000) /* an answer may take so long, */
#define OPENER_QUICK_NS  UINT64_C(300000000)  /* in a thread that has not set a limit; */
#define OPENER_STARVED   3                    /* so many times that if the opener waits for a CPU */
#define OPENER_MARKS     32
#define OPENER_REFUSE_NS                                                                                     \
    UINT64_C(60000000000) /* so long files are refused, twice as long with each that hangs again */

struct mark { /* files that did not answer, by what they have in common */
    uint64_t key, until_ns, last_ns;
    unsigned n, limit;
};
struct opener {          /* of one thread */
    bool running, known; /* known: to the end of the thread */
    int fd, stop_fd;
    pid_t pid;
    uint64_t serial, limit_ns;
    struct mark marks[OPENER_MARKS];
};

struct opener_answer {
    struct opened opened;
    int fd;             /* -1: none came with it */
    void *bytes;        /* where bytes of memory go; the caller's */
    uint32_t bytes_max; /* room there */
    uint32_t bytes_n;   /* bytes that came */
};
/* Sends a request and waits for its answer: 0 or errno. ETIMEDOUT: the opener does not answer, and was left
 * behind. */
int opener_transact(struct opener *o, enum opener_request_kind kind, const void *body, size_t body_n,
                    const void *more, size_t more_n, const int *fds, unsigned n_fds, struct opener_answer *a);
void opener_stop(struct opener *o); /* ends its process, or leaves it behind */

/* opener_marks.c */
bool marks_refuse(struct opener *o, const struct opener_request *q); /* others like it did not answer */
void marks_late(struct opener *o, const struct opener_request *q);   /* this one did not */

#endif
