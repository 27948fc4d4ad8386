// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbol worker: a child process that parses what is not to be trusted. One request at a time over a SOCK_SEQPACKET
 * socket. Descriptors go one way only: files, and last the memory that the worker writes its answer to. */
#ifndef FLAMETOP_SYMBOLS_WORKER_H
#define FLAMETOP_SYMBOLS_WORKER_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum worker_kind {                   /* fds; payload → what comes back */
                   WORKER_ELF = 1,   /* the file; anything for names as perf chooses them → table */
                   WORKER_ELF_DEBUG, /* the file, its debug file; the same → table */
                   WORKER_VMLINUX,   /* a vmlinux → table, by address */
                   WORKER_KALLSYMS,  /* kallsyms → table */
                   WORKER_JIT,       /* perf maps and jitdumps, the best last → table */
                   WORKER_DEMANGLE,  /* -; names, each with its NUL → as many names, "" where it is none */
                   WORKER_UNWIND, /* the file → unwind rows, or none; its debug link, a NUL, and why there are none */
                   WORKER_UNWIND_DEBUG, /* the file, its debug file → unwind rows of both, or none: the latter adds nothing; as above */
                   WORKER_LINES, /* up to 4 files; struct lines_ask → source lines (symbols/linesformat.h) */
                   WORKER_CODE, /* what has the code; struct code_ask → its instructions (symbols/codeformat.h) */
                   WORKER_CALLS, /* the file → the calls in its code (unwind/calls.h) */
                   WORKER_JIT_ROWS, /* functions made at run time; a struct worker_code for each → unwind rows, by address */
};
struct worker_code { /* sorted by address, all with pc or all without */
    uint64_t start, size;
    uint64_t
        pc; /* 0: rows of the whole function; else one row, at this address, by what comes next (unwind/codeahead.h) */
    uint64_t exact; /* with pc: a thread is there; else a call returns there */
};
#define WORKER_FDS_MAX     4
#define WORKER_MESSAGE_MAX 61440 /* below any sane socket buffer */
#define WORKER_BLOB_MAX    (UINT64_C(1) << 30)

/* What goes over the socket, with the payload behind it. */
struct worker_message {
    uint32_t magic;
    uint32_t
        kind; /* request: enum worker_kind; answer: 0, or the enum error_class of the text in the payload */
    uint64_t
        serial; /* the answer's is the request's; 0: "I am ready", sent once at the start, or (kind not 0) why not */
    uint64_t blob_size; /* answer: bytes in the memory that came with the request */
    uint32_t payload_n, zero;
};
#define WORKER_MAGIC 0x57535446u /* FTSW */

enum worker_result {
    WORKER_DONE,
    WORKER_REFUSED,     /* it lives, and says in the error what is wrong with the file */
    WORKER_DIED,        /* crashed, was ended or stopped by someone, or had no CPU */
    WORKER_LATE,        /* took longer than the limit and was ended */
    WORKER_STOPPED,     /* stop_fd became readable meanwhile */
    WORKER_UNAVAILABLE, /* cannot be started or confined */
};

#define WORKER_ABANDONED_MAX 32

struct worker {
    const char *path; /* borrowed; NULL: /proc/self/exe */
    int stop_fd;      /* readable: give up waiting; -1: never */
    int fd;           /* -1: not running */
    pid_t pid;
    uint64_t serial, started_ns;
    uint64_t answered;            /* bytes of answers in its life: it may have kept them */
    unsigned starts, never_ready; /* never_ready: starts in a row that came to nothing */
    bool
        disassembles; /* the first that it was asked for is code: it has the disassembler, others cannot load it */
    bool ready;       /* it has (after its end: had) come so far as to take requests */
    bool crashed;       /* its last end was its own fault (or its memory's), no kill from outside */
    bool stuck;         /* it could not be ended: a file system does not answer it */
    uint64_t oom_kills; /* of the machine, when it was started */
    uint64_t used_ns;   /* CPU time that the last request took; the limit, if it slept for too long */
    char refusal[200];  /* why no worker can be confined; then none is started any more. "": it can */
    pid_t abandoned[WORKER_ABANDONED_MAX]; /* killed and not gone yet */
    unsigned n_abandoned;
};
struct worker_request {
    enum worker_kind kind;
    int fds[WORKER_FDS_MAX];
    unsigned n_fds;
    const void *payload;
    size_t payload_n;
    /* Of CPU time; 0: 10 seconds. Three times that if it sleeps, ten times if it waits for a CPU. */
    uint64_t limit_ns;
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
/* Ends it and reaps it, within a second; it is started anew when asked again. */
void worker_end(struct worker *w);

/* Takes away those of the abandoned ones that the kernel has ended meanwhile. */
void worker_reap_abandoned(struct worker *w);

/* worker_process.c, for worker.c: */
/* Starts it; `first`: what it will be asked for first. */
bool worker_start(struct worker *w, enum worker_kind first, struct error *e);
/* State of its process as /proc tells it: 'R', 'S', 'D', 'T', …; 0: not known. */
char worker_state(const struct worker *w);
/* CPU time that it has taken in its life; UINT64_MAX: it has ended. */
uint64_t worker_cpu_ns(const struct worker *w);

#endif
