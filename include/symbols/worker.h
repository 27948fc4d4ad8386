// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbol worker: a child process that parses what is not to be trusted. One request at a time over a
 * SOCK_SEQPACKET socket; files go there, and sealed memory comes back, as descriptors. */
#ifndef FLAMETOP_SYMBOLS_WORKER_H
#define FLAMETOP_SYMBOLS_WORKER_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum worker_kind {       /* fds; payload → what comes back */
    WORKER_ELF = 1,      /* the file; anything for names as perf chooses them → table */
    WORKER_ELF_DEBUG,    /* the file, its debug file; the same → table */
    WORKER_VMLINUX,      /* a vmlinux → table, by address */
    WORKER_KALLSYMS,     /* kallsyms → table */
    WORKER_JIT,          /* perf maps and jitdumps, the best last → table */
    WORKER_DEMANGLE,     /* -; names, each with its NUL → as many names, "" where it is none */
    WORKER_UNWIND,       /* the file → unwind rows, or none; its debug link, a NUL, and why there are none */
    WORKER_UNWIND_DEBUG, /* the file, its debug file → unwind rows of both, or none: the latter adds nothing; as above */
    WORKER_LINES,        /* up to 4 files; struct lines_ask → source lines (symbols/linesformat.h) */
    WORKER_CODE,         /* what has the code; struct code_ask → its instructions (symbols/codeformat.h) */
};
#define WORKER_FDS_MAX     4
#define WORKER_MESSAGE_MAX 61440 /* below any sane socket buffer */
#define WORKER_BLOB_MAX    (UINT64_C(1) << 30)

/* What goes over the socket, with the payload behind it. */
struct worker_message {
    uint32_t magic;
    uint32_t
        kind; /* request: enum worker_kind; answer: 0, or the enum error_class of the text in the payload */
    uint64_t serial;    /* the answer's is the request's; 0: "I am ready", sent once at the start */
    uint64_t blob_size; /* answer: of the descriptor that comes with it */
    uint32_t payload_n, zero;
};
#define WORKER_MAGIC 0x57535446u /* FTSW */

enum worker_result {
    WORKER_DONE,
    WORKER_REFUSED,     /* it lives, and says in the error what is wrong with the file */
    WORKER_DIED,        /* crashed, or was ended by someone */
    WORKER_LATE,        /* took longer than the limit and was ended */
    WORKER_STOPPED,     /* stop_fd became readable meanwhile */
    WORKER_UNAVAILABLE, /* cannot be started */
};

struct worker {
    const char *path; /* borrowed; NULL: /proc/self/exe */
    int stop_fd;      /* readable: give up waiting; -1: never */
    int fd;           /* -1: not running */
    pid_t pid;
    uint64_t serial, started_ns;
    unsigned starts, never_ready; /* never_ready: starts in a row that came to nothing */
    bool disassembles;            /* the first that it was asked for is code: it has the disassembler, others cannot load it */
    bool ready;                   /* it has (after its end: had) come so far as to take requests */
    bool crashed;                 /* its last end was its own fault (or its memory's), no kill from outside */
    uint64_t oom_kills;           /* of the machine, when it was started */
};
struct worker_request {
    enum worker_kind kind;
    int fds[WORKER_FDS_MAX];
    unsigned n_fds;
    const void *payload;
    size_t payload_n;
    uint64_t limit_ns; /* 0: 10 seconds; up to three times that if it had no half of it for want of a CPU */
};
struct worker_answer {
    const void *blob; /* that nobody can change: blob_free it; NULL: none */
    size_t blob_size;
    char payload[WORKER_MESSAGE_MAX];
    size_t payload_n;
};

#define WORKER_INIT                                                                                          \
    {                                                                                                        \
        .stop_fd = -1, .fd = -1                                                                              \
    }
/* Starts the worker if it does not run, asks, and waits for the answer. */
enum worker_result worker_ask(struct worker *w, const struct worker_request *r, struct worker_answer *a,
                              struct error *e);
/* For what is spawned: signals as in a fresh program, for the thread that spawns has most of them blocked. */
void worker_reset_signals(posix_spawnattr_t *attr);
/* Ends it and reaps it; it is started anew when asked again. */
void worker_end(struct worker *w);

/* The worker's side: gives up all that it does not need; never fails (what the system does not offer is left). */
void sandbox_enter(void);
void sandbox_drop_capabilities(void); /* no more than that; the user stays */

#endif
