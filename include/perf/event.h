// SPDX-License-Identifier: GPL-2.0-or-later
/* Event names in perf's syntax → perf_event_attr: "cycles:ppu", "sched:sched_switch", "cpu/event=0x3c/", "r01c2",
 * "L1-dcache-load-misses", "page-faults/period=100,name=faults/u", "mem:0x1000/8:w", "INST_RETIRED:ANY_P" by libpfm4.
 * Names and values as in perf-list(1) and <linux/perf_event.h>. */
#ifndef FLAMETOP_PERF_EVENT_H
#define FLAMETOP_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "perf/cpus.h"

enum event_kind {
    EVENT_HARDWARE,
    EVENT_SOFTWARE,
    EVENT_CACHE,
    EVENT_RAW,
    EVENT_TRACEPOINT, /* of the kernel, and probes that are in tracefs */
    EVENT_PMU,        /* pmu/terms/ */
    EVENT_BREAKPOINT,
    EVENT_VENDOR, /* by libpfm4 */
    EVENT_TOOL,   /* what perf stat measures by itself: counted, never opened */
};
/* attr.type and attr.config of EVENT_TOOL; the kernel gives no such type. */
#define EVENT_TYPE_TOOL UINT32_MAX
enum { EVENT_TOOL_DURATION, EVENT_TOOL_USER, EVENT_TOOL_SYSTEM };

#define EVENT_NAME_MAX   128
#define EVENT_FILTER_MAX 1024
struct event {
    char name[EVENT_NAME_MAX]; /* as perf would name it, with modifiers: "cycles:ppu"; or what name= says */
    enum event_kind kind;
    struct perf_event_attr attr; /* size, type, config*, exclude_*, precise_ip; nothing of sampling */
    bool precise_max;            /* no ":p" was given: the opener looks for the highest that works */
    struct cpu_mask
        cpus; /* the only CPUs where the PMU opens (uncore, one kind of core); no bit: all, and tasks */
    uint64_t period, freq_hz;        /* of its own (period=, freq=); 0: as -c and -F say */
    char tracepoint[EVENT_NAME_MAX]; /* EVENT_TRACEPOINT: "sched:sched_switch" */
    char filter[EVENT_FILTER_MAX];   /* of a tracepoint: what the kernel lets pass; "": everything */
    double scale;  /* of PMUs that count in other units: what counts are multiplied by; 0: 1 */
    char unit[16]; /* "Joules", "" */
    /* Groups: counters that the kernel schedules together. Their events stand behind each other, the leader first. */
    uint8_t members; /* of a leader: how many they are, with itself; else 0 */
    bool reads; /* of a leader: it alone samples, and reads the others' counters with each sample (":S") */
};
#define EVENT_GROUP_MAX 8
/* How many stand in its place of a list: the members of the group that it leads, or itself. */
uint32_t event_span(const struct event *ev);
/* Events that are sampled at the same time, each on its own or in groups. */
#define EVENT_SET_MAX 32

/* Parses one event, as perf takes it. On failure e says what is wrong, with the nearest right name ("did you mean"), and
 * where. */
bool event_parse(const char *text, struct event *out, struct error *e);

/* What -e takes, into out[*n ...], *n counted up: as event_list_parse, at most cap in all. */
bool event_parse_list(const char *text, struct event *out, uint32_t cap, uint32_t *n, struct error *e);

/* Several of them, owned. Zero is empty. */
struct event_list {
    struct event *items;
    size_t n, cap;
    size_t last; /* those of the last name, which may be a glob, begin here: what a filter behind it is for */
};
#define EVENT_LIST_MAX 16384
/* Adds "cycles,sched:*,{branches,branch-misses}:u": commas, groups, globs of tracepoints and of PMUs, and PMUs of which there
 * are several ("uncore_imc/clockticks/"). Modifiers behind a group are those of each of its events, a name before it is let
 * pass. A kernel-side filter may follow, for all of the tracepoints: "sched:sched_switch[prev_state & 255]". On failure
 * nothing is added. */
bool event_list_parse(struct event_list *list, const char *text, struct error *e);
/* What the kernel is to let pass, of those from `first` on, which must be tracepoints; several are joined by &&. */
bool event_list_filter(struct event_list *list, size_t first, const char *filter, struct error *e);
void event_list_done(struct event_list *list);

/* Whether period means time in ns (cpu-clock, task-clock), so that shares are shares of time. */
bool event_is_clock(const struct event *ev);
/* True for software events that happen: page faults, context switches, migrations, ... A period counts occurrences. */
bool event_is_occurrence(const struct event *ev);
/* "cycles" for the start; event_default(&ev) is cycles, precise_max. */
void event_default(struct event *out);

/* One line of the picker and of --list-events. */
struct event_row {
    const char
        *group; /* "Hardware", "Software", "Cache", "Tool", "PMU: cpu", "Vendor: skl", "Tracepoint: sched" */
    const char *name;  /* what event_parse takes */
    const char *alias; /* "cs" for context-switches, or NULL */
    const char *help;  /* one line, or NULL */
};
/* Calls back for every event that this machine names (kernel tables, sysfs PMU aliases, tracefs); the row
 * is borrowed for the call. A missing tracefs is no error: *no_tracefs (may be NULL) says it. false from
 * the callback ends the walk. */
void event_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx, bool *no_tracefs);
/* Whether the machine opens it now, by trying (counting, this process, disabled). e says why not. */
bool event_supported(const struct event *ev, struct error *e);
/* The same, and it stays open: closing a tracepoint takes the kernel some 20 ms, or more. The descriptor, or -1. */
int event_try(const struct event *ev, struct error *e);

/* Gives an event that has a filter to the kernel. False, and errno. */
bool event_set_filter(int fd, const struct event *ev);
/* The attr by which an event of the CPUs' counters opens on this CPU: where there are several kinds of cores, each has a PMU
 * of its own. */
void event_attr_on_cpu(const struct perf_event_attr *attr, int cpu, struct perf_event_attr *out);
/* perf_event_open(2), close-on-exec, by event_attr_on_cpu: the descriptor, or -1 and errno. */
int event_open_fd(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
/* Why a filter was refused, by the kernel's own words where it tells them, with the place. False. */
bool event_explain_filter(const struct event *ev, int errnum, struct error *e);
/* Why an event did not open on this task (0: ourselves; -1: on a CPU, for all tasks or a cgroup's), from errno, and what would
 * mend it. False. */
bool event_explain(const char *name, const struct perf_event_attr *attr, pid_t pid, int errnum,
                   struct error *e);
/* kernel.perf_event_paranoid; 2, the default of the kernel, when it cannot be read. */
int event_paranoid(void);

#endif
