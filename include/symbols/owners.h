// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose files wait to be read, and who is next: no owner's files keep another's waiting for more than one request.
 * Private to src/symbols; guarded by the symbolizer's lock.
 *
 * There are two lanes, each with a thread and a worker of its own. Every request begins in the quick lane, with a limit
 * of half a second of CPU time; what takes longer goes on in the slow lane, where only such files wait for each other. */
#ifndef FLAMETOP_SYMBOLS_OWNERS_H
#define FLAMETOP_SYMBOLS_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task;

enum lane_kind { LANE_QUICK, LANE_SLOW, LANES };
#define OWNER_QUEUES 8 /* one for each kind of task, the most urgent first */

#define OWNERS_MAX 64
enum { /* numbers of owners; those above are users, the last is all for whom there is no room */
       OWNER_UNKNOWN, /* of files that were not opened yet */
       OWNER_TRUSTED, /* root, and whoever started flametop */
       OWNER_FIRST
};

struct owner {
    uint32_t uid;
    struct owner_queue {
        struct task *first, **end;
    } queues[LANES][OWNER_QUEUES];
    unsigned queued[LANES];
    uint64_t spent_ns[LANES]; /* CPU time, on a scale that all owners of the lane share; see owners.c */
    unsigned offences;        /* files that were given up for what they cost */
    uint64_t offended_ns;     /* when the last one was */
};
struct owners {
    struct owner all[OWNERS_MAX];
    unsigned n;
    uint64_t group_ns[LANES][2]; /* the same scale for all that is trusted, and for all else */
    uint64_t reached_ns[LANES];  /* spent_ns of the user whose task was taken last */
    uint64_t serial;
};

void owners_init(struct owners *o);
/* The number of a file's owner. */
unsigned owners_number(struct owners *o, uint32_t uid);
bool owners_is_trusted(uint32_t uid);
/* A task of the owner waits; `first`: before all others of its kind. */
void owners_put(struct owners *o, enum lane_kind lane, unsigned owner, struct task *task, bool first);
/* The next task, no longer queued; NULL: none waits. */
struct task *owners_take(struct owners *o, enum lane_kind lane);
bool owners_have(const struct owners *o, enum lane_kind lane); /* a task waits there */
/* Somebody else's turn comes first. */
bool owners_must_wait(const struct owners *o, enum lane_kind lane, unsigned owner);
/* Of several owners (bit n: owner n, at least one) the one whose turn it is. */
unsigned owners_fairest(const struct owners *o, enum lane_kind lane, uint64_t candidates);
void owners_spend(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t ns);
/* One of the owner's files was given up. */
void owners_offend(struct owners *o, unsigned owner);
/* The limit of a request that may take `limit_ns`; 0: this owner's files are not read any more. */
uint64_t owners_limit(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t limit_ns);
/* What is too late in the quick lane goes to the slow one; false: it is given up. */
bool owners_may_be_slow(const struct owners *o, unsigned owner);

#endif
