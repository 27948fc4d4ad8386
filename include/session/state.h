// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a session, shared by the rooms of this folder only.
 *
 * Two locks, always taken in this order: `source_lock` (who may drain or replace the live source), then `lock`
 * (world, stacks, history and every counter). The collector holds both while it works on a batch, the screen takes
 * `lock` just for the scan of a query, and a switch of event or scope takes `source_lock` for as long as the events
 * are opened anew. Nothing is ever drawn, written or waited for under `lock`. */
#ifndef FLAMETOP_SESSION_STATE_H
#define FLAMETOP_SESSION_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/map.h"
#include "perfdata/reader.h"
#include "process/containers.h"
#include "process/world.h"
#include "profile/history.h"
#include "profile/stacks.h"
#include "session/box.h"
#include "session/bundle.h"
#include "session/coverage.h"
#include "session/session.h"
#include "symbols/symbolizer.h"
#include "unwind/hotspot.h"
#include "unwind/walk.h"

/* Frames of addresses that were looked up lately, with what unwinding needs of them: a step up a stack is one look
 * into memory that the sampled programs have pushed out of the cache. */
#define PLACE_CACHE_SLOTS 8192
struct place_slot { /* two of them are a line of the cache */
    uint64_t addr;
    uint32_t version;               /* of the address space; 0: the kernel's */
    uint32_t frame : 31;            /* 0: empty */
    uint32_t has_row : 1;           /* its module's table was asked what follows */
    const struct unwind_rows *rows; /* NULL: the module has none */
    const struct unwind_entry *entry;
};

#define FILE_CACHE_SHIFT 2 /* over a file: so many times twice as large, as there all is asked for at once */

/* The stacks of callers that were seen lately: far more than there are hot paths, as a path that was pushed out by another
 * costs as much as a new one. */
#define CALLERS_CACHE_SLOTS 16384
struct callers_slot {
    uint64_t hash; /* of the owner and the addresses; 0: empty */
    uint32_t stack;
    bool broken;
};

/* Whose addresses: an address space as it is now. */
struct frame_owner {
    uint32_t thread, image, version;
    struct space *maps;                     /* of then, for a sample that was put aside; NULL: those of now */
    const struct other_stack *other;        /* read for it since; NULL: none */
    const struct stackprobe_sample *frames; /* an interpreter's of then, with maps; NULL: none */
};

/* userstack.c */
#define USER_FRAMES_MAX 1024
struct user_table { /* of a module */
    const struct unwind_rows *rows;
    uint32_t generation; /* of the symbolizer when it was asked */
    uint8_t state;
};
/* otherstack.c */
enum other_stack_state { OTHER_STACK_NONE, OTHER_STACK_WANTED, OTHER_STACK_READ };
struct other_stack { /* memory around a frame pointer that led out of the dump */
    enum other_stack_state state;
    uint32_t pid, tries;
    uint64_t base;
    void *bytes; /* owned; NULL: it could not be read */
    size_t size;
};
#define OTHERS_SEEN 1024
struct other_seen { /* by a hash of where: a hash of the callers there when it was read last */
    uint64_t key, sum;
    uint32_t doubts; /* so often the same must be read before it is believed */
};
struct user_aside {   /* a sample whose stack is not whole yet */
    uint64_t number;  /* in the history */
    uint32_t n_again; /* so many behind it are the same for other events of its group */
    uint64_t until_ns;
    struct space *maps;               /* held: the image's maps when it was taken */
    struct stackprobe_sample *frames; /* owned: those of an interpreter; NULL: none */
    struct record r;                  /* what it points to is in bytes */
    void *bytes;
    struct other_stack other;
    size_t n_bytes;
};
/* walks.c */
struct walks {       /* that were made lately, each with the stack of those that it found */
    uint32_t *index; /* where in the arena, plus one, by hash */
    uint64_t *arena;
    size_t used;    /* of the arena: they are forgotten together */
    unsigned shift; /* larger by this */
};
struct walked {
    uint64_t hash;           /* of the frames on the way and of whose they are */
    uint64_t fp, first, sum; /* of the first run of words, of all of them */
};
void walks_open(struct walks *w, unsigned shift);
void walks_fetch(const struct walks *w); /* where they are found comes into the cache of the CPU */
void walks_forget(struct walks *w);
void walks_done(struct walks *w);
uint32_t walks_find(const struct walks *w, uint64_t hash, const struct unwind_memory *memory,
                    const struct unwind_regs *regs);
