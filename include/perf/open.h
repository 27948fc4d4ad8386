// SPDX-License-Identifier: GPL-2.0-or-later
/* Open a sampled event on CPUs, tasks or a cgroup, and choose a fallback when the kernel refuses. */
#ifndef FLAMETOP_PERF_OPEN_H
#define FLAMETOP_PERF_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "perf/cpus.h"
#include "perf/live.h"
#include "perf/ring.h"
#include "perf/targets.h"

/* Where the event is opened. */
enum plan_where { PLAN_CPUS, PLAN_TASKS, PLAN_CGROUP };

/* What to open: first as requested, reduced by each step of the ladder. */
struct plan {
    struct live_config cfg; /* its scope is owned */
    enum plan_where where;
    bool filter; /* on all CPUs, dropping records of tasks outside the scope */
    bool fit;    /* limit the number of tasks to the available descriptors */
    bool fit_noted, refused_noted, cpus_noted, clock_noted, began_noted;
    bool no_wide; /* all CPUs were refused: do not retry */
    uint32_t features_dropped;
    uint32_t ring_asked; /* 0: automatic */
    uint32_t ring_bytes, ring_bytes_asked;
    uint32_t n_cpus; /* number of sampled CPUs at the start */
    enum callchain_mode callchain_asked;
    uint32_t stack_bytes_asked;
    /* why dumps were reduced */
    enum dumps_less { DUMPS_FULL, DUMPS_BUDGET, DUMPS_MEMORY, DUMPS_REFUSED } dumps_less;
    bool without[EVENT_SET_MAX]; /* members that did not open */
    struct error refused;        /* error of the first one, if nothing had opened before */
    bool selects[EVENT_SET_MAX]; /* members that sample some operations, by events of their own (select.c) */
    enum stackprobe_where probed[EVENT_SET_MAX]; /* members whose tracepoint has a program of the probe */
    uint32_t count_periods[EVENT_SET_MAX]; /* of those of begins: period of the event that counts them */
    bool inherit_noted;
    uint64_t limit_hz; /* the kernel's limit of the sampling rate; 0: unknown */
    uint64_t vary_seed;
    uint64_t n_thinned;                          /* number of periods that thin.c has chosen */
    struct perf_event_attr attrs[EVENT_SET_MAX]; /* built from the fields above, by member */
    struct live_note notes[LIVE_NOTES_MAX];
    uint32_t n_notes;
};

void plan_init(struct plan *p, const struct live_config *cfg);
void plan_done(struct plan *p);
/* Build attrs from the other fields. False: nothing would be measured. */
bool plan_make_attr(struct plan *p, struct error *e);
/* Drop the newest kernel feature still requested. False if only features of every supported kernel remain. */
bool plan_drop_feature(struct plan *p);
/* True if all events are sampled at a frequency. */
bool plan_is_frequency(const struct plan *p);
/* The events opened on each target, at least one. plan_first: the first one, which also delivers all
 * side-band records. plan_next_member: the next one behind `member`; EVENT_SET_MAX: none. */
uint32_t plan_members(const struct plan *p);
uint32_t plan_first(const struct plan *p);
uint32_t plan_next_member(const struct plan *p, uint32_t member);
/* The member that the kernel schedules `member` with: its group's leader, or itself if it has none or the
 * leader did not open. */
uint32_t plan_leader(const struct plan *p, uint32_t member);
const struct perf_event_attr *plan_attr(const struct plan *p, uint32_t member);
const struct event *plan_event(const struct plan *p, uint32_t member);
/* The sampling rate of `member`: that of its group's leader. */
void plan_rate(const struct plan *p, uint32_t member, uint64_t *freq_hz, uint64_t *period);
/* plan_is_read: True for each member, the leader included, of a group of at least two opened events whose
 * leader alone samples and reads the other counters. plan_reads: True if there is such a group. */
bool plan_is_read(const struct plan *p, uint32_t member);
bool plan_reads(const struct plan *p);
/* True for the members of such a group other than its leader: they take no samples. */
bool plan_is_silent(const struct plan *p, uint32_t member);
/* True if the member is opened on each CPU for all threads, although the plan is for tasks or a cgroup:
 * wakers. */
bool plan_is_for_all(const struct plan *p, uint32_t member);
/* True if all events exclude user space. */
bool plan_leaves_user_out(const struct plan *p);
void plan_note(struct plan *p, const char *what, const char *fix, ...)
    __attribute__((format(printf, 3, 4))); /* fix is a format */
/* Mark the newest note as a property of this machine: no number is wrong because of it. */
void plan_note_is_calm(struct plan *p);
void plan_note_off_cpu(struct plan *p);  /* after opening: what the event off-cpu lacks */
void plan_note_switches(struct plan *p); /* after opening: if the kernel records no switches */

