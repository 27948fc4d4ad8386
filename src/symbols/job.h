// SPDX-License-Identifier: GPL-2.0-or-later
/* Serve one request in the worker. Private to the worker's side. */
#ifndef FLAMETOP_SYMBOLS_JOB_H
#define FLAMETOP_SYMBOLS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/worker.h"

struct job {
    struct worker_message head;
    char payload[WORKER_MESSAGE_MAX + 1]; /* head.payload_n bytes and a NUL */
    int fds[WORKER_FDS_MAX];              /* as many as the kind wants */
    unsigned n_fds;
};
struct job_reply {
    char payload[WORKER_MESSAGE_MAX];
    size_t payload_n;
    int blob_fd;        /* memory that came with the request, for the blob */
    uint64_t blob_size; /* 0: none */
};

/* Run the request by its kind. */
bool job_do(const struct job *job, struct job_reply *reply, struct error *e);
void job_let_go(void); /* closes files kept open for later requests */

#endif
