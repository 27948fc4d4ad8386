// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the cost of off-cpu within the budget. The steps: stacks of wakers by frame pointers; smaller stack
 * dumps of waits, and frame pointers (perf/dumps.c and perf/ladder.c do these); one stack in N waits; no
 * stacks. Times stay exact, as the kernel records each switch. A wait without a stack ends in
 * [stack not taken].
 *
 * More stacks are sampled again when the rate has been low enough for some seconds, and then dumps. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "perf/open.h"
#include "session/session_state.h"

#define LOOK_NS       (500 * NS_PER_MS) /* between looks */
#define SPENT_NS      (100 * NS_PER_MS) /* the same if the budget of LOOK_NS is spent */
#define SOON_NS       (20 * NS_PER_MS)  /* the same in a hurry */
#define FULL          0.25              /* share of a ring that is in use then */
#define COUNT_NS      (50 * NS_PER_MS)
#define CALM_NS       (3 * NS_PER_SEC)  /* before more stacks are sampled */
#define LOST_NS       (30 * NS_PER_SEC) /* the same after lost records */
#define DUMPS_NS      (10 * NS_PER_SEC) /* before stack dumps are tried again, at first */
#define DUMPS_MOST_NS (NS_PER_SEC * 600)
#define SAME_HZ       1.25 /* rates that differ by less than this factor are the same */
#define CALM_RATE     1.5  /* the rate may rise by this factor then */

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
    struct rate_waits waits = { 2 * rate.per_second, { rate.per_second, rate.per_second }, true };
    bool may_dump = cfg->callchain == CALLCHAIN_AUTO; /* if not, the plan chooses frame pointers */
    pthread_mutex_lock(&s->store.lock);
    s->source.thin.wakers_by_fp = dumps_fit(2 * rate.per_second, n_cpus) < LIVE_STACK_BYTES;
    rate_waits_fit(&waits, may_dump ? CALLCHAIN_FP : cfg->callchain, n_cpus, cfg->budget_percent,
                   s->source.thin.one_in);
    s->source.thin.switches = rate.per_second;
    pthread_mutex_unlock(&s->store.lock);
    return dumps_first_hz(rate.per_second, n_cpus);
}

static uint32_t at_least_1(uint32_t one_in)
{
    return one_in ? one_in : 1;
}

void thin_choose(const struct thin_seen *seen, uint32_t one_in[2])
{
    uint32_t fits[2], calm[2];
    const struct rate_waits *r = &seen->rates;
    struct rate_waits more = { r->switches * CALM_RATE,
                               { r->stacks[0] * CALM_RATE, r->stacks[1] * CALM_RATE },
                               r->wakers_by_fp };
    rate_waits_fit(r, seen->mode, seen->n_cpus, seen->budget_percent, fits);
    rate_waits_fit(&more, seen->mode, seen->n_cpus, seen->budget_percent, calm);
    for (int i = 0; i < 2; i++) {
        uint32_t now = at_least_1(seen->one_in[i]);
        if (seen->lost && fits[i] <= now)
            one_in[i] = rate_waits_fewer(now);
        else if (fits[i] >= now)
            one_in[i] = fits[i];
        else
            one_in[i] = calm[i] < now ? calm[i] : now;
    }
}

static bool wakers_dump(const struct session *s)
{
    return s->source.callchain == CALLCHAIN_DWARF && s->collect.offcpu.wakers && !s->source.thin.wakers_by_fp;
}

/* True if auto copies stacks of wakers: those of waits are worth more. */
static bool no_wakers_dumps(struct session *s)
{
    if (s->cfg.callchain != CALLCHAIN_AUTO || !wakers_dump(s))
        return false;
    log_add("many wakeups: stacks of wakers by frame pointers");
    return s->source.thin.wakers_by_fp = true;
}

