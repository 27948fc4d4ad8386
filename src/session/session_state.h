// SPDX-License-Identifier: GPL-2.0-or-later
/* Internals of a session, private to this folder. A record comes from the source (sample_source.h) or a
 * file (load.h). The collector (collect.h) makes its stack (unwinding.h) and a sample of the store (store.h).
 *
 * Two locks, always locked in this order: `source.lock` (to drain or replace the live source), then
 * `store.lock` (world, stacks, history and all counters): below, "under lock" is the latter. The collector
 * holds both while it processes a batch, the screen holds `store.lock` only for the scan of a query, and a
 * switch of event or scope holds `source.lock` while the events are reopened. Nothing is drawn, written or
 * waited for under `store.lock`. */
#ifndef FLAMETOP_SESSION_SESSION_STATE_H
#define FLAMETOP_SESSION_SESSION_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/map.h"
#include "process/containers.h"
#include "process/world.h"
#include "profile/history.h"
#include "profile/stacks.h"
#include "session/collect.h"
#include "session/command.h"
#include "session/load.h"
#include "session/sample_source.h"
#include "session/session.h"
#include "session/store.h"
#include "session/unwinding.h"
#include "symbols/symbolizer.h"

/* A session: the parts on the path of a sample, in its order, then what opening, switching and jobs need. */
struct session {
    struct session_source source;
    struct session_load load;
    struct session_collect collect;
    struct session_unwinding unwind;
    struct session_store store;
    struct session_command command;

    struct session_config cfg;     /* as requested, updated by live switches; scope is owned */
    struct containers *containers; /* has its own lock; NULL: over a file */
    char fatal[160];               /* why there is no source, or no more of the file; "": no error */
    uint64_t patience_ns;          /* session_set_patience; 0: the default */
    bool (*out_of_patience)(void);

    atomic_bool stop; /* all threads end */
    pthread_t resolver, fetcher;
    bool resolver_runs, fetcher_runs;

    /* ask.c: requests the symbol map of a Java VM */
    pthread_t ask;
    bool ask_started, asking; /* asking: under store.lock */
    uint32_t ask_pid, said_number;
    char said[200];

    struct rates *rates;                     /* rates.c: in progress; UI thread only */
    struct listing *listings[SESSION_LISTS]; /* complete or in progress; UI thread only */
};

/* chosen.c: appends a zeroed event. Under lock. May invalidate pointers to other events. */
struct session_event *session_add_event(struct session *s);
/* Number of events sampled at the same time as `first`, itself included. */
uint32_t chosen_together(const struct session *s, uint32_t first);
/* Index of the first of these events that are sampled together; CHOSEN_NOWHERE: not listed yet. */
#define CHOSEN_NOWHERE UINT32_MAX
uint32_t chosen_find(const struct session *s, const struct event *events, uint32_t n);
/* Of a file: marks the events that -e selects. False: no event matches a name. */
bool chosen_events(struct session *s, struct error *e);
uint64_t *chosen_counts(
    struct session *s); /* under lock: samples in the history by event; owned, SAMPLE_EVENTS entries */
/* coverage.c: reads the CPU time of the scope if it is due, or `now`. Under source.lock, right after a
 * drain. */
void coverage_look(struct session *s, bool now);
void coverage_get(const struct session *s, struct session_coverage *out); /* under lock */
/* Under lock: counts a sample of the history. Idle samples are no task's CPU time. */
static inline void coverage_count(struct session *s, const struct sample *sample)
{
    if (sample->event == s->collect.coverage.event && !(sample->flags & SAMPLE_IDLE))
        s->collect.coverage.weight_ns += sample->weight;
}
/* status.c: "auto 8K", "auto->fp": the running stack mode, and the requested one. */
void status_stacks(const struct session *s, char *dst, size_t cap);
/* crowd.c: detects that flametop itself gets too little CPU time, and then raises its priority. By the
 * collector, once a second, under lock. */
void crowd_start(struct session *s, uint64_t now_ns); /* before the first look */
void crowd_look(struct session *s, uint64_t now_ns);
/* describes the problem and its fix; false: no problem */
bool crowd_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);
/* collector.c */
void *collector_main(void *session);
/* Processes a record. Under lock. False, over a file only: the sample's stack waits for the unwind table
 * of module s->unwind.user.awaits, and nothing was done. */
bool collector_record(struct session *s, const struct record *r);
/* Unwinds a sample of the history again, from the copy of its record. False: something is still missing. */
bool collector_unwind_again(struct session *s, const struct user_aside *a, bool give_up);
void collector_final_drain(struct session *s); /* under source.lock */
void collector_wake(struct session *s);        /* makes it drain at once */
/* samplestack.c: under lock. Index of a record's event. */
static inline uint32_t session_event_of(const struct session *s, const struct record *r)
{
    return s->load.file ? r->source : s->store.live_event + r->source;
}
/* Over a file: true if samples of the event are put into the history. */
static inline bool session_reads_event(const struct session *s, uint32_t event)
{
    return event < s->store.n_events && !s->store.events[event].left_out;
}
struct stack_result {
    uint32_t stack;
    bool broken;
    uint32_t awaits; /* module whose unwind table is still to come; 0: none */
};
/* The complete stack of a sample, kernel and user. give_up: see userstack_unwind. */
struct stack_result samplestack_of(struct session *s, const struct record *r, const struct frame_owner *owner,
                                   bool give_up);