struct live_fd {
    int fd;
    uint8_t member; /* event */
};
/* An event that samples the selected operations. */
struct select_fd {
    int fd;
    uint8_t member;
    uint8_t age; /* number of selections since */
    uint64_t id;
};
/* One CPU's ring and the descriptors that write to it. */
struct live_cpu {
    uint32_t cpu;
    VEC(struct live_fd) fds;        /* the first has the ring */
    VEC(struct select_fd) selected; /* of the members that select operations; they write to this ring, too */
    uint32_t n_own;   /* those of the plan's targets; behind them those for all threads, which never end */
    uint32_t watched; /* index of the descriptor in epoll; n_own: none, all have ended */
    struct ring ring;
    uint64_t enabled_ns;   /* enabled time as of the last check */
    uint64_t seen_head;    /* ring head at the last check */
    uint64_t rated_bytes;  /* bytes written to the ring when rates were last checked */
    double rate;           /* bytes per ns until then */
    uint64_t varied_head;  /* ring head when periods were last varied */
    uint64_t varied_ns;    /* when that was; 0: never */
    uint64_t n_varied;     /* number of times */
    uint64_t thinned_head; /* ring head when thin.c last chose periods */
    uint64_t reported;     /* lost records, as LOST records report them */
    uint64_t left_lost;    /* lost records of events that were closed */
    bool is_rated;
    bool leaving; /* the CPU is offline: close when the ring is empty */
};
struct live_cpus {
    VEC(struct live_cpu *);
};
void live_cpu_close(struct live_cpu *c);

/* Why opening failed, for the ladder to choose the next step. */
struct open_failure {
    enum open_stage { OPEN_EVENT, OPEN_FILTER, OPEN_RING, OPEN_BUDGET, OPEN_TARGET, OPEN_NO_CPU } stage;
    int sys;
    uint32_t cpu, tid; /* tid 0: none */
    uint32_t member;   /* event that failed */
    uint32_t n_tasks, n_cpus;
};

/* Try to open everything. targets: for PLAN_TASKS; children that began meanwhile are added. On success *cpus
 * has entries, each to be closed. */
bool open_all(struct plan *p, struct targets *targets, struct live_cpus *cpus, struct open_failure *f);
/* Open on one CPU, for CPUs that come online later. NULL: it did not open. */
struct live_cpu *open_cpu(const struct plan *p, const struct targets *targets, uint32_t cpu);
/* Opens an event per CPU and selecting member for these operations, behind those in `selected`. False: the
 * kernel refused, and none is open. */
bool open_selected(struct plan *p, const struct targets *targets, struct live_cpus *cpus,
                   const struct live_selection *selections);
/* Reduce a list of online CPUs to those that the plan samples. */
void open_narrow_cpus(const struct plan *p, struct cpus *out);
/* The online CPUs that the plan samples. */
void open_cpu_list(const struct plan *p, struct cpus *out);
/* True if the kernel lets children inherit events whose samples read groups (Linux 6.13), which is tried. */
bool open_inherits_readers(void);
/* Raise RLIMIT_NOFILE to its hard limit. */
void open_raise_limit(void);

/* Reduce the plan by one step. False when no step is left: e says why and what to do. */
bool ladder_step(struct plan *p, const struct open_failure *f, struct error *e);
/* Apply what is known before the first try: a rate above the kernel's limit. */
void ladder_start(struct plan *p);

/* dumps.c: registers and stack with each sample, for unwind/. Set the initial dump and ring sizes. */
#define DUMPS_LATE_MS 400 /* longest delay of a drain behind its request */
void dumps_start(struct plan *p);
bool dumps_run(const struct plan *p); /* true if the plan takes dumps */
/* Registers to sample with frame pointers, to find the caller of a leaf function. */
uint64_t dumps_link_mask(const struct plan *p);
/* The smallest ring with which the plan still works. */
uint32_t dumps_ring_least(const struct plan *p);
/* As live_is_short(). */
bool dumps_rings_are_short(const struct plan *p, const struct plan *before);
/* Bytes in a ring that wake the reader. */
uint32_t dumps_watermark(const struct plan *p);
/* Upper limit of the bytes from one CPU in this time, not counting side-band records of exec and mmap.
 * UINT64_MAX: unknown, as an event is sampled by period, or switches are recorded. */
uint64_t dumps_bytes_in(const struct plan *p, uint64_t time_ns);
/* Locked memory is too small for the ring: halve it, with smaller dumps or none if necessary. False:
 * nothing left to reduce. */
bool dumps_step_memory(struct plan *p);
/* Use frame pointers if the kernel refuses dumps, or no registers if it refuses these. False: nothing left
 * to drop. */