void walks_keep(struct walks *w, const struct walked *from, const struct unwind_reads *reads,
                uint32_t callers);

struct stackprobe_sample;
struct interpreted;
#define CALL_VERDICTS 512 /* a power of 2 */
struct
    call_verdict { /* what was found of a call: the same pairs come with nearly each sample; both 0: nothing */
    uint32_t caller, callee; /* frames */
    bool proven;
};
struct user_stacks {
    enum unwind_arch arch;
    struct user_table *tables; /* by module id */
    size_t tables_cap;
    struct user_aside *aside; /* oldest first */
    size_t n_aside, aside_cap, aside_bytes;
    uint32_t tried_generation;
    uint32_t awaits; /* over a file: module whose table the sample at hand waits for */
    uint64_t
        other; /* frame pointer into another stack, which is to be read for the sample at hand; 0: none */
    size_t others_wanted; /* of those put aside */
    struct other_seen others_seen[OTHERS_SEEN];
    struct unwind_frame
        walked[USER_FRAMES_MAX]; /* scratch: on our own stack it would be more than a dump of that holds */
    struct unwind_reads reads;   /* of the last walk; bad: it is not to be kept */
    struct walked from;          /* … and where they begin, … */
    uint32_t n_from;             /* … after so many frames */
    struct walks walks;
    struct call_verdict verdicts[CALL_VERDICTS];
};

/* jitdates.c */
struct jit_past { /* samples until a change of names, taken out of a module */
    uint32_t of, module;
    uint64_t until_ns; /* the last of it */
};

/* jit.c */
struct jit_names {
    struct map followed; /* ids of JIT modules that were sampled */
    uint32_t frames_seen;
    struct jit_past *pasts;
    size_t n_pasts, pasts_cap;
    struct jit_epoch *epochs; /* that came with a file */
    uint32_t n_epochs, next_epoch;
    size_t epochs_cap;
};

/* jitframe.c */
struct jit_code {         /* a method of a Java VM, or a part of that */
    uint64_t start, size; /* address */
    uint32_t module, pid;
    /* METHOD: `frame` tells of it; BARE: it has none, and calls nothing; OTHER: not of a Java VM */
    enum { JIT_CODE_NONE, JIT_CODE_METHOD, JIT_CODE_BARE, JIT_CODE_INTERPRETER, JIT_CODE_OTHER } kind;
    struct unwind_hotspot frame;
};
struct jit_frames {
    struct jit_code *codes; /* those from n_read on are not read yet */
    size_t n_codes, cap, n_read;
    struct map by_start; /* hash of module and start → index */
    struct map by_frame; /* what is known of a frame's address */
    struct map runtimes; /* by module: what its process runs, as far as its frames are known */
    uint32_t cleared;    /* how often */
    bool fresh;          /* something was read since stacks were last tried again */
};

/* jitcalls.c */
struct jit_call {
    uint64_t back;
    uint32_t frame, pid;
};
struct jit_calls {
    struct map known; /* frame of a return address → enum unwind_call, and above CALL_BITS the target */
    struct jit_call *wanted; /* of those PENDING, what was not taken to be read yet */
    size_t n, cap;
    uint32_t cleared; /* how often */
};

/* stacktouch.c */
#define STACKS_WANTED_MAX 64
struct stack_touched { /* of a thread: from low to high; 0, 0: nothing yet */
    uint64_t low, high;
};
struct stack_wanted {
    uint32_t pid;
    uint64_t time_ns; /* of the sample: the process ran then */
    uint64_t sp;
};
struct stack_touches {
    struct map by_thread; /* hash of the thread → index in touched */
    struct stack_touched *touched;
    size_t n_touched, touched_cap;
    struct stack_wanted wanted[STACKS_WANTED_MAX];
    size_t n_wanted;
    uint64_t next_ns; /* not before this time */
};