/* The frame of an address (of a call: one byte before the return address); NULL: in no mapping. Valid
 * until the next call. */
struct place_slot *samplestack_location(struct session *s, const struct frame_owner *o, uint64_t addr,
                                        bool kernel);
/* Frame of an exact address in no mapping: the address is true, but its module is unknown. */
uint32_t samplestack_unmapped(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel);
/* call when frames, stacks or the kernel's mappings change */
void samplestack_forget(struct session *s);
/* userstack.c: under lock. True if the sample has registers and stack memory of its user part. */
bool userstack_taken(const struct session *s, const struct record *r);
/* For a frame-pointer chain whose user part begins with pc: the caller of that function, if its return
 * address is still in a sampled register (a leaf on arm64), so that no frame record has it. awaits: as
 * below. */
bool userstack_link(struct session *s, const struct frame_owner *owner, const struct record *r, uint64_t pc,
                    bool give_up, uint64_t *caller, uint32_t *awaits);
struct user_unwind {
    uint32_t awaits;  /* the module whose table is missing; 0: none */
    uint32_t callers; /* stack of the callers of the last frame; 0: none, or unknown */
    uint64_t sp;      /* of the sample */
};
/* Unwinds the user part. Returns the frames, leaf first; a frame of MODULE_ID_BROKEN ends a truncated
 * stack. give_up: a table that is not read yet counts as missing. */
uint32_t userstack_unwind(struct session *s, const struct frame_owner *owner, const struct record *r,
                          bool give_up, uint32_t *frames, uint32_t cap, struct user_unwind *out);
/* Caches the stack of the last unwind, for samples that would unwind the same way. */
void userstack_keep(struct session *s, uint32_t stack);
void userstack_put_aside(struct session *s, const struct record *r, uint32_t thread, uint64_t number);
/* the next sample shares the stack of that one */
void userstack_again(struct session *s, uint64_t number);
/* retries those put aside; last: accepts any result */
void userstack_retry(struct session *s, bool last);
void userstack_forget(struct session *s); /* tables may be gone */
/* ignores the module's table until userstack_forget */
void userstack_give_up(struct session *s, uint32_t module);
void userstack_done(struct session *s);
/* jit.c: under lock. Follows the names of code made at run time: checks for new names (now: at once), and
 * assigns later samples to a new module where code was renamed. */
void jit_follow(struct session *s, bool now);
void jit_renew(struct session *s);
/* Over a file: loads the names that it contains, and decides whether names from its processes today may be
 * used. */
void jit_open(struct session *s, struct symbolizer_config *cfg);
void jit_open_scripts(struct session *s); /* names of interpreted frames, once there is a symbolizer */
void jit_advance(struct session *s, uint64_t time_ns); /* to the names that code has at that time */
uint64_t *jit_offsets_in(const struct session *s, uint32_t module,
                         size_t *n); /* sampled offsets; free with mem_free */
/* jitdates.c: applies the dates of replaced code from a module's dump. */
void jitdates_apply(struct session *s, struct module *m, const struct symbol_table *dates);
void jit_forget_frames(struct session *s); /* frames have been renumbered */
void jit_done(struct session *s);
/* jitframe.c: frames of code that was made at run time and has no unwind table. Live only. */
enum jit_location { JIT_LOCATION_UNKNOWN, JIT_LOCATION_KNOWN, JIT_LOCATION_PENDING };
/* Under lock, never blocks. exact: the frame is an instruction pointer, not a return address. PENDING: its
 * name or code is requested. */
enum jit_location jitframe_location(struct session *s, const struct frame_owner *owner,
                                    const struct module *m, uint32_t frame, bool exact,
                                    struct unwind_location *out);
/* Not under lock: reads what was requested from the memory of the processes. */
void jitframe_read(struct session *s);
/* something is requested; under lock, like the functions below */
bool jitframe_waits(const struct session *s);
void jitframe_forget_frames(struct session *s); /* frames have been renumbered */
void jitframe_forget(struct session *s);        /* modules may be gone */
void jitframe_done(struct session *s);
/* jitcalls.c: checks that a call instruction ends right before a return address in code made at run time.
 * Live only.
 * Under lock, never blocks: the result may be PENDING. frame: of that address. *target: the call's target,
 * or 0. */
enum unwind_call jitcalls_find(struct session *s, const struct module *m, uint32_t frame, uint64_t back,
                               uint64_t *target);
void jitcalls_read(struct session *s);   /* not under lock */
void jitcalls_forget(struct session *s); /* under lock: frames have been renumbered */
void jitcalls_done(struct session *s);
/* otherstack_unwind.c: stacks that a thread has switched away from. */
/* under lock; fp 0: none */
void otherstack_want(struct session *s, struct user_aside *a, uint64_t fp);
/* true if it should be read (again): what was read belonged to another time */
bool otherstack_may_try(const struct other_stack *o);
void otherstack_read(struct session *s); /* not under lock: reads what is wanted */
/* Under lock. frames[1] and above: callers of frames[0] that only such memory yields. True if the last
 * read at this frame pointer, with the same function called, found the same callers. */
