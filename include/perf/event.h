// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse event names in perf's syntax into perf_event_attr: "cycles:ppu", "sched:sched_switch",
 * "cpu/event=0x3c/", "r01c2", "L1-dcache-load-misses", "page-faults/period=100,name=faults/u",
 * "mem:0x1000/8:w", and "INST_RETIRED:ANY_P" through libpfm4. Names and values are those of perf-list(1)
 * and <linux/perf_event.h>. */
#ifndef FLAMETOP_PERF_EVENT_H
#define FLAMETOP_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/mem.h"
#include "perf/cpus.h"

struct pair_row;

enum event_kind {
    EVENT_HARDWARE,
    EVENT_SOFTWARE,
    EVENT_CACHE,
    EVENT_RAW,
    EVENT_TRACEPOINT, /* kernel tracepoints, and probes defined in tracefs */
    EVENT_PMU,        /* pmu/terms/ */
    EVENT_BREAKPOINT,
    EVENT_VENDOR, /* through libpfm4 */
    EVENT_TOOL,   /* measured by perf stat itself: counted, never opened */
};
/* attr.type and attr.config of EVENT_TOOL; the kernel never assigns this type. */
#define EVENT_TYPE_TOOL UINT32_MAX
enum { EVENT_TOOL_DURATION, EVENT_TOOL_USER, EVENT_TOOL_SYSTEM };

#define EVENT_NAME_MAX   128
#define EVENT_FILTER_MAX 1024
#define EVENT_KEY_MAX    64
#define EVENT_KEY_CPU    "CPU"
#define EVENT_KEY_THREAD "common_pid"
struct event {
    char name[EVENT_NAME_MAX]; /* perf's name with modifiers ("cycles:ppu"), or the value of name= */
    enum event_kind kind;
    struct perf_event_attr attr; /* size, type, config*, exclude_*, precise_ip; no sampling fields */
    bool precise_max;            /* no ":p" given: the opener uses the highest level that works */
    /* the only CPUs where the PMU opens (uncore, one kind of core); no bit: all, and tasks */
    struct cpu_mask cpus;
    /* The event off-cpu: its tracepoint sched:sched_switch and the switch records become samples whose weight
     * is the time off the CPU in ns. Without readable tracepoints: context-switches. */
    bool off_cpu;
    /* The event wakers, which belongs to off-cpu: the tracepoint sched:sched_waking tells who woke a
     * thread, and when. Any thread may wake those of a scope, so it is opened for all of them, without
     * dumps of stacks. */
    bool wakers;
    /* The event wall: time on and off the CPU. It opens nothing: its samples are made from those of off-cpu
     * and of the events that sample CPU time (event_is_cpu_time), which are sampled with it. */
    bool wall;
    /* The event latency:ROW: durations of operations. It opens nothing: its samples are made from those of
     * the tracepoints of `pair`, which are sampled with it. */
    bool latency;
    const struct pair_row *pair; /* of latency; NULL: of a file */
    bool of_pair;                /* such a tracepoint: its samples are not shown */
    bool no_stack;               /* of_pair: sampled without stacks */
    bool everywhere;             /* of_pair: opened for all threads: any may see the end (event_pair.c) */
    bool begins, ends;           /* of_pair: of operations, one of them; ends also while they are open */
    /* of_pair: the field by which operations are selected (perf/live.h), and the number of its lowest bits
     * that are not looked at. EVENT_KEY_CPU: the CPU. "": they cannot be selected. */
    char key[EVENT_KEY_MAX];
    uint8_t key_shift;
    bool implied;             /* not named: sampled because wall or latency needs it */
    bool shown;               /* named by the user, so it is shown first, not the event that it belongs to */
    uint64_t period, freq_hz; /* its own (period=, freq=); 0: those of -c and -F */
    char tracepoint[EVENT_NAME_MAX]; /* EVENT_TRACEPOINT: "sched:sched_switch" */
    char filter[EVENT_FILTER_MAX];   /* kernel-side filter of a tracepoint; "": none */
    double scale;                    /* multiplier of counts, for PMUs that count in other units; 0: 1 */
    char unit[16];                   /* "Joules", "" */
    /* Groups: counters that the kernel schedules together. Their events are adjacent, the leader first. */
    uint8_t members; /* of a leader: group size including itself; else 0 */
    bool reads;      /* of a leader: only it samples, and each sample reads the other counters (":S") */
};
#define EVENT_GROUP_MAX 8
/* Number of list entries that it covers: the members of its group if it is a leader, else 1. */
uint32_t event_span(const struct event *ev);
/* Events that are sampled at the same time, on their own or in groups. */
#define EVENT_SET_MAX 32

/* Parse one event in perf's syntax. On failure e says what is wrong and where, with the nearest valid name
 * ("did you mean"). */
bool event_parse(const char *text, struct event *out, struct error *e);

/* Parse the argument of -e into out[*n ...] and increase *n, as event_list_parse does. At most cap events
 * in total. */
bool event_parse_list(const char *text, struct event *out, uint32_t cap, uint32_t *n, struct error *e);

