// SPDX-License-Identifier: GPL-2.0-or-later
/* Time off the CPU, as samples of the event off-cpu (perf/event.h). All functions: under the store's lock,
 * by the collector. */
#ifndef FLAMETOP_SESSION_COLLECT_OFFCPU_H
#define FLAMETOP_SESSION_COLLECT_OFFCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "perf/payload.h"
#include "perf/record.h"
#include "process/wait_reason.h"
#include "process/waker.h"
#include "profile/cpu_runs.h"
#include "profile/history.h"
#include "profile/wait_summary.h"
#include "profile/waits.h"

struct perf_event_attr;
struct session;
struct stack_result;

/* Waits of a thread with equal stacks that ended since the last flush. */
struct offcpu_part {
    uint64_t from_ns, to_ns, weight_ns, stack; /* stack: as in waits.h */
    uint64_t max_ns, sum_ns;                   /* as in wait_summary.h */
    uint32_t ends;                             /* index in `ends` plus one, of the last; 0: none */
    uint32_t thread, cpu;
    enum thread_state state;
    struct offcpu_waker {
        bool told; /* false: a sample of off-cpu, not of wakers */
        /* WAKER_UNKNOWN: `thread`, or an interrupt, as the stack may tell. WAKER_INTERRUPT: as the kernel
         * says; the stack may tell which. Or one of a wait for a CPU. */
        enum waker kind;
        uint32_t thread;
        uint64_t stack; /* kept_stack.h */
    } waker;
};

/* Waits of a part that ended after about the same time. */
struct offcpu_end {
    uint32_t bucket, count; /* see profile/durations.h */
    uint32_t before;        /* another one of the part: as offcpu_part.ends */
};

/* A long wait without a stack, and what /proc said of it. */
struct offcpu_named {
    struct waits_open open;
    uint64_t time_ns; /* when it was read */
    enum thread_state state;
    enum wait_reason reason;
};
#define OFFCPU_NAMED_MAX 32

/* A thread that waits, as /proc says. */
struct offcpu_found {
    struct waits_at at;
    enum thread_state state; /* THREAD_RUNNABLE: or it runs */
    enum wait_reason reason;
};
struct session_offcpu {
    bool scan_wanted; /* for threads that wait already */
    bool scan_again;  /* records were lost */
    bool runs;        /* the event is sampled, under this number: */
    uint32_t event;
    uint32_t wakers;           /* the event wakers, if its samples are made; else 0 */
    struct offcpu_waker waker; /* who wakes a thread at this moment */
    uint32_t running;          /* the event of times on the CPU, which is never listed; 0: none */
    struct waits waits;
    struct cpu_runs cpu_runs;
    uint64_t begun_ns, reported_ns, checked_ns;
    uint64_t scan_after_ns;         /* the next scan for scan_again */
    VEC(struct offcpu_found) found; /* by a scan, in the order of time */
    size_t n_applied;               /* of `found`, by offcpu_apply_found */
    uint64_t named_ns;              /* the last offcpu_name */
    struct offcpu_named named[OFFCPU_NAMED_MAX];
    uint32_t n_named;
    uint64_t stacks[2];   /* samples of off-cpu and of wakers so far */
    char unseen_comm[64]; /* cleaned; of the last thread whose switches were found to be hidden */
    struct offcpu_tracepoint {
        struct payload_format *format; /* NULL: not readable, or not in the file */
        int32_t tid;                   /* field next_pid of sched_switch, pid of sched_waking; -1: none */
        int32_t state;                 /* field prev_state of sched_switch; -1: none */
        int32_t flags;                 /* field common_flags; -1: none */
        uint32_t event;                /* of a file: the event of the session whose samples have it */
    } leave, wake;                     /* sched_switch; sched_waking */
    VEC(struct offcpu_part) parts;
    VEC(struct offcpu_end) ends;
    struct map index;         /* thread, state and stack → index in parts */
    struct map index_of_ends; /* index in parts << 32 | bucket → index in ends */
    struct map runners;       /* name of a cpu_thread → a thread that has it, of the present parts */
    struct map reasons;       /* stack → enum wait_reason */
    struct map interrupts;    /* stack of a waker → what wakers.c knows of it */
};

/* A field of a tracepoint's sample. False: the sample does not have it; *number is 0. */
static inline bool offcpu_number(const struct offcpu_tracepoint *t, int32_t field, const struct record *r,
                                 uint64_t *number)
{
    struct payload payload = { .format = t->format, .raw = r->sample.raw, .size = r->sample.raw_size };
    bool has = t->format && field >= 0 && payload_has(&payload, field);
    *number = has ? payload_number(&payload, field) : 0;
    return has;
}

/* Right after the events of a source were adopted: follows its event off-cpu, if it has one. Waits that are
 * open go on if the source before had it too. */
void offcpu_adopt(struct session *s);
/* Forgets open waits: the scope has changed, or records are missing because the source before was closed
 * first. */
void offcpu_restart(struct session *s);
/* offcpu_scan.c: after a restart or a loss of records, finds the threads of the scope that wait already.
 * Under source.lock, not under lock. */
void offcpu_scan(struct session *s);
/* Before each record and after a drain: applies what the scan found until now_ns. Later it would be wrong:
 * a thread may have gone on since. */
void offcpu_apply_found(struct session *s, uint64_t now_ns);
/* Of the longest open waits whose stacks were not sampled, once a second: reads from /proc what they wait
 * for. Under source.lock, not under lock. */
