// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the stack size that auto copies. It grows step by step while many stacks are truncated and the
 * budget, the rings and the collector's CPU time allow it. It shrinks when the collector uses too much CPU
 * time. */

#include "base/clock.h"
#include "base/log.h"
#include "perf/rate.h"
#include "session/session_state.h"

#define LOOK_NS   NS_PER_SEC        /* between looks */
#define COST_NS   (3 * NS_PER_SEC)  /* a source's first second includes the CPU time of reading /proc */
#define WINDOW_NS (10 * NS_PER_SEC) /* then the counts restart */

static void count_anew(struct deep_stacks *d, uint64_t now_ns, uint64_t cpu_ns)
{
    d->dumped = d->cut = 0;
    d->since_ns = d->looked_ns = now_ns;
    d->cpu_ns = cpu_ns;
}

uint32_t deepstacks_choose(const struct deep_seen *seen)
{
    double limit = seen->budget_percent / 100 * seen->n_cpus;
    if (seen->bytes > LIVE_STACK_BYTES && seen->time_ns >= COST_NS && seen->cpu_share > limit)
        return seen->smaller;
    bool affordable = seen->larger && seen->cpu_share * seen->larger / seen->bytes <= limit;
    return affordable && dumps_are_short(seen->dumped, seen->cut) ? seen->larger : seen->bytes;
}

/* The stack size to use from now on. Under both locks. */
static uint32_t choose_now(struct session *s, uint64_t now_ns, uint64_t cpu_ns)
{
    struct deep_stacks *d = &s->source.deep;
    struct deep_seen seen = { .bytes = s->source.stack_bytes,
                              .smaller = live_smaller_dumps(s->source.stack_bytes),
                              .n_cpus = s->collect.system_stats.cpus,
                              .budget_percent = s->cfg.budget_percent,
                              .dumped = d->dumped,
                              .cut = d->cut,
                              .time_ns = now_ns - d->since_ns,
                              .cpu_share = (double)(cpu_ns - d->cpu_ns) / (double)(now_ns - d->since_ns) };
    uint32_t larger =
        live_larger_dumps(s->source.live, (double)d->dumped * NS_PER_SEC / (double)(now_ns - d->since_ns));
    if (!d->refused || larger < d->refused)
        seen.larger = larger;
    d->more = seen.larger;
    return deepstacks_choose(&seen);
}

/* The size of a stack dump is an attribute of the event, so a new size needs a new source. */
bool deepstacks_change(struct session *s, uint64_t now_ns)
{
    struct deep_stacks *d = &s->source.deep;
    uint64_t cpu_ns = clock_thread_cpu_ns();
    bool change = false;
    pthread_mutex_lock(&s->store.lock);
    bool runs =
        s->source.live && s->cfg.callchain == CALLCHAIN_AUTO && s->source.callchain == CALLCHAIN_DWARF;
    d->more &= runs;
    if (!d->since_ns) {
        count_anew(d, now_ns, cpu_ns);
    } else if (runs && now_ns - d->looked_ns >= LOOK_NS) {
        uint32_t bytes = choose_now(s, now_ns, cpu_ns);
        change = bytes != s->source.stack_bytes;
        if (bytes < s->source.stack_bytes)
            d->refused = s->source.stack_bytes;
        if (change) {
            log_add("%llu of %llu stacks were truncated: %u bytes of each are copied instead of %u",
                    (unsigned long long)d->cut, (unsigned long long)d->dumped, bytes, s->source.stack_bytes);
            d->bytes = d->wanted = bytes;
        }
        d->looked_ns = now_ns;
        if (now_ns - d->since_ns >= WINDOW_NS)
            count_anew(d, now_ns, cpu_ns);
    }
    pthread_mutex_unlock(&s->store.lock);
    return change;
}

void deepstacks_adopt(struct session *s)
{
    struct deep_stacks *d = &s->source.deep;
    if (d->wanted > s->source.stack_bytes) /* for example, locked memory is short */
        d->refused = d->wanted;
    if (d->bytes > s->source.stack_bytes)
        d->bytes = s->source.stack_bytes > LIVE_STACK_BYTES ? s->source.stack_bytes : 0;
    d->wanted = 0;
    d->since_ns = 0;
    d->more = false;
}

/* Another scope starts with LIVE_STACK_BYTES again. */
void deepstacks_forget(struct session *s)
{
    s->source.deep = (struct deep_stacks){ 0 };
}
