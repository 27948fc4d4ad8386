// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the cost of off-cpu within the budget. The steps: smaller stack dumps and frame pointers (perf/dumps.c
 * and perf/ladder.c do these), one stack in N waits, no stacks. Times stay exact, as the kernel records each
 * switch. A wait without a stack ends in [stack not taken].
 *
 * More stacks are sampled again when the rate has been low enough for some seconds. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "perf/open.h"
#include "session/session_state.h"

#define LOOK_NS   (200 * NS_PER_MS) /* between looks */
#define SOON_NS   (20 * NS_PER_MS)  /* the same after lost records */
#define COUNT_NS  (50 * NS_PER_MS)
#define CALM_NS   (3 * NS_PER_SEC)  /* before more stacks are sampled */
#define LOST_NS   (30 * NS_PER_SEC) /* the same after lost records */
#define CALM_RATE 1.5               /* the rate may rise by this factor then */

static bool any_waits(const struct event *events, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (event_has_waits(&events[i]))
            return true;
    return false;
}

uint64_t thin_first(struct session *s, const struct session_config *cfg, const struct event *events,
                    uint32_t n)
{
    struct event switches;
    struct rate rate;
    struct error e = { 0 };
    uint32_t n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (cfg->command || s->collect.offcpu.runs || !any_waits(events, n) ||
        !event_parse("context-switches", &switches, &e))
        return 0;
    rate_count(&switches, 1, &cfg->scope, COUNT_NS, NULL, &rate);
    struct rate_waits waits = { 2 * rate.per_second, 2 * rate.per_second }; /* each has a waker */
    bool may_dump = cfg->callchain == CALLCHAIN_AUTO; /* if not, the plan chooses frame pointers */
    uint32_t one_in =
        rate_waits_fit(&waits, may_dump ? CALLCHAIN_FP : cfg->callchain, n_cpus, cfg->budget_percent);
    pthread_mutex_lock(&s->store.lock);
    s->source.thin.one_in = one_in;
    s->source.thin.switches = rate.per_second;
    pthread_mutex_unlock(&s->store.lock);
    uint64_t seen_hz = (uint64_t)(rate.per_second / n_cpus);
    return seen_hz * LIVE_STACK_BYTES > dumps_budget(1) ? seen_hz : 0;
}

uint32_t thin_choose(const struct thin_seen *seen)
{
    uint32_t fits = rate_waits_fit(&seen->rates, seen->mode, seen->n_cpus, seen->budget_percent);
    uint32_t now = seen->one_in ? seen->one_in : 1;
    struct rate_waits more = { seen->rates.switches * CALM_RATE, seen->rates.stacks * CALM_RATE };
    if (seen->lost && fits <= now)
        return rate_waits_fewer(now);
    if (fits >= now)
        return fits;
    fits = rate_waits_fit(&more, seen->mode, seen->n_cpus, seen->budget_percent);
    return fits < now ? fits : now;
}

static uint64_t switch_records(const struct session *s)
{
    return s->source.records[PERF_RECORD_SWITCH] + s->source.records[PERF_RECORD_SWITCH_CPU_WIDE];
}

/* Rates since the last look. Lost records were of the same kinds as the others. */
static struct rate_waits rates_since(const struct session *s, uint64_t now_ns)
{
    const struct thin_stacks *t = &s->source.thin;
    double switches = (double)(switch_records(s) - t->records);
    double taken = (double)(s->collect.offcpu.taken - t->taken);
    double lost = (double)(s->source.stats.lost - t->lost), seen = switches + taken;
    double scale = (seen > 0 ? 1 + lost / seen : 1) * NS_PER_SEC / (double)(now_ns - t->time_ns);
    /* without stacks: each switch may be a wait and a wakeup */
    double stacks = t->one_in == LIVE_NO_STACKS ? switches : taken * (t->one_in ? t->one_in : 1);
    return (struct rate_waits){ switches * scale, stacks * scale };
}

static void count_anew(struct session *s, uint64_t now_ns)
{
    struct thin_stacks *t = &s->source.thin;
    t->time_ns = now_ns;
    t->source = s->source.n_sources;
    t->taken = s->collect.offcpu.taken;
    t->records = switch_records(s);
    t->lost = s->source.stats.lost;
}

static void tell(const struct thin_stacks *t)
{
    if (t->one_in == LIVE_NO_STACKS)
        log_add("%.0f switches per second: waits have times only, no stacks", t->switches);
    else if (t->one_in > 1)
        log_add("%.0f switches per second: one wait in %u has its stack", t->switches, t->one_in);
    else
        log_add("%.0f switches per second: each wait has its stack again", t->switches);
}

/* True if more stacks may be sampled now. */
static bool is_calm(struct thin_stacks *t, uint64_t now_ns)
{
    if (!t->fewer_ns)
        t->fewer_ns = now_ns;
    return now_ns - t->fewer_ns >= CALM_NS && (!t->lost_ns || now_ns - t->lost_ns >= LOST_NS);
}

/* True if the running source must be replaced for it. */
static bool take(struct session *s, uint32_t one_in)
{
    struct thin_stacks *t = &s->source.thin;
    bool same = one_in == t->one_in;
    bool whole = !same && one_in <= 1;
    t->one_in = one_in;
    bool live = live_thin(s->source.live, one_in);
    if (!same)
        tell(t);
    if (whole)
        t->full_ns = clock_now_ns();
    return !live;
}

bool thin_change(struct session *s, uint64_t now_ns)
{
    struct thin_stacks *t = &s->source.thin;
    bool change = false;
    pthread_mutex_lock(&s->store.lock);
    bool goes_on = s->collect.offcpu.runs && t->source == s->source.n_sources && now_ns > t->time_ns;
    bool lost = goes_on && s->source.stats.lost > t->lost;
    if (!goes_on) {
        count_anew(s, now_ns);
    } else if (now_ns - t->time_ns >= (lost ? SOON_NS : LOOK_NS)) {
        struct thin_seen seen = { .rates = rates_since(s, now_ns),
                                  .mode = s->source.callchain,
                                  .n_cpus = s->collect.system_stats.cpus,
                                  .one_in = t->one_in ? t->one_in : 1,
                                  .budget_percent = s->cfg.budget_percent,
                                  .lost = lost };
        uint32_t one_in = thin_choose(&seen);
        t->switches = seen.rates.switches / 2;
        t->lost_ns = lost ? now_ns : t->lost_ns;
        if (one_in >= seen.one_in)
            t->fewer_ns = 0;
        else if (!is_calm(t, now_ns))
            one_in = seen.one_in;
        change = take(s, one_in);
        count_anew(s, now_ns);
    }
    pthread_mutex_unlock(&s->store.lock);
    return change;
}

bool thin_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct thin_stacks *t = &s->source.thin;
    char number[32];
    if (!s->collect.offcpu.runs || t->one_in <= 1)
        return false;
    text_si(number, sizeof number, t->switches);
    if (t->one_in == LIVE_NO_STACKS)
        snprintf(what, what_cap, "%s switches a second: waits have times only, without stacks", number);
    else
        snprintf(what, what_cap, "%s switches a second: one wait in %u has its stack, times are exact",
                 number, t->one_in);
    snprintf(fix, fix_cap, "a smaller scope (S), or --budget %.4g for more than %.4g%% of the CPUs",
             s->cfg.budget_percent * 4 < 100 ? s->cfg.budget_percent * 4 : 100, s->cfg.budget_percent);
    return true;
}
