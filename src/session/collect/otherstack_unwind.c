// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads stacks that sampled threads have left for another one (goroutines, while C or Go's runtime runs on
 * the thread's own stack). The kernel copies only the current stack. The other one stays unchanged until
 * the thread returns to it, and is read, not under the lock, as soon as the sample is unwound. Live only. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/opener.h"
#include "session/session_state.h"
#include "unwind/otherstack.h"

#define READS_AT_ONCE 128
#define TRIES_MAX     32 /* a thread that alternates is soon met again at the same point */
#define DOUBTS        8  /* equal reads in a row required after different callers were read */

bool otherstack_may_try(const struct other_stack *o)
{
    return o->tries < TRIES_MAX;
}

static void forget_bytes(struct user_stacks *u, struct user_aside *a)
{
    a->n_bytes -= a->other.size;
    u->aside_bytes -= a->other.size;
    mem_free(a->other.bytes);
    a->other.bytes = NULL;
    a->other.size = 0;
}

void otherstack_want(struct session *s, struct user_aside *a, uint64_t fp)
{
    const struct sample *sample = fp ? history_sample(s->store.history, a->number) : NULL;
    const struct world_thread *t = sample ? world_thread(s->store.world, sample->thread) : NULL;
    if (a->other.state == OTHER_STACK_WANTED || !otherstack_may_try(&a->other) || !t || t->exited ||
        !t->pid || fp < OTHERSTACK_BELOW)
        return;
    forget_bytes(&s->unwind.user, a);
    a->other.state = OTHER_STACK_WANTED;
    a->other.pid = t->pid;
    a->other.base = fp - OTHERSTACK_BELOW;
    s->unwind.user.others_wanted++;
}

static void read_other(struct other_stack *o)
{
    o->bytes = mem_alloc(OTHERSTACK_BYTES);
    o->size = opener_read_memory(o->pid, o->base, o->bytes, OTHERSTACK_BYTES);
    if (!o->size)
        o->tries = TRIES_MAX; /* the process has ended */
    o->state = OTHER_STACK_READ;
}

struct wanted {
    uint64_t number;
    struct other_stack other;
};

/* Copies a stack that was just read: many samples have the same location. */
static bool copy_other(const struct wanted *list, size_t n, struct other_stack *o)
{
    for (size_t i = 0; i < n; i++) {
        const struct other_stack *from = &list[i].other;
        if (from->pid != o->pid || from->base != o->base || !from->size)
            continue;
        o->bytes = memcpy(mem_alloc(from->size), from->bytes, from->size);
        o->size = from->size;
        o->state = OTHER_STACK_READ;
        return true;
    }
    return false;
}

/* Lists wanted stacks, newest first, since these are the least likely to have changed. The rest is read the
 * next time. */
static size_t take_wanted(struct user_stacks *u, struct wanted *list)
{
    size_t n = 0;
    u->others_wanted = 0;
    for (size_t i = u->aside.n; i-- > 0;) {
        struct user_aside *a = &u->aside.items[i];
        if (a->other.state != OTHER_STACK_WANTED)
            continue;
        if (n == READS_AT_ONCE) {
            u->others_wanted++;
            continue;
        }
        a->other.state = OTHER_STACK_READ;
        a->other.tries++;
        list[n++] = (struct wanted){ a->number, a->other };
    }
    return n;
}

static void give_back(struct session *s, struct wanted *list, size_t n)
{
    struct user_stacks *u = &s->unwind.user;
    for (size_t i = u->aside.n; i-- > 0 && n;) {
        struct user_aside *a = &u->aside.items[i];
        for (size_t k = 0; k < n; k++) {
            if (list[k].number != a->number || a->other.bytes)
                continue;
            a->other = list[k].other;
            a->n_bytes += a->other.size;
            u->aside_bytes += a->other.size;
            list[k] = list[--n];
            break;
        }
    }
    while (n)
        mem_free(list[--n].other.bytes);
    s->unwind.jit_frames.fresh = true;
}

void otherstack_read(struct session *s)
{
    struct wanted list[READS_AT_ONCE];
    pthread_mutex_lock(&s->store.lock);
    size_t n = s->unwind.user.others_wanted ? take_wanted(&s->unwind.user, list) : 0;
    pthread_mutex_unlock(&s->store.lock);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        if (!copy_other(list, i, &list[i].other))
            read_other(&list[i].other);
    pthread_mutex_lock(&s->store.lock);
    give_back(s, list, n);
    pthread_mutex_unlock(&s->store.lock);
}

/* Guards against a stack that changed before it was read: a function called alternately from two callers
 * at one depth may by then have the other caller. Another function has other callers: it is told apart. */
bool otherstack_believe(struct session *s, uint32_t version, uint64_t fp, uint64_t function,
                        const struct unwind_frame *frames, uint32_t n)
{
    uint64_t key = map_mix(map_mix(map_mix(fp ^ version) ^ function) ^ frames[0].frame) | 1, sum = n;
    struct other_seen *seen = &s->unwind.user.others_seen[key / 2 % OTHERS_SEEN];
    for (uint32_t i = 1; i < n; i++)
        sum = map_mix(sum ^ frames[i].frame);
    if (seen->key != key)
        *seen = (struct other_seen){ .key = key, .sum = sum };
    else if (seen->sum != sum)
        *seen = (struct other_seen){ .key = key, .sum = sum, .doubts = DOUBTS };
    else
        seen->doubts -= seen->doubts > 0;
    return !seen->doubts;
}

void otherstack_forget(struct session *s)
{
    memset(s->unwind.user.others_seen, 0, sizeof s->unwind.user.others_seen);
}