/* deepstacks.c */
struct deep_stacks {
    uint32_t bytes;               /* that auto takes of each stack; 0: the default */
    uint32_t refused;             /* so many were too expensive, or not to be had; 0: none */
    uint32_t wanted;              /* the size for which a source is being opened; 0: none */
    bool more;                    /* there is a larger size that could be taken */
    uint64_t dumped, cut;         /* dumps, and of these those that were too small, since since_ns */
    uint64_t since_ns, looked_ns; /* since_ns 0: counting begins with the next look */
    uint64_t cpu_ns;              /* the collector's by since_ns */
};
struct deep_seen {                   /* of a source that takes so many bytes */
    uint32_t bytes, smaller, larger; /* larger 0: none that would be affordable */
    uint32_t n_cpus;
    uint64_t dumped, cut, time_ns;
    double cpu_share; /* of one CPU, by the collector */
};

struct session_event {
    struct event event;
    struct event asked; /* the one in whose place it may run */
    bool named;         /* asked, by the user */
    bool left_out;      /* of what is sampled with it: it did not open; of a file: -e named others */
    bool removed;       /* from those that are offered; its samples are not shown again */
    uint32_t instead;   /* while it is taken out of those that are sampled with it; 0: none */
    uint64_t samples;   /* that it had since the start, or since all was forgotten */
    uint32_t leader;    /* of its group; one that is alone leads itself. Others of a group stand behind it */
    uint32_t first;     /* of those that are sampled at the same time, which stand behind each other */
    struct session_sampling how; /* as asked for with it */
    uint64_t chosen; /* period that flametop chose, as the user named none (period.c); 0: it did not */
    struct perf_event_attr attr; /* as opened; for a file as read */
    uint64_t freq_hz, period;
    uint64_t seen_hz;  /* of a period: what auto had to find out, 0: nothing */
    uint64_t lost;     /* of its samples, as far as records tell */
    uint64_t since_ns; /* it was sampled first; 0: not yet, or of a file */
};

#define WORLD_BYTES                                                                                          \
    (UINT64_C(64) << 20) /* all mappings of processes that a file tells of, and so often its size */
#define WORLD_TIMES          16
#define SESSION_RECORD_TYPES 32 /* of the kernel's; room for what is to come */

struct session {
    struct session_config cfg; /* as asked for, following the live switches; scope is owned */

    pthread_mutex_t source_lock;
    struct live *live;  /* NULL over a file, or when the source could not be opened again */
    uint64_t n_sources; /* that there were, with this one */
    struct perfdata *file;
    struct bundle *bundle;  /* that the file came in; NULL: none */
    struct given *embedded; /* symbols that are in the file; NULL: none */
    char file_stacks[24];   /* how its stacks were taken, if flametop wrote it; "": it does not tell */
    bool file_cuts;         /* its chains say why they were cut (snapshot_write.c) */
    uint64_t patience_ns;   /* session_set_patience; 0: the default */
    bool (*out_of_patience)(void);
    struct scope running_scope; /* after the fallback */
    enum callchain_mode running_callchain;
    uint32_t running_stack_bytes;

