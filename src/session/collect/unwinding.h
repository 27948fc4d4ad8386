// SPDX-License-Identifier: GPL-2.0-or-later
/* What a session needs to make the stack of a sample: caches of locations and callers, samples whose stacks
 * are incomplete, and what is known about code made at run time and interpreters.
 *
 * The session owns all of it, and the store's lock protects all of it. The collector (or the reader of a
 * file) writes it, and clears or renumbers it when frames are collected (bounds.c). It reads the memory of
 * processes without the lock, from a list that it copied before. Ids of frames and modules are the store's:
 * the *_forget functions drop what depends on them. */
#ifndef FLAMETOP_SESSION_COLLECT_UNWINDING_H
#define FLAMETOP_SESSION_COLLECT_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "perf/record.h"
#include "process/world.h"
#include "unwind/hotspot.h"
#include "unwind/unwind.h"

struct session;

/* A cache of recent address lookups: frames, with what unwinding needs. A step up a stack then costs one
 * access to memory that the sampled programs have pushed out of the CPU's caches. */
#define LOCATION_CACHE_SLOTS 8192
struct location_slot { /* half a cache line */
    uint64_t addr;
    uint32_t version;               /* of the address space; 0: the kernel's */
    uint32_t frame : 31;            /* 0: empty */
    uint32_t has_row : 1;           /* rows and entry are set */
    const struct unwind_rows *rows; /* NULL: the module has none */
    const struct unwind_entry *entry;
};

/* for files, which are unwound all at once: the caches of locations and unwinds are 2^this times as large */
#define FILE_CACHE_SHIFT 2

/* A cache of recently seen caller stacks. It has far more slots than there are hot paths, since an evicted
 * path costs as much as a new one. */
#define CALLERS_CACHE_SLOTS 16384
struct callers_slot {
    uint64_t hash; /* of the owner and the addresses; 0: empty */
    uint32_t stack;
    bool broken;
};

/* The owner of addresses: an address space at one moment. */
struct frame_owner {
    uint32_t thread, image, version;
    /* the mappings at that time, for a sample that was put aside; NULL: the current ones */
    struct space *maps;
    const struct other_stack *other; /* read for the sample later; NULL: none */
    /* an interpreter's frames at that time, with maps; NULL: none */
    const struct stackprobe_sample *frames;
};

/* userstack.c */
#define USER_FRAMES_MAX 1024
struct user_table { /* of a module */
    const struct unwind_rows *rows;
    uint32_t generation; /* the symbolizer's, at the lookup */
    uint8_t state;
};

/* otherstack_unwind.c */
enum other_stack_state { OTHER_STACK_NONE, OTHER_STACK_WANTED, OTHER_STACK_READ };
struct other_stack { /* memory around a frame pointer that leads out of the stack dump */
    enum other_stack_state state;
    uint32_t pid, tries;
    uint64_t base;
    void *bytes; /* owned; NULL: not readable */
    size_t size;
};
#define OTHERS_SEEN 1024
struct other_seen { /* key: hash of the location; sum: hash of its callers at the last read */
    uint64_t key, sum;
    uint32_t doubts; /* number of equal reads required before the callers are accepted */
};
struct aside_part { /* a sample whose stack has that of another one as a part */
    uint64_t number;
    bool ends; /* at its end, not at its beginning */
};
struct user_aside {   /* a sample whose stack is not complete yet */
    uint64_t number;  /* in the history */
    uint32_t n_again; /* number of samples behind it that are copies for other events of its group */
    VEC(struct aside_part) parts;
    /* CLOCK_MONOTONIC; after this its stack stays incomplete */
    uint64_t until_ns;
    struct space *maps;               /* held: the image's mappings at the time of the sample */
    struct stackprobe_sample *frames; /* owned: an interpreter's frames; NULL: none */
    struct record r;                  /* its pointers point into bytes */
    void *bytes;
    struct other_stack other;
    size_t n_bytes;
};

/* unwind_cache.c */
struct unwind_cache { /* cache of recent unwinds, each with the stack of the callers that it found */
    uint32_t *index;  /* position in the arena + 1, by hash */
    uint64_t *arena;
    size_t used;    /* of the arena; when it is full, all are dropped */
    unsigned shift; /* sizes are multiplied by 2^shift */
};
struct unwind_start {
    uint64_t hash;           /* of the frames before this point, and of their owner */
    uint64_t fp, first, sum; /* frame pointer; hash of the first run of words, and of all words */
};
void unwind_cache_open(struct unwind_cache *w, unsigned shift);
void unwind_cache_forget(struct unwind_cache *w);
void unwind_cache_done(struct unwind_cache *w);
/* Returns the stack of the callers that an equal unwind found; 0: none is cached. */
uint32_t unwind_cache_find(const struct unwind_cache *w, uint64_t hash, const struct unwind_memory *memory,
                           const struct unwind_regs *regs);
