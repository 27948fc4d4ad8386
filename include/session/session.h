// SPDX-License-Identifier: GPL-2.0-or-later
/* A session owns everything below the screens: the source (live or file), the collector thread, the world, the
 * stacks, the history, the names. Screens and exporters ask it questions; every answer is self-contained. */
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

#define SESSION_EVENTS_MAX EVENT_SET_MAX /* that one history can tell apart */

/* How an event is sampled. Both 0: as all events are, each occurrence of a tracepoint. */
struct session_sampling {
    uint64_t freq_hz, period;
    bool fitted; /* both 0: the period is chosen from the event's rate, and follows it */
};

struct session_config {
    struct event events[SESSION_EVENTS_MAX];
    struct session_sampling
        samplings[SESSION_EVENTS_MAX]; /* of each: its own, whatever freq_hz and period are */
    uint32_t n_events;                 /* sampled at the same time; [ and ] choose which of them is shown */
    bool event_named;                  /* by the user: no silent replacement */
    struct scope scope;
    uint64_t freq_hz, period;
    bool freq_named; /* by the user */
    enum callchain_mode callchain;
    uint32_t stack_bytes; /* for CALLCHAIN_DWARF; 0: default */
    uint64_t history_bytes;
    char *const *command; /* argv after "--", or NULL */
    bool
        leaves_in_time; /* somebody waits for the terminal: closing waits half a second at most, and leaves the rest to exit() */
    bool command_to_log; /* its output would tear a screen: it goes to the log, and its input is empty */
    struct session_output *command_output; /* … and here as it is, until the session is closed; NULL: not */
    const char *input; /* perf.data to open instead of sampling ("-": standard input), or NULL */
    const struct spool_wait
        *wait; /* told while it comes through a pipe or is unpacked (perfdata/spool.h), or NULL */
    const char *const
        *chosen; /* of a file: names and globs of the events that are read, with commas between them … */
    size_t n_chosen; /* … 0: all are */
    const char *symfs, *kallsyms, *vmlinux;
    bool
        whole_chains; /* of a file: callchains as they were recorded, also beyond where they ran into no code */
    bool as_perf;     /* of a file, and with whole_chains: by perf's rules, see --as-perf */
    bool compress;    /* records of a perf.data that is written are packed */
    bool no_interpreted;    /* frames of interpreted programs are not read */
    bool no_cache;          /* symbol and unwind tables are not kept on disk */
    const char *debuginfod; /* servers that are asked for debug files, separated by blanks; NULL: none */
};

#define SESSION_OUTPUT_BYTES (4u << 20)
struct session_output {
    struct buf text;  /* the last SESSION_OUTPUT_BYTES at least; owned by who has the struct */
    uint64_t dropped; /* bytes before them */
};

struct session;
struct session *session_open(const struct session_config *cfg, struct error *e);
/* Stops the threads, closes the events. What a thread that hangs in the kernel still needs is left alone. */
void session_close(struct session *s);

/* What did not come in time for what was written. */
struct session_missing {
    uint32_t modules; /* whose names are still being read */
    uint32_t mangled; /* names that are still as the linker has them */
    uint64_t stacks;  /* samples whose stacks end where an unwind table was not read yet */
};
bool session_missing(struct session *s, struct session_missing *out); /* false: nothing */