    pthread_mutex_t lock;
    struct world *world;
    struct containers *containers; /* has its own lock; NULL over a file */
    struct stacks *stacks;
    struct history *history;
    struct symbolizer *symbolizer; /* has its own lock */
    struct place_slot *places;
    struct callers_slot *callers;
    unsigned cache_shift; /* of places: SLOTS << this */
    bool caches_hold;     /* something was put in since they were last emptied */
    struct user_stacks user;
    struct jit_names jit;
    struct jit_frames jit_frames;
    struct jit_calls jit_calls;
    struct interpreted *interpreted; /* session/interpreted.h; NULL: switched off, or over a file */
    struct map file_scripts;         /* over a file: its addresses of interpreted frames → ours */
    struct stack_touches touches;
    struct deep_stacks deep;
    struct session_event *events; /* session_add_event */
    uint32_t n_events;
    size_t events_cap;
    uint32_t current_event; /* that is shown … */
    uint32_t live_event; /* … and the one that is sampled, or leads the group that is: that one's group */
    struct {
        struct sample sample;
        uint64_t number;
    } sampled;              /* the last sample: other events of its group share it */
    uint32_t *thread_scope; /* by thread: number of the scope it was last sampled under */
    size_t thread_scope_cap;
    uint32_t scope_number;
    uint64_t
        scope_ns; /* since when samples are of the whole scope; 0: since the start. A range may look behind it */
    uint32_t targets_read;                    /* the scope_number whose targets were read from /proc */
    uint64_t memory_limit;                    /* of our cgroup, if budget_bytes had to fit into it; else 0 */
    uint64_t budget_bytes, world_floor_bytes; /* floor: what the world took after the last collection */
    uint64_t world_live_bytes;                /* of that, for those who live */
    uint64_t start_ns, clear_ns, frozen_ns;   /* frozen_ns 0: not frozen */
    uint64_t drained_ns;                      /* all samples up to then are in the history */
    pthread_cond_t drained;                   /* it is later than before */
    size_t drained_records;                   /* by the last drain */
    atomic_uint_fast64_t look_ns, look_every_ns; /* session_looks; 0: nobody has said */
    uint64_t samples, lost_before, throttled_before;
    uint64_t forgotten; /* of these, from before the last clear */
    struct live_stats stats;
    uint64_t records[SESSION_RECORD_TYPES]; /* live, by type; a file counts its own */
    struct live_note notes[LIVE_NOTES_MAX];
    uint32_t n_notes;
    uint32_t spark[SESSION_SPARK];
    uint64_t spark_sec; /* CLOCK_MONOTONIC second of the newest bucket */
    uint64_t file_first_ns, file_last_ns;
    uint64_t file_left_out; /* samples of more events than a history tells apart */
    struct box box;
    double self_percent;
    struct {
        uint64_t samples, time_ns; /* of the live source, at the last look */
        double per_second;         /* since the one before; 0: within the budget, or by frequency */
    } dear;
    struct {
        uint64_t time_ns; /* of the last look */
        uint64_t own_ns,
            all_ns; /* that the collector had waited for CPUs by then, and all that is flametop's */
        uint64_t told_ns, waited_ns; /* when it last waited for CPUs, and how long */
        enum { CROWD_NEVER, CROWD_RAISED, CROWD_REFUSED } priority;
    } crowd;
    struct {
        uint64_t samples, time_ns, source; /* at the last look; source: of n_sources */
    } paced;                               /* whether chosen periods fit (period.c) */
    bool runs_wide;                        /* live_is_wide() */
    char mend_wide[200];                   /* live_mend_wide() */
    struct {
        uint64_t samples, unseen;
    } opened; /* how many there were when the source was opened */
    struct coverage coverage;
    uint64_t lost_recent_ns; /* when something was last lost */
    uint32_t lost_cpus;      /* live_lost_cpus() */
    bool starved;            /* live_is_starved() */
    char fatal[160];
    bool targets_gone;
    bool trim_wanted; /* stacks were collected: names may go too, when the screen next asks for some */

    atomic_uint_fast64_t generation;
    atomic_bool stop, loaded;
    double load_progress;
    atomic_bool load_stop; /* what is read by now is enough */
    bool load_stopped;     /* … and it was: at this share of the file */
    double load_stopped_at;
    struct perfdata_info file_info; /* the file's own changes while it is read */
    pthread_t collector, resolver, fetcher;
    bool collector_runs, resolver_runs, fetcher_runs;
    pthread_t ask;
    bool ask_started, asking; /* asking: under lock */
    uint32_t ask_pid, said_number;
    char said[200];
    int wake_fd; /* eventfd: stop, or a switch */

    struct rates *rates;                     /* rates.c: on their way; the screen's thread only */
    struct listing *listings[SESSION_LISTS]; /* made, or on their way; the screen's thread only */

    char *const *command; /* NULL: none */
    pid_t command_pid;
    int command_pipe;       /* its output, drained into the log; -1: none */
    char command_line[256]; /* of its output, as far as it has come */
    bool command_floods;    /* it prints more than is kept: it is read less often */
    uint32_t command_line_n;
    uint64_t command_cpu_ns;   /* that it took, once it was reaped */
    atomic_int command_status; /* -1: runs or none */
};

