// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of interpreted programs, merged into the native stacks of live samples.
 *
 * perf/stackprobe.h copies a thread's interpreter frames at each sample; symbols/interpreter.h decodes
 * them. Each native function that runs them (an "evaluator") is replaced by the frames that it ran. Frames
 * that cannot be proven to belong together are marked as not read. Private to src/session. */
#ifndef FLAMETOP_SESSION_COLLECT_INTERPRETED_H
#define FLAMETOP_SESSION_COLLECT_INTERPRETED_H

#include "session/session_state.h"
#include "symbols/interpreter_frames.h"

enum script_state { SCRIPT_WANTED, SCRIPT_READY, SCRIPT_FAILED };

struct script_process { /* an address space that runs an interpreter */
    enum script_state state;
    uint32_t image, pid;
    const struct interpreter *of;
    char module[64];                    /* file that contains the interpreter */
    uint64_t base;                      /* address where its first bytes may be mapped */
    struct interpreter_process process; /* READY */
    uint64_t next_ns;                   /* WANTED: not before this time */
    unsigned tries;
    char why[160]; /* FAILED */
};
struct script_code {
    enum script_state state;
    uint32_t process; /* index */
    uint64_t address, ident;
    struct interpreter_code code; /* READY */
};
/* A thread that runs frames while the interpreter says that another thread is running. */
struct script_thread {
    uint32_t process, pid, tid;
    uint64_t sp;
};
#define SCRIPT_THREADS_WANTED 64

struct interpreted {
    struct stackprobe *probe; /* NULL: not opened yet, or refused */
    char refused[240];        /* why there is no probe; "": none requested, or it runs */
    uint64_t source;          /* source (count in n_sources) that the probe was attached to; 0: none */
    uint64_t unable;          /* source that cannot run the probe; 0: none */
    /* Image → index in processes + 1 (0: no interpreter), and << 32 the version that was scanned. */
    struct map images;
    VEC(struct script_process) processes;
    struct map by_code; /* hash of process, address and ident → index in codes */
    VEC(struct script_code) codes;
    size_t n_read;         /* codes from here on are not read yet */
    size_t line_bytes;     /* memory that codes hold */
    struct map lines;      /* index in codes << 32 | line → offset in MODULE_SCRIPT */
    struct map evaluators; /* native frame (module, offset) → 1: evaluator, 0: not */
    /* copied frames, owned, in ring order; NULL: moved to its sample */
    VEC(struct stackprobe_sample *) taken;
    size_t taken_first;
    struct stackprobe_sample *current; /* owned: of the current sample */
    struct script_thread threads[SCRIPT_THREADS_WANTED];
    unsigned n_threads;
    uint64_t threads_ns;     /* threads are not read before this time */
    pthread_mutex_t reading; /* serialises reading; locked after source.lock, before store.lock */
    bool wants;              /* there is something to read */
    int64_t credit_ns;       /* CPU budget for reading, as of credit_at_ns */
    uint64_t credit_at_ns;
    uint32_t cleared;        /* number of times that codes were cleared */
    uint64_t merged, unread; /* samples with evaluators; samples with frames marked as not read */
};

/* Under lock, unless a comment says otherwise. interpreted_open, interpreted_prepare and interpreted_done
 * need no lock: no other thread runs yet, or any more. */
void interpreted_open(struct session *s); /* live, unless switched off */
/* Finds interpreters of the named processes before the first source is opened, so that no sample precedes
 * the probe. */
void interpreted_prepare(struct session *s);
/* The probe for a source; NULL: none. Under source.lock. */
struct stackprobe *interpreted_probe(const struct session *s);
void interpreted_done(struct session *s);
/* Merges the interpreter's frames into a sample's user stack. Returns the number of frames (leaf first),
 * or 0: keep the native stack. native: its user stack; sp: its stack pointer. Sets *awaits if code must be
 * read first. */
uint32_t interpreted_merge(struct session *s, const struct record *r, const struct frame_owner *owner,
                           uint32_t native, uint64_t sp, bool give_up, uint32_t frames[USER_FRAMES_MAX],
                           uint32_t *awaits);
bool interpreted_waits(const struct session *s); /* something is to be read */
/* Moves the frames of the current sample, if it is that of r, to the caller, who frees them with mem_free.
 * NULL: none. */
struct stackprobe_sample *interpreted_take(struct session *s, const struct record *r);
/* interpreted_taken.c. True if the probe copied t in the thread and at the time of this record. */
bool interpreted_is_of(const struct stackprobe_sample *t, const struct record *r);
/* What the probe copied for the sample of this record; the caller frees it with mem_free. NULL: nothing. */
struct stackprobe_sample *interpreted_find(struct interpreted *in, const struct record *r);
void interpreted_drop_taken(struct interpreted *in);
/* interpreted_read.c: reads what is wanted within 1 % of a CPU. By the collector under source.lock, not
 * under lock. */
void interpreted_read(struct session *s);
/* The same for a moment without the CPU limit, by the thread that waits for names (session_settle). Not under
 * lock. */
void interpreted_settle(struct session *s);
/* For the doctor: why frames are not read, and how to fix it. False: no problem. */
bool interpreted_trouble(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);

#endif
