// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/trials.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "perf/event.h"
#include "session/session_state.h"

#define TRY_NS     (300 * NS_PER_MS)
#define TRY_PERIOD 1000000

struct attempt {
    const char *events; /* in the arena */
    bool may_be_left_out;
    uint8_t result; /* enum trial */
};

/* Shared by the user and the thread; the last one frees it. */
struct trials {
    struct arena strings;
    VEC(struct attempt);
    atomic_bool done, stop;
    atomic_uint users;
};

struct trials *trials_new(void)
{
    struct trials *t = mem_zalloc(sizeof *t);
    t->users = 1;
    return t;
}

void trials_add(struct trials *t, const char *events, bool may_be_left_out)
{
    *VEC_PUSH(t) = (struct attempt){ arena_strndup(&t->strings, events, strlen(events)), may_be_left_out,
                                     TRIAL_NOT_MADE };
}

enum trial trial_after(const struct error *e)
{
    if (e->class == ERROR_PERMISSION)
        return TRIAL_DENIED;
    return e->class == ERROR_UNSUPPORTED ? TRIAL_UNSUPPORTED : TRIAL_FAILED;
}

static enum trial try_first(const char *events)
{
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    struct error e = { 0 };
    if (!event_parse_list(events, list, SESSION_EVENTS_MAX, &n, &e))
        return trial_after(&e);
    struct event first = *event_shown_first(list, n);
    if (!event_supported(&first, &e))
        return trial_after(&e);
    first.attr.sample_period = TRY_PERIOD;
    return event_supported(&first, &e) || e.class != ERROR_UNSUPPORTED ? TRIAL_OPENS : TRIAL_COUNTS_ONLY;
}

static void *trials_main(void *trials)
{
    struct trials *t = trials;
    uint64_t end_ns = clock_now_ns() + TRY_NS;
    for (uint32_t i = 0; i < t->n && !t->stop; i++)
        if (!t->items[i].may_be_left_out || clock_now_ns() < end_ns)
            t->items[i].result = (uint8_t)try_first(t->items[i].events);
    t->done = true;
    trials_leave(t);
    return NULL;
}

void trials_start(struct trials *t)
{
    t->users = 2;
    if (thread_start_detached(trials_main, t) == 0)
        return;
    t->users = 1;
    t->done = true;
}

bool trials_done(const struct trials *t)
{
    return t->done;
}

enum trial trials_result(const struct trials *t, uint32_t number)
{
    return (enum trial)t->items[number].result;
}

void trials_leave(struct trials *t)
{
    if (!t)
        return;
    t->stop = true;
    if (atomic_fetch_sub(&t->users, 1) > 1)
        return;
    arena_done(&t->strings);
    mem_free(t->items);
    mem_free(t);
}
