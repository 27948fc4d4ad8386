// SPDX-License-Identifier: GPL-2.0-or-later
/* Fair queue of files to read, by owner: no owner's files delay another's for more than one request.
 * Private to src/symbols; guarded by the symbolizer's lock.
 *
 * There are two lanes, each with its own thread and worker. Every request begins in the quick lane, with a
 * limit of half a second of CPU time. What takes longer goes on in the slow lane, where only such files wait
 * for each other. */
#ifndef FLAMETOP_SYMBOLS_OWNERS_H
#define FLAMETOP_SYMBOLS_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_task;

enum lane_kind { LANE_QUICK, LANE_SLOW, LANES };
#define OWNER_QUEUES 8 /* one for each kind of task, the most urgent first */

#define OWNERS_MAX 64
/* Numbers of owners; from OWNER_FIRST on they are users. The last one is shared by all users that do not
 * fit. */
enum {
    OWNER_UNKNOWN, /* files not opened yet */
    OWNER_TRUSTED, /* root, and the user who started flametop */
    OWNER_FIRST
};

struct owner {
    uint32_t uid;
    struct owner_queue {
        struct symbol_task *first, **end;
    } queues[LANES][OWNER_QUEUES];
    unsigned queued[LANES];
    /* CPU time, on a scale that all owners of the lane share; see owners.c. */
    uint64_t spent_ns[LANES];
    unsigned offences;    /* files given up because of their cost */
    uint64_t offended_ns; /* time of the last one */
};
struct owners {
    struct owner all[OWNERS_MAX];
    unsigned n;
    /* The same scale for all trusted owners together, and for all others. */
    uint64_t group_ns[LANES][2];
    /* spent_ns of the user whose task was started last. */
    uint64_t reached_ns[LANES];
    uint64_t serial;
};

void owners_init(struct owners *o);
/* Return the number of a file's owner. */
unsigned owners_number(struct owners *o, uint32_t uid);
bool owners_is_trusted(uint32_t uid);
/* Queue a task of the owner; `first`: before all others of its kind. */
void owners_put(struct owners *o, enum lane_kind lane, unsigned owner, struct symbol_task *task, bool first);
/* Take the next task off the queue; NULL: none waits. */
struct symbol_task *owners_take(struct owners *o, enum lane_kind lane);
bool owners_have(const struct owners *o, enum lane_kind lane); /* a task waits there */
/* Whether another owner's turn comes first. */
bool owners_must_wait(const struct owners *o, enum lane_kind lane, unsigned owner);
/* Of several owners (bit n: owner n, at least one), return the one whose turn it is. */
unsigned owners_fairest(const struct owners *o, enum lane_kind lane, uint64_t candidates);
void owners_spend(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t ns);
/* Count a given-up file of the owner. */
void owners_offend(struct owners *o, unsigned owner);
/* Return the limit of a request, at most `limit_ns`; 0: this owner's files are not read any more. */
uint64_t owners_limit(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t limit_ns);
/* Whether a request that exceeded the quick lane goes on in the slow lane. False: it is given up. */
bool owners_may_be_slow(const struct owners *o, unsigned owner);

#endif
