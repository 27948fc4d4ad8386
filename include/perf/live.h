// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source: events opened on CPUs and tasks with the best this machine allows, rings mapped and
 * drained in time order. One thread at a time. */
#ifndef FLAMETOP_PERF_LIVE_H
#define FLAMETOP_PERF_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"
#include "perf/scope.h"

enum callchain_mode {
    CALLCHAIN_NONE,
    CALLCHAIN_FP,    /* the kernel follows frame pointers */
    CALLCHAIN_AUTO,  /* as dwarf, with less and less stack, then fp, where that would be too many bytes */
    CALLCHAIN_DWARF, /* the kernel's part by the kernel; of the user part registers and stack, for unwind/ */
    CALLCHAIN_LBR,   /* the CPU's own record of calls */
};

#define LIVE_STACK_BYTES                                                                                     \
    (24 * 1024)                    /* of a sample's user stack, by default: cuts under 0.1 % of real stacks */
#define LIVE_STACK_BYTES_MAX 65528 /* the kernel's: a multiple of 8 below 64 KiB */

/* One that is sampled at the same time. How often: if it does not follow the leader of a group. */
struct live_other {
    struct event event;
    uint64_t freq_hz, period;
};

struct live_config {
    struct event event;                          /* what to sample */
    uint64_t freq_hz;                            /* samples per second and CPU, or 0 */
    uint64_t period;                             /* events per sample when freq_hz is 0; 0: 1, every event */
    struct live_other others[EVENT_SET_MAX - 1]; /* those of its group, and others, with their groups */
    uint32_t n_others;
    struct scope scope;            /* borrowed lists; live copies what it keeps */
    enum callchain_mode callchain; /* live_config_of: what runs (auto becomes dwarf or fp) */
    uint32_t stack_bytes;    /* dwarf, auto: of each sample; 0: default; live_config_of: 0 but for dwarf */
    uint64_t regs_user_mask; /* dwarf, auto: unwind_arch_regs_mask(); 0: this machine is not unwound */
    uint64_t regs_link_mask; /* fp: unwind_arch_link_mask() */
    uint64_t seen_hz; /* without freq_hz: samples per second and CPU as live_over_budget said, 0: not known */
    uint32_t
        ring_bytes; /* per CPU, 0: 512 KiB, with dumps half a second of them; smaller if RLIMIT_MEMLOCK wants it */
    int program;         /* BPF, to run with each sample; 0: none */
    bool enable_on_exec; /* the scope is a command that has not started yet */
    bool inherit;        /* follow children of tasks */
    bool wide; /* tasks: on all CPUs without the samples of others, where permitted and affordable */
    const uint32_t
        *known;       /* of a scope of processes or threads: what these started before, as of live_known */
    uint32_t n_known; /* … borrowed, for live_open */
    bool named;       /* by the user: only cycles may have another one in its place, as in perf */
};

/* Each way in which what runs is less than what was asked for, with what would mend it. */
struct live_note {
    char what[160]; /* "no hardware counters in this VM: sampling cpu-clock" */
    char mend[200]; /* "sysctl kernel.perf_event_paranoid=-1, or run with CAP_PERFMON" */
    bool calm;      /* this machine is so: no number is wrong for it */
};
#define LIVE_NOTES_MAX 8

struct live;
/* Opens, maps and enables. Falls back step by step (precise_ip, cycles → cpu-clock, all → own processes,
 * kernel → user only, sample-type bits that old kernels lack, ring size, dumped stacks → smaller ones → frame
 * pointers), and leaves out events that do not open; fails only when nothing is left, or for CALLCHAIN_LBR without it. Where user space is left out there is
 * nothing to dump: dwarf, auto and lbr then run as fp, whose chains end at the kernel's entry. */