bool dumps_step_refused(struct plan *p);
/* Note how the dumps were reduced, after everything is open. */
void dumps_note(struct plan *p);
/* The next larger dump size of auto; 0: none, or beyond the budget or the rings. seen_hz: dumps per second
 * and CPU, for an event with a period. */
uint32_t dumps_larger(const struct plan *p, uint64_t seen_hz);
/* Counts at the time of a check against auto's budget. */
struct dumps_look {
    uint64_t bytes, lost, time_ns;
};
/* The samples per second and CPU if dumps exceeded auto's budget since *last, a second or less ago; else 0.
 * See live_over_budget. */
uint64_t dumps_over_budget(const struct plan *p, struct dumps_look *last, const struct dumps_look *now);
/* Budget: bytes of dumps per second, of all CPUs together. */
uint64_t dumps_budget(uint32_t n_cpus);
/* The largest size of auto, up to its default, of which this rate is within the budget; 0: none. */
uint32_t dumps_fit(double per_second, uint32_t n_cpus);
/* The seen_hz of events whose rate was counted for a moment. 0: their full dumps fit. A rate a few times too
 * high may be a burst: then the smallest dumps are tried, and dumps_over_budget() decides. */
uint64_t dumps_first_hz(double per_second, uint32_t n_cpus);

/* vary.c: vary the sampling period of clocks at random by a few percent. A program that repeats the same
 * work in each period would otherwise always be sampled at the same point.
 *
 * vary_may: True if this event's period may vary: a clock sampled at a frequency that is not near the
 * kernel's limit. */
bool vary_may(const struct plan *p, uint32_t member);
/* The share by which the rate differs: ±0.02 to ±0.06. Two in a row, from an even number on, add up to 0. */
double vary_share(uint64_t seed, uint64_t number);
/* The period in ns with which an event of a task or a cgroup is opened. Its samples report this period. */
uint64_t vary_task_period(uint64_t freq_hz, uint64_t seed, uint64_t number);
/* The period in ns of a CPU's event at its number-th change, with changes every held_ns. Its samples still
 * report the period of the frequency, which is the average of these. */
uint64_t vary_cpu_period(uint64_t freq_hz, uint64_t held_ns, uint64_t seed, uint64_t number);
/* Vary the periods of CPU events that have had theirs for a second or for 50 samples. */
void vary_cpus(const struct plan *p, const struct live_cpus *cpus);

/* thin.c: stacks of one wait in N.
 *
 * thin_may: True for off-cpu and wakers, unless they are read by a group. */
bool thin_may(const struct plan *p, uint32_t member);
/* The period of the number-th event for one stack in one_in: an odd prime within about a quarter of it. 1 for
 * 0 and 1; LIVE_NO_STACKS: a period that never ends. */
uint64_t thin_period(uint32_t one_in, uint64_t seed, uint64_t number);
/* Gives the running events of these CPUs other periods for one_in, which the plan keeps. False: off-cpu
 * belongs to tasks, so that another number needs new events, and only wakers have changed. */
bool thin_cpus(struct plan *p, const struct live_cpus *cpus, const uint32_t one_in[2]);

/* select.c: some operations of latency:ROW.
 *
 * A member that selects operations opens as usual: a begin with a period, to count all of them by their
 * names, an end with a filter that lets no record pass. A filter cannot be changed, so other events, of
 * open_selected, sample the operations. */
#define SELECT_NOTHING    "common_type == 0"
#define SELECT_FILTER_MAX 4096     /* the kernel's limit is a page */
void select_start(struct plan *p); /* after plan_init: which members select */
/* The filter of this member; "": none is needed on this CPU. False: nothing to open there. */
bool select_filter(const struct event *ev, const struct live_selection *selection, uint32_t cpu,
                   char filter[SELECT_FILTER_MAX]);
/* Ids of events that were closed; their records may wait in a ring. */
struct select_id {
    uint64_t id, closed_ns;
};
struct select_ids {
    VEC(struct select_id);
};
/* In the map of members: the event counts begins. */
#define SELECT_COUNTS 256
/* After opening, if there are several events: their ids. */
void select_note_ids(const struct plan *p, const struct live_cpu *c, struct map *members);
/* As live_begins. */
uint64_t select_begins(const struct plan *p, const struct live_cpus *cpus, uint32_t member);
/* True if the same members select. */
bool select_fits(const struct plan *p, const struct live_selection *selections);
/* After open_selected: closes the events that are no longer needed. members: id → member. */
void select_adopt(const struct plan *p, struct live_cpus *cpus, struct map *members, struct select_ids *ids);

/* How to permit what was refused, with the least privilege. `level`: the perf_event_paranoid value that
 * permits it. */
void advice_permission(char *dst, unsigned cap, int level);
/* Explain why the last step was refused too, and what to do. Returns false. */
bool advice_refused(const struct plan *p, const struct open_failure *f, struct error *e);
bool advice_is_vm(void);

#endif
