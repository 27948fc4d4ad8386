// SPDX-License-Identifier: GPL-2.0-or-later
/* A session owns everything below the screens: source (live or file), collector, world, stacks, history,
 * names. Screens and exporters query it; every result is self-contained. */
#ifndef FLAMETOP_SESSION_SESSION_H
#define FLAMETOP_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/event.h"
#include "perf/live.h"
#include "perf/rate.h"
#include "perf/scope.h"
#include "session/view.h"

#define SESSION_EVENTS_MAX EVENT_SET_MAX /* that one history can distinguish */

/* Sampling of one event. Both 0: like all events, and every occurrence of a tracepoint. */
struct session_sampling {
    uint64_t freq_hz, period;
    bool fitted; /* both 0: the period is chosen from the event's rate, and follows it */
};

struct session_config {
    struct event events[SESSION_EVENTS_MAX];
    /* of each event: overrides freq_hz and period */
    struct session_sampling samplings[SESSION_EVENTS_MAX];
    uint32_t n_events; /* sampled at the same time; [ and ] switch the shown one */
    bool event_named;  /* by the user: not replaced silently */
    struct scope scope;
    uint64_t freq_hz, period;
    bool freq_named; /* by the user */
    /* Share of all CPUs for sampling by periods, waits and larger stacks; 0: the default. */
    double budget_percent;
    enum callchain_mode callchain;
    uint32_t stack_bytes; /* for CALLCHAIN_DWARF; 0: default */
    uint64_t history_bytes;
    bool latency;         /* latency shares and parallelism: session_set_latency */
    char *const *command; /* argv after "--", or NULL */
    /* A user waits for the terminal: closing waits half a second at most, and leaves the rest to exit(). */
    bool leaves_in_time;
    /* The command's output goes to the log, and its input is empty: they would garble the screen. */
    bool command_to_log;
    /* also receives the output, until the session is closed; NULL: none */
    struct session_output *command_output;
    /* perf.data to open instead of sampling ("-": standard input), or NULL */
    const char *input;
    /* Notified while the file arrives through a pipe or is decompressed (perfdata/spool.h), or NULL. */
    const struct spool_wait *wait;
    const char *const *chosen; /* Of a file: names and globs of the events to read, separated by commas. */
    size_t n_chosen;           /* 0: read all events */
    const char *symfs, *kallsyms, *vmlinux;
    /* Of a file: keep callchains as recorded, also beyond addresses without code. */
    bool whole_chains;
    bool as_perf;           /* of a file, with whole_chains: by perf's rules, see --as-perf */
    bool compress;          /* compress the records of a written perf.data */
    bool no_interpreted;    /* do not read frames of interpreted programs */
    bool no_cache;          /* keep no symbol and unwind tables on disk */
    const char *debuginfod; /* servers for debug files, separated by blanks; NULL: none */
};

#define SESSION_OUTPUT_BYTES (4u << 20)
struct session_output {
    struct buf text;  /* the last SESSION_OUTPUT_BYTES at least; owned by the struct's owner */
    uint64_t dropped; /* bytes that came earlier and were discarded */
};

struct session;
/* Opens the source, and starts sampling or reading. NULL: e says why. Copies cfg and its scope; what its
 * other pointers lead to must stay valid until session_close. */
struct session *session_open(const struct session_config *cfg, struct error *e);
/* Stops the threads and closes the events. Does not free what a thread that hangs in the kernel still
 * needs. NULL is fine. */
void session_close(struct session *s);

/* What was not ready in time for the written output. */
struct session_missing {
    uint32_t modules; /* with names still being read */
    uint32_t mangled; /* names not demangled yet */
    uint64_t stacks;  /* samples with stacks truncated at a pending unwind table */
};
/* false: nothing is missing */
bool session_missing(struct session *s, struct session_missing *out);