/* chosen.c: under lock; one behind the others, all zero. Pointers to others may end. */
struct session_event *session_add_event(struct session *s);
/* How many are sampled at the same time as the first of them, itself included. */
uint32_t chosen_together(const struct session *s, uint32_t first);
/* Where the first of events stands that are sampled at the same time; CHOSEN_NOWHERE: they are not there yet. */
#define CHOSEN_NOWHERE UINT32_MAX
uint32_t chosen_find(const struct session *s, const struct event *events, uint32_t n);
/* Of a file, which events -e names; false: there is none of that name. */
bool chosen_events(struct session *s, struct error *e);
uint64_t *chosen_counts(
    struct session *s); /* under lock: the history's samples by event; owned, SAMPLE_EVENTS of them */
/* coverage.c: under source_lock, right after a drain. Looks at the CPU time of the scope, if it is time to,
 * or now. */
void coverage_look(struct session *s, bool now);
void coverage_get(const struct session *s, struct session_coverage *out); /* under lock */
/* Under lock: a sample that is in the history. What idles is no task's time. */
static inline void coverage_count(struct session *s, const struct sample *sample)
{
    if (sample->event == s->coverage.event && !(sample->flags & SAMPLE_IDLE))
        s->coverage.weight_ns += sample->weight;
}
/* status.c: "auto 8K", "auto->fp": how stacks are taken, and what it was to be. */
void status_stacks(const struct session *s, char *dst, size_t cap);
/* crowd.c: under lock, by the collector, once a second: whether flametop itself gets too little of the CPUs; then it gets a
 * higher priority. */
void crowd_start(struct session *s, uint64_t now_ns); /* before the first */
void crowd_look(struct session *s, uint64_t now_ns);
bool crowd_tell(const struct session *s, char *what, size_t what_cap, char *mend,
                size_t mend_cap); /* false: it is not so */
/* collector.c */
void *collector_main(void *session);
/* Under lock. False, over a file only: the sample's stack waits for the unwind table of module s->user.awaits, and
 * nothing was done. */
bool collector_record(struct session *s, const struct record *r);
/* A sample of the history, once more from the record's copy; false: something is still missing. */
bool collector_unwind_again(struct session *s, const struct user_aside *a, bool give_up);
void collector_final_drain(struct session *s); /* under source_lock */
void collector_wake(struct session *s);        /* it drains at once */
/* samplestack.c: under lock. The index of the event that a record is of. */
static inline uint32_t session_event_of(const struct session *s, const struct record *r)
{
    return s->file ? r->source : s->live_event + r->source;
}
/* Over a file: its samples are in the history. */
static inline bool session_reads_event(const struct session *s, uint32_t event)
{
    return event < s->n_events && !s->events[event].left_out;
}
struct stack_answer {
    uint32_t stack;
    bool broken;
    uint32_t awaits; /* module whose unwind table is still to come, 0: none */
};
/* The whole stack of a sample, of whoever ran then. give_up: see userstack_walk. */
struct stack_answer samplestack_of(struct session *s, const struct record *r, const struct frame_owner *owner,
                                   bool give_up);
/* The frame of an address (of a call: one byte before the return address); NULL: in no mapping. Valid until the next. */
struct place_slot *samplestack_place(struct session *s, const struct frame_owner *o, uint64_t addr,
                                     bool kernel);
/* Of an exact address that is in no mapping: it is true, but what was there may not be known. */
uint32_t samplestack_unmapped(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel);
void samplestack_forget(struct session *s); /* frames, stacks or the kernel's map changed */
/* userstack.c: under lock. Does the sample bring the registers and the memory of its user part? */
bool userstack_taken(const struct session *s, const struct record *r);
/* Of a chain by frame pointers, whose user part begins with pc: who called that function, if it keeps its return address
 * in a register that the sample brings (a leaf on arm64), so that no frame record leads there. awaits: as below. */
bool userstack_link(struct session *s, const struct frame_owner *owner, const struct record *r, uint64_t pc,
                    bool give_up, uint64_t *caller, uint32_t *awaits);
struct user_walk {
    uint32_t awaits;  /* the module whose table is missing, 0: none */
    uint32_t callers; /* the stack of those that called the last of the frames; 0: nobody, or not known */
    uint64_t sp;      /* of the sample */
};
/* The frames of the user part, leaf first; one of MODULE_ID_BROKEN ends those that are cut. give_up: a table that is
 * not there yet counts as none. */