struct live *live_open(const struct live_config *cfg, struct error *e);
void live_close(struct live *l);
/* From now on this BPF program runs with each sample, before it is taken. False: with none. The descriptor stays open as long. */
bool live_run(struct live *l, int program);
const struct live_config *live_config_of(const struct live *l); /* what really runs, after the fallback */
/* The attr that was opened: of the first event that is not left out, and of each, from 0 on; NULL: it is left out. */
const struct perf_event_attr *live_attr(const struct live *l);
const struct perf_event_attr *live_attr_of(const struct live *l, uint32_t member);
/* How often it is sampled, from 0 on: one of both is 0. */
void live_rate_of(const struct live *l, uint32_t member, uint64_t *freq_hz, uint64_t *period);
uint32_t live_notes(const struct live *l, const struct live_note **notes);
/* An epoll descriptor: readable when a ring reached its watermark. The kernel counts what it writes, not what waits:
 * see live_lasts. */
int live_fd(const struct live *l);
/* Is there room in each ring for what comes by then, and for whoever is late, if it comes as lately? */
bool live_lasts(const struct live *l, uint64_t until_ns);
/* And whatever comes, and nothing else is told by live_fd: one need not listen until then. */
bool live_is_even(const struct live *l, uint64_t until_ns);
/* From now on that is ready also when fd can be read. */
void live_wake_by(struct live *l, int fd);
uint32_t live_cpu_count(const struct live *l); /* rings open now */
uint32_t live_fd_count(const struct live *l);
uint32_t live_ring_bytes(const struct live *l); /* of one ring */
/* Are tasks sampled by dropping the samples of others? Else each child's timer or counter begins anew, so that one
 * which ends within a period has no sample. live_mend_wide: what would let them be, as a sentence's end. */
bool live_is_wide(const struct live *l);
void live_mend_wide(const struct live *l, char *dst, unsigned cap);
/* The processes (or threads) of the scope and what they started, as far as they may still live. The caller frees. */
uint32_t *live_known(const struct live *l, uint32_t *n);
/* Tasks of a scope of processes or threads that have ended since it was opened, by their EXIT records. */
uint64_t live_ended(const struct live *l);
/* A task scope of which nothing lives any more, descendants included, as of the last drain. */
bool live_targets_gone(const struct live *l);

/* Hands every record up to "now - slack" to fn in time order across rings. final: everything that is left. The source
 * of a record is the place of its event (0: the first one); a sample that read the counters of
 * its group comes once per member (perf/readings.h).
 * fn returns false to stop early (the rest stays in the rings). Returns the number handed out. */
typedef bool live_record_fn(void *ctx, const struct record *r);
size_t live_drain(struct live *l, bool final, live_record_fn *fn, void *ctx);

struct live_stats {
    uint64_t records, samples, lost, throttled; /* since open; lost counts LOST and LOST_SAMPLES records */
    uint64_t parse_errors;
    double ring_fill; /* highest share of a ring in use at the last drain, 0..1 */
};
void live_stats(const struct live *l, struct live_stats *out);
/* auto without a frequency: more dumps than their budget allows for a second, in a second or less? Then how many samples
 * a second and CPU there were, for the seen_hz of a new live; else 0. To be asked after each drain. */
uint64_t live_over_budget(struct live *l);
/* auto: how much could be taken of each stack, beyond what is; 0: no more. seen: dumps a second, of all CPUs. */
uint32_t live_larger_dumps(const struct live *l, double seen);
uint32_t live_smaller_dumps(uint32_t bytes); /* auto: the next smaller size; 0: none */
/* Of so many dumps so many did not reach the root: is that reason enough to take more? */
bool dumps_are_short(uint64_t dumped, uint64_t truncated);
/* Looks for CPUs that came or went (cheap; call once a second): opens and closes rings accordingly. An event that ended
 * by itself (the module of its PMU was unloaded) is opened again, as soon as that can be done. Then changes the
 * sampling periods of clocks a little (vary.c). */
void live_check_cpus(struct live *l);
/* Of the CPUs that are online, on how many that could not be done, as of that look. */
uint32_t live_lost_cpus(const struct live *l);
/* Nothing was sampled although what is sampled ran for a second: the event never got a counter, as of that look. */
bool live_is_starved(const struct live *l);

#endif
