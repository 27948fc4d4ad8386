// SPDX-License-Identifier: GPL-2.0-or-later
/* Fair queueing of CPU time by owner (start-time fair queueing).
 * Each owner has a count of the CPU time that its files have cost. An owner whose count exceeds that of
 * another waiting owner by more than a quantum comes after it, whatever the kinds of their tasks; else the
 * more urgent kind goes first. An owner that comes back has at most this quantum of credit: unused time is
 * not saved up. The trusted files and all others share a lane in the same way, so that many users count as
 * one. */
#include "symbols/owners.h"

#include <unistd.h>

#include "base/clock.h"
#include "symbols/symbolizer_state.h"

#define QUANTUM_NS       (500 * NS_PER_MS)
#define QUICK_NS         (500 * NS_PER_MS)
#define STRANGERS_NS     (6 * NS_PER_SEC)   /* in the slow lane, for a file that is not trusted */
#define STRICT_NS        (QUICK_NS / 4)     /* limit after OFFENCES_STRICT */
#define OFFENCES_STRICT  3                  /* from this count on, the slow lane is closed to the owner */
#define OFFENCES_REFUSED 16                 /* from this count on, none of the owner's files are read */
#define FORGIVEN_NS      (600 * NS_PER_SEC) /* without an offence, the count is reset */
/* The limit in the slow lane is halved with each offence, at most this number of times. */
#define SHORTEST_SHIFT 3

_Static_assert(TASK_KINDS <= OWNER_QUEUES, "each kind of task has a queue");

static void init_owner(struct owner *o, uint32_t uid)
{
    *o = (struct owner){ .uid = uid };
    for (int lane = 0; lane < LANES; lane++)
        for (int kind = 0; kind < OWNER_QUEUES; kind++)
            o->queues[lane][kind].end = &o->queues[lane][kind].first;
}

void owners_init(struct owners *o)
{
    *o = (struct owners){ .n = OWNER_FIRST };
    for (unsigned i = 0; i < OWNERS_MAX; i++)
        init_owner(&o->all[i], UINT32_MAX);
}

bool owners_is_trusted(uint32_t uid)
{
    return !uid || uid == geteuid() || uid == getuid();
}

unsigned owners_number(struct owners *o, uint32_t uid)
{
    if (owners_is_trusted(uid))
        return OWNER_TRUSTED;
    for (unsigned i = OWNER_FIRST; i < o->n; i++)
        if (o->all[i].uid == uid)
            return i;
    if (o->n == OWNERS_MAX - 1)
        return OWNERS_MAX - 1;
    o->all[o->n].uid = uid;
    return o->n++;
}

/* ---- turns ---- */

static unsigned group_of(unsigned owner)
{
    return owner == OWNER_TRUSTED;
}

static bool group_waits(const struct owners *o, enum lane_kind lane, unsigned group)
{
    if (group)
        return o->all[OWNER_TRUSTED].queued[lane];
    for (unsigned i = OWNER_FIRST; i < OWNERS_MAX; i++)
        if (o->all[i].queued[lane])
            return true;
    return false;
}

bool owners_have(const struct owners *o, enum lane_kind lane)
{
    return o->all[OWNER_UNKNOWN].queued[lane] || group_waits(o, lane, 0) || group_waits(o, lane, 1);
}

/* Return the lowest count of the waiting users. */
static uint64_t least_spent(const struct owners *o, enum lane_kind lane)
{
    uint64_t least = UINT64_MAX - QUANTUM_NS;

    for (unsigned i = OWNER_FIRST; i < OWNERS_MAX; i++)
        if (o->all[i].queued[lane] && o->all[i].spent_ns[lane] < least)
            least = o->all[i].spent_ns[lane];
    return least;
}

/* Return 0 if it is the owner's turn; more if owners with a lower count come first. */
static unsigned rank_of(const struct owners *o, enum lane_kind lane, unsigned owner)
{
    unsigned group = group_of(owner), rank = 0;
    /* A file not opened yet may be trusted; it will be known soon. */
    bool other_waits = group_waits(o, lane, !group) || (!group && o->all[OWNER_UNKNOWN].queued[lane]);

    if (owner == OWNER_UNKNOWN)
        return 0;
    if (o->group_ns[lane][group] > o->group_ns[lane][!group] + QUANTUM_NS && other_waits)
        rank += 2;
    if (owner != OWNER_TRUSTED && o->all[owner].spent_ns[lane] > least_spent(o, lane) + QUANTUM_NS)
        rank += 1;
    return rank;
}

unsigned owners_fairest(const struct owners *o, enum lane_kind lane, uint64_t candidates)
{
    const uint64_t trusted = UINT64_C(1) << OWNER_TRUSTED;
    unsigned best = OWNER_TRUSTED;

    if (candidates & trusted &&
        (candidates == trusted || o->group_ns[lane][1] <= o->group_ns[lane][0] + QUANTUM_NS))
        return OWNER_TRUSTED;
    for (unsigned i = 0; i < OWNERS_MAX; i++)
        if (i != OWNER_TRUSTED && candidates >> i & 1 &&
            (best == OWNER_TRUSTED || o->all[i].spent_ns[lane] < o->all[best].spent_ns[lane]))
            best = i;
    return best;
}