uint32_t userstack_walk(struct session *s, const struct frame_owner *owner, const struct record *r,
                        bool give_up, uint32_t *frames, uint32_t cap, struct user_walk *out);
/* The stack that the frames of the walk just done make: kept for walks that would go the same way. */
void userstack_keep(struct session *s, uint32_t stack);
void userstack_put_aside(struct session *s, const struct record *r, uint32_t thread, uint64_t number);
void userstack_again(struct session *s, uint64_t number);   /* the sample behind that one shares its stack */
void userstack_retry(struct session *s, bool last);         /* those put aside; last: however it ends */
void userstack_forget(struct session *s);                   /* tables may be gone */
void userstack_give_up(struct session *s, uint32_t module); /* its table: until userstack_forget */
void userstack_done(struct session *s);
/* jit.c: under lock. Follows the names of code made at run time: looks for more of them (now: at once), and lets samples
 * from now on belong to another module where code got other names. */
void jit_follow(struct session *s, bool now);
void jit_renew(struct session *s);
/* Over a file: what names it brings, and whether those that its processes tell of today may be used. */
void jit_open(struct session *s, struct symbolizer_config *cfg);
void jit_open_scripts(struct session *s); /* … and once there is a symbolizer: names of interpreted frames */
void jit_advance(struct session *s, uint64_t time_ns); /* to the names that code has at that time */
uint64_t *jit_offsets_in(const struct session *s, uint32_t module,
                         size_t *n); /* that were sampled; for mem_free */
/* jitdates.c: a module's dump has told of code that was replaced. */
void jitdates_apply(struct session *s, struct module *m, const struct symbol_table *dates);
void jit_forget_frames(struct session *s); /* they have other numbers */
void jit_done(struct session *s);
/* jitframe.c: what code that is made at run time, and has no unwind table, tells of its frames. Live only. */
enum jit_place { JIT_PLACE_UNKNOWN, JIT_PLACE_KNOWN, JIT_PLACE_PENDING };
/* Under lock, waits for nothing. exact: the frame is where a thread is, not where it returns to. PENDING: its
 * name or its code is asked for. */
enum jit_place jitframe_place(struct session *s, const struct frame_owner *owner, const struct module *m,
                              uint32_t frame, bool exact, struct unwind_place *out);
/* Not under lock: reads what was asked for from the memory of the processes. */
void jitframe_read(struct session *s);
bool jitframe_waits(const struct session *s);   /* something is asked for; under lock, as the rest */
void jitframe_forget_frames(struct session *s); /* they have other numbers */
void jitframe_forget(struct session *s);        /* modules may be gone */
void jitframe_done(struct session *s);
/* jitcalls.c: does a call instruction end right before a return address in code made at run time? Live only. */
/* Under lock, waits for nothing: the answer may be PENDING. frame: of that address. *target: where the call leads, or 0. */
enum unwind_call jitcalls_find(struct session *s, const struct module *m, uint32_t frame, uint64_t back,
                               uint64_t *target);
void jitcalls_read(struct session *s);   /* not under lock */
void jitcalls_forget(struct session *s); /* under lock: frames have other numbers */
void jitcalls_done(struct session *s);
/* otherstack.c: stacks that a thread has left for another one. */
void otherstack_want(struct session *s, struct user_aside *a, uint64_t fp); /* under lock; fp 0: nothing */
bool otherstack_may_try(
    const struct other_stack *o);        /* to read it (again): what was read was of another time */
void otherstack_read(struct session *s); /* not under lock: what is wanted */
/* Under lock. Callers that only such memory tells, frames[1] on, of the function of frames[0] with that frame pointer: were
 * they the same when they were last read? */
bool otherstack_believe(struct session *s, uint32_t version, uint64_t fp, const struct unwind_frame *frames,
                        uint32_t n);
void otherstack_forget(struct session *s); /* frames have other numbers */
/* stacktouch.c: pages of stacks that the kernel could not copy since they were never used. */
/* Under lock. So many bytes of the thread's stack from sp on were copied, and more are needed. */
void stacktouch_want(struct session *s, uint32_t thread, uint64_t time_ns, uint64_t sp,
                     uint64_t copied_bytes);
