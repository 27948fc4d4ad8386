// SPDX-License-Identifier: GPL-2.0-or-later
/* What each thread did with its time: run, wait for a CPU, or wait for something else. Follows the records of
 * the scheduler, which must come in order of time (perf/order.h), and reports each interval off the CPU.
 *
 * Intervals belong to threads, never to CPUs: a thread leaves one CPU and comes back on another. While the
 * records of a CPU are lost, any thread may run there, unless it runs on another CPU: the states of the
 * others are unknown meanwhile, so a wait is never longer than the truth. What a thread did after the loss is
 * told by its next record. The states are those of sched(7) and of prev_state in the tracepoint
 * sched:sched_switch. */
#ifndef FLAMETOP_PROFILE_WAITS_H
#define FLAMETOP_PROFILE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

enum thread_state {
    THREAD_RUNNING,
    THREAD_RUNNABLE, /* preempted, or woken and waiting for a CPU */
    THREAD_SLEEPING, /* S */
    THREAD_BLOCKED,  /* D */
    THREAD_STOPPED,  /* T, t */
    THREAD_WAITING,  /* one of the three above; only the tracepoint says which */
    THREAD_UNKNOWN,  /* records were lost */
    THREAD_STATES
};

/* Where and when a record was written: by this thread, on this CPU. */
struct waits_at {
    uint32_t pid, tid, cpu;
    uint64_t time_ns;
};

/* A part of an interval off the CPU. */
struct waits_part {
    uint32_t pid, tid, cpu; /* cpu: that it left or runs on; if it waited for a CPU: that it got */
    enum thread_state state;
    uint64_t from_ns, to_ns; /* to_ns > from_ns */
    uint64_t stack;          /* the caller's, from waits_leave; WAITS_NO_STACK: none */
    bool woken;              /* a wakeup ends it */
    bool ended;              /* at to_ns the thread changed its state; else the state goes on */
    uint64_t whole_ns;       /* time in this state until to_ns, with the parts before */
    bool lost;               /* THREAD_UNKNOWN: because records were lost */
};
#define WAITS_NO_STACK UINT64_MAX

struct waits_thread {
    uint32_t pid, tid, cpu;
    enum thread_state state;     /* since state_ns */
    uint64_t state_ns, since_ns; /* since_ns: its time in the state is reported until then */
    uint64_t stack;
    uint64_t left_ns;       /* time of `left` */
    uint64_t woken_ns;      /* of a wakeup between `left` and the switch */
    enum thread_state left; /* said by the tracepoint for the coming switch; THREAD_RUNNING: nothing */
    uint64_t spent_ns[THREAD_STATES]; /* until since_ns; the sum is the time since its first record */
    /* for waits_sampled: how much of the time on a CPU was told, and the sample it was told for */
    uint64_t told_ns, sample;
    /* For waits_checked. Of an open wait for a CPU: its last check; the time until which the thread did not
     * run; when a check found that it had run, or 0. */
    struct {
        bool made, gone, guess; /* guess: from waits_found_ready */
        uint64_t progress, sure_ns, ran_ns;
    } check;
    bool lost;   /* THREAD_UNKNOWN, since since_ns: records were lost until then, and it had none since */
    bool unseen; /* it ran without a switch record, and has had none since */
    bool has_records; /* of its own: while it waits for a CPU, none says that it runs */
};
/* Zero-initialised is empty. */
struct waits {
    VEC(struct waits_thread) threads;
    struct map index; /* tid → number in threads */
    void (*part)(void *ctx, const struct waits_part *part);
    /* The time that a thread ran after its last sample, when the thread ends or with waits_report(all): the
     * state is THREAD_RUNNING, and the stack is that sample, or WAITS_NO_STACK. NULL: not wanted. */
    void (*rest)(void *ctx, const struct waits_part *part);
    /* The same for time on the CPU: THREAD_RUNNING, without a stack. NULL: not reported. */
    void (*ran)(void *ctx, const struct waits_part *part);
    void *ctx;
    /* Open waits for a CPU are reported only as far as waits_checked confirms them. With
     * waits_report(all) this holds only for waits of more than WAITS_CHECK_NS, of threads without records. */
    bool checks;
    bool wakeups;        /* each wakeup is recorded */
    uint32_t n_unseen;   /* threads whose switches are not seen */
    size_t next[2];      /* where waits_unsure goes on */
    uint64_t gap_ns;     /* of waits_set_gap */
    uint64_t lost_stack; /* stack of a wait of which lost records hide the begin; the caller's */
};
/* Records of a CPU from between two times that were lost. */
struct waits_loss {
    uint32_t cpu; /* WAITS_ANY_CPU: not known */
    uint64_t from_ns, to_ns;
};
#define WAITS_ANY_CPU  UINT32_MAX
#define WAITS_NO_CPU   (UINT32_MAX - 1)
#define WAITS_CHECK_NS UINT64_C(100000000)