bool owners_must_wait(const struct owners *o, enum lane_kind lane, unsigned owner)
{
    return rank_of(o, lane, owner) > 0;
}

static void raise_to(uint64_t *spent_ns, uint64_t reached_ns)
{
    uint64_t least = reached_ns > QUANTUM_NS + 1 ? reached_ns - QUANTUM_NS - 1 : 0;

    if (*spent_ns < least)
        *spent_ns = least;
}

static void come_back(struct owners *o, enum lane_kind lane, unsigned owner)
{
    unsigned group = group_of(owner);

    if (owner == OWNER_UNKNOWN)
        return;
    if (!group_waits(o, lane, group))
        raise_to(&o->group_ns[lane][group], o->group_ns[lane][!group]);
    if (owner != OWNER_TRUSTED && !o->all[owner].queued[lane])
        raise_to(&o->all[owner].spent_ns[lane], o->reached_ns[lane]);
}

/* Return the queue of a kind of task. Stacks are unwound only once and names can be added later, so unwind
 * tables come first. In the slow lane a table may take many seconds, and no name waits for it. */
static unsigned queue_of(enum lane_kind lane, enum task_kind kind)
{
    if (lane == LANE_SLOW && kind <= TASK_NAMES)
        return kind == TASK_NAMES ? 0 : kind + 1;
    return kind;
}

void owners_put(struct owners *o, enum lane_kind lane, unsigned owner, struct symbol_task *task, bool first)
{
    struct owner_queue *q = &o->all[owner].queues[lane][first ? 0 : queue_of(lane, symbol_task_kind(task))];

    come_back(o, lane, owner);
    o->all[owner].queued[lane]++;
    task->serial = first ? 0 : ++o->serial;
    task->next = NULL;
    if (first) {
        task->next = q->first;
        q->first = task;
        if (!task->next)
            q->end = &task->next;
    } else {
        *q->end = task;
        q->end = &task->next;
    }
}

static struct owner_queue *most_urgent(struct owner *w, enum lane_kind lane, int *kind)
{
    for (*kind = 0; *kind < OWNER_QUEUES; ++*kind)
        if (w->queues[lane][*kind].first)
            return &w->queues[lane][*kind];
    return NULL;
}

struct symbol_task *owners_take(struct owners *o, enum lane_kind lane)
{
    struct owner_queue *best = NULL, *q;
    unsigned best_rank = 0, rank, owner = 0;
    int best_kind = 0, kind;
    struct symbol_task *task;

    for (unsigned i = 0; i < OWNERS_MAX; i++) {
        if (!o->all[i].queued[lane] || !(q = most_urgent(&o->all[i], lane, &kind)))
            continue;
        rank = rank_of(o, lane, i);
        if (!best || rank < best_rank ||
            (rank == best_rank &&
             (kind < best_kind || (kind == best_kind && q->first->serial < best->first->serial)))) {
            best = q;
            best_rank = rank;
            best_kind = kind;
            owner = i;
        }
    }
    if (!best)
        return NULL;
    task = best->first;
    best->first = task->next;
    if (!best->first)
        best->end = &best->first;
    o->all[owner].queued[lane]--;
    if (owner >= OWNER_FIRST)
        o->reached_ns[lane] = o->all[owner].spent_ns[lane];
    return task;
}

/* ---- costs ---- */

void owners_spend(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t ns)
{
    if (owner == OWNER_UNKNOWN)
        return;
    o->group_ns[lane][group_of(owner)] += ns;
    o->all[owner].spent_ns[lane] += ns;
}

static bool has_offended(const struct owners *o, unsigned owner, unsigned times)
{
    return owner >= OWNER_FIRST && o->all[owner].offences >= times;
}

void owners_offend(struct owners *o, unsigned owner)
{
    if (owner < OWNER_FIRST)
        return;
    o->all[owner].offences++;
    o->all[owner].offended_ns = clock_now_ns();
}

bool owners_may_be_slow(const struct owners *o, unsigned owner)
{
    return !has_offended(o, owner, OFFENCES_STRICT);
}

uint64_t owners_limit(struct owners *o, enum lane_kind lane, unsigned owner, uint64_t limit_ns)
{
    struct owner *w = &o->all[owner];
    unsigned shift;

    if (w->offences && clock_now_ns() - w->offended_ns > FORGIVEN_NS)
        w->offences = 0;
    shift = w->offences;
    if (has_offended(o, owner, OFFENCES_REFUSED))
        return 0;
    if (has_offended(o, owner, OFFENCES_STRICT))
        return limit_ns < STRICT_NS ? limit_ns : STRICT_NS;
    if (lane == LANE_QUICK)
        return limit_ns < QUICK_NS ? limit_ns : QUICK_NS;
    if (owner != OWNER_TRUSTED && limit_ns > STRANGERS_NS)
        limit_ns = STRANGERS_NS;
    return limit_ns >> (shift < SHORTEST_SHIFT ? shift : SHORTEST_SHIFT);
}