/* Not under lock, by the collector alone: brings them into memory, so that later samples have them. */
void stacktouch_read(struct session *s);
void stacktouch_done(struct session *s);
/* deepstacks.c: how much of each stack auto takes, by whether it is enough. */
uint32_t deepstacks_choose(const struct deep_seen *seen); /* the size to take from now on */
/* By the collector, under source_lock: looks once a second, and sets s->deep.bytes. True: to another size, for which the source is to be opened. */
bool deepstacks_change(struct session *s, uint64_t now_ns);
void deepstacks_adopt(struct session *s);  /* under both locks: a source was opened */
void deepstacks_forget(struct session *s); /* under source_lock: others are sampled from now on */
/* bounds.c */
void bounds_enforce(struct session *s); /* under lock */
void bounds_forget_all(struct session *s);
uint8_t *bounds_modules_in_use(struct session *s,
                               uint32_t *n); /* a byte per module id below n; the caller frees */
/* source.c */
bool source_open(struct session *s, struct error *e);
/* After each drain, under source_lock: where auto's dumps turn out to be too many, or too short for the stacks, it is
 * opened again with others. */
void source_keep_budget(struct session *s, uint64_t now_ns);
void source_keep_periods(struct session *s,
                         uint64_t now_ns); /* under source_lock: chosen periods follow the rate */
/* Under lock. Threads that ended without a sample, if each would have had one on all CPUs and they are many;
 * else 0. */
uint64_t source_unseen(const struct session *s);
/* The first one of the events that run which is sampled by a period; NULL: all are by a frequency. */
const struct session_event *source_by_period(const struct session *s);
/* period.c: fixed periods for events that happen */
/* True if the period of such an event is flametop's to choose: nobody named a period or a frequency. */
bool period_is_chosen(const struct session_config *cfg, const struct event *ev,
                      const struct session_sampling *how);
/* How often an event is sampled. chosen: its period of flametop's choice; 0: not known yet. */
struct session_sampling period_sampling_of(const struct session_config *cfg, const struct event *ev,
                                           const struct session_sampling *how, uint64_t chosen);
/* Chooses the periods that are to be chosen and are 0 in chosen[n]; counts the events for 50 ms. Needs no lock. */
void period_choose(const struct session_config *cfg, const struct event *events,
                   const struct session_sampling *hows, uint32_t n, uint64_t *chosen);
/* The smallest of 1, 2, 5, 10, 20, ... that gives at most as many samples a second as wanted. */
uint64_t period_for_rate(double per_second, double wanted);
/* True if chosen periods of the n events that run give far too many or too few samples; chosen[n]: better ones. Looks at
 * the samples of three seconds. Under source_lock. */
bool period_must_change(struct session *s, uint64_t now_ns, uint64_t *chosen, uint32_t n);
/* readproc.c */
void readproc_of(struct session *s, uint32_t pid); /* once, under lock, which it lets go meanwhile */
void readproc_namespaces(
    struct session *s); /* again, of all that were sampled and live: a process may change its own */
void readproc_of_targets(
    struct session *s); /* after a switch, under source_lock: one may end before it is sampled */
/* load.c */
bool load_open(struct session *s, struct error *e);
bool load_is_of_this_machine(const struct session *s); /* by its name, as far as the file tells */
/* Tells the world those that the file has by now; the kernel's: its size, 0: none. */
unsigned load_build_ids(struct session *s, uint8_t kernel_id[20]);
void *load_main(void *session);
/* command.c */
bool command_spawn(struct session *s, int release_fd[2], struct error *e);
bool command_release(struct session *s, int release_fd[2], struct error *e);
void command_poll(struct session *s); /* reaps it, moves its output to the log */
void command_end(struct session *s);
/* session.c: a thread with all signals blocked */
bool session_start_thread(pthread_t *thread, void *(*body)(void *), struct session *s, struct error *e);
int session_start_detached(void *(*body)(void *),
                           void *arg); /* nobody waits for it; 0, or why not as an errno */
/* ask.c */
void ask_done(struct session *s); /* waits for the answer */

/* rates.c: by the session, or by the thread; NULL is fine. */
void rates_leave(struct rates *r);

#endif