bool thin_over_budget(struct session *s, uint64_t *seen_hz)
{
    uint64_t hz = live_over_budget(s->source.live);
    if (!hz)
        return false;
    pthread_mutex_lock(&s->store.lock);
    *seen_hz = no_wakers_dumps(s) ? 0 : hz;
    pthread_mutex_unlock(&s->store.lock);
    return true;
}

/* True if auto copies stacks and may copy smaller ones, or none: that comes before fewer stacks. The event's
 * seen_hz, from which the next source chooses, is then the present rate. */
static bool smaller_dumps(struct session *s, double dumps)
{
    uint64_t *seen_hz = &s->store.events[s->store.live_event].seen_hz;
    double dumps_hz = dumps / (s->collect.system_stats.cpus ? s->collect.system_stats.cpus : 1);
    bool copies = s->cfg.callchain == CALLCHAIN_AUTO && s->source.callchain == CALLCHAIN_DWARF;
    if (!copies || dumps_hz < SAME_HZ * (double)*seen_hz)
        return false;
    *seen_hz = (uint64_t)dumps_hz + 1;
    return true;
}

/* The size that this rate allows, where auto copies less, or nothing, because of the rate; else 0. */
static uint32_t larger_dumps(const struct session *s, double dumps, uint32_t n_cpus)
{
    uint32_t fit = dumps_fit(dumps, n_cpus);
    uint32_t now = s->source.callchain == CALLCHAIN_DWARF ? s->source.stack_bytes : 0;
    return s->store.events[s->store.live_event].seen_hz && fit > now ? fit : 0;
}

/* The wait doubles each time, as a load may come and go. */
bool thin_dumps_again(struct session *s, double dumps, double wakers, uint64_t now_ns)
{
    struct thin_stacks *t = &s->source.thin;
    bool automatic = s->cfg.callchain == CALLCHAIN_AUTO;
    uint32_t n_cpus = s->collect.system_stats.cpus ? s->collect.system_stats.cpus : 1;
    uint32_t larger = automatic ? larger_dumps(s, dumps, n_cpus) : 0;
    bool by_fp = automatic && !larger && t->wakers_by_fp && s->collect.offcpu.wakers &&
                 dumps_fit(dumps + wakers, n_cpus) >= LIVE_STACK_BYTES;
    if (!larger && !by_fp) {
        t->dumps_ns = 0;
        return false;
    }
    uint64_t wait_ns = t->dumps_wait_ns ? t->dumps_wait_ns : DUMPS_NS;
    t->dumps_ns = t->dumps_ns ? t->dumps_ns : now_ns;
    if (now_ns - t->dumps_ns < wait_ns)
        return false;
    t->dumps_ns = 0;
    t->dumps_wait_ns = wait_ns < DUMPS_MOST_NS ? 2 * wait_ns : wait_ns;
    if (larger) /* 0: unknown, dumps are tried again */
        s->store.events[s->store.live_event].seen_hz =
            larger < LIVE_STACK_BYTES ? (uint64_t)(dumps / n_cpus) : 0;
    else
        t->wakers_by_fp = false;
    if (larger)
        log_add("the rate has fallen: stack dumps of %u bytes", larger);
    else
        log_add("the rate has fallen: stack dumps of wakers again");
    return true;
}

/* Without stacks, each switch, of which there are two records, may be a wait with a wakeup. */
void thin_count_waits(struct thin_counts *now, const struct thin_counts *last, const uint32_t one_in[2])
{
    for (int i = 0; i < 2; i++) {
        double sampled = (double)(now->stacks[i] - last->stacks[i]) * at_least_1(one_in[i]);
        double switches = (double)(now->switches - last->switches) / 2;
        now->waits[i] = last->waits[i] + (one_in[i] == LIVE_NO_STACKS ? switches : sampled);
    }
}

static struct thin_counts counts_now(const struct session *s, uint64_t now_ns)
{
    const uint64_t *records = s->source.records, *stacks = s->collect.offcpu.stacks;
    struct thin_counts now = {
        .time_ns = now_ns,
        .switches = records[PERF_RECORD_SWITCH] + records[PERF_RECORD_SWITCH_CPU_WIDE],
        .lost = s->source.stats.lost,
        .stacks = { stacks[0], stacks[1] },
    };
    thin_count_waits(&now, &s->source.thin.last, s->source.thin.one_in);
    return now;
}