/* What the header shows. Strings are copies. */
#define SESSION_SPARK 60
struct session_status {
    bool file; /* a perf.data: nothing changes */
    char host[65], release[65];
    char input[256]; /* file name, cleaned */
    uint32_t cpus;
    char event[128];
    uint32_t event_index, n_events; /* among all chosen events, or those of the file */
    /* The same among the events sampled at the same time; of a file: among those with samples. */
    uint32_t group_column_index, n_group_sums;
    uint64_t freq_hz, period;
    char scope[96];
    bool no_kernel, no_user;
    enum callchain_mode callchain; /* as requested; of a file: as recorded */
    /* What runs: "auto", "auto 48K", "auto 8K", "auto->fp", "dwarf 24K", "fp", "lbr", "none". */
    char stacks[24];
    bool reading;      /* the file is still being read */
    double read_share; /* share of the file that is read, 0..1 */
    bool frozen;
    uint64_t elapsed_ns;      /* since start or clear; frozen: until the freeze */
    uint64_t now_ns;          /* end of the shown time */
    double budget_percent;    /* as configured */
    uint64_t samples;         /* since start or clear */
    uint64_t event_samples;   /* part of samples: the shown event's */
    uint64_t lost, throttled; /* since start */
    uint64_t history_samples, history_dropped, history_bytes;
    /* samples per second, oldest first; the last second is incomplete */
    uint32_t spark[SESSION_SPARK];
    /* number of the last second: CLOCK_MONOTONIC's, or the file's clock's */
    uint64_t spark_sec;
    /* flametop's own CPU time, percent of one CPU, over about the last second */
    double self_percent;
    /* of all CPUs, from /proc/stat; < 0: unknown */
    double user_percent, system_percent, idle_percent, iowait_percent;
    double switches_per_sec, faults_per_sec, ipc; /* < 0: unknown */
    uint32_t pending_modules;
    /* samples whose stacks are incomplete until an unwind table is read */
    uint64_t stacks_waiting;
    char fetching[128];                         /* "debuginfod: libfoo.so 3.2M of 14M"; "": no download */
    struct live_note notes[LIVE_NOTES_MAX + 8]; /* DEGRADED, worst first */
    uint32_t n_notes;
    bool targets_gone;    /* the measured targets have ended */
    char fatal[160];      /* why sampling has stopped for good; else "" */
    char said[200];       /* the last result of a background request */
    uint32_t said_number; /* number of such results so far */
};
/* Returns how many of these truncated stacks of a result will become whole. The result may be older than the
 * status. */
static inline uint64_t session_stacks_waiting(const struct session_status *s, uint64_t truncated)
{
    return s->stacks_waiting < truncated ? s->stacks_waiting : truncated;
}
void session_get_status(struct session *s, struct session_status *out);
/* A number that changes when there is something new to show (samples, names, a switch). */
uint64_t session_generation(struct session *s);

/* Live switches: the source is closed and reopened, the history stays. On failure the previous source keeps
 * running; if even that cannot be reopened, session_status.fatal says so. Over a file they fail, except
 * session_select_event and session_show_event, which change the shown event. */
/* adds the event if new, and selects it */
bool session_set_event(struct session *s, const char *text, struct error *e);
bool session_set_event_as(struct session *s, const char *text, const struct session_sampling *how,
                          struct error *e);
/* Computes how an event would be sampled: one of freq_hz and period is 0. */
void session_sampling_of(const struct session *s, const struct event *ev, const struct session_sampling *how,
                         struct session_sampling *out);
/* True if flametop chooses the period of the event from its rate, so the user need not. */
bool session_chooses_period(const struct session *s, const struct event *ev,
                            const struct session_sampling *how);
uint64_t session_default_freq(const struct session *s); /* of -F, or the default */
/* next or previous chosen event */
bool session_select_event(struct session *s, int step, struct error *e);

/* The chosen events, or those of a file. */
struct session_chosen {
    char name[128];      /* cleaned */
    uint64_t samples;    /* in the history */
    bool shown, sampled; /* sampled: it runs now; of a file: never */
    bool off_cpu;        /* time off the CPU: off-cpu or wakers */
    bool wakers, wall;
    bool latency;   /* latency:ROW: durations of operations */
    bool implied;   /* not named by the user: sampled for wall or latency */
    bool cpu_time;  /* samples of running threads at regular intervals */
    uint32_t first; /* the first of the events that are sampled at the same time */
    bool left_out;  /* it did not open, or -e did not select it in the file */
    bool removed;
};
/* Returns the number of events; the caller frees *out with mem_free. */
uint32_t session_chosen(struct session *s, struct session_chosen **out);
/* by its number; starts it if needed */
bool session_show_event(struct session *s, uint32_t event, struct error *e);
/* Live: stops sampling and listing the event and its group. For an event sampled earlier, also the events
 * sampled at the same time. The last sampled event cannot be removed. */
bool session_remove_event(struct session *s, uint32_t event, struct error *e);
bool session_set_scope(struct session *s, const struct scope *scope, struct error *e);
bool session_set_freq(struct session *s, uint64_t freq_hz, struct error *e);
/* stack_bytes: for CALLCHAIN_DWARF; 0: the last requested size, or the default. */
bool session_set_callchain(struct session *s, enum callchain_mode mode, uint32_t stack_bytes,
                           struct error *e);
/* Also records which threads run, and sums up latencies (session/group_column.h), or no longer. Of a file:
 * shows them, which fails if it has no context switches. */
