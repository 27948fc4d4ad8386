// SPDX-License-Identifier: GPL-2.0-or-later
/* Brings stack pages into memory (process/opener_touch.c) after the kernel could copy only a part of a
 * stack, once per part of a thread's stack. Live only. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/live.h"
#include "process/opener.h"
#include "session/session_state.h"

#define SPAN_BYTES  (2 * (uint64_t)LIVE_STACK_BYTES_MAX) /* touched at once: more than any dump */
#define TOUCHED_MAX 8192             /* remembered threads; ended ones are dropped with all others */
#define ROUND_NS    (20 * NS_PER_MS) /* longest round of touching */
/* The pause after a round is at least this many times its CPU time, so that touching uses 1 % of a CPU, and
 * its duration, so that the collector, which drains the rings, waits for other processes a tenth of its
 * time. */
#define PAUSE_CPU_TIMES  100
#define PAUSE_WALL_TIMES 9

/* Identifies a thread. A thread that reuses an id has another start time. */
static uint64_t key_of(const struct world_thread *t)
{
    return map_mix(map_mix((uint64_t)t->pid << 32 | t->tid) ^ t->start_ns);
}

static struct stack_touched *touched_of(struct stack_touches *st, uint64_t key)
{
    bool created;
    if (st->touched.n >= TOUCHED_MAX) {
        map_clear(&st->by_thread);
        st->touched.n = 0;
    }
    uint64_t *index = map_at(&st->by_thread, key, st->touched.n, &created);
    if (created)
        *VEC_PUSH(&st->touched) = (struct stack_touched){ 0 };
    return &st->touched.items[*index];
}

void stacktouch_want(struct session *s, uint32_t thread, uint64_t time_ns, uint64_t sp, uint64_t copied_bytes)
{
    struct stack_touches *st = &s->unwind.touches;
    const struct world_thread *t = world_thread(s->store.world, thread);
    uint64_t lacks = sp + copied_bytes, end = sp + SPAN_BYTES;
    if (s->load.file || !t || t->exited || !t->pid || st->n_wanted >= STACKS_WANTED_MAX || lacks < sp ||
        end < sp)
        return;
    struct stack_touched *done = touched_of(st, key_of(t));
    if (lacks >= done->low && lacks < done->high)
        return; /* it was touched, and is still unreadable */
    bool overlap = sp < done->high && done->low < end;
    done->low = overlap && done->low < sp ? done->low : sp;
    done->high = overlap && done->high > end ? done->high : end;
    st->wanted[st->n_wanted++] = (struct stack_wanted){ .pid = t->pid, .time_ns = time_ns, .sp = sp };
}

/* Touches stacks; returns the number done. *cpu_ns: their CPU time; on a busy system much less than the
 * duration, most of which is spent waiting for a CPU. Not under lock, since another process's memory may be
 * slow. */
static size_t touch_some(const struct stack_wanted *wanted, size_t n, uint64_t begun_ns, uint64_t *cpu_ns)
{
    uint64_t now_ns = begun_ns, one_ns;
    size_t done = 0;
    while (done < n && now_ns - begun_ns < ROUND_NS) {
        const struct stack_wanted *w = &wanted[done++];
        opener_touch(w->pid, now_ns > w->time_ns ? now_ns - w->time_ns : 0, w->sp, SPAN_BYTES, &one_ns);
        *cpu_ns += one_ns;
        now_ns = clock_now_ns();
    }
    return done;
}

void stacktouch_read(struct session *s)
{
    struct stack_touches *st = &s->unwind.touches;
    struct stack_wanted wanted[STACKS_WANTED_MAX];
    uint64_t begun_ns = clock_now_ns(), cpu_ns = 0;
    pthread_mutex_lock(&s->store.lock);
    size_t n = begun_ns < st->next_ns ? 0 : st->n_wanted;
    memcpy(wanted, st->wanted, n * sizeof *wanted);
    pthread_mutex_unlock(&s->store.lock);
    if (!n)
        return;
    size_t done = touch_some(wanted, n, begun_ns, &cpu_ns);
    pthread_mutex_lock(&s->store.lock);
    st->n_wanted -= done; /* only this thread removes any */
    memmove(st->wanted, st->wanted + done, st->n_wanted * sizeof *st->wanted);
    uint64_t end_ns = clock_now_ns();
    uint64_t for_cpu_ns = PAUSE_CPU_TIMES * cpu_ns, for_wall_ns = PAUSE_WALL_TIMES * (end_ns - begun_ns);
    st->next_ns = end_ns + (for_cpu_ns > for_wall_ns ? for_cpu_ns : for_wall_ns);
    pthread_mutex_unlock(&s->store.lock);
}

void stacktouch_done(struct session *s)
{
    map_done(&s->unwind.touches.by_thread);
    mem_free(s->unwind.touches.touched.items);
    s->unwind.touches = (struct stack_touches){ 0 };
}