void unwind_cache_keep(struct unwind_cache *w, const struct unwind_start *from,
                       const struct unwind_reads *reads, uint32_t callers);

struct stackprobe_sample;
struct interpreted;
#define CALL_VERDICTS 512 /* a power of 2 */
struct call_verdict {     /* Cached verdict on a call: the same pairs recur in most samples. Both 0: empty. */
    uint32_t caller, callee; /* frames */
    bool proven;
};
struct user_stacks {
    enum unwind_arch arch;
    BUFFER(struct user_table) tables; /* by module id */
    VEC(struct user_aside) aside;     /* oldest first */
    size_t aside_bytes;
    uint32_t tried_generation;
    uint32_t awaits;      /* for files: module whose table the current sample waits for */
    uint64_t other;       /* Frame pointer into another stack, to be read for the current sample; 0: none. */
    size_t others_wanted; /* number of samples put aside that wait for such a stack */
    struct other_seen others_seen[OTHERS_SEEN];
    /* Scratch. As a local variable it would make flametop's own stacks deeper than a stack dump. */
    struct unwind_frame unwound[USER_FRAMES_MAX];
    struct unwind_reads reads; /* reads of the last unwind; bad: do not cache it */
    struct unwind_start from;  /* state where those reads begin, */
    uint32_t n_from;           /* after this number of frames */
    struct unwind_cache unwind_cache;
    struct call_verdict verdicts[CALL_VERDICTS];
};

/* jitdates.c */
struct jit_past { /* samples before a change of names, split off from a module */
    uint32_t of, module;
    uint64_t until_ns; /* time of the last such sample */
};

/* jit_code.c */
struct jit_names {
    struct map followed; /* ids of sampled JIT modules */
    uint32_t frames_seen;
    VEC(struct jit_past) pasts;
    VEC(struct jit_epoch) epochs; /* that came with a file */
    uint32_t next_epoch;
};

/* jitframe.c */
struct jit_code {         /* a method of a Java VM, or a part of one */
    uint64_t start, size; /* address, bytes */
    uint32_t module, pid;
    /* METHOD: described by `frame`. BARE: has no frame and calls nothing. OTHER: not of a Java VM. */
    enum { JIT_CODE_NONE, JIT_CODE_METHOD, JIT_CODE_BARE, JIT_CODE_INTERPRETER, JIT_CODE_OTHER } kind;
    struct unwind_hotspot frame;
};
struct jit_frames {
    VEC(struct jit_code) codes;
    size_t n_read;       /* codes from here on are not read yet */
    struct map by_start; /* hash of module and start → index */
    struct map by_frame; /* frame → what is known about its address */
    struct map runtimes; /* module → runtime of its process, as far as known */
    uint32_t cleared;    /* number of times cleared */
    bool fresh;          /* something was read since stacks were last retried */
};

/* jitcalls.c */
struct jit_call {
    uint64_t back;
    uint32_t frame, pid;
};
struct jit_calls {
    /* frame of a return address → enum unwind_call, with the target above CALL_BITS */
    struct map known;
    VEC(struct jit_call) wanted; /* PENDING calls that are not being read yet */
    uint32_t cleared;            /* number of times cleared */
};

/* stacktouch.c */
#define STACKS_WANTED_MAX 64
struct stack_touched { /* of a thread: lowest and highest address; 0, 0: nothing yet */
    uint64_t low, high;
};
struct stack_wanted {
    uint32_t pid;
    uint64_t time_ns; /* of the sample: the process ran then */
    uint64_t sp;
};
struct stack_touches {
    struct map by_thread; /* hash of the thread → index in touched */
    VEC(struct stack_touched) touched;
    struct stack_wanted wanted[STACKS_WANTED_MAX];
    size_t n_wanted;
    uint64_t next_ns; /* not before this time */
};

struct session_unwinding {
    struct location_slot *locations; /* LOCATION_CACHE_SLOTS << cache_shift */
    struct callers_slot *callers;    /* CALLERS_CACHE_SLOTS */
    unsigned cache_shift;            /* also that of user.unwind_cache */
    bool caches_hold;                /* something was added since the caches were last cleared */
    struct user_stacks user;
    struct stack_touches touches;
    struct jit_names jit;
    struct jit_frames jit_frames;
    struct jit_calls jit_calls;
    struct interpreted *interpreted; /* session/collect/interpreted.h; NULL: switched off, or over a file */
    struct map file_scripts;         /* over a file: its addresses of interpreted frames → flametop's */
};