/* Lost records were of the same kinds as the others. */
struct rate_waits thin_rates(const struct thin_counts *before, const struct thin_counts *last,
                             const struct thin_counts *now)
{
    const struct thin_counts *from = now->lost > last->lost ? before : last;
    double lost = (double)(now->lost - from->lost), switches = (double)(now->switches - from->switches);
    double seen =
        switches + (double)(now->stacks[0] - from->stacks[0]) + (double)(now->stacks[1] - from->stacks[1]);
    double scale = (seen > 0 ? 1 + lost / seen : 1) * NS_PER_SEC / (double)(now->time_ns - from->time_ns);
    return (struct rate_waits){ .switches = switches * scale,
                                .stacks = { (now->waits[0] - from->waits[0]) * scale,
                                            (now->waits[1] - from->waits[1]) * scale } };
}

/* True if what was recorded since the last look cost as much as the budget allows for LOOK_NS. */
static bool is_spent(const struct session *s, const struct thin_counts *now)
{
    const struct thin_counts *last = &s->source.thin.last;
    struct rate_waits taken = { (double)(now->switches - last->switches),
                                { (double)(now->stacks[0] - last->stacks[0]),
                                  (double)(now->stacks[1] - last->stacks[1]) },
                                !wakers_dump(s) };
    double cost_ns = NS_PER_SEC * rate_waits_cost(&taken, s->source.callchain, (uint32_t[2]){ 1, 1 });
    return cost_ns >= s->cfg.budget_percent / 100 * s->collect.system_stats.cpus * LOOK_NS;
}

/* True if a look is due: early if records were lost, a ring fills, or the budget is spent. */
static bool is_due(const struct session *s, const struct thin_counts *now)
{
    uint64_t past_ns = now->time_ns - s->source.thin.last.time_ns;
    bool hurry = now->lost > s->source.thin.last.lost || s->source.stats.ring_fill > FULL;
    return past_ns >= (hurry ? SOON_NS : is_spent(s, now) ? SPENT_NS : LOOK_NS);
}

static void tell(const struct thin_stacks *t)
{
    static const char *const kinds[] = { "waits", "wakers" };
    for (int i = 0; i < 2; i++)
        if (t->one_in[i] == LIVE_NO_STACKS)
            log_add("%.0f switches per second: no stacks of %s", t->switches, kinds[i]);
        else
            log_add("%.0f switches per second: one stack in %u of %s", t->switches, t->one_in[i], kinds[i]);
}

bool thin_is_calm(struct thin_calm *c, bool more, bool lost, uint64_t now_ns)
{
    c->lost_ns = lost ? now_ns : c->lost_ns;
    c->fewer_ns = !more ? 0 : c->fewer_ns ? c->fewer_ns : now_ns;
    return more && now_ns - c->fewer_ns >= CALM_NS && (!c->lost_ns || now_ns - c->lost_ns >= LOST_NS);
}

/* True if the running source must be replaced for it. */
static bool take(struct session *s, const uint32_t one_in[2])
{
    struct thin_stacks *t = &s->source.thin;
    bool same = one_in[0] == at_least_1(t->one_in[0]) && one_in[1] == at_least_1(t->one_in[1]);
    bool whole = one_in[0] == 1 && t->one_in[0] > 1;
    memcpy(t->one_in, one_in, sizeof t->one_in);
    bool live = live_thin(s->source.live, one_in);
    if (!same)
        tell(t);
    if (whole)
        t->full_ns = clock_now_ns();
    return !live;
}

