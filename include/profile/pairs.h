// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs of events: an operation begins with one event and ends with another one that has the same key.
 * Numbers only: keys are hashes, and names and stacks are numbers that the caller gives and gets back. */
#ifndef FLAMETOP_PROFILE_PAIRS_H
#define FLAMETOP_PROFILE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

#define PAIRS_MOST 65536 /* operations that may be open at a time, unless `most` says otherwise */

/* An operation, as its begin has it. */
struct pairs_operation {
    uint64_t key;
    uint64_t begin_ns;
    uint64_t stack, name, size; /* the caller's */
    uint64_t value;             /* the caller's: of the field by which operations are selected */
    uint32_t pid, tid, cpu;
    uint32_t thread; /* the caller's */
    uint32_t more;   /* the caller's: how often something happened while it was open */
    bool selected;   /* the caller's: other operations were not sampled */
    bool own;        /* flametop's: it is paired, and not counted as ended */
    bool unknown;    /* the caller's: its thread is not known yet */
    bool complete;   /* the caller's: its name is complete */
};

struct pairs_slot {
    struct pairs_operation operation;
    bool open;
    bool doubtful; /* its end may have been lost: an end of its key may belong to another begin */
    /* Index of another slot plus one: of the outer operation with the same key, or, if this one is free, of
     * the next free one. 0: none. */
    uint32_t next;
};

struct pairs_counts {
    uint64_t ended;    /* operations with both events */
    uint64_t unbegun;  /* ends without a begin: of operations that began before, or whose begin was lost. Not
                        * counted while only selected operations are sampled. */
    uint64_t replaced; /* begins whose key began again before it ended */
    uint64_t lost;     /* operations that are not counted because records were lost */
    uint64_t refused;  /* begins beyond the limit of open operations, and pairs_drop */
    uint64_t gone;     /* open operations whose thread ended */
};

/* A begin with the key of an open operation. */
enum pairs_again {
    PAIRS_REPLACE,   /* the open operation is dropped: its end was not seen */
    PAIRS_NEST,      /* it is within the open operation: an end belongs to the newest begin */
    PAIRS_OUTERMOST, /* the same, and only the outermost one is an operation */
    PAIRS_GO_ON,     /* it is the open operation, which goes on */
};

struct pairs { /* zero-initialised: empty */
    enum pairs_again again;
    bool selected; /* only some operations are sampled: ends of others may be seen */
    uint32_t most; /* limit of open operations; 0: PAIRS_MOST */
    struct pairs_counts counts;
    uint32_t n_open, n_doubtful; /* n_open: all, with the doubtful ones */
    uint64_t gap_ns; /* since when records of another CPU may be lost, which is not reported yet; 0: no */
    VEC(struct pairs_slot) slots;
    uint32_t free;    /* as pairs_slot.next */
    struct map index; /* key → index of its innermost slot */
};

/* A key of one more number: pairs_key(pairs_key(0, a), b). */
uint64_t pairs_key(uint64_t key, uint64_t number);
/* False: there are too many open operations. */
bool pairs_begin(struct pairs *p, const struct pairs_operation *operation);
/* Ends the operation with this key, as this CPU tells, and copies it. *duration_ns is 0 if the end is older
 * than the begin. False: there is none, it is doubtful, or it is within another one and does not count. */
bool pairs_end(struct pairs *p, uint64_t key, uint64_t end_ns, uint32_t cpu, struct pairs_operation *out,
               uint64_t *duration_ns);
/* The innermost open operation with this key, whose name and stack the caller may change; NULL: there is
 * none, or it is doubtful. Valid until the next call. */
struct pairs_operation *pairs_find(const struct pairs *p, uint64_t key);
/* Forgets the operations with this key, whose thread has ended. */
void pairs_thread_ended(struct pairs *p, uint64_t key);
/* Forgets the innermost operation with this key, whose end will not be seen. */
void pairs_drop(struct pairs *p, uint64_t key);
/* Records of this CPU were lost: open operations become doubtful, and are counted as lost. on_it: only those
 * that began there, as they do not leave their CPU. */
void pairs_lost(struct pairs *p, uint32_t cpu, bool on_it);
/* Before each record: from when on records of other CPUs may be lost, which is not reported yet; 0: none. */
void pairs_set_gap(struct pairs *p, uint64_t gap_ns);
/* Forgets all open operations: records are missing, so that an end may belong to another begin. */
void pairs_forget(struct pairs *p);
/* The number of open operations, without doubtful and own ones. */
uint64_t pairs_count_open(const struct pairs *p, bool with_unknown);
/* Visits the open operations; `each` may change their stacks, and drop them. */
void pairs_each(struct pairs *p, void (*each)(void *ctx, struct pairs_operation *operation), void *ctx);
void pairs_done(struct pairs *p);

#endif
