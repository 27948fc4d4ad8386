// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts event rates in the current scope, in a thread of its own: opening and closing tracepoints blocks
 * in the kernel, which must not block the UI. */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/session_state.h"

#define COUNT_NS     (400 * NS_PER_MS)
#define COUNT_ONE_NS (150 * NS_PER_MS) /* a user waits to sample it */

/* Shared by the session and the thread; the last one frees it. */
struct rates {
    struct event *events;
    struct rate *results;
    uint32_t n;
    struct scope scope;
    atomic_bool done, stop;
    atomic_uint users;
};

static void rates_leave(struct rates *r)
{
    if (!r)
        return;
    r->stop = true;
    if (atomic_fetch_sub(&r->users, 1) > 1)
        return;
    scope_done(&r->scope);
    mem_free(r->events);
    mem_free(r->results);
    mem_free(r);
}

static void *rates_main(void *rates)
{
    struct rates *r = rates;
    rate_count(r->events, r->n, &r->scope, r->n > 1 ? COUNT_NS : COUNT_ONE_NS, &r->stop, r->results);
    r->done = true;
    rates_leave(r);
    return NULL;
}

bool session_rates_start(struct session *s, const struct event *events, uint32_t n, struct error *e)
{
    if (s->load.file)
        return error_set(e, ERROR_UNSUPPORTED, "a file is open: nothing is being measured");
    rates_leave(s->rates);
    struct rates *r = s->rates = mem_zalloc(sizeof *r);
    r->events = mem_array(n + 1, sizeof *r->events);
    memcpy(r->events, events, n * sizeof *events);
    r->results = mem_array(n + 1, sizeof *r->results);
    r->n = n;
    r->users = 2;
    scope_init(&r->scope);
    pthread_mutex_lock(&s->store.lock);
    scope_copy(&r->scope, &s->source.scope);
    pthread_mutex_unlock(&s->store.lock);
    int sys = thread_start_detached(rates_main, r);
    if (!sys)
        return true;
    r->users = 1;
    session_rates_drop(s);
    return error_sys(e, sys, "cannot start a thread that counts");
}

bool session_rates_take(struct session *s, struct rate *out, uint32_t cap)
{
    struct rates *r = s->rates;
    if (!r || !r->done)
        return false;
    memcpy(out, r->results, (r->n < cap ? r->n : cap) * sizeof *out);
    session_rates_drop(s);
    return true;
}

void session_rates_drop(struct session *s)
{
    rates_leave(s->rates);
    s->rates = NULL;
}