/* More stacks wait until it is calm. */
static void hold(struct thin_stacks *t, const struct thin_seen *seen, uint64_t now_ns, uint32_t one_in[2])
{
    const uint32_t *now = seen->one_in;
    bool more = one_in[0] < now[0] || one_in[1] < now[1];
    if (thin_is_calm(&t->calm, more, seen->lost, now_ns) || !more)
        return;
    for (int i = 0; i < 2; i++)
        one_in[i] = one_in[i] < now[i] ? now[i] : one_in[i];
}

static bool look(struct session *s, const struct thin_counts *now)
{
    struct thin_stacks *t = &s->source.thin;
    uint64_t now_ns = now->time_ns;
    bool lost = now->lost > t->last.lost;
    uint32_t one_in[2];
    struct thin_seen seen = { .rates = thin_rates(&t->before, &t->last, now),
                              .mode = s->source.callchain,
                              .n_cpus = s->collect.system_stats.cpus,
                              .one_in = { at_least_1(t->one_in[0]), at_least_1(t->one_in[1]) },
                              .budget_percent = s->cfg.budget_percent,
                              .lost = lost };
    seen.rates.wakers_by_fp = !wakers_dump(s);
    double waits = seen.rates.stacks[0], wakers = seen.rates.stacks[1];
    thin_choose(&seen, one_in);
    t->switches = seen.rates.switches / 2;
    hold(t, &seen, now_ns, one_in);
    bool less[2] = { one_in[0] > seen.one_in[0], one_in[1] > seen.one_in[1] };
    if (((less[0] || less[1]) && no_wakers_dumps(s)) || (less[0] && smaller_dumps(s, waits)))
        return true;
    return take(s, one_in) || (one_in[0] == 1 && thin_dumps_again(s, waits, wakers, now_ns));
}

bool thin_change(struct session *s, uint64_t now_ns)
{
    struct thin_stacks *t = &s->source.thin;
    bool change = false;
    pthread_mutex_lock(&s->store.lock);
    struct thin_counts now = counts_now(s, now_ns);
    bool goes_on = s->collect.offcpu.runs && t->source == s->source.n_sources && now_ns > t->last.time_ns;
    if (!goes_on) {
        t->before = t->last = now;
        t->source = s->source.n_sources;
    } else if (is_due(s, &now)) {
        change = look(s, &now);
        t->before = t->last;
        t->last = now;
    }
    pthread_mutex_unlock(&s->store.lock);
    return change;
}

/* Kernel threads have no mappings. */
static bool is_kernel_thread(const struct session *s, uint32_t thread)
{
    const struct world_thread *t = world_thread(s->store.world, thread);
    return t && !world_image_has_maps(s->store.world, t->image);
}

bool thin_may_lack(const struct session *s, uint32_t thread, uint64_t time_ns)
{
    const struct thin_stacks *t = &s->source.thin;
    return (t->one_in[0] > 1 || time_ns < t->full_ns) && !is_kernel_thread(s, thread);
}

bool thin_wakers_by_fp(const struct session *s)
{
    return s->collect.offcpu.wakers && s->source.thin.wakers_by_fp && s->source.callchain == CALLCHAIN_DWARF;
}

bool thin_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct thin_stacks *t = &s->source.thin;
    char number[32];
    double percent = s->cfg.budget_percent;
    if (!s->collect.offcpu.runs || (t->one_in[0] <= 1 && t->one_in[1] <= 1))
        return false;
    text_si(number, sizeof number, t->switches);
    if (t->one_in[0] == LIVE_NO_STACKS)
        snprintf(what, what_cap, "%s switches a second: waits have times only, without stacks", number);
    else if (t->one_in[0] > 1)
        snprintf(what, what_cap, "%s switches a second: one wait in %u has its stack, times are exact",
                 number, t->one_in[0]);
    else
        snprintf(what, what_cap,
                 "many wakeups: most waits have no waker, and include the time until they run");
    snprintf(fix, fix_cap, "a smaller scope (S), or --budget %.4g for more than %.4g%% of the CPUs",
             percent * 4 < 100 ? percent * 4 : 100, percent);
    return true;
}