/* What the header shows. Strings are inside. */
#define SESSION_SPARK 60
struct session_status {
    bool file; /* over a perf.data: nothing moves */
    char host[65], release[65];
    char input[256]; /* file name, cleaned */
    uint32_t cpus;
    char event[128];
    uint32_t event_index, n_events; /* of all that were chosen, or that a file has */
    uint32_t beside_index,
        n_beside; /* the same of those that are sampled at the same time; of a file, that have samples */
    uint64_t freq_hz, period;
    char scope[96];
    bool no_kernel, no_user;
    enum callchain_mode callchain; /* as asked for; of a file as recorded */
    char stacks
        [24];     /* what runs: "auto", "auto 48K", "auto 8K", "auto->fp", "dwarf 24K", "fp", "lbr", "none" */
    bool reading; /* the file is not all there yet */
    double read_share; /* how much of it is, 0..1 */
    bool frozen;
    uint64_t elapsed_ns;      /* since start or clear; frozen: until the freeze */
    uint64_t now_ns;          /* end of the time that is shown */
    uint64_t samples;         /* since start or clear */
    uint64_t event_samples;   /* of these, of the event that is shown */
    uint64_t lost, throttled; /* since start */
    uint64_t history_samples, history_dropped, history_used_bytes, history_bytes;
    uint32_t spark[SESSION_SPARK]; /* samples per second, oldest first, the last one is the running second */
    uint64_t spark_sec;            /* number of that second: CLOCK_MONOTONIC's, or the file's clock's */
    double self_percent;           /* own CPU time, percent of one CPU, over the last second or so */
    double user_percent, system_percent, idle_percent,
        iowait_percent;                           /* of all CPUs, from /proc/stat; < 0: unknown */
    double switches_per_sec, faults_per_sec, ipc; /* < 0: unknown */
    uint32_t pending_modules;
    uint64_t stacks_waiting; /* samples whose stacks are cut only until an unwind table is there */
    char fetching[128];      /* "debuginfod: libfoo.so 3.2M of 14M"; "": nothing is under way */
    struct live_note notes[LIVE_NOTES_MAX + 8]; /* DEGRADED, worst first */
    uint32_t n_notes;
    bool targets_gone;    /* what was measured has ended */
    char fatal[160];      /* sampling stopped for good: why; else "" */
    char said[200];       /* the last answer to what was asked for in the background */
    uint32_t said_number; /* of such answers so far */
};
/* Of so many stacks of an answer that are cut, those that will be whole: the answer may be older than the status. */
static inline uint64_t session_stacks_waiting(const struct session_status *s, uint64_t cut)
{
    return s->stacks_waiting < cut ? s->stacks_waiting : cut;
}
void session_get_status(struct session *s, struct session_status *out);
/* A number that changes when there is something new to show (samples, names, a switch). */
uint64_t session_generation(struct session *s);

/* Live switches: the source is closed and opened anew, the history stays. On failure what ran goes on running. */
bool session_set_event(struct session *s, const char *text,
                       struct error *e); /* adds it if new, and selects it */
bool session_set_event_as(struct session *s, const char *text, const struct session_sampling *how,
                          struct error *e);
/* What an event would be sampled by: one of both is 0. */
void session_sampling_of(const struct session *s, const struct event *ev, const struct session_sampling *how,
                         struct session_sampling *out);
/* True if flametop chooses the period of such an event itself, from its rate: nobody has to be asked. */
bool session_chooses_period(const struct session *s, const struct event *ev,
                            const struct session_sampling *how);
uint64_t session_default_freq(const struct session *s);                  /* of -F, or the default */
bool session_select_event(struct session *s, int step, struct error *e); /* next or previous chosen event */

/* The events that were chosen, or that a file has. */
struct session_chosen {
    char name[128];      /* cleaned */
    uint64_t samples;    /* in the history */
    bool shown, sampled; /* sampled: it runs now; over a file never */
    bool left_out;       /* it did not open, or -e named others of the file */
    bool removed;
};
uint32_t session_chosen(struct session *s, struct session_chosen **out); /* owned */
bool session_show_event(struct session *s, uint32_t event,
                        struct error *e); /* by its number; starts it if need be */
/* Live: it is sampled and offered no more, nor what is in one group with it; of what was sampled before, nor those that were
 * sampled at the same time. The last one that is sampled stays. */
bool session_remove_event(struct session *s, uint32_t event, struct error *e);
bool session_set_scope(struct session *s, const struct scope *scope, struct error *e);
bool session_set_freq(struct session *s, uint64_t freq_hz, struct error *e);
/* stack_bytes: for CALLCHAIN_DWARF; 0: what was asked for last, or the default. */
bool session_set_callchain(struct session *s, enum callchain_mode mode, uint32_t stack_bytes,
                           struct error *e);
