// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a sampled event on CPUs, tasks or a cgroup, and what to give up when the kernel refuses. */
#ifndef FLAMETOP_PERF_OPEN_H
#define FLAMETOP_PERF_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/cpus.h"
#include "perf/live.h"
#include "perf/ring.h"
#include "perf/targets.h"

/* Where the event is opened. */
enum plan_where { PLAN_CPUS, PLAN_TASKS, PLAN_CGROUP };

/* What is to be opened: as asked for at first, less with each step down the ladder. */
struct plan {
    struct live_config cfg; /* its scope is ours */
    enum plan_where where;
    bool filter; /* on all CPUs, and records of others than the targets are dropped */
    bool fit;    /* as many tasks as descriptors allow */
    bool fit_noted, refused_noted, cpus_noted, clock_noted;
    bool no_wide; /* all CPUs were refused: not to be tried again */
    uint32_t features_dropped;
    uint32_t ring_asked; /* 0: as is best */
    uint32_t ring_bytes, ring_bytes_asked;
    uint32_t n_cpus; /* that are sampled, as of the start */
    enum callchain_mode callchain_asked;
    uint32_t stack_bytes_asked;
    enum dumps_less {
        DUMPS_FULL,
        DUMPS_BUDGET,
        DUMPS_MEMORY,
        DUMPS_REFUSED
    } dumps_less;                /* why there is less */
    bool without[EVENT_SET_MAX]; /* members that did not open */
    struct error refused;        /* why the first of these did not, if it was the first of all */
    bool inherit_noted;
    uint64_t limit_hz; /* the kernel's, of the rate; 0: not known */
    uint64_t vary_seed;
    struct perf_event_attr attrs[EVENT_SET_MAX]; /* made of the above, by member */
    struct live_note notes[LIVE_NOTES_MAX];
    uint32_t n_notes;
};

void plan_init(struct plan *p, const struct live_config *cfg);
void plan_done(struct plan *p);
/* attr from the rest. False: nothing would be measured. */
bool plan_make_attr(struct plan *p, struct error *e);
/* Leaves out the newest feature that is still asked for; false when only what every kernel has is left. */
bool plan_drop_feature(struct plan *p);
/* All of its events are sampled by a frequency. */
bool plan_is_frequency(const struct plan *p);
/* The events that are opened on each target, at least one; of these the first, with which come the records of all else that
 * happens, and the next one behind `member`; EVENT_SET_MAX: none. */
uint32_t plan_members(const struct plan *p);
uint32_t plan_first(const struct plan *p);
uint32_t plan_next_member(const struct plan *p, uint32_t member);
/* The one that the kernel schedules it with: the leader of its group; itself, if it has none, or one that did not open. */
uint32_t plan_leader(const struct plan *p, uint32_t member);
const struct perf_event_attr *plan_attr(const struct plan *p, uint32_t member);
const struct event *plan_event(const struct plan *p, uint32_t member);
/* How often it is sampled: as its group's leader. */
void plan_rate(const struct plan *p, uint32_t member, uint64_t *freq_hz, uint64_t *period);
/* Is it of a group whose leader alone samples, and reads the others' counters? Is there one? */
bool plan_is_read(const struct plan *p, uint32_t member);
bool plan_reads(const struct plan *p);
/* Is it one of those others, which take no samples? */
bool plan_is_silent(const struct plan *p, uint32_t member);
/* All of its events leave user space out. */
bool plan_leaves_user_out(const struct plan *p);
void plan_note(struct plan *p, const char *what, const char *mend, ...)
    __attribute__((format(printf, 3, 4))); /* mend is a format */
/* The newest note says how this machine is, and no number is wrong for it. */
void plan_note_is_calm(struct plan *p);

/* One CPU's ring and the descriptors that write to it. */
struct live_cpu {
    uint32_t cpu;
    int *fds;         /* fds[0] has the ring */
    uint8_t *members; /* which event each of them is */
    uint32_t n_fds;
    size_t fds_cap, members_cap;
    uint32_t watched; /* the one that epoll holds; n_fds: none, all of them have ended */
    struct ring ring;
    uint64_t enabled_ns;  /* its time, as of the last look that read it */
    uint64_t seen_head;   /* of the ring, as of the last look */
    uint64_t rated_bytes; /* written to it when rates were looked at */
    double rate;          /* until then, in bytes a nanosecond */
    uint64_t varied_head; /* of the ring, when its events' periods were last changed */
    uint64_t varied_ns;   /* when that was; 0: not yet */
    uint64_t n_varied;    /* how often */
    bool is_rated;
    bool leaving; /* the CPU is gone: closed when the ring is empty */
};
void live_cpu_close(struct live_cpu *c);
/* Has this BPF program run with each sample of it. False: with none. */
bool live_cpu_run(const struct live_cpu *c, int program);

