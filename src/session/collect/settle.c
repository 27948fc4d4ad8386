// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits until the samples so far have their names and complete stacks. */
#include <time.h>

#include "base/clock.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"

#define PATIENCE_NS     (5 * NS_PER_SEC)
#define STOP_LOOK_NS    (100 * NS_PER_MS)
#define OTHERS_PAUSE_NS (10 * NS_PER_MS)

void session_set_patience(struct session *s, uint64_t most_ns, bool (*stop)(void))
{
    s->patience_ns = most_ns;
    s->out_of_patience = stop;
}

uint64_t session_patience_ns(const struct session *s)
{
    return s->patience_ns ? s->patience_ns : PATIENCE_NS;
}

void session_settle(struct session *s, uint64_t timeout_ns)
{
    uint64_t end_ns = clock_now_ns() + timeout_ns, now_ns;
    uint32_t seen = symbolizer_generation(s->store.symbolizer) - 1;
    bool whole = false;
    pthread_mutex_lock(&s->store.lock);
    jit_follow(s, true);
    pthread_mutex_unlock(&s->store.lock);
    /* a stack that gets one module further may need the next table, and more names */
    while (!whole && (now_ns = clock_now_ns()) < end_ns && !(s->out_of_patience && s->out_of_patience())) {
        uint64_t look_ns = end_ns - now_ns < STOP_LOOK_NS ? end_ns - now_ns : STOP_LOOK_NS;
        bool settled = symbolizer_settle(s->store.symbolizer, look_ns);
        uint32_t generation = symbolizer_generation(s->store.symbolizer);
        otherstack_read(s);
        jitframe_read(s);
        interpreted_settle(s);
        pthread_mutex_lock(&s->store.lock);
        aside_retry(s, false);
        jit_renew(s);
        bool others = s->unwind.user.others_wanted;
        bool waits = jitframe_waits(s) || interpreted_waits(s) || others;
        bool appended = offcpu_settle(s, false);
        whole = settled && appended && (!s->unwind.user.aside.n || (generation == seen && !waits));
        pthread_mutex_unlock(&s->store.lock);
        seen = generation;
        if (others) /* the thread must run before it can be at the same point again */
            nanosleep(&(struct timespec){ .tv_nsec = OTHERS_PAUSE_NS }, NULL);
    }
    pthread_mutex_lock(&s->store.lock);
    offcpu_settle(s, true);
    aside_retry(s, true);
    pthread_mutex_unlock(&s->store.lock);
}

void session_settle_fetches(struct session *s, uint64_t timeout_ns, bool (*stop)(void))
{
    uint64_t end_ns = clock_now_ns() + timeout_ns;
    while (clock_now_ns() < end_ns && !(stop && stop()) &&
           !symbolizer_settle_fetches(s->store.symbolizer, STOP_LOOK_NS))
        ;
}