bool otherstack_believe(struct session *s, uint32_t version, uint64_t fp, uint64_t function,
                        const struct unwind_frame *frames, uint32_t n);
void otherstack_forget(struct session *s); /* frames have been renumbered */
/* stacktouch.c: stack pages that the kernel could not copy because they were never used. */
/* Under lock. Requests pages: only copied_bytes of the thread's stack above sp were copied, and more are
 * needed. */
void stacktouch_want(struct session *s, uint32_t thread, uint64_t time_ns, uint64_t sp,
                     uint64_t copied_bytes);
/* Not under lock, by the collector alone: brings the pages into memory, for later samples. */
void stacktouch_read(struct session *s);
void stacktouch_done(struct session *s);
/* deepstacks.c: chooses the stack size that auto copies. */
uint32_t deepstacks_choose(const struct deep_seen *seen); /* the size to use from now on */
/* By the collector, under source.lock: checks once a second, and sets s->source.deep.bytes. True: the size
 * changed, and the source must be reopened. */
bool deepstacks_change(struct session *s, uint64_t now_ns);
void deepstacks_adopt(struct session *s);  /* under both locks: a source was opened */
void deepstacks_forget(struct session *s); /* under source.lock: the scope changes */
/* bounds.c */
void bounds_enforce(struct session *s); /* under lock */
void bounds_forget_all(struct session *s);
uint8_t *bounds_modules_in_use(struct session *s,
                               uint32_t *n); /* one byte per module id below n; the caller frees */
/* source.c */
bool source_open(struct session *s, struct error *e);
/* After each drain, under source.lock: reopens the source if auto's stack dumps are too many or too small. */
void source_keep_budget(struct session *s, uint64_t now_ns);
void source_keep_periods(struct session *s,
                         uint64_t now_ns); /* under source.lock: chosen periods follow the rate */
/* Under lock. Number of threads that ended without a sample, if each would have had one on all CPUs and
 * they are many; else 0. */
uint64_t source_unseen(const struct session *s);
/* The first running event that is sampled by a period; NULL: all are sampled by frequency. */
const struct session_event *source_by_period(const struct session *s);
/* period.c: fixed periods for events that count occurrences. */
/* True if flametop chooses the period of the event: the user set neither period nor frequency. */
bool period_is_chosen(const struct session_config *cfg, const struct event *ev,
                      const struct session_sampling *how);
/* Sampling of an event. chosen: the period that flametop chose; 0: not known yet. */
struct session_sampling period_sampling_of(const struct session_config *cfg, const struct event *ev,
                                           const struct session_sampling *how, uint64_t chosen);
/* Chooses the periods that flametop is to choose and that are 0 in chosen[n], by counting the events for
 * 50 ms. No lock. */
void period_choose(const struct session_config *cfg, const struct event *events,
                   const struct session_sampling *hows, uint32_t n, uint64_t *chosen);
/* The smallest of 1, 2, 5, 10, 20, ... that gives at most the wanted samples per second. */
uint64_t period_for_rate(double per_second, double wanted);
/* True if the chosen periods of the n running events give far too many or too few samples; chosen[n]:
 * better ones. Looks at three seconds of samples. Under source.lock. */
bool period_must_change(struct session *s, uint64_t now_ns, uint64_t *chosen, uint32_t n);
/* scan_proc.c: scans /proc. */
/* once per process, under lock, which is unlocked meanwhile */
void scan_proc_of(struct session *s, uint32_t pid);
void scan_proc_namespaces(
    struct session *s); /* again for all sampled live processes: a process may change its namespaces */
void scan_proc_of_targets(
    struct session *s); /* after a switch, under source.lock: a target may end before it is sampled */
/* load.c */
bool load_open(struct session *s, struct error *e);
bool load_is_of_this_machine(const struct session *s); /* by host name, as far as the file has one */
/* Passes the build IDs that the file has so far to the world. Returns the size of the kernel's; 0: none. */
unsigned load_build_ids(struct session *s, uint8_t kernel_id[20]);
void *load_main(void *session);
/* command.c */
bool command_spawn(struct session *s, struct error *e);   /* forks, and holds the command before exec */
bool command_release(struct session *s, struct error *e); /* lets it go on to exec */
/* Waits for exec, and fails if exec does. On a busy system that takes a while: rings are drained already. */
bool command_runs(struct session *s, struct error *e);
void command_poll(struct session *s); /* reaps it, moves its output to the log */
void command_end(struct session *s);
/* session.c: starts a thread with all signals blocked. */
bool session_start_thread(pthread_t *thread, void *(*body)(void *), struct session *s, struct error *e);
int session_start_detached(void *(*body)(void *),
                           void *arg); /* a thread that is not joined; 0, or an errno */
/* ask.c */
void ask_done(struct session *s); /* waits for the result */

/* rates.c: called by the session and by the thread. NULL is fine. */
void rates_leave(struct rates *r);

#endif