/* What went wrong, for the ladder to choose the next step. */
struct open_failure {
    enum open_stage { OPEN_EVENT, OPEN_FILTER, OPEN_RING, OPEN_BUDGET, OPEN_TARGET, OPEN_NO_CPU } stage;
    int sys;
    uint32_t cpu, tid; /* tid 0: none */
    uint32_t member;   /* which event */
    uint32_t n_tasks, n_cpus;
};

/* One attempt. targets: for PLAN_TASKS. The result in *cpus (n of them, each to be closed and freed). */
bool open_all(struct plan *p, const struct targets *targets, struct live_cpu ***cpus, uint32_t *n,
              struct open_failure *f);
/* The same on one CPU, for CPUs that come later. NULL: it did not open. */
struct live_cpu *open_cpu(const struct plan *p, const struct targets *targets, uint32_t cpu);
/* Leaves of the CPUs that are online those on which the plan samples. */
void open_narrow_cpus(const struct plan *p, struct cpus *out);
/* The CPUs on which the plan samples, of those online. */
void open_cpu_list(const struct plan *p, struct cpus *out);
/* Does the kernel let children inherit events whose samples read groups (Linux 6.13)? By trying. */
bool open_inherits_readers(void);
/* Raises RLIMIT_NOFILE to its hard limit. */
void open_raise_limit(void);

/* Changes the plan by the next thing to give up; false when nothing is left, and e says why and what to do. */
bool ladder_step(struct plan *p, const struct open_failure *f, struct error *e);
/* What is known before anything is tried: a rate above the kernel's limit. */
void ladder_start(struct plan *p);

/* dumps.c: registers and stack with each sample, for unwind/. How much and how large the rings are, to begin with. */
#define DUMPS_LATE_MS 400 /* a drain may come so late after it was asked for */
void dumps_start(struct plan *p);
bool dumps_run(const struct plan *p); /* does the plan take them? */
/* Frame pointers: the registers that it takes, to know who called a leaf. */
uint64_t dumps_link_mask(const struct plan *p);
/* The smallest ring with which the plan still works. */
uint32_t dumps_ring_least(const struct plan *p);
/* So many bytes in a ring wake who drains it. */
uint32_t dumps_watermark(const struct plan *p);
/* Bytes that come from a CPU in so long a time, at most, but for what programs that start and map files say; UINT64_MAX: nobody
 * knows, as something is sampled by a period. */
uint64_t dumps_bytes_in(const struct plan *p, uint64_t time_ns);
/* Locked memory does not do for the ring: halves it, with smaller dumps or none if need be. False: nothing left. */
bool dumps_step_memory(struct plan *p);
/* The kernel refuses dumps: frame pointers; or refuses registers: none. False: there were none. */
bool dumps_step_refused(struct plan *p);
/* Says what became of the dumps, when all is open. */
void dumps_note(struct plan *p);
/* The next larger size of auto; 0: there is none, or the budget or the rings do not allow it.
 * seen_hz: dumps a second and CPU, for an event with a period. */
uint32_t dumps_larger(const struct plan *p, uint64_t seen_hz);
/* More dumps than auto's budget since the last look, a second or less ago? See live_over_budget. */
struct dumps_look {
    uint64_t bytes, lost, time_ns;
};
uint64_t dumps_over_budget(const struct plan *p, struct dumps_look *last, const struct dumps_look *now);
/* Bytes of dumps a second that all CPUs together may come to. */
uint64_t dumps_budget(uint32_t n_cpus);

/* vary.c: a program that does the same thing in each sampling period would always be sampled doing that, so
 * the periods of clocks that are sampled at a frequency differ from the one that the frequency means by a few
 * percent, at random.
 *
 * Whether this event's period may differ: it is a clock with a frequency, and the kernel's limit of the rate
 * is not near. */
bool vary_may(const struct plan *p, uint32_t member);
/* By which share the rate is to differ: 0.02 to 0.06 or the negative of that. Two in a row, the first one
 * even, add up to 0. */
double vary_share(uint64_t seed, uint64_t number);
/* The period in nanoseconds of an event of a task or a cgroup, to be opened with. Its samples tell this
 * period. */
uint64_t vary_task_period(uint64_t freq_hz, uint64_t seed, uint64_t number);
/* The period in nanoseconds of a CPU's event whose periods are changed each held_ns, for the number-th time.
 * Its samples go on telling the period of the frequency, which is what these come to on average. */
uint64_t vary_cpu_period(uint64_t freq_hz, uint64_t held_ns, uint64_t seed, uint64_t number);
/* Changes the periods of the events of CPUs, where they have had them for a second or for 50 samples. */
void vary_cpus(const struct plan *p, struct live_cpu **cpus, uint32_t n);

/* What would permit what was refused, with the least privilege; `level`: the perf_event_paranoid that would. */
void advice_permission(char *dst, unsigned cap, int level);
/* Why even the last step was refused, and what to do. Returns false. */
bool advice_refused(const struct plan *p, const struct open_failure *f, struct error *e);
bool advice_is_vm(void);

#endif