/* locate.c: under lock. */
struct frame_owner locate_owner(struct session *s, uint32_t thread);
/* The frame of an address (of a call: one byte before the return address); NULL: in no mapping. Valid
 * until the next call. */
struct location_slot *locate_address(struct session *s, const struct frame_owner *o, uint64_t addr,
                                     bool kernel);
/* Frame of an exact address in no mapping: the address is true, but its module is unknown. */
uint32_t locate_unmapped(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel);
/* Clears the caches of locations, callers, call verdicts and unwinds. Call when frames, stacks or the
 * kernel's mappings change. */
void locate_forget(struct session *s);

/* samplestack.c: under lock. */
struct stack_result {
    uint32_t stack;
    bool broken;
    uint32_t awaits; /* module whose unwind table is still to come; 0: none */
};
/* The complete stack of a sample, kernel and user. give_up: see userstack_unwind. */
struct stack_result samplestack_of(struct session *s, const struct record *r, const struct frame_owner *owner,
                                   bool give_up);

/* userstack.c: under lock. True if the sample has registers and stack memory of its user part. */
bool userstack_taken(const struct session *s, const struct record *r);
/* The user part of a frame-pointer chain begins with pc: finds the caller of its function, if the return
 * address is still in a sampled register (a leaf on arm64), so that no frame record has it. awaits: as
 * below. */
bool userstack_link(struct session *s, const struct frame_owner *owner, const struct record *r, uint64_t pc,
                    bool give_up, uint64_t *caller, uint32_t *awaits);
/* True if the function at an address of a file is the outermost one of its stack. awaits: as below. */
bool userstack_is_root(struct session *s, const struct frame_owner *owner, uint64_t addr, bool give_up,
                       uint32_t *awaits);
struct user_unwind {
    uint32_t awaits;  /* the module whose table is missing; 0: none */
    uint32_t callers; /* stack of the callers of the last frame; 0: none, or unknown */
    uint64_t sp;      /* of the sample */
};
/* Unwinds the user part. Returns the frames, leaf first; a frame of MODULE_ID_BROKEN ends a truncated
 * stack. give_up: a table that is not read yet counts as missing. */
uint32_t userstack_unwind(struct session *s, const struct frame_owner *owner, const struct record *r,
                          bool give_up, uint32_t frames[USER_FRAMES_MAX], struct user_unwind *out);
/* Caches the stack of the last unwind, for samples that would unwind the same way. */
void userstack_keep(struct session *s, uint32_t stack);
void userstack_forget(struct session *s); /* tables may be gone */
/* ignores the module's table until userstack_forget */
void userstack_give_up(struct session *s, uint32_t module);
/* Register mask of a sample. Live, it is what flametop requests, for any event. */
uint64_t userstack_regs_mask(const struct session *s, const struct record *r);
void userstack_done(struct session *s);

/* aside.c: under lock. */
/* Copies the record of sample `number` of the history, to unwind it again later. */
void aside_put(struct session *s, const struct record *r, uint32_t thread, uint64_t number);
/* A copy of sample `number` for another event of its group follows it: the copy gets the same stack. */
void aside_again(struct session *s, uint64_t number);
/* The stack of sample `whole` begins with that of sample `number`, or (ends) ends with it: it is corrected as
 * well, if that one is still put aside. */
void aside_also(struct session *s, uint64_t number, uint64_t whole, bool ends);
bool aside_has(struct session *s, uint64_t number); /* whether the sample is put aside */
/* Unwinds the samples put aside again, if more may be known by now. last: accepts any result. */
void aside_retry(struct session *s, bool last);
void aside_done(struct session *s);

/* otherstack_unwind.c: stacks that a thread has switched away from. */
/* Under lock. Requests the memory around a frame pointer that leads out of the sample's dump; fp 0: none. */
void otherstack_want(struct session *s, struct user_aside *a, uint64_t fp);
/* true if it should be read (again): what was read belonged to another time */
bool otherstack_may_try(const struct other_stack *o);
void otherstack_read(struct session *s); /* not under lock: reads what is wanted */
/* Under lock. frames[1] and above: callers of frames[0] that only such memory yields. False if reads
 * at this frame pointer, with the same function called, found different callers, until enough reads in a row
 * found the same ones. */
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

#endif