void offcpu_name(struct session *s);
/* Applies it to waits that are still open. All records until now_ns were applied. */
void offcpu_apply_names(struct session *s, uint64_t now_ns);
/* offcpu_check.c: once per half a second, or at the end, compares long waits for a CPU with /proc. All
 * records until now_ns were applied. Under source.lock and lock, which is unlocked meanwhile. */
void offcpu_check(struct session *s, uint64_t now_ns, bool final);
/* The wait that a thread is in, from the part that was not reported yet. False: it runs, or is not known. */
bool offcpu_open_wait(struct session *s, uint32_t tid, uint64_t *since_ns, enum wait_reason *reason);
/* A sample whose stack is known. False: it is of another event. */
bool offcpu_sample(struct session *s, const struct record *r, const struct sample *sample,
                   const struct stack_result *stack);
/* wakers.c: a sample of the event wakers. False: it is of another event. */
bool offcpu_wake(struct session *s, const struct record *r);
/* A thread on a CPU; time_ns: when it came. tid 0: the idle task; CPU_UNSEEN: not known. */
struct cpu_thread wakers_cpu_thread(const struct session *s, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* A switch record: follows who runs on the CPU. */
void wakers_follow_cpu(struct session *s, const struct record *r);
/* A sample of sched_waking by this thread and stack (kept_stack.h). */
void wakers_wake(struct session *s, const struct record *r, uint32_t thread, uint64_t stack);
/* False: names that tell who the waker is are not read yet. */
bool wakers_known(struct session *s, const struct offcpu_waker *waker);
/* Returns `stack`, that of a wait, with the waker's on top. *kind: what the waker is. */
uint32_t wakers_stack(struct session *s, const struct offcpu_waker *waker, uint32_t stack, enum waker *kind);
/* Appends a sample of wakers, whose payload says the waker: profile/wait_summary.h. Returns its number. */
uint64_t wakers_append(struct session *s, const struct sample *sample, const struct wait_summary *summary,
                       enum waker kind, uint32_t thread);
/* Of a file: puts the waker's stack on that of the wait, with its reason, and appends the sample. Returns its
 * number. */
uint64_t wakers_load(struct session *s, const struct record *r, struct sample *sample);
/* The waker's thread by a sample and its payload; 0: none, or it is a sample of another event. */
uint32_t wakers_thread(const struct session *s, const struct sample *sample, const void *raw, uint32_t size);
/* For bounds.c: threads get new numbers. */
void wakers_renumber(const struct session *s, const struct sample *sample, const uint32_t *new_thread);
/* kernel_names.c: the names of at most `most` kernel functions of a stack, innermost first, valid as long
 * as the symbolizer. False: not all are read yet. */
bool kernel_names_of(struct session *s, uint32_t stack, size_t most, const char **names, size_t *n);
/* Any other record, before the world applies it. */
void offcpu_record(struct session *s, const struct record *r);
/* Appends what is complete to the history, once the reasons can be told. All records until now_ns were
 * applied. final: reports all open waits: the source ends, or the screen is
 * frozen. */
void offcpu_flush(struct session *s, uint64_t now_ns, bool final);
/* For bounds.c: old samples are about to be dropped, or all. Open waits keep their stacks, unless the stack
 * still waits for an unwind table. */
void offcpu_before_drop(struct session *s, bool all);
/* True if the reasons of all merged parts can be told. */
bool offcpu_reasons_known(struct session *s);
/* State of a thread that leaves its CPU with this prev_state of sched:sched_switch. THREAD_WAITING: an idle
 * worker, or a thread that ends; THREAD_RUNNABLE: it was preempted. */
enum thread_state offcpu_state(uint64_t prev_state);
/* Appends the merged parts. For bounds.c: the stacks of open waits are in use, and get new numbers. */
void offcpu_append(struct session *s);
void offcpu_mark_stacks(struct session *s, uint8_t *marks);
void offcpu_renumber_stacks(struct session *s, const uint32_t *new_stack);
/* For settle.c: appends what offcpu_flush could not, with `last` also without reasons. False: some of it
 * still waits for names. */
bool offcpu_settle(struct session *s, bool last);
/* The event of times on the CPU, which is saved with the waits. */
#define OFFCPU_RUNNING "on-cpu"
void offcpu_add_running(struct session *s);
/* True if the samples of an event are times: off-cpu, and on-cpu. */
bool offcpu_is_time(const struct session *s, uint32_t event);
/* Of a file: true for the event of times on the CPU. */
bool offcpu_is_saved_running(const char *name, const struct perf_event_attr *attr);
/* When the first part of a sample of off-cpu or on-cpu began. All parts together are as long as its
 * weight. */
uint64_t offcpu_from_ns(const struct session *s, const struct sample *sample);
/* In a perf.data a wait is a sample of the software event bpf-output, as in those of perf record --off-cpu.
 * Its weight field is the reason + 1; 0, and in perf's files: unknown. Its AUX data (which perf does not
 * print): see profile/wait_summary.h. A sample of wakers is the same wait, with the waker in its AUX data:
 * perf resolves all addresses of a sample in one process. */
void offcpu_saved_attr(struct perf_event_attr *attr);
bool offcpu_is_saved(const char *name, const struct perf_event_attr *attr);
bool wakers_are_saved(const char *name, const struct perf_event_attr *attr);
/* Of a file: puts the leaf frame of the reason on the stack of such a sample and appends it. Returns its
 * number. */
uint64_t offcpu_load(struct session *s, const struct record *r, struct sample *sample);
void offcpu_done(struct session *s);

#endif
