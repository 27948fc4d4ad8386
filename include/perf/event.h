// SPDX-License-Identifier: GPL-2.0-or-later
/* Event names in perf's syntax → perf_event_attr: "cycles:ppu", "sched:sched_switch", "cpu/event=0x3c/",
 * "r01c2", "L1-dcache-load-misses", "page-faults", "mem:0x1000/8:w". Names and values as in perf-list(1)
 * and <linux/perf_event.h>. */
#ifndef FLAMETOP_PERF_EVENT_H
#define FLAMETOP_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum event_kind {
    EVENT_HARDWARE,
    EVENT_SOFTWARE,
    EVENT_CACHE,
    EVENT_RAW,
    EVENT_TRACEPOINT,
    EVENT_PMU, /* pmu/terms/ */
    EVENT_BREAKPOINT,
};

struct event {
    char name[128]; /* as perf would name it, with modifiers: "cycles:ppu" */
    enum event_kind kind;
    struct perf_event_attr attr; /* size, type, config*, exclude_*, precise_ip; nothing of sampling */
    bool precise_max;            /* no ":p" was given: the opener looks for the highest that works */
    uint64_t cpus; /* not 0: bit mask of the only CPUs (first 64) where the PMU opens (uncore) */
    /* Groups: counters that the kernel schedules together. Their events stand behind each other, the leader first. */
    uint8_t members; /* of a leader: how many they are, with itself; else 0 */
    bool reads;      /* of a leader: it alone samples, and reads the others' counters with each sample (":S") */
};
#define EVENT_GROUP_MAX 8

/* Parses one event. On failure e names the place and the nearest right name ("did you mean"). */
bool event_parse(const char *text, struct event *out, struct error *e);
/* What -e takes: events and groups, separated by commas: "{cycles,instructions}:S,page-faults"; modifiers behind a group
 * are those of each of its events, a name before it is let pass, as by perf. Fills out[*n ...] and counts *n up. */
bool event_parse_list(const char *text, struct event *out, uint32_t cap, uint32_t *n, struct error *e);
/* Whether period means time in ns (cpu-clock, task-clock), so that shares are shares of time. */
bool event_is_clock(const struct event *ev);
/* "cycles" for the start; event_default(&ev) is cycles, precise_max. */
void event_default(struct event *out);

/* One line of the picker and of --list-events. */
struct event_row {
    const char *group; /* "Hardware", "Software", "Cache", "Tracepoint: sched", "PMU: cpu" */
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

/* perf_event_open(2), close-on-exec: the descriptor, or -1 and errno. */
int event_open_fd(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
/* Why an event did not open (on a task; on a CPU, for all tasks), from errno, and what would mend it. False. */
bool event_explain(const char *name, const struct perf_event_attr *attr, int errnum, struct error *e);
bool event_explain_on_cpu(const char *name, const struct perf_event_attr *attr, int errnum, struct error *e);
/* kernel.perf_event_paranoid; 2, the default of the kernel, when it cannot be read. */
int event_paranoid(void);

#endif