bool session_set_latency(struct session *s, bool on, struct error *e);
bool session_has_latency(const struct session *s);
/* For a file that is still being read: stop, and use what is read so far. */
void session_stop_reading(struct session *s);
/* borrowed until the next switch; the requested scope */
const struct scope *session_scope(struct session *s);
const struct scope *session_running_scope(struct session *s); /* the same, after the fallback */
/* Forgets all samples so far, and ends a freeze. No effect over a file. */
void session_clear(struct session *s);
/* Freezes the shown time, after recent samples were collected, or ends the freeze. Waits that are still open
 * become samples up to that moment. No effect over a file. */
void session_freeze(struct session *s, bool on);
/* Makes samples of the waits that are still open. Returns until when; 0 over a file and during a freeze. */
uint64_t session_report_waits(struct session *s);
/* Says when the samples will be read next, and how often from then on: they are collected right before. */
void session_looks(struct session *s, uint64_t at_ns, uint64_t every_ns);

/* The main query: see session/view.h. Fills v (zero-initialised, reused between calls). UI thread. */
void session_query(struct session *s, const struct view_query *q, struct view *v);
/* Only requests the names that this query will need, so that callers which wait for names look them up
 * once. */
void session_query_names(struct session *s, const struct view_query *q, struct view *v);

/* Writes the samples that q selects as a perf.data file (see doc): all of them, or an error. Counts the
 * written samples. */
bool session_write(struct session *s, const struct view_query *q, const char *path, uint64_t *samples,
                   struct error *e);

/* Requests a Java VM's map of its compiled code, in the background. The result appears in the status. */
bool session_ask_jvm(struct session *s, uint32_t pid, struct error *e);

/* For the pickers. */
struct session_process {
    uint32_t pid;
    char comm[16];
    char user[24];
    char cmdline[160]; /* cleaned; "" for kernel threads */
    uint64_t samples;  /* in the last 10 seconds of the history */
    double percent;    /* of the non-idle samples in that time */
    /* utime + stime since its start: the order of processes without samples */
    uint64_t cpu_ticks;
};
struct session_cgroup {
    char path[512];
    char label[128]; /* "docker web": if it is a container's folder, else "" */
    uint32_t depth, n_procs;
    uint64_t samples; /* in it and below, in the last 10 seconds */
    double percent;
};
enum session_list {
    SESSION_LIST_PROCESSES, /* by share, then CPU time */
    SESSION_LIST_CGROUPS,   /* depth first */
    SESSION_LISTS
};
struct session_listing { /* zero-initialised: empty */
    struct session_process *processes;
    struct session_cgroup *cgroups;
    uint32_t n;
    struct error error; /* why nothing could be read */
};
/* Starts a thread that makes the list, since /proc may be slow or hang. Does nothing while one is being
 * made. */
void session_list_start(struct session *s, enum session_list kind);
/* Moves a complete list to `out`, replacing the previous one. False: not complete yet, or not requested. */
bool session_list_take(struct session *s, enum session_list kind, struct session_listing *out);
void session_listing_done(struct session_listing *l);

/* Starts a thread that counts these events (copied) for a moment in the running scope. Replaces an earlier
 * request. */
bool session_rates_start(struct session *s, const struct event *events, uint32_t n, struct error *e);
/* The rates, in the order of the events. False: not complete yet, or not requested. */
bool session_rates_take(struct session *s, struct rate *out, uint32_t cap);
void session_rates_drop(struct session *s); /* cancels the request */

/* Waits until names are read and stacks are complete, the time is over, or the stop of session_set_patience
 * returns true (batch, exports). */
void session_settle(struct session *s, uint64_t timeout_ns);
/* Sets how long written output waits for its names. Default: 5 seconds, since a user waits at the screen.
 * stop (may be NULL) is polled; true: use the names read so far. */
void session_set_patience(struct session *s, uint64_t most_ns, bool (*stop)(void));
uint64_t session_patience_ns(const struct session *s);
/* Waits until no debug file is being downloaded, stop() returns true (stop may be NULL), or the time is over.
 * Call session_settle afterwards, for their names. */
void session_settle_fetches(struct session *s, uint64_t timeout_ns, bool (*stop)(void));
/* Ends sampling, after reading everything that is still in the rings. */
void session_stop(struct session *s);
/* Waits until the command has ended (without one: the targets are gone), the file is read, sampling has
 * stopped for good, stop() returns true (stop may be NULL), or the time is over. */
void session_wait(struct session *s, uint64_t ns, bool (*stop)(void));
/* exit status as in the shell; -1: still running, or no command */
int session_command_status(struct session *s);

#endif
