// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses fixed periods for events that count occurrences: page faults, context switches, migrations.
 *
 * At a frequency, the kernel learns the period from the last few samples. Such events come in bursts, so
 * it learns the period of a burst, keeps it afterwards, and gives one sample the weight of all missed
 * events: a program with a steady fault rate has no sample, and another has one that weighs 88 %. With a
 * fixed period every sample weighs the same. The period is chosen from a short count, so that a busy CPU
 * has PER_FREQUENCY times as many samples as a clock has at the default frequency. It is chosen again when
 * the rate has changed. */
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/rate.h"
#include "session/session_state.h"

#define COUNT_NS      (50 * NS_PER_MS)
#define PER_FREQUENCY 5
/* least period until three seconds were observed: 50 ms between two bursts show nothing */
#define FIRST     10
#define CHANGE_NS (3 * NS_PER_SEC)
#define FEW       20 /* a period is too long if it gives fewer than 1/FEW of the wanted samples */

const struct session_event *period_find_event(const struct session *s)
{
    for (uint32_t i = s->store.live_event;
         i < s->store.n_events && s->store.events[i].first == s->store.live_event; i++)
        if (!s->store.events[i].freq_hz && !s->store.events[i].left_out &&
            !event_is_made(&s->store.events[i].event))
            return &s->store.events[i];
    return NULL;
}

/* True if flametop chooses the period of the event: the user set neither period nor frequency. */
static bool is_chosen(const struct session_config *cfg, const struct event *ev,
                      const struct session_sampling *how)
{
    bool own = how->freq_hz || how->period || ev->freq_hz || ev->period;
    return !own && (how->fitted || (event_is_occurrence(ev) && !cfg->period && !cfg->freq_named));
}

/* Tracepoints count every occurrence, unless the user set a rate. chosen: 0 if not known yet. */
struct session_sampling period_sampling_of(const struct session_config *cfg, const struct event *ev,
                                           const struct session_sampling *how, uint64_t chosen)
{
    if (is_chosen(cfg, ev, how))
        return (struct session_sampling){ .period = chosen ? chosen : 1 };
    if (how->freq_hz || how->period)
        return *how;
    if (ev->period || ev->freq_hz)
        return (struct session_sampling){ .freq_hz = ev->freq_hz, .period = ev->period };
    if (cfg->period)
        return (struct session_sampling){ .period = cfg->period };
    if (ev->kind == EVENT_TRACEPOINT && !cfg->freq_named)
        return (struct session_sampling){ .period = 1 };
    return (struct session_sampling){ .freq_hz = cfg->freq_hz };
}

void session_sampling_of(const struct session *s, const struct event *ev, const struct session_sampling *how,
                         struct session_sampling *out)
{
    *out = period_sampling_of(&s->cfg, ev, how, 0);
}

bool session_chooses_period(const struct session *s, const struct event *ev,
                            const struct session_sampling *how)
{
    return is_chosen(&s->cfg, ev, how);
}

uint64_t session_default_freq(const struct session *s)
{
    return s->cfg.freq_hz;
}

static double wanted_per_second(const struct session_config *cfg)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t hz = cfg->freq_hz ? cfg->freq_hz : 1;
    return (double)hz * PER_FREQUENCY * (double)(cpus > 0 ? cpus : 1);
}

static uint64_t first_period(const struct event *ev, uint64_t counted)
{
    bool is_rare = ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config != PERF_COUNT_SW_PAGE_FAULTS &&
                   ev->attr.config != PERF_COUNT_SW_PAGE_FAULTS_MIN &&
                   ev->attr.config != PERF_COUNT_SW_CONTEXT_SWITCHES;
    return is_rare || counted > FIRST ? counted : FIRST;
}

void period_choose(const struct session_config *cfg, const struct event *events,
                   const struct session_sampling *hows, uint32_t n, uint64_t *chosen)
{
    struct event counted[SESSION_EVENTS_MAX];
    struct rate *rates = mem_zalloc(SESSION_EVENTS_MAX * sizeof *rates);
    uint32_t which[SESSION_EVENTS_MAX], n_counted = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!chosen[i] && is_chosen(cfg, &events[i], &hows[i])) {
            which[n_counted] = i;
            counted[n_counted++] = events[i];
        }
    if (n_counted && !cfg->command)
        rate_count(counted, n_counted, &cfg->scope, COUNT_NS, NULL, rates);
    for (uint32_t i = 0; i < n_counted; i++)
        chosen[which[i]] =
            first_period(&counted[i], rate_period_for(rates[i].per_second, wanted_per_second(cfg)));
    mem_free(rates);
}

bool period_must_change(struct session *s, uint64_t now_ns, uint64_t *chosen, uint32_t n)
{
    const struct session_event *first = &s->store.events[s->store.live_event];
    uint64_t samples = s->store.samples - s->source.paced.samples, time_ns = now_ns - s->source.paced.time_ns;
    double wanted = wanted_per_second(&s->cfg),
           per_second = (double)samples * NS_PER_SEC / (double)(time_ns ? time_ns : 1);
    bool any = false;
    if (s->source.paced.time_ns && time_ns < CHANGE_NS)
        return false;
    bool known = s->source.paced.time_ns && s->source.paced.source == s->source.n_sources;
    s->source.paced.samples = s->store.samples;
    s->source.paced.time_ns = now_ns;
    s->source.paced.source = s->source.n_sources;
    for (uint32_t i = 0; i < n && known; i++) {
        uint64_t period = first[i].chosen;
        if (!period || (per_second < 2 * wanted && (period == 1 || per_second * FEW > wanted)))
            continue;
        chosen[i] = rate_period_for(per_second * (double)period, wanted);
        any |= chosen[i] != period;
    }
    return any;
}
