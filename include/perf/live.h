// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source: open events on CPUs and tasks, map their rings and drain them in time order. Uses the
 * best setup that this machine allows. Single-threaded. */
#ifndef FLAMETOP_PERF_LIVE_H
#define FLAMETOP_PERF_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"
#include "perf/scope.h"
#include "perf/stackprobe.h"

enum callchain_mode {
    CALLCHAIN_NONE,
    CALLCHAIN_FP,    /* frame pointers, followed by the kernel */
    CALLCHAIN_AUTO,  /* dwarf, with smaller stack dumps or fp if there would be too much data */
    CALLCHAIN_DWARF, /* kernel stack by the kernel; user registers and stack dumped for unwind/ */
    CALLCHAIN_LBR,   /* last branch records of the CPU */
};

#define LIVE_STACK_BYTES                                                                                     \
    (24 * 1024) /* default stack dump per sample: truncates less than 0.1 % of real stacks */
#define LIVE_STACK_BYTES_MAX 65528 /* the kernel's limit: a multiple of 8 below 64 KiB */

#define LIVE_NO_STACKS UINT32_MAX

/* Another event sampled at the same time. The rate is its own unless it follows a group leader. */
struct live_extra_event {
    struct event event;
    uint64_t freq_hz, period;
};

/* Which operations of latency:ROW are sampled, of the event of their begin or their end: those whose key
 * field (struct event) divided by one_in, without its lowest bits, leaves this rest. */
#define LIVE_FOLLOWED_MAX 100
struct live_selection {
    uint32_t one_in; /* a power of two; 0, 1: all operations */
    uint32_t rest;   /* less than one_in */
    /* of ends: other values of the field, of operations that began when they were selected */
    uint32_t n_followed;
    uint64_t followed[LIVE_FOLLOWED_MAX];
};

struct live_config {
    struct event event; /* event to sample */
    uint64_t freq_hz;   /* samples per second and CPU, or 0 */
    uint64_t period;    /* events per sample if freq_hz is 0; 0 means 1, every event */
    /* other members of its group, other events and their groups */
    struct live_extra_event others[EVENT_SET_MAX - 1];
    uint32_t n_others;
    struct scope scope;            /* borrowed lists; live copies what it keeps */
    enum callchain_mode callchain; /* live_config_of: the mode in use (auto becomes dwarf or fp) */
    /* dwarf, auto: dump size per sample; 0: default. live_config_of: 0 except for dwarf */
    uint32_t stack_bytes;
    /* dwarf, auto: unwind_arch_regs_mask(); 0: this machine is not supported by unwind/ */
    uint64_t regs_user_mask;
    uint64_t regs_link_mask; /* fp: unwind_arch_link_mask() */
    uint64_t seen_hz; /* without freq_hz: samples per second and CPU from live_over_budget; 0: unknown */
    /* per CPU; 0: 512 KiB, or half a second of stack dumps; smaller if RLIMIT_MEMLOCK requires it */
    uint32_t ring_bytes;
    struct stackprobe *probe; /* borrowed until live_close; its programs run with samples. NULL: none */
    /* off-cpu and wakers: sample one stack in N; 0, 1: each; LIVE_NO_STACKS: none. Times stay exact. */
    uint32_t one_in[2];
    bool wakers_by_fp; /* stacks of wakers by frame pointers, even if those of waits are dumps */
    /* by event, n_others + 1; NULL: all operations. Borrowed during live_open. */
    const struct live_selection *selections;
    bool enable_on_exec; /* the scope is a command that has not started yet */
    bool inherit;        /* follow children of tasks */
    bool switches;       /* also record each switch of a thread (PERF_RECORD_SWITCH) */
    bool wide; /* tasks: sample all CPUs and drop other tasks' samples, where permitted and affordable */
    const uint32_t *known; /* for process and thread scopes: tasks they started before, from live_known() */
    uint32_t n_known;      /* borrowed during live_open */
    bool named;            /* chosen by the user: only cycles may be replaced by another event, as in perf */
};

/* One way in which the running setup is less than requested, and how to fix it. */
struct live_note {
    char what[160]; /* "no hardware counters in this VM: sampling cpu-clock" */
    char fix[200];  /* "sysctl kernel.perf_event_paranoid=-1, or run with CAP_PERFMON" */
    bool calm;      /* a property of this machine: no number is wrong because of it */
};
#define LIVE_NOTES_MAX 8
const char *live_note_word(const struct live_note *n); /* "NOTE" if calm, else "DEGRADED" */

struct live;
/* Open, map and enable. Falls back step by step: precise_ip, cycles → cpu-clock, all → own processes,
 * kernel → user only, sample-type bits that old kernels lack, ring size, stack dumps → smaller dumps →
 * frame pointers. Events that do not open are left out. Fails only when nothing is left, or if
 * CALLCHAIN_LBR is not available.
 *
 * If user space is excluded there is nothing to dump: dwarf, auto and lbr then run as fp, whose chains end
 * at the kernel's entry. */
struct live *live_open(const struct live_config *cfg, struct error *e);
void live_close(struct live *l);
/* Run the programs of the probe, which live_config describes, from now on. False: none runs. */
bool live_run(struct live *l, struct stackprobe *probe);
/* True if one of its programs runs with an event, before its samples are recorded: of the CPU, or of a
 * tracepoint whose stacks are copied. Unless these are waits, each time it is met must be a sample, as the
 * program runs each time. probe may be NULL. */