/* Over a file that is still being read: what has come is enough. */
void session_stop_reading(struct session *s);
const struct scope *session_scope(struct session *s); /* borrowed until the next switch; the asked-for one */
const struct scope *session_running_scope(struct session *s); /* the same, after the fallback */
void session_clear(struct session *s);                        /* what was sampled so far is forgotten */
void session_freeze(struct session *s, bool on);
/* When somebody will look at what was sampled, and how often from then on: it is collected right before. */
void session_looks(struct session *s, uint64_t at_ns, uint64_t every_ns);

/* The main question: see session/view.h. Fills v (reused between calls; zero at first). UI thread. */
void session_query(struct session *s, const struct view_query *q, struct view *v);
/* Only asks for the names that this query will want: who waits for them anyway need not have them looked up twice. */
void session_query_names(struct session *s, const struct view_query *q, struct view *v);

/* Writes what q selects as perf.data (see doc): all samples, or why not. Counts what was written. */
bool session_write(struct session *s, const struct view_query *q, const char *path, uint64_t *samples,
                   struct error *e);

/* Asks a Java VM for the names of its compiled code, in the background: the answer comes in the status. */
bool session_ask_jvm(struct session *s, uint32_t pid, struct error *e);

/* For the pickers. */
struct session_process {
    uint32_t pid;
    char comm[16];
    char user[24];
    char cmdline[160];  /* cleaned; "" for kernel threads */
    uint64_t samples;   /* in the last 10 seconds of the history */
    double percent;     /* of the samples in it that are not idle */
    uint64_t cpu_ticks; /* utime + stime since its start: order among those without samples */
};
struct session_cgroup {
    char path[512];
    char label[128]; /* "docker web": of the folder of a container, else "" */
    uint32_t depth, n_procs;
    uint64_t samples; /* in it and below, last 10 seconds */
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
    struct error error; /* nothing could be read: why */
};
/* Has a list made by a thread of its own, since /proc may take long or hang. While one is on its way: nothing. */
void session_list_start(struct session *s, enum session_list kind);
/* Takes the list, in place of the one before, once it is whole. False: it is not yet, or was not asked for. */
bool session_list_take(struct session *s, enum session_list kind, struct session_listing *out);
void session_listing_done(struct session_listing *l);

/* Has a thread of its own count these events (copied) for a moment in the scope that runs, in place of what it was asked
 * to count before. */
bool session_rates_start(struct session *s, const struct event *events, uint32_t n, struct error *e);
/* What was counted, in that order, once it is there. False: it is not yet, or was not asked for. */
bool session_rates_take(struct session *s, struct rate *out, uint32_t cap);
void session_rates_drop(struct session *s); /* nobody waits for them any more */

/* Waits until names are there, the time is over, or what session_set_patience was given says so (batch, exports). */
void session_settle(struct session *s, uint64_t timeout_ns);
/* How long what is written waits for its names: 5 seconds if this is not called, for somebody sits before the screen.
 * stop (may be NULL) is asked meanwhile; true: those that are there will do. */
void session_set_patience(struct session *s, uint64_t most_ns, bool (*stop)(void));
uint64_t session_patience_ns(const struct session *s);
/* The same for debug files that are being fetched; their names are then to be settled. stop: as of session_wait. */
void session_settle_fetches(struct session *s, uint64_t timeout_ns, bool (*stop)(void));
/* Ends sampling, with everything that is still in the rings taken in. */
void session_stop(struct session *s);
/* Waits until the command has ended, the targets are gone, stop() says true, or the time is over. */
void session_wait(struct session *s, uint64_t ns, bool (*stop)(void));
int session_command_status(struct session *s); /* exit status as the shell has it, -1: runs or none */

#endif