/* The tracepoint, before the switch itself: the running thread will leave its CPU in this state. */
void waits_leave(struct waits *w, struct waits_at at, enum thread_state state, uint64_t stack);
/* A sample of a thread on its CPU. Returns for how many ns the thread has run since its previous sample. The
 * caller puts the number of this sample into *sample, which is valid until the next call, if it is not 0
 * ns. */
uint64_t waits_sampled(struct waits *w, struct waits_at at, uint64_t **sample);
/* PERF_RECORD_SWITCH with and without PERF_RECORD_MISC_SWITCH_OUT. */
void waits_switch_out(struct waits *w, struct waits_at at, bool preempted);
void waits_switch_in(struct waits *w, struct waits_at at);
/* After waits_switch_out: the stack of a thread that waits, if the tracepoint said nothing of it. */
void waits_untold(struct waits *w, uint32_t tid, uint64_t stack);
/* sched:sched_waking for this thread. From here on it waits for a CPU. waits_may_wake: false if that has
 * no effect, as the thread is not known to wait. */
bool waits_may_wake(const struct waits *w, uint32_t tid);
void waits_wake(struct waits *w, uint32_t tid, uint64_t time_ns);
/* A thread that waited before the first record, or since records were lost, since an unknown time: it is in
 * `state` from time_ns on. No effect on any other thread with a record. */
void waits_found(struct waits *w, struct waits_at at, enum thread_state state, uint64_t stack);
/* The same for a thread that runs or waits for a CPU. It waits if waits_checked confirms that. No effect
 * without `checks`. */
void waits_found_ready(struct waits *w, struct waits_at at);
void waits_exit(struct waits *w, uint32_t tid, uint64_t time_ns); /* forgets the thread */
void waits_lost(struct waits *w, const struct waits_loss *loss);
/* Before a record at time_ns: from gap_ns on (0: not at all) records of other CPUs may be lost, which is not
 * reported yet. Waits are unknown from then on. */
void waits_set_gap(struct waits *w, uint64_t gap_ns, uint64_t time_ns);
/* Reports the open intervals so far, so that a thread that hangs is seen while it hangs. Without `all`, only
 * those whose last report is an eighth of their age ago, or 8 s: thousands of threads sleep for hours. */
void waits_report(struct waits *w, uint64_t now_ns, bool all);

/* Some threads are hidden from the events (by the kernel of a VM, for one): their wakeups are recorded by
 * others, their switches are not. Then a wait for a CPU seems to go on for ever, so long open ones are
 * compared with what the kernel says of the thread. */
struct waits_open {
    uint32_t pid, tid;
    uint64_t state_ns; /* when the wait began */
    bool checked;      /* before, and then: */
    uint64_t progress; /* a number that grows when the thread runs */
};
enum waits_finding {
    WAITS_READY,  /* it is ready to run; nothing is known to compare `progress` with */
    WAITS_QUEUED, /* it still waits for a CPU: it is ready to run, and `progress` has not grown */
    WAITS_RAN,    /* it has run, or waits for something else, before which it must have run */
    WAITS_GONE    /* it has ended */
};
/* Fills out[cap] with threads to check now: those that wait for a CPU, then some that are unseen. Goes on
 * where the last call stopped. Returns their number. */
size_t waits_unsure(struct waits *w, uint64_t now_ns, struct waits_open *out, size_t cap);
/* What a check at time_ns found; progress: then. A thread that ran is unseen once waits_report was called for
 * a later time and no record has ended the wait: the wait becomes unknown, and wakeups have no effect until
 * there is a switch. */
void waits_checked(struct waits *w, const struct waits_open *open, uint64_t time_ns, uint64_t progress,
                   enum waits_finding finding);
/* Fills out[cap] with open waits that have this stack (of waits_untold) and began before `until_ns`, longest
 * first. Returns their number. */
size_t waits_untold_longest(const struct waits *w, uint64_t stack, uint64_t until_ns, struct waits_open *out,
                            size_t cap);
/* If such a wait is still open: its state and stack from now on. */
void waits_tell(struct waits *w, const struct waits_open *open, enum thread_state state, uint64_t stack);
const struct waits_thread *waits_thread(const struct waits *w, uint32_t tid); /* NULL: no record */
void waits_done(struct waits *w);

#endif