bool live_runs(const struct stackprobe *probe, const struct event *ev, const struct perf_event_attr *attr);
const struct live_config *live_config_of(const struct live *l); /* the setup in use, after fallbacks */
/* The opened attr: of the first event that was not left out, and of each event by index from 0. NULL: left
 * out. */
const struct perf_event_attr *live_attr(const struct live *l);
const struct perf_event_attr *live_attr_of(const struct live *l, uint32_t member);
/* Sampling rate of an event, by index from 0: one of freq_hz and period is 0. */
void live_rate_of(const struct live *l, uint32_t member, uint64_t *freq_hz, uint64_t *period);
uint32_t live_notes(const struct live *l, const struct live_note **notes);
/* An epoll descriptor: readable when a ring reached its watermark. The kernel counts bytes written, not
 * bytes waiting: see live_lasts. */
int live_fd(const struct live *l);
/* True if every ring can absorb the recent rate until `until_ns`, and a late drain. */
bool live_lasts(const struct live *l, uint64_t until_ns);
/* True if that holds for any rate and live_fd reports nothing else: the caller need not poll until then. */
bool live_is_even(const struct live *l, uint64_t until_ns);
/* Make live_fd readable also when this fd is readable. */
void live_wake_by(struct live *l, int fd);
uint32_t live_cpu_count(const struct live *l); /* rings open now */
/* True if it has smaller rings than the one before because memory was short, not because they suffice. */
bool live_is_short(const struct live *l, const struct live *before);
/* True if tasks are sampled on all CPUs, dropping other tasks' samples. Otherwise each child's timer or
 * counter starts anew, and a child that ends within a period has no sample. live_fix_wide: how to fix
 * that, as the end of a sentence. */
bool live_is_wide(const struct live *l);
void live_fix_wide(const struct live *l, char *dst, unsigned cap);
/* The processes (or threads) of the scope and their descendants that may still live. The caller frees the
 * array. */
uint32_t *live_known(const struct live *l, uint32_t *n);
/* Number of tasks of a process or thread scope that have ended since open, by their EXIT records. */
uint64_t live_ended(const struct live *l);
/* True if no task of a task scope lives any more, descendants included, as of the last drain. */
bool live_targets_gone(const struct live *l);

/* Pass every record up to "now - slack" to fn, in time order across rings; with `final`, all remaining
 * records. A record's source is the index of its event. A sample that read the counters of its group is
 * passed once per member (perf/readings.h). fn returns false to stop early (the rest stays in the rings).
 * Returns the number of records passed. */
typedef bool live_record_fn(void *ctx, const struct record *r);
size_t live_drain(struct live *l, bool final, live_record_fn *fn, void *ctx);

struct live_stats {
    /* Since open. lost: by LOST and LOST_SAMPLES records, and malformed records. */
    uint64_t records, samples, lost, throttled;
    uint64_t malformed;
    double ring_fill; /* highest share of a ring in use at the last drain, 0..1 */
    /* The "now - slack" of the last drain, or the end of a final one: unless fn stopped it, it passed all
     * records up to this time, and later ones only of rings that were nearly full. */
    uint64_t drained_ns;
};
void live_stats(const struct live *l, struct live_stats *out);
/* For auto without a frequency: if the stack dumps of the last second (or less) exceed their budget,
 * returns the samples per second and CPU, for seen_hz of a new live; else 0. Call after each drain. */
uint64_t live_over_budget(struct live *l);
/* Samples one stack in one_in[0] of off-cpu, and in one_in[1] of wakers, from now on. Call it again every
 * moment with the same numbers: it varies the periods, so that no program runs in step with them. False:
 * off-cpu did not change, because another number needs a new live. */
bool live_thin(struct live *l, const uint32_t one_in[2]);
/* Samples other operations from now on. Operations that began before the last change still have their ends
 * sampled. Costs 0.03 ms per event and CPU (measured). False: nothing changed, because an event that samples
 * all operations is to sample some of them, or the other way round, which needs a new live; or the kernel
 * refused. */
bool live_select(struct live *l, const struct live_selection *selections);
/* Number of begins that the kernel counted for this event, by index from 0, since open: exact also if records
 * were lost. 0: not known, as the event samples all operations, or tasks are filtered here. */
uint64_t live_begins(const struct live *l, uint32_t member);
/* auto: the larger dump size that could be used; 0: none. seen: dumps per second of all CPUs. */
uint32_t live_larger_dumps(const struct live *l, double seen);
uint32_t live_smaller_dumps(uint32_t bytes); /* auto: the next smaller size; 0: none */
/* True if enough of the `dumped` stacks were truncated to justify larger dumps. */
bool dumps_are_short(uint64_t dumped, uint64_t truncated);
/* Open and close rings for CPUs that came online or went offline; call once a second, it is cheap. Reopens
 * an event that ended by itself (the module of its PMU was unloaded) as soon as possible. Then varies the
 * sampling periods of clocks slightly (vary.c). After records were lost, also looks for children of the scope
 * (targets_catch_up). */
void live_check_cpus(struct live *l);
/* Number of online CPUs on which opening failed, as of the last live_check_cpus. */
uint32_t live_lost_cpus(const struct live *l);
/* True if the event never got a counter: no samples although its targets ran for a second, as of the last
 * live_check_cpus. */
bool live_is_starved(const struct live *l);

#endif