/* The event of a parsed list that is shown first. */
const struct event *event_shown_first(const struct event *list, uint32_t n);

#define EVENT_LATENCY_PARTS 4
/* The tracepoints of the begin and the end that latency:ROW is made from, and of what completes the names (by
 * enum pair_side; the tracepoint is "" if there is none). False: this system lacks one, or a field of one. */
bool event_latency_parts(const struct event *latency, struct event parts[EVENT_LATENCY_PARTS],
                         struct error *e);

/* True if a part of latency:ROW is sampled by this event, which may be of another row. */
bool event_is_part(const struct event *ev, const struct event *part);

/* An owned list of events. Zero-initialised is empty. */
struct event_list {
    VEC(struct event);
    /* index of the first event of the last name (which may be a glob): those that a filter behind it
     * applies to */
    size_t last;
};
#define EVENT_LIST_MAX 16384
/* Add "cycles,sched:*,{branches,branch-misses}:u": commas, groups, globs of tracepoints and of PMUs, and
 * PMUs with several instances ("uncore_imc/clockticks/"). Modifiers behind a group apply to each of its
 * events; a name before a group is ignored. A kernel-side filter may follow, and applies to all of its
 * tracepoints: "sched:sched_switch[prev_state & 255]". Behind off-cpu, wakers is added; before wall
 * and latency:ROW, the events that they need. On failure nothing is added. */
bool event_list_parse(struct event_list *list, const char *text, struct error *e);
/* Set the kernel-side filter of the events from `first` on, which must be tracepoints. Several filters are
 * joined by &&. */
bool event_list_filter(struct event_list *list, size_t first, const char *filter, struct error *e);
void event_list_done(struct event_list *list);

/* True if the period is time in ns (cpu-clock, task-clock), so that shares are shares of time. */
bool event_is_clock(const struct event *ev);
/* True if it samples a running thread at regular intervals: clocks and cycles. */
bool event_is_cpu_time(const struct perf_event_attr *attr);
/* True if its samples are made from other records, with a duration as their weight: waits, wall and
 * latency. */
bool event_is_made(const struct event *ev);
/* True if it opens nothing: wall and latency. */
bool event_opens_nothing(const struct event *ev);
/* True if the weights of its samples are time in ns: clocks, waits, wall and latency. */
bool event_is_time(const struct event *ev);
/* True if they are times off the CPU: off-cpu and wakers. */
bool event_is_wait(const struct event *ev);
/* Bits of prev_state of sched:sched_switch in a wait: sleeping, blocked, stopped, traced (fs/proc/array.c,
 * task_state_array). */
#define EVENT_WAIT_STATES 15
bool event_has_waits(const struct event *ev); /* these and wall: they have no period and no frequency */
/* True for software events that occur (page faults, context switches, migrations, ...): a period counts
 * occurrences. */
bool event_is_occurrence(const struct event *ev);
/* The default event: cycles, precise_max. */
void event_default(struct event *out);

/* One line of the event picker and of --list-events. */
struct event_row {
    /* "Hardware", "Software", "Cache", "Tool", "Latency", "PMU: cpu", "Vendor: skl", "Tracepoint: sched" */
    const char *group;
    const char *name;  /* accepted by event_parse */
    const char *alias; /* "cs" for context-switches, or NULL */
    const char *help;  /* one line, or NULL */
};
/* Call back for every event that this machine has (kernel tables, sysfs PMU aliases, tracefs). The row is
 * borrowed for the call. A missing tracefs is no error: it sets *no_tracefs (may be NULL). The callback
 * returns false to stop. */
void event_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx, bool *no_tracefs);
/* True if the machine can open it now, which is tried (counting, this process, disabled). Otherwise e says
 * why. */
bool event_supported(const struct event *ev, struct error *e);
/* Like event_supported, but leave it open: closing a tracepoint takes the kernel 20 ms or more. Returns the
 * descriptor, or -1. */
int event_try(const struct event *ev, struct error *e);

/* Set the event's filter, if any, in the kernel. False: see errno. */
bool event_set_filter(int fd, const struct event *ev);
/* The attr with which a core event opens on this CPU: each kind of core has its own PMU. */
void event_attr_on_cpu(const struct perf_event_attr *attr, int cpu, struct perf_event_attr *out);
/* perf_event_open(2) with close-on-exec and event_attr_on_cpu. Returns the descriptor, or -1 and errno. */
int event_open_fd(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
/* Explain why a filter was refused, with the kernel's message and position if available. Returns false. */
bool event_explain_filter(const struct event *ev, int errnum, struct error *e);
/* Explain from errno why an event did not open on this task (0: this process; -1: a CPU, for all tasks or a
 * cgroup), and how to fix it. Returns false. */
bool event_explain(const char *name, const struct perf_event_attr *attr, pid_t pid, int errnum,
                   struct error *e);
/* kernel.perf_event_paranoid; if it cannot be read, 2, the kernel's default. */
int event_paranoid(void);

#endif
