// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbol worker: a child process that parses untrusted files.
 * It serves one request at a time over a SOCK_SEQPACKET socket. Descriptors are only sent to the worker: the
 * files, then the memory that it writes its reply to. */
#ifndef FLAMETOP_SYMBOLS_WORKER_H
#define FLAMETOP_SYMBOLS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Kind of a request. Each line: descriptors; payload → reply. */
enum worker_kind {
    WORKER_ELF = 1,   /* the file; any byte: names as perf chooses them → table */
    WORKER_ELF_DEBUG, /* the file, its debug file; the same → table */
    WORKER_VMLINUX,   /* a vmlinux → table, by address */
    WORKER_KALLSYMS,  /* kallsyms → table */
    WORKER_JIT,       /* perf maps and jitdumps, the best last → table */
    /* -; names, each with its NUL → as many names, "" where a name cannot be demangled. */
    WORKER_DEMANGLE,
    /* The file → unwind rows, or none. Payload: its debug link, a NUL, and why there are none. */
    WORKER_UNWIND,
    /* The file, its debug file → unwind rows of both, or none if the debug file adds nothing. Payload as
     * above. */
    WORKER_UNWIND_DEBUG,
    /* Up to 4 files; struct lines_ask → source lines (symbols/linesformat.h). */
    WORKER_LINES,
    /* The file with the code; struct code_ask → its instructions (symbols/codeformat.h). */
    WORKER_CODE,
    WORKER_CALLS, /* the file → the calls in its code (unwind/calls.h) */
    /* Functions generated at run time; a struct worker_code for each → unwind rows, by address. */
    WORKER_JIT_ROWS,
    /* The file, its debug file; struct probefile_ask → locations of probes (symbols/probeformat.h). */
    WORKER_PROBE,
};
/* Sorted by address; pc is set in all of them or in none. */
struct worker_code {
    uint64_t start, size;
    /* 0: rows of the whole function. Else one row, at this address, deduced from the instructions that follow
     * (unwind/codeahead.h). */
    uint64_t pc;
    uint64_t exact; /* with pc: a thread is there; else a call returns there */
};
#define WORKER_FDS_MAX     4
#define WORKER_MESSAGE_MAX 61440 /* below any sane socket buffer */
#define WORKER_BLOB_MAX    (UINT64_C(1) << 30)

/* What the socket carries, followed by the payload. */
struct worker_message {
    uint32_t magic;
    /* Request: enum worker_kind. Reply: 0, or the enum error_class of the text in the payload. */
    uint32_t kind;
    /* The reply repeats the request's. 0: sent once at the start, "I am ready", or (kind not 0) why not. */
    uint64_t serial;
    uint64_t blob_size; /* reply: bytes in the memory that came with the request */
    uint32_t payload_n, zero;
};
#define WORKER_MAGIC 0x57535446u /* FTSW */

enum worker_result {
    WORKER_DONE,
    WORKER_REFUSED,     /* alive; the error says what is wrong with the file */
    WORKER_DIED,        /* crashed, was killed or stopped, or had no CPU */
    WORKER_LATE,        /* exceeded the limit and was killed */
    WORKER_STOPPED,     /* stop_fd became readable meanwhile */
    WORKER_UNAVAILABLE, /* cannot be started or confined */
};

#define WORKER_ABANDONED_MAX 32

struct worker {
    const char *path; /* borrowed; NULL: /proc/self/exe */
    int stop_fd;      /* readable: stop waiting; -1: never */
    int fd;           /* -1: not running */
    pid_t pid;
    uint64_t serial, started_ns;
    /* Bytes of all its replies; the worker may have kept them. */
    uint64_t answered;
    unsigned starts, never_ready; /* never_ready: starts in a row that failed */
    /* Its first request was for code, so it loaded the disassembler; later it cannot. */
    bool disassembles;
    bool ready; /* takes requests now (or did before its end) */
    /* It died by its own fault (or out of memory), not by a signal from outside. */
    bool crashed;
    /* It cannot be killed: a file system does not respond. */
    bool stuck;
    uint64_t oom_kills; /* of the system, when it was started */
    /* CPU time of the last request; the limit, if it slept for too long. */
    uint64_t used_ns;
    /* Why no worker can be confined; then none is started any more. "": it can be confined. */
    char refusal[200];
    pid_t abandoned[WORKER_ABANDONED_MAX]; /* killed, not reaped yet */
    unsigned n_abandoned;
};
struct worker_request {
    enum worker_kind kind;
    int fds[WORKER_FDS_MAX];
    unsigned n_fds;
    const void *payload;
    size_t payload_n;
    /* CPU time; 0: 10 seconds. Three times as much wall time if it sleeps, ten times if it waits for a
     * CPU. */
    uint64_t limit_ns;
};
struct worker_reply {
    const void *blob; /* sealed against changes; free with blob_free; NULL: none */
    size_t blob_size;
    char payload[WORKER_MESSAGE_MAX];
    size_t payload_n;
};

#define WORKER_INIT                                                                                          \
    {                                                                                                        \
        .stop_fd = -1, .fd = -1                                                                              \
    }
/* Send a request to the worker, which is started if it is not running, and wait for the reply. */
enum worker_result worker_ask(struct worker *w, const struct worker_request *r, struct worker_reply *a,
                              struct error *e);
/* Kill and reap the worker, within a second. The next request starts it anew. */
void worker_end(struct worker *w);

/* Reap the abandoned workers that have ended meanwhile. */
void worker_reap_abandoned(struct worker *w);

/* worker_process.c, for worker.c: */
/* Start the worker; `first`: the kind of its first request. */
bool worker_start(struct worker *w, enum worker_kind first, struct error *e);
/* Return the state of its process from /proc: 'R', 'S', 'D', 'T', …; 0: not known. */
char worker_state(const struct worker *w);

#endif
