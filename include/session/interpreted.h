// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of interpreted programs, merged into the native stacks of live samples.
 *
 * perf/stackprobe.h copies a thread's frames when a sample is taken, symbols/interpreter.h knows what they mean. Here the two
 * meet the native stack: each native function that runs frames ("evaluator") is replaced by the frames that it ran. What cannot
 * be proven to belong together is marked as not read. Private to src/session. */
#ifndef FLAMETOP_SESSION_INTERPRETED_H
#define FLAMETOP_SESSION_INTERPRETED_H

#include "session/state.h"
#include "symbols/interpreter.h"

enum script_state { SCRIPT_WANTED, SCRIPT_READY, SCRIPT_FAILED };

struct script_process { /* an address space that runs an interpreter */
    enum script_state state;
    uint32_t image, pid;
    const struct interpreter *of;
    char module[64];                    /* the file that holds the interpreter … */
    uint64_t base;                      /* … and where its first bytes may be */
    struct interpreter_process process; /* READY */
    uint64_t next_ns;                   /* WANTED: not before */
    unsigned tries;
    char why[160]; /* FAILED */
};
struct script_code {
    enum script_state state;
    uint32_t process; /* index */
    uint64_t address, ident;
    struct interpreter_code code; /* READY */
};
struct script_thread { /* that runs frames, while the interpreter calls another one the running one */
    uint32_t process, pid, tid;
    uint64_t sp;
};
#define SCRIPT_THREADS_WANTED 64

struct interpreted {
    struct stackprobe *probe; /* NULL: not opened yet, or refused */
    char refused[240];        /* why there is no probe; "": nobody asked for one, or there is */
    uint64_t source;          /* of n_sources, in which it runs; 0: in none */
    struct map
        images; /* image → index in processes + 1 (0: none runs there), and << 32 the version that was looked at */
    struct script_process *processes;
    size_t n_processes, processes_cap;
    struct map by_code; /* hash of process, address and ident → index in codes */
    struct script_code *codes;
    size_t n_codes, codes_cap;
    size_t n_read;                    /* codes from here on are not read yet */
    size_t line_bytes;                /* that codes hold */
    struct map lines;                 /* index in codes << 32 | line → offset in MODULE_SCRIPT */
    struct map evaluators;            /* module and offset of a native frame → 1: an evaluator, 0: not */
    struct stackprobe_sample **taken; /* owned, in the order of the ring; NULL: a sample has it */
    size_t taken_first, n_taken, taken_cap;
    struct stackprobe_sample *current; /* owned: of the sample at hand */
    struct script_thread threads[SCRIPT_THREADS_WANTED];
    unsigned n_threads;
    uint64_t threads_ns;     /* threads are not looked at before */
    pthread_mutex_t reading; /* one thread reads at a time; taken before the session's lock */
    bool wants;              /* there is something to read */
    int64_t credit_ns;       /* for reading, as of credit_at_ns */
    uint64_t credit_at_ns;
    uint32_t cleared; /* how often codes were forgotten */
    uint64_t merged,
        unread; /* samples with evaluators, and those of them with frames that are marked as not read */
};

/* All under lock, but for interpreted_read. */
void interpreted_open(struct session *s); /* live, and not switched off */
/* Before the first source is opened: interpreters of the processes that were named, so that no sample comes before the probe. */
void interpreted_prepare(struct session *s);
int interpreted_program(const struct session *s); /* the BPF program for a source; 0: none */
void interpreted_done(struct session *s);
/* The frames of a sample's merged user stack, leaf first; their number, 0: the native stack stays. native: its user stack; sp:
 * its stack pointer. *awaits: set where code is still to be read. */
uint32_t interpreted_merge(struct session *s, const struct record *r, const struct frame_owner *owner,
                           uint32_t native, uint64_t sp, bool give_up, uint32_t *frames, uint32_t cap,
                           uint32_t *awaits);
bool interpreted_waits(const struct session *s); /* something is to be read */
/* The frames of the sample at hand, for a sample that is put aside: taken over by the caller. NULL: none. */
struct stackprobe_sample *interpreted_take(struct session *s, const struct record *r);
/* interpreted_taken.c: what the probe copied for the sample of this record; owned. NULL: nothing. */
bool interpreted_is_of(const struct stackprobe_sample *t, const struct record *r);
struct stackprobe_sample *interpreted_find(struct interpreted *in, const struct record *r);
void interpreted_drop_taken(struct interpreted *in);
/* interpreted_read.c: not under lock, by the collector under source_lock: reads what is wanted, within 1 % of a CPU. */
void interpreted_read(struct session *s);
/* The same by another thread, when what was sampled is to be written: whatever it takes. */
void interpreted_settle(struct session *s);
/* For the doctor: why frames are not read, and what to do; false: nothing is wrong. */
bool interpreted_trouble(const struct session *s, char *what, size_t what_cap, char *mend, size_t mend_cap);

#endif
